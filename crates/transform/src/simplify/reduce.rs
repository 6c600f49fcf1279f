//! Reductions: of nothing, of one element, of repeated elements, of reductions.

use graph::{NodeId, Op, View};
use scalar::{Combiner, Scalar, ScalarOp, Shape, Sym};
use smallvec::SmallVec;

use super::Cx;

super::rules! { reduce_of_no_axes, reduce_of_ones, reduce_of_reduce, reduce_of_expand }

/// A single-result reduction: combiner, axes, operand.
fn reduction<'o>(op: &'o Op, args: &[NodeId]) -> Option<(Combiner, &'o SmallVec<[usize; 4]>, NodeId)> {
    match op {
        Op::Reduce(c, axes) if c.info().operands == 1 && c.info().components == 1 => Some((*c, axes, args[0])),
        _ => None,
    }
}

/// A reduction over no axes is the operand. A float sum starts at 0.0, which turns −0.0 into 0.0; adding that zero keeps it so.
fn reduce_of_no_axes(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (combiner, axes, x) = reduction(op, args)?;
    if !axes.is_empty() {
        return None;
    }
    let dtype = cx.dtype(x);
    if combiner != Combiner::Sum || !dtype.is_float() {
        return Some(x);
    }
    let shape = cx.shape(x).clone();
    let zero = cx.full(Scalar::zero(dtype), &shape)?;
    cx.make(Op::Map(ScalarOp::Add), &[x, zero])
}

/// Axes of extent 1 are dropped: the reduction of one element is the element.
fn reduce_of_ones(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (combiner, axes, x) = reduction(op, args)?;
    let shape = cx.shape(x).clone();
    let drop: SmallVec<[usize; 4]> = axes.iter().copied().filter(|&a| shape[a].is_one()).collect();
    if drop.is_empty() {
        return None;
    }
    let rest: SmallVec<[usize; 4]> = axes.iter().copied().filter(|a| !drop.contains(a)).map(|a| a - below(&drop, a)).collect();
    let squeezed = cx.view(View::Reshape(without(&shape, &drop)), x)?;
    cx.make(Op::Reduce(combiner, rest), &[squeezed])
}

/// Two reductions by one exact combiner are one. Of float extrema the first zero in row-major order stays, whatever its
/// sign, so their inner axes must follow the outer ones.
fn reduce_of_reduce(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (combiner, outer, y) = reduction(op, args)?;
    let (inner_combiner, inner, x) = reduction(cx.op(y), cx.args(y)).map(|(c, a, x)| (c, a.clone(), x))?;
    let exact = combiner.info().exact || !cx.dtype(x).is_float();
    if combiner != inner_combiner || !exact {
        return None;
    }
    let rank = cx.shape(x).len();
    let left: Vec<usize> = (0..rank).filter(|a| !inner.contains(a)).collect();
    let outer: SmallVec<[usize; 4]> = outer.iter().map(|&a| left[a]).collect();
    if cx.dtype(x).is_float() && outer.last() > inner.first() {
        return None;
    }
    let mut axes: SmallVec<[usize; 4]> = inner.into_iter().chain(outer).collect();
    axes.sort_unstable();
    cx.make(Op::Reduce(combiner, axes), &[x])
}

/// The greatest of equal elements is any of them; likewise least, any and all. There must be one.
fn reduce_of_expand(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (combiner @ (Combiner::Max | Combiner::Min | Combiner::Any | Combiner::All), axes, y) = reduction(op, args)? else {
        return None;
    };
    let Op::View(View::Expand(full)) = cx.op(y).clone() else { return None };
    let x = cx.args(y)[0];
    let narrow = cx.shape(x).clone();
    let repeated = |a: usize| narrow[a].is_one() && !full[a].is_one() && cx.at_least(&full[a], 1);
    let undo: Vec<usize> = axes.iter().copied().filter(|&a| repeated(a)).collect();
    if undo.is_empty() {
        return None;
    }
    let mut shape = full;
    for a in undo {
        shape[a] = Sym::ONE;
    }
    let y = cx.view(View::Expand(shape), x)?;
    cx.make(Op::Reduce(combiner, axes.clone()), &[y])
}

/// How many of `axes` are below `a`.
fn below(axes: &[usize], a: usize) -> usize {
    axes.iter().filter(|&&x| x < a).count()
}

/// The shape without some axes.
fn without(shape: &Shape, axes: &[usize]) -> Shape {
    shape.iter().enumerate().filter(|(i, _)| !axes.contains(i)).map(|(_, s)| s.clone()).collect()
}
