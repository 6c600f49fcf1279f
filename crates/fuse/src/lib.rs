//! Graph to plan: index maps, legality, choice of fusion groups, buffers.
//!
//! * [`index`]: where a view's output position reads its operand (`pull`), and where an operand's position lands (`push`)
//! * [`build`]: a group of nodes as a [`kernel::Comp`]: placement of its outputs over one domain, then evaluation on demand
//! * `domain`: which axes of the comp are parallel
//! * `choose`: which nodes form a group, by time saved
//! * `horizontal`: independent groups in one launch
//! * [`mod@plan`]: the kernels in order, and the buffers they need
//!
//! No rule here knows the name of a network layer.

pub mod build;
mod choose;
mod cost;
mod domain;
mod horizontal;
pub mod index;
mod order;
mod place;
pub mod plan;
mod prepare;
mod sizes;
mod strides;
mod text;
mod values;

pub use build::{Group, Refusal};
pub use cost::{class, summarise};
pub use plan::{Kernel, Part, Plan, Source, Step, Storage, plan, unfused};
pub use prepare::prepare;
pub use sizes::Sizes;
pub use strides::Strided;
