//! One point of a tensor program: dtypes, scalar values, the scalar op table, combiners,
//! symbolic integers and the facts known about them.
//!
//! Adding a scalar op is one row in `op` (name, arity, dtype rule), one arm in `eval`, and one test.

mod activation;
mod combiner;
mod dtype;
mod eval;
pub mod f8;
mod facts;
mod op;
mod philox;
mod sym;
mod value;

pub use activation::Activation;
pub use combiner::{Combiner, CombinerInfo};
pub use dtype::DType;
pub use eval::{eval, eval_f64};
pub use facts::Facts;
pub use op::ScalarOp;
pub use sym::{Arithmetic, Sym, Var};
pub use value::Scalar;

/// A shape: one symbolic extent per axis.
pub type Shape = smallvec::SmallVec<[Sym; 4]>;
