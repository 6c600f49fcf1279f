//! Operator fusion for deep learning: lazy tensors, compiled functions, neural-network functions, a model zoo.

mod compile;
mod create;
mod element;
mod emit;
mod engine;
mod flush;
mod infer;
mod io;
mod mode;
pub mod nn;
mod op;
mod ops;
mod param;
mod print;
mod program;
mod promote;
mod random;
mod shape;
mod site;
mod tensor;
mod trace;

pub mod zoo;

pub use base::{Config, Error, ErrorKind, Numerics, Result};
pub use compile::{CompiledFn, PureFn, compile, compile_pure};
pub use element::{Element, Nested};
pub use flush::eval_all;
pub use graph::{HostTensor, Module};
pub use io::{load_npy, load_npz, load_safetensors, read_npy, save_npy, save_npz, save_safetensors, write_npy};
pub use mode::{Mode, Scoped, set_config, set_mode};
pub use ops::{cat, einsum, stack, where_};
pub use param::Param;
pub use promote::{Number, Operand};
pub use random::{Generator, manual_seed};
pub use scalar::{DType, Scalar, Sym};
pub use shape::{Dims, Index, IntoIndex, IntoShape, IntoSym, NewAxis};
pub use tensor::Tensor;
pub use trace::{ArgSpec, trace};
