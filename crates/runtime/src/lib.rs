//! CPU device: memory, threads, the tile VM and its GEMM.
//!
//! It takes tile programs, pointers and numbers, and knows nothing of graphs. All `unsafe` code of the workspace lives here and in `simd`.

mod cpu;
mod memory;

pub use cpu::vm::{CheckSink, PreparedNest, ULP, prepare_nest, run_nests};
pub use cpu::{Arg, Caches, Ceilings, Device, PanelStats, Prepared, Rates, Task, ThreadPool, isa, measure, model};
pub use memory::{Array, Buffer, Owner, Pool, PoolStats};
