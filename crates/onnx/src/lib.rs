//! ONNX files to graphs: one function per ONNX op.
//!
//! [`load`] reads a model and gives an [`Import`]: a [`graph::Module`] whose inputs are the model's inputs and whose weights
//! are frozen inputs. Dimension names become symbols, so one import runs at every size. Shape arithmetic (Shape, Gather,
//! Concat, …) is evaluated at import over symbolic integers; an operand that must be a shape but depends on data is an
//! error that names the node. Shapes stored in the file are hints and are not read.
//!
//! Files are not trusted: sizes, ranks and nesting are bounded, external data stays inside the model's folder, and no bytes
//! make the importer panic.
//!
//! Adding an op is one function in `ops/` and one row of its table.

mod ctx;
mod dims;
mod evaluate;
mod import;
mod known;
mod load;
mod node;
mod ops;
mod order;
pub mod proto;
mod tensor;
mod value;

pub use load::{Import, LoadOptions, ValueInfo, load, load_bytes, load_model};
pub use ops::supported_ops;
pub use tensor::read_tensor_pb;
