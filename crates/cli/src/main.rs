//! The `fuseline` command.
fn main() {}
