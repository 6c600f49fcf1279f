//! The CPU: threads, products and the tile VM.

mod ceilings;
mod device;
mod gemm;
mod launch;
mod threads;
pub(crate) mod vm;

pub use ceilings::{Caches, Ceilings, Rates, isa, measure, model};
pub use device::Cpu;
pub(crate) use device::Prepared;
pub use gemm::PanelStats;
pub use threads::{Task, ThreadPool};
