//! Text form of graphs: [`print()`] and [`parse()`] are inverse.
//!
//! ```text
//! func softmax(x: f32[n, 128], w: frozen f32[128]) -> (y) {
//!   where n >= 1
//!   guard m = n "add at model.rs:3: shapes [m] and [n]"
//!   %2 = reduce.max %0 [1] : f32[n]
//!   %3 = view.reshape %2 [n, 1] : f32[n, 1]
//!   %4 = view.expand %3 [n, 128] : f32[n, 128]
//!   %5 = sub %0, %4 : f32[n, 128]   # softmax @ model.rs:12
//!   return y = %5
//! }
//! ```
//!
//! * A value is `%` and a number or word; an input can also be read by its name. Types after `:` may be left out; given
//!   ones are checked. Names and text that are not plain words are quoted, with Rust's escapes.
//! * Input flags before the type: `frozen`, `donated`, and `later` when the input's node is not made at the head of the
//!   function but by `%7 = input x`, or never.
//! * `where` lines are facts, `guard` lines equalities to check at run time. An equality that a hand-written graph needs and
//!   does not state is added as a guard, as [`crate::Builder`] does.
//! * A comment after a node is its origin, `# op @ source`. Consecutive nodes with the same comment share one origin;
//!   otherwise a comment starts a new one. A number first, `# 3 op @ source`, gives the id explicitly. `origin 3 op @ source`
//!   lines hold table entries without nodes. Comments on lines of their own are ignored.
//! * Ops with their attributes: `const f32 1.5` (or raw bits, `const f32 0x7fc00001`), `sym n + 1`, `iota n`, `add %0, %1` and the other
//!   scalar rows, `reduce.sum %0 [0, 1]`, `scan.affine %0, %1 [1]`, `view.reshape %0 [n, 4]`, `view.permute %0 [1, 0]`,
//!   `view.expand %0 [n, 4]`, `view.slice %0 start [0] len [n] step [2]`, `view.flip %0 [0]`,
//!   `view.pad %0 lo [1] hi [1] interior [0] value 0.0`, `view.window %0 axis 1 stride 2 dilation 1 size 3`,
//!   `concat %0, %1 [0]`, `contract %0, %1 "bik,bkj->bij" acc f32`, `gather %0, %1 [0]`,
//!   `write.set.slice %0, %1 start [0] step [1]`, `write.add.dynamic %0, %1, %2 [0]`,
//!   `write.add.indices %0, %1, %2 [0] unique`, `call sort %0 {axis = 1}`, `result %2 [1]`, `materialize %0`,
//!   `if %0, %1 { func … func … }`, `loop %0, %1 carried 1 scanned 1 trip n { func … }`.

mod literal;
mod op;
mod origin;
mod parse;
mod print;
mod scan;
mod suggest;
#[cfg(test)]
mod tests;

pub use parse::{parse, parse_all};
pub(crate) use print::op_name;
pub use print::print;
pub(crate) use suggest::did_you_mean;

/// Deepest nesting of region bodies.
pub(crate) const MAX_NESTING: usize = 32;
