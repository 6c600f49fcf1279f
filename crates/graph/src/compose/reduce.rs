//! Reductions and scans over chosen axes.
//!
//! Axes are ascending; an empty list reduces nothing. `keepdims` leaves extents 1 in their place.

use base::Result;
use scalar::{Combiner, DType, Scalar, ScalarOp as S, Shape, Sym};

use super::broadcast::{bad, binary, cast, count, in_f32, scalar_like, upcast, with_scalar};
use super::index::slice_axis;
use crate::{Builder, NodeId};

/// All axes of `x`.
pub fn all_axes(b: &Builder, x: NodeId) -> Vec<usize> {
    (0..b.shape(x).len()).collect()
}

/// Reinserts reduced axes with extent 1.
pub(crate) fn keep(b: &mut Builder, x: NodeId, axes: &[usize]) -> Result<NodeId> {
    let mut shape = b.shape(x).clone();
    for &axis in axes {
        shape.insert(axis, Sym::ONE);
    }
    if axes.is_empty() { Ok(x) } else { b.reshape(x, &shape) }
}

/// One-component reduction that keeps x's dtype.
///
/// # Errors
/// Axes out of range or not ascending, or a dtype that the combiner does not take.
pub fn reduce(b: &mut Builder, c: Combiner, x: NodeId, axes: &[usize], keepdims: bool) -> Result<NodeId> {
    let node = b.reduce(c, &[x], axes)?;
    let y = b.result(node, 0)?;
    if keepdims { keep(b, y, axes) } else { Ok(y) }
}

/// bool and integers become i64, as PyTorch's sum and product.
fn summable(b: &mut Builder, x: NodeId) -> Result<NodeId> {
    if b.dtype(x).is_float() { Ok(x) } else { cast(b, x, DType::I64) }
}

/// Σ x; bool and integers give i64.
///
/// # Errors
/// As [`reduce`].
pub fn sum(b: &mut Builder, x: NodeId, axes: &[usize], keepdims: bool) -> Result<NodeId> {
    let x = summable(b, x)?;
    reduce(b, Combiner::Sum, x, axes, keepdims)
}

/// Π x; bool and integers give i64.
///
/// # Errors
/// As [`reduce`].
pub fn prod(b: &mut Builder, x: NodeId, axes: &[usize], keepdims: bool) -> Result<NodeId> {
    let x = summable(b, x)?;
    reduce(b, Combiner::Prod, x, axes, keepdims)
}

/// Greatest; NaN wins.
///
/// # Errors
/// As [`reduce`].
pub fn max(b: &mut Builder, x: NodeId, axes: &[usize], keepdims: bool) -> Result<NodeId> {
    reduce(b, Combiner::Max, x, axes, keepdims)
}

/// Least; NaN wins.
///
/// # Errors
/// As [`reduce`].
pub fn min(b: &mut Builder, x: NodeId, axes: &[usize], keepdims: bool) -> Result<NodeId> {
    reduce(b, Combiner::Min, x, axes, keepdims)
}

/// Whether some element is not 0.
///
/// # Errors
/// As [`reduce`].
pub fn any(b: &mut Builder, x: NodeId, axes: &[usize], keepdims: bool) -> Result<NodeId> {
    let x = cast(b, x, DType::Bool)?;
    reduce(b, Combiner::Any, x, axes, keepdims)
}

/// Whether no element is 0.
///
/// # Errors
/// As [`reduce`].
pub fn all(b: &mut Builder, x: NodeId, axes: &[usize], keepdims: bool) -> Result<NodeId> {
    let x = cast(b, x, DType::Bool)?;
    reduce(b, Combiner::All, x, axes, keepdims)
}

fn arg(b: &mut Builder, c: Combiner, x: NodeId, axis: usize, keepdims: bool, last: bool) -> Result<NodeId> {
    let n = b.shape(x).get(axis).cloned().ok_or_else(|| bad(b, c.info().name, &[x], format!("axis {axis} is out of range")))?;
    let x = if last { b.flip(x, &[axis])? } else { x };
    let node = b.reduce(c, &[x], &[axis])?;
    let mut index = b.result(node, 1)?;
    if last {
        let end = b.sym(n - 1)?;
        index = binary(b, S::Sub, end, index)?;
    }
    if keepdims { keep(b, index, &[axis]) } else { Ok(index) }
}

/// i64 position of the greatest element along an axis: the first, or with `last` the last, of equal ones.
///
/// # Errors
/// An axis out of range.
pub fn argmax(b: &mut Builder, x: NodeId, axis: usize, keepdims: bool, last: bool) -> Result<NodeId> {
    arg(b, Combiner::ArgMax, x, axis, keepdims, last)
}

/// i64 position of the least element along an axis; ties as in [`argmax`].
///
/// # Errors
/// An axis out of range.
pub fn argmin(b: &mut Builder, x: NodeId, axis: usize, keepdims: bool, last: bool) -> Result<NodeId> {
    arg(b, Combiner::ArgMin, x, axis, keepdims, last)
}

fn extents(b: &Builder, x: NodeId, axes: &[usize]) -> Vec<Sym> {
    axes.iter().filter_map(|&a| b.shape(x).get(a).cloned()).collect()
}

/// Σ x / n; f16 and bf16 are summed and divided in f32.
///
/// # Errors
/// As [`reduce`], and a dtype that is not a float.
pub fn mean(b: &mut Builder, x: NodeId, axes: &[usize], keepdims: bool) -> Result<NodeId> {
    if !b.dtype(x).is_float() {
        return Err(bad(b, "mean", &[x], "needs a float; cast first"));
    }
    let extents = extents(b, x, axes);
    in_f32(b, x, |b, x| {
        let total = reduce(b, Combiner::Sum, x, axes, keepdims)?;
        let n = count(b, &extents, b.dtype(x))?;
        binary(b, S::Div, total, n)
    })
}

/// Σ (x − mean)² / max(n − correction, 0): the mean first, then squared deviations, so nothing cancels. Computed in f32
/// for f16 and bf16. `correction` 1 is the unbiased estimate.
///
/// # Errors
/// As [`mean`].
pub fn var(b: &mut Builder, x: NodeId, axes: &[usize], correction: i64, keepdims: bool) -> Result<NodeId> {
    let extents = extents(b, x, axes);
    in_f32(b, x, |b, x| {
        let m = mean(b, x, axes, true)?;
        let d = binary(b, S::Sub, x, m)?;
        let squares = b.map(S::Mul, &[d, d])?;
        let total = reduce(b, Combiner::Sum, squares, axes, keepdims)?;
        let n = count(b, &extents, b.dtype(x))?;
        let n = with_scalar(b, S::Sub, n, correction as f64)?;
        let n = with_scalar(b, S::Max, n, 0.0)?;
        binary(b, S::Div, total, n)
    })
}

/// eˣ / Σ eˣ along an axis, by eˣ⁻ᵐ with the maximum m; in f32 for f16 and bf16. A row of only −∞ gives NaN, as PyTorch.
///
/// # Errors
/// As [`reduce`].
pub fn softmax(b: &mut Builder, x: NodeId, axis: usize) -> Result<NodeId> {
    in_f32(b, x, |b, x| {
        let (_, e, total) = shifted(b, x, axis)?;
        binary(b, S::Div, e, total)
    })
}

/// x − m − ln Σ eˣ⁻ᵐ along an axis, with the maximum m; in f32 for f16 and bf16.
///
/// # Errors
/// As [`reduce`].
pub fn log_softmax(b: &mut Builder, x: NodeId, axis: usize) -> Result<NodeId> {
    in_f32(b, x, |b, x| {
        let (d, _, total) = shifted(b, x, axis)?;
        let log = b.map(S::Log, &[total])?;
        binary(b, S::Sub, d, log)
    })
}

/// (x − m, eˣ⁻ᵐ, Σ eˣ⁻ᵐ with the axis kept).
fn shifted(b: &mut Builder, x: NodeId, axis: usize) -> Result<(NodeId, NodeId, NodeId)> {
    let m = max(b, x, &[axis], true)?;
    let d = binary(b, S::Sub, x, m)?;
    let e = b.map(S::Exp, &[d])?;
    let total = sum(b, e, &[axis], true)?;
    Ok((d, e, total))
}

/// ln Σ eˣ over axes: m + ln Σ eˣ⁻ᵐ, where an infinite maximum m counts as 0; in f32 for f16 and bf16.
///
/// # Errors
/// As [`reduce`].
pub fn logsumexp(b: &mut Builder, x: NodeId, axes: &[usize], keepdims: bool) -> Result<NodeId> {
    in_f32(b, x, |b, x| {
        let m = max(b, x, axes, true)?;
        let infinite = b.map(S::IsInf, &[m])?;
        let zero = scalar_like(b, m, 0.0)?;
        let m = b.map(S::Select, &[infinite, zero, m])?;
        let d = binary(b, S::Sub, x, m)?;
        let e = b.map(S::Exp, &[d])?;
        let total = sum(b, e, axes, true)?;
        let log = b.map(S::Log, &[total])?;
        let y = b.map(S::Add, &[log, m])?;
        if keepdims { Ok(y) } else { drop_axes(b, y, axes) }
    })
}

/// Removes axes of extent 1.
pub(crate) fn drop_axes(b: &mut Builder, x: NodeId, axes: &[usize]) -> Result<NodeId> {
    let kept: Shape = b.shape(x).iter().enumerate().filter(|(i, _)| !axes.contains(i)).map(|(_, n)| n.clone()).collect();
    if axes.is_empty() { Ok(x) } else { b.reshape(x, &kept) }
}

/// How a running sum or product runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Running {
    /// Leave the element itself out.
    pub exclusive: bool,
    /// From the end to the start.
    pub reverse: bool,
}

fn running(b: &mut Builder, c: Combiner, x: NodeId, axis: usize, how: Running) -> Result<NodeId> {
    let x = if how.reverse { b.flip(x, &[axis])? } else { x };
    let mut y = b.scan(c, &[x], axis)?;
    if how.exclusive {
        let start = Scalar::from_i64(b.dtype(y), i64::from(c == Combiner::Prod));
        let rank = b.shape(y).len();
        let lo: Vec<i64> = (0..rank).map(|i| i64::from(i == axis)).collect();
        let n = b.shape(y)[axis].clone();
        let padded = b.pad(y, lo, vec![0i64; rank], &vec![0; rank], start)?;
        y = slice_axis(b, padded, axis, &Sym::ZERO, &n, 1)?;
    }
    if how.reverse { b.flip(y, &[axis]) } else { Ok(y) }
}

/// Running sum along an axis; bool and integers give i64.
///
/// # Errors
/// An axis out of range.
pub fn cumsum(b: &mut Builder, x: NodeId, axis: usize, how: Running) -> Result<NodeId> {
    let x = summable(b, x)?;
    running(b, Combiner::Sum, x, axis, how)
}

/// Running product along an axis; bool and integers give i64.
///
/// # Errors
/// An axis out of range.
pub fn cumprod(b: &mut Builder, x: NodeId, axis: usize, how: Running) -> Result<NodeId> {
    let x = summable(b, x)?;
    running(b, Combiner::Prod, x, axis, how)
}

/// Norm over axes: Σ|x| for `p` 1, √Σx² for `p` 2, in f32 for f16 and bf16.
///
/// # Errors
/// Another `p`, or as [`reduce`].
pub fn vector_norm(b: &mut Builder, x: NodeId, p: i64, axes: &[usize], keepdims: bool) -> Result<NodeId> {
    let (wide, dtype) = upcast(b, x)?;
    let y = match p {
        1 => {
            let a = b.map(S::Abs, &[wide])?;
            sum(b, a, axes, keepdims)?
        }
        2 => {
            let squares = b.map(S::Mul, &[wide, wide])?;
            let total = sum(b, squares, axes, keepdims)?;
            b.map(S::Sqrt, &[total])?
        }
        _ => return Err(bad(b, "norm", &[x], format!("p = {p} is not 1 or 2"))),
    };
    cast(b, y, dtype)
}
