//! Graph to graph: simplification and in-place analysis.
//!
//! * [`simplify()`]: rewrites by named rules until nothing applies; every rule keeps results bit for bit
//! * [`alias()`]: decides which writes may happen in place, and the ordering that this needs
//!
//! Both are pure functions of the graph. Frozen inputs are never folded.

mod alias;
pub mod simplify;

pub use alias::{Alias, WriteMode, alias};
pub use simplify::{Options, simplify};
