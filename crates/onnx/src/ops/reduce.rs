//! Reductions.

use base::{Error, Result};
use graph::NodeId;
use scalar::{Combiner, DType, ScalarOp as S, Shape, Sym};

use super::{Out, one};
use crate::ctx::Ctx;
use crate::node::{Node, axes, axis};

/// The axes of a reduction: an attribute in old op sets, an operand since; `None` means no reduction.
fn reduced(ctx: &Ctx, n: &Node<'_>, rank: usize) -> Result<Option<Vec<usize>>> {
    let list = match (n.ints("axes"), n.maybe(1)) {
        (Some(list), _) => list.to_vec(),
        (None, Some(value)) => ctx.numbers(value, "axes")?,
        (None, None) => Vec::new(),
    };
    Ok(match list.is_empty() {
        true if n.flag("noop_with_empty_axes", false) => None,
        true => Some((0..rank).collect()),
        false => Some(axes(&list, rank)?),
    })
}

/// The `Reduce…` family.
pub(super) fn reduce(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let (dtype, shape) = (ctx.dtype(x), ctx.shape(x));
    let Some(axes) = reduced(ctx, n, shape.len())? else {
        return one(unreduced(ctx, n.op(), x)?);
    };
    let wide = dtype.accumulator();
    let x = ctx.cast(x, wide)?;
    let y = match n.op() {
        "ReduceSum" => sum(ctx, x, &axes)?,
        "ReduceMean" => mean(ctx, x, &axes)?,
        "ReduceMax" => extreme(ctx, Combiner::Max, x, &axes)?,
        "ReduceMin" => extreme(ctx, Combiner::Min, x, &axes)?,
        "ReduceProd" => ctx.b().reduce(Combiner::Prod, &[x], &axes)?,
        "ReduceL1" => {
            let a = ctx.un(S::Abs, x)?;
            sum(ctx, a, &axes)?
        }
        "ReduceL2" => l2(ctx, x, &axes)?,
        "ReduceLogSum" => {
            let s = sum(ctx, x, &axes)?;
            ctx.un(S::Log, s)?
        }
        "ReduceLogSumExp" => log_sum_exp(ctx, x, &axes)?,
        "ReduceSumSquare" => {
            let square = ctx.bin(S::Mul, x, x)?;
            sum(ctx, square, &axes)?
        }
        other => return Err(Error::internal(format!("no reduction {other}"))),
    };
    let y = ctx.cast(y, dtype)?;
    one(if n.flag("keepdims", true) { ctx.unsqueeze(y, &axes)? } else { y })
}

/// What an op does when no axis is reduced: its pointwise part.
fn unreduced(ctx: &mut Ctx, op: &str, x: NodeId) -> Result<NodeId> {
    match op {
        "ReduceL1" | "ReduceL2" => ctx.un(S::Abs, x),
        "ReduceLogSum" => ctx.un(S::Log, x),
        "ReduceSumSquare" => ctx.bin(S::Mul, x, x),
        _ => Ok(x),
    }
}

/// Σ over axes, which disappear.
pub(super) fn sum(ctx: &mut Ctx, x: NodeId, axes: &[usize]) -> Result<NodeId> {
    if axes.is_empty() { Ok(x) } else { ctx.b().reduce(Combiner::Sum, &[x], axes) }
}

/// Mean over axes, which disappear.
pub(super) fn mean(ctx: &mut Ctx, x: NodeId, axes: &[usize]) -> Result<NodeId> {
    let shape = ctx.shape(x);
    let total = sum(ctx, x, axes)?;
    let count = Sym::product(axes.iter().map(|&a| &shape[a]));
    let count = ctx.sym_node(&count, ctx.dtype(x))?;
    ctx.bin(S::Div, total, count)
}

fn extreme(ctx: &mut Ctx, combiner: Combiner, x: NodeId, axes: &[usize]) -> Result<NodeId> {
    let combiner = match (combiner, ctx.dtype(x)) {
        (Combiner::Max, DType::Bool) => Combiner::Any,
        (Combiner::Min, DType::Bool) => Combiner::All,
        (c, _) => c,
    };
    if axes.is_empty() { Ok(x) } else { ctx.b().reduce(combiner, &[x], axes) }
}

/// √Σx², in floats.
fn l2(ctx: &mut Ctx, x: NodeId, axes: &[usize]) -> Result<NodeId> {
    let square = ctx.bin(S::Mul, x, x)?;
    let total = sum(ctx, square, axes)?;
    let dtype = ctx.dtype(total);
    let float = ctx.cast(total, if dtype.is_float() { dtype } else { DType::F64 })?;
    let root = ctx.un(S::Sqrt, float)?;
    ctx.cast(root, dtype)
}

/// m + ln Σ exp(x − m), m being the greatest element where finite, else 0.
pub(super) fn log_sum_exp(ctx: &mut Ctx, x: NodeId, axes: &[usize]) -> Result<NodeId> {
    let dtype = ctx.dtype(x);
    let x = ctx.cast(x, if dtype.is_float() { dtype } else { DType::F64 })?;
    let greatest = extreme(ctx, Combiner::Max, x, axes)?;
    let infinite = ctx.un(S::IsInf, greatest)?;
    let zero = ctx.number_node(ctx.dtype(x), 0.0)?;
    let m = ctx.select(infinite, zero, greatest)?;
    let kept = ctx.unsqueeze(m, axes)?;
    let moved = ctx.bin(S::Sub, x, kept)?;
    let e = ctx.un(S::Exp, moved)?;
    let total = sum(ctx, e, axes)?;
    let l = ctx.un(S::Log, total)?;
    let y = ctx.bin(S::Add, l, m)?;
    ctx.cast(y, dtype)
}

/// `ArgMax` and `ArgMin`.
pub(super) fn arg(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let shape = ctx.shape(x);
    let at = axis(n.int("axis", 0), shape.len())?;
    let combiner = if n.op() == "ArgMax" { Combiner::ArgMax } else { Combiner::ArgMin };
    let last = n.flag("select_last_index", false);
    let x = if last { ctx.b().flip(x, &[at])? } else { x };
    let pair = ctx.b().reduce(combiner, &[x], &[at])?;
    let mut index = ctx.b().result(pair, 1)?;
    if last {
        let end = ctx.sym_node(&(&shape[at] - &Sym::ONE), DType::I64)?;
        index = ctx.bin(S::Sub, end, index)?;
    }
    one(if n.flag("keepdims", true) { ctx.unsqueeze(index, &[at])? } else { index })
}

/// Global pooling: a reduction of all spatial axes, which keep extent 1.
pub(super) fn global_pool(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let dtype = ctx.dtype(x);
    let axes: Vec<usize> = (2..ctx.rank(x)).collect();
    let x = ctx.cast(x, dtype.accumulator())?;
    let y = match n.op() {
        "GlobalMaxPool" => extreme(ctx, Combiner::Max, x, &axes)?,
        "GlobalAveragePool" => mean(ctx, x, &axes)?,
        _ => {
            let p = ctx.number_node(ctx.dtype(x), n.int("p", 2) as f64)?;
            lp(ctx, x, p, &axes)?
        }
    };
    let y = ctx.cast(y, dtype)?;
    one(ctx.unsqueeze(y, &axes)?)
}

/// (Σ|x|ᵖ)^(1/p) over axes, which disappear.
pub(super) fn lp(ctx: &mut Ctx, x: NodeId, p: NodeId, axes: &[usize]) -> Result<NodeId> {
    let a = ctx.un(S::Abs, x)?;
    let power = ctx.bin(S::Pow, a, p)?;
    let total = sum(ctx, power, axes)?;
    let inverse = ctx.un(S::Recip, p)?;
    ctx.bin(S::Pow, total, inverse)
}

/// 0, 1, 2, … along one axis of a shape, to broadcast against it.
pub(super) fn positions(ctx: &mut Ctx, shape: &Shape, at: usize) -> Result<NodeId> {
    let places = ctx.b().iota(shape[at].clone())?;
    let trailing: Vec<usize> = (1..shape.len() - at).collect();
    ctx.unsqueeze(places, &trailing)
}
