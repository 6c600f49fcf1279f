//! The one list of passes, executables, guards and reports.
//!
//! [`compile`] takes a [`graph::Module`] through simplify → prepare → alias → plan. An [`Executable`] binds dimensions on
//! each call, lowers and prepares its kernels once per size tuple, and runs them with pooled memory. [`Report`] tells what
//! was fused, what was not and why, and what it saves.

mod apart;
mod bound;
mod cache;
mod call;
mod compile;
mod dump;
mod executable;
mod host;
mod instance;
mod json;
mod memory;
mod pieces;
mod places;
mod profile;
mod record;
mod region;
mod replay;
mod report;
mod subgraph;
mod table;
mod tune;
mod values;
mod verify;

pub use bound::{Bound, Watch};
pub use cache::{Cached, describe_cache};
pub use compile::{Compiled, Pass, compile, passes, passes_from};
pub use executable::{Executable, devices};
pub use host::{to_array, to_host};
pub use instance::{cuda_program_of as cuda_program, device_program, program_of as tile_program};
pub use memory::CallMemory;
pub use replay::Recordings;
pub use report::{EdgeReport, KernelReport, Report, Roof, Totals};
pub use table::{bytes as bytes_text, time as time_text};
pub use tune::candidates;
pub use verify::{Deviation, Tolerance};

pub use fuse::Plan;
pub use graph::{HostTensor, Module};
pub use kernel::{Class, Target};
pub use runtime::{Array, Device};
