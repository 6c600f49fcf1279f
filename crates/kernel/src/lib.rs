//! One kernel: what it computes ([`Comp`]), the device it is for ([`Target`]) and what it costs ([`estimate`]).
//!
//! A [`Comp`] says, per point of a domain of named axes, what is loaded, computed and stored. Views are gone: only index
//! expressions remain. It stays symbolic in the graph's dimensions; lowering binds them.

mod comp;
mod epilogue;
mod estimate;
mod polynomial;
mod target;
mod text;
mod verify;

pub use comp::{Arg, Axis, AxisSet, Comp, Cond, Def, Store, Value, ValueId};
pub use epilogue::{Beside, Epilogue, epilogue};
pub use estimate::{Bound, Class, Estimate, Summary, blocks, estimate, op_cost};
pub use target::{Epilogues, Products, Target};
pub use verify::verify;
