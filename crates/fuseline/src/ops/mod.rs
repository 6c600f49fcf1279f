//! The ops of [`Tensor`](crate::Tensor), with PyTorch's names.

mod index;
mod layout;
mod linalg;
mod order;
mod pointwise;
mod rearrange;
mod reduce;
mod special;

pub(crate) use index::indices;
pub use layout::{cat, stack};
pub use linalg::einsum;
pub use pointwise::where_;
pub use rearrange::meshgrid;
