//! The CPU: threads, products and the tile VM.

mod gemm;
mod launch;
mod threads;

pub use threads::{Task, ThreadPool};
