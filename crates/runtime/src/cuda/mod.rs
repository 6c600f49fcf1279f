//! NVIDIA GPUs. Nothing of CUDA is needed to build; its libraries are looked for when the first GPU is opened.
//!
//! `places` and `load` find the libraries, of which `driver`, `nvrtc`, `blas`, `cudnn` and `nccl` are the functions; a `context` is
//! a GPU with one stream; `module` makes kernels of sources and `prepare` launches of kernels; `product` maps products to
//! cuBLASLt's terms, `multiply` runs them by one of `algorithms`; `convolution` maps convolutions to cuDNN's terms, `graph` to its
//! graphs, of `backend`'s descriptors, `convolve` runs them by one of `engines`; `choices` says by which, and `probe` which engines
//! keep a NaN within its `reach`; `launches` knows what failed; `record` repeats launches as one.

mod algorithms;
mod backend;
mod blas;
mod choices;
mod compiler;
#[cfg(test)]
mod compiler_tests;
mod context;
mod convolution;
mod convolve;
mod cudnn;
mod driver;
mod engines;
mod gpu;
mod graph;
mod launches;
mod load;
mod measure;
mod module;
mod multiply;
mod nccl;
mod nvrtc;
mod overhead;
mod places;
mod prepare;
mod probe;
mod product;
mod random;
mod reach;
mod record;
mod table;
mod timer;

pub use compiler::Compiler;
pub(crate) use context::Context;
pub(crate) use gpu::Gpu;
pub use gpu::{Info, libraries};
pub use load::LibraryInfo;
pub use measure::{Rates, ReadStream, measure};
pub use overhead::{BATCH, LaunchCost, host_seconds, launch_cost};
pub(crate) use prepare::Prepared;
pub use prepare::Resources;
pub(crate) use random::random;
pub use record::Recorded;
