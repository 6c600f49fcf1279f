//! The tile VM: executes bodies and nests of tile programs with precompiled vector loops.
//!
//! [`prepare_nest`] resolves a nest to steps with loop pointers and places for registers, once per program; [`run_nests`]
//! runs it with any pointers. A register usually stands for memory: an unmasked contiguous load is its address, and a
//! result that is stored is computed right into the output.

mod code;
mod frame;
mod indirect;
mod layout;
mod mask;
mod memory;
mod nest;
mod peephole;
mod planes;
mod prepare;
mod run;
mod sink;
#[cfg(test)]
mod tests;
mod types;
mod window;

pub(crate) use code::Prepared;
pub(crate) use frame::{Frame, Tile};
pub use nest::{PreparedNest, prepare_nest, run_nests};
pub(crate) use prepare::body as prepare_body;
pub(crate) use run::run_tile;
pub use sink::CheckSink;

pub use simd::ULP;
