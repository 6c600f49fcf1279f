//! PyTorch's FX graphs, compiled: the native half of `torch.compile(model, backend="fuseline")`.
//!
//! [`fx::Graph`] is what the Python package writes: ATen ops with complete arguments. [`cut`] lowers it op by op into few
//! [`graph::Graph`]s, with calls of torch between them for what has no lowering. The feature `python` adds the extension module that
//! compiles and runs the resulting [`Program`] on torch's own memory.

mod aten;
mod cut;
pub mod fx;
mod late;
pub mod layout;
mod program;
#[cfg(feature = "python")]
mod python;

pub use aten::{VERSION, is_lowered};
pub use cut::cut;
pub use program::{Base, Extern, Made, Overwritten, Passed, Program, Read, Segment, Shown, Step, TensorRead};
