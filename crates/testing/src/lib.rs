//! How Fuseline is tested.
//!
//! * [`filetest`] runs `tests/files/<stage>/*.t`; [`stages`] holds the stages of the graph level
//! * [`generate`] makes well-typed graphs and arguments from bytes ([`Cursor`]): a seed or a fuzzer
//! * [`differential`] runs one program on many runtimes against the interpreter
//! * [`cpu`] adds the stages and runtimes of the CPU, [`cuda`] the stage of GPUs
//! * [`emulator`] runs generated CUDA C++ on the CPU
//! * [`tolerance`] says how far results may differ
//! * [`reduce()`] shrinks a failing program

pub mod cpu;
pub mod cuda;
mod cursor;
pub mod differential;
pub mod emulator;
pub mod filetest;
pub mod generate;
mod reduce;
pub mod stages;
pub mod tolerance;

pub use cursor::{Cursor, seed_bytes};
pub use differential::{Case, Outcome, Runtime};
pub use reduce::{StillFails, reduce};
