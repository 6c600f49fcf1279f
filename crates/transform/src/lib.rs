//! Graph to graph: simplification, layouts and in-place analysis.
//!
//! * [`simplify()`]: rewrites by named rules until nothing applies; every rule keeps results bit for bit
//! * [`channels_last()`]: convolutions in the order of axes that libraries want; equal up to the order of sums
//! * [`alias()`]: decides which writes may happen in place, and the ordering that this needs
//!
//! All are pure functions of the graph. Frozen inputs are never folded.

mod alias;
mod layout;
pub mod simplify;

pub use alias::{Alias, WriteMode, alias};
pub use layout::channels_last;
pub use simplify::{Options, simplify};
