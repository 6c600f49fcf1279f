//! Project tasks: benchmarks and generated files.
fn main() {}
