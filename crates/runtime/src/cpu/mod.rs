//! The CPU: threads, products and the tile VM.

mod gemm;
mod launch;
mod simd;
mod threads;
pub mod vm;

pub use threads::{Task, ThreadPool};
