//! Operator fusion for deep learning, as a tensor library.
//!
//! A [`Tensor`] is lazy and immutable: ops record, and whatever was recorded runs as few fused kernels when a value is read.
//! [`compile()`] and [`compile_pure`] keep compiled code for a function; [`nn`] has neural-network functions and layers;
//! [`zoo`] has models with seeded weights.
//!
//! ```
//! use fuseline::{DType, Tensor, compile_pure, nn};
//!
//! // Recorded, fused and run when it is printed or read.
//! let x = Tensor::randn([4, 8]);
//! let y = (x.softmax(-1) * 2.0 + 1.0).sum(..);
//! assert!((y.item::<f32>()? - 40.0).abs() < 1e-3);
//!
//! // A layer, compiled once for all batch sizes.
//! let layer = nn::Linear::new(&nn::Vars::seeded(0), 8, 2)?;
//! let f = compile_pure(move |x| vec![layer.forward(&x[0]).gelu()]);
//! assert_eq!(f.call(&[x])?[0].shape(), [4, 2]);
//! assert_eq!(f.call(&[Tensor::zeros([7, 8], DType::F32)])?[0].shape(), [7, 2]);
//! println!("{}", f.explain());
//! # Ok::<(), fuseline::Error>(())
//! ```
//!
//! # Map
//! * [`Tensor`]: creation, ops with PyTorch's names, [`cat`], [`stack`], [`where_`], [`einsum`]; what goes wrong is told
//!   when a value is read, with the line of the call
//! * [`Param`]: the only mutable cell
//! * [`compile()`], [`compile_pure`], [`trace()`]: functions, from most to least dynamic
//! * [`set_mode`], [`set_config`]: fused or one kernel per op, threads, rounding
//! * [`load_safetensors`], [`load_npy`], [`load_npz`] and their `save_` counterparts
//!
//! Inside: a call records a node (`tensor`, `op`), whose signature comes from emitting it into a scratch graph (`infer`); a read
//! lists the steps that are needed (`program`), finds or makes compiled code (`flush`, `cache`, `engine`) and stores the results.
//! Sizes that vary between calls of a compiled function (`history`) are recorded as variables (`symbolic`).

mod cache;
mod compile;
mod create;
mod element;
mod emit;
mod engine;
mod flush;
mod history;
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
mod pure;
mod random;
mod shape;
mod site;
mod symbolic;
mod tensor;
mod trace;
pub mod zoo;

pub use base::{Config, Error, ErrorKind, Numerics, Result};
pub use compile::{CompiledFn, compile};
pub use element::{Element, Nested};
pub use flush::eval_all;
pub use graph::{HostTensor, Module};
pub use io::{load_npy, load_npz, load_safetensors, read_npy, save_npy, save_npz, save_safetensors, write_npy};
pub use mode::{Mode, Scoped, set_config, set_mode};
pub use ops::{cat, einsum, meshgrid, stack, where_};
pub use param::Param;
pub use promote::{Number, Operand};
pub use pure::{PureFn, compile_pure};
pub use random::{Generator, manual_seed};
pub use scalar::{DType, Scalar, Sym};
pub use shape::{Dims, Index, IntoIndex, IntoShape, IntoSym, NewAxis};
pub use tensor::Tensor;
pub use trace::{ArgSpec, trace};
