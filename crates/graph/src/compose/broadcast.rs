//! Broadcasting, dtype promotion and constants.
//!
//! Only a literal extent 1 broadcasts. Two other extents must be equal: proved from the facts, or guarded at run time.

use base::{Error, Result};
use scalar::{DType, Scalar, ScalarOp as S, Shape, Sym};

use crate::{Builder, NodeId, TensorType};

/// An error of a composite, naming the op and the operand types.
pub(crate) fn bad(b: &Builder, op: &str, args: &[NodeId], why: impl std::fmt::Display) -> Error {
    let types: Vec<String> = args.iter().map(|&a| b.graph().tensor(a).to_string()).collect();
    Error::invalid(format!("{op}({}): {why}", types.join(", ")))
}

/// Extents of operands aligned at their last axes.
///
/// # Errors
/// Extents that certainly differ and are not 1.
pub fn broadcast_shapes(b: &Builder, shapes: &[&Shape]) -> Result<Shape> {
    let rank = shapes.iter().map(|s| s.len()).max().unwrap_or(0);
    let mut out = Shape::from_elem(Sym::ONE, rank);
    for shape in shapes {
        let first = rank - shape.len();
        for (have, n) in out[first..].iter_mut().zip(*shape) {
            if n.is_one() || *have == *n {
                continue;
            }
            if !have.is_one() && (have.as_int().is_some() && n.as_int().is_some() || certainly_differ(b, have, n)) {
                return Err(Error::invalid(format!(
                    "broadcast: extents {have} and {n} of shapes {} differ and neither is 1",
                    list(shapes)
                )));
            }
            if have.is_one() || n.as_int().is_some() {
                *have = n.clone();
            }
        }
    }
    Ok(out)
}

fn certainly_differ(b: &Builder, x: &Sym, y: &Sym) -> bool {
    b.facts().proves_lt(x, y) || b.facts().proves_lt(y, x)
}

fn list(shapes: &[&Shape]) -> String {
    let one = |s: &&Shape| format!("[{}]", s.iter().map(Sym::to_string).collect::<Vec<_>>().join(", "));
    shapes.iter().map(one).collect::<Vec<_>>().join(" and ")
}

/// A view of `x` with the given extents: leading axes are added and literal extents 1 repeated.
///
/// # Errors
/// A lower rank, or extents that differ.
pub fn broadcast_to(b: &mut Builder, x: NodeId, shape: &Shape) -> Result<NodeId> {
    let from = b.shape(x).clone();
    if from == *shape {
        return Ok(x);
    }
    if from.len() > shape.len() {
        let why = format!("cannot broadcast to the lower rank {}", shape.len());
        return Err(bad(b, "broadcast_to", &[x], why));
    }
    let mut aligned = Shape::from_elem(Sym::ONE, shape.len() - from.len());
    aligned.extend(from.iter().cloned());
    let x = reshape_if(b, x, &aligned)?;
    if aligned == *shape { Ok(x) } else { b.expand(x, shape) }
}

/// Reshape that makes no node when nothing changes.
///
/// # Errors
/// Another number of elements.
pub fn reshape_if(b: &mut Builder, x: NodeId, shape: &Shape) -> Result<NodeId> {
    if b.shape(x) == shape { Ok(x) } else { b.reshape(x, shape) }
}

/// Views of all operands with their common broadcast shape.
///
/// # Errors
/// Shapes that do not broadcast.
pub fn broadcast_all(b: &mut Builder, args: &[NodeId]) -> Result<Vec<NodeId>> {
    let shapes: Vec<&Shape> = args.iter().map(|&a| b.shape(a)).collect();
    let shape = broadcast_shapes(b, &shapes).map_err(|e| bad(b, "broadcast", args, e.message()))?;
    args.iter().map(|&a| broadcast_to(b, a, &shape)).collect()
}

fn category(d: DType) -> u8 {
    match d {
        DType::Bool => 0,
        d if d.is_int() => 1,
        _ => 2,
    }
}

/// PyTorch's result dtype: operands promote pairwise, but a 0-d operand only lifts the category (bool, integer, float),
/// never the width, of operands with axes.
pub fn promote(types: &[&TensorType]) -> DType {
    let of = |zero_d: bool| types.iter().filter(|t| t.shape.is_empty() == zero_d).map(|t| t.dtype).reduce(DType::promote);
    promote_groups([of(false), of(true)])
}

/// The dtype of groups of operands, those that count most first: a later group only lifts the category. f32 for nothing.
pub fn promote_groups(groups: impl IntoIterator<Item = Option<DType>>) -> DType {
    let lifted = |d: DType, next: DType| if category(next) > category(d) { d.promote(next) } else { d };
    groups.into_iter().flatten().reduce(lifted).unwrap_or(DType::F32)
}

/// Converts; no node when the dtype is right.
///
/// # Errors
/// Never for a tensor node.
pub fn cast(b: &mut Builder, x: NodeId, dtype: DType) -> Result<NodeId> {
    if b.dtype(x) == dtype { Ok(x) } else { b.map(S::Cast(dtype), &[x]) }
}

/// Pointwise op of operands with PyTorch's promotion and broadcasting.
///
/// # Errors
/// Shapes that do not broadcast, or a dtype that the op does not take.
pub fn binary(b: &mut Builder, op: S, x: NodeId, y: NodeId) -> Result<NodeId> {
    let dtype = promote(&[b.graph().tensor(x), b.graph().tensor(y)]);
    let (x, y) = (cast(b, x, dtype)?, cast(b, y, dtype)?);
    let args = broadcast_all(b, &[x, y])?;
    b.map(op, &args)
}

/// x / y in floating point: integers become f32 first, as PyTorch's `/`.
///
/// # Errors
/// As [`binary`].
pub fn true_div(b: &mut Builder, x: NodeId, y: NodeId) -> Result<NodeId> {
    let dtype = promote(&[b.graph().tensor(x), b.graph().tensor(y)]);
    let dtype = if dtype.is_float() { dtype } else { DType::F32 };
    let (x, y) = (cast(b, x, dtype)?, cast(b, y, dtype)?);
    binary(b, S::Div, x, y)
}

/// A tensor filled with one value.
///
/// # Errors
/// A negative extent.
pub fn full(b: &mut Builder, shape: &Shape, value: Scalar) -> Result<NodeId> {
    let c = b.constant(value)?;
    broadcast_to(b, c, shape)
}

/// `value` in the shape and dtype of `x`.
///
/// # Errors
/// Never for a tensor node.
pub fn scalar_like(b: &mut Builder, x: NodeId, value: f64) -> Result<NodeId> {
    let shape = b.shape(x).clone();
    full(b, &shape, Scalar::from_f64(b.dtype(x), value))
}

/// `op(x, value)` with the value in x's dtype.
///
/// # Errors
/// A dtype that the op does not take.
pub fn with_scalar(b: &mut Builder, op: S, x: NodeId, value: f64) -> Result<NodeId> {
    let c = scalar_like(b, x, value)?;
    b.map(op, &[x, c])
}

/// `op(value, x)` with the value in x's dtype.
///
/// # Errors
/// A dtype that the op does not take.
pub fn scalar_with(b: &mut Builder, op: S, value: f64, x: NodeId) -> Result<NodeId> {
    let c = scalar_like(b, x, value)?;
    b.map(op, &[c, x])
}

/// `condition ? x : y` with broadcasting and promotion of x and y; a condition that is not bool is compared with 0.
///
/// # Errors
/// Shapes that do not broadcast.
pub fn where_(b: &mut Builder, condition: NodeId, x: NodeId, y: NodeId) -> Result<NodeId> {
    let dtype = promote(&[b.graph().tensor(x), b.graph().tensor(y)]);
    let (c, x, y) = (cast(b, condition, DType::Bool)?, cast(b, x, dtype)?, cast(b, y, dtype)?);
    let args = broadcast_all(b, &[c, x, y])?;
    b.map(S::Select, &args)
}

/// min(max(x, lo), hi) with the bounds in x's dtype; NaN stays NaN, and `hi` wins where `lo > hi`.
///
/// # Errors
/// Never for a tensor node.
pub fn clamp(b: &mut Builder, x: NodeId, lo: Option<f64>, hi: Option<f64>) -> Result<NodeId> {
    let x = match lo {
        Some(v) => with_scalar(b, S::Max, x, v)?,
        None => x,
    };
    match hi {
        Some(v) => with_scalar(b, S::Min, x, v),
        None => Ok(x),
    }
}

/// `x` in the dtype in which composites compute (f32 for f16 and bf16), and the dtype to return to.
pub(crate) fn upcast(b: &mut Builder, x: NodeId) -> Result<(NodeId, DType)> {
    let dtype = b.dtype(x);
    Ok((cast(b, x, dtype.accumulator())?, dtype))
}

/// Runs a float composite in f32 where the operand is f16 or bf16.
pub(crate) fn in_f32(b: &mut Builder, x: NodeId, f: impl FnOnce(&mut Builder, NodeId) -> Result<NodeId>) -> Result<NodeId> {
    let (wide, dtype) = upcast(b, x)?;
    let y = f(b, wide)?;
    cast(b, y, dtype)
}

/// Product of extents as a 0-d value of a float dtype.
pub(crate) fn count(b: &mut Builder, extents: &[Sym], dtype: DType) -> Result<NodeId> {
    let n = Sym::product(extents);
    match n.as_int() {
        Some(n) => b.constant(Scalar::from_i64(dtype, n)),
        None => {
            let n = b.sym(n)?;
            cast(b, n, dtype)
        }
    }
}

/// A per-channel vector `[C]` as a view that broadcasts against `rank` axes with the channel at `axis`.
pub(crate) fn per_channel(b: &mut Builder, v: NodeId, axis: usize, rank: usize) -> Result<NodeId> {
    let mut shape = Shape::from_elem(Sym::ONE, rank);
    match b.shape(v).as_slice() {
        [n] => shape[axis] = n.clone(),
        _ => return Err(bad(b, "per-channel parameter", &[v], "needs one axis")),
    }
    reshape_if(b, v, &shape)
}
