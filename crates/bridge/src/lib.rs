//! A C interface to compiled programs, so that Fuseline and other compilers run in one process, on one stream of one GPU, under one
//! clock.
//!
//! A [`Program`] is compiled from the text of a graph, or is a model of the zoo. A [`Call`] is a program with the addresses of its
//! inputs and outputs, which it reads and writes in place; it runs, or is recorded once and replayed. The functions of [`abi`] are
//! what a process loads; `benches/cuda_bridge.py` is their face in Python.

pub mod abi;
mod call;
mod program;

pub use call::Call;
pub use program::Program;
