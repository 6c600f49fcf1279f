//! Devices: the CPU (memory, threads, the tile VM and its GEMM), and NVIDIA GPUs.
//!
//! It takes programs, pointers and numbers, and knows nothing of graphs. All `unsafe` code of the workspace lives here and in `simd`.

mod cpu;
pub mod cuda;
mod device;
mod memory;

pub use cpu::vm::{CheckSink, PreparedNest, ULP, prepare_nest, run_nests};
pub use cpu::{Caches, Ceilings, Cpu, PanelStats, Rates, Task, ThreadPool, isa, measure, model};
pub use cuda::Recorded;
pub use device::{Arg, Device, Prepared};
pub use memory::{Array, Buffer, Owner, Pool, PoolStats};
