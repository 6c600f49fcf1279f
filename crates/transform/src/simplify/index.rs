//! Gathers and writes whose positions are known.

use graph::{At, NodeId, Op, View, WriteCombine};
use scalar::{Shape, Sym};
use smallvec::SmallVec;

use super::Cx;

super::rules! { gather_of_known_index, gather_of_iota, write_of_nothing, write_of_everything, write_of_itself, write_over_write, write_over_constant,
write_at_known_start }

/// A gather at one index that is surely in range is a slice of one element, repeated.
fn gather_of_known_index(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Gather(axes) = op else { return None };
    let shape = cx.shape(args[0]).clone();
    let mut start: Shape = shape.iter().map(|_| Sym::ZERO).collect();
    let mut len = shape.clone();
    for (&axis, &index) in axes.iter().zip(&args[1..]) {
        let at = cx.symbol(cx.uniform(index)?)?;
        if !cx.at_least(&at, 0) || !cx.at_most(&(&at + 1), &shape[axis]) {
            return None;
        }
        (start[axis], len[axis]) = (at, Sym::ONE);
    }
    let out = cx.shape(*args.get(1)?).clone();
    let step = SmallVec::from_elem(1, shape.len());
    let one = cx.view(View::Slice { start, len, step }, args[0])?;
    cx.view(View::Expand(out), one)
}

/// A gather along one axis at 0, 1, 2, … is a slice.
fn gather_of_iota(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Gather(axes) = op else { return None };
    let (&[axis], &[x, index]) = (axes.as_slice(), args) else { return None };
    let (shape, out) = (cx.shape(x).clone(), cx.shape(index).clone());
    if !counts_along(cx, index, axis) || !cx.at_most(&out[axis], &shape[axis]) {
        return None;
    }
    let start = shape.iter().map(|_| Sym::ZERO).collect();
    cx.view(View::Slice { start, len: out, step: SmallVec::from_elem(1, shape.len()) }, x)
}

/// Whether a value is 0, 1, 2, … along `axis` and repeats along all others.
fn counts_along(cx: &Cx<'_>, index: NodeId, axis: usize) -> bool {
    let narrow = if let Op::View(View::Expand(_)) = cx.op(index) { cx.args(index)[0] } else { index };
    let iota = if let Op::View(View::Reshape(_)) = cx.op(narrow) { cx.args(narrow)[0] } else { narrow };
    let Op::Iota(len) = cx.op(iota) else { return false };
    let shape = cx.shape(narrow);
    let lined = shape.iter().enumerate().all(|(i, n)| if i == axis { cx.equal(n, len) } else { n.is_one() });
    lined && cx.equal(&cx.shape(index)[axis], len)
}

/// A write of nothing.
fn write_of_nothing(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    (matches!(op, Op::Write(..)) && cx.shape(args[1]).iter().any(Sym::is_zero)).then(|| args[0])
}

/// Setting every position leaves nothing of the destination.
fn write_of_everything(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Write(WriteCombine::Set, At::Slice { start, step }) = op else { return None };
    let whole = start.iter().all(|s| s.is_zero()) && step.iter().all(|&s| s == 1);
    (whole && cx.same_shape(cx.shape(args[0]), cx.shape(args[1]))).then_some(args[1])
}

/// Setting positions to what they hold.
fn write_of_itself(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Write(WriteCombine::Set, At::Slice { start, step }) = op else { return None };
    let Op::View(View::Slice { start: from, step: by, .. }) = cx.op(args[1]) else { return None };
    (cx.args(args[1])[0] == args[0] && cx.same_shape(start, from) && step == by).then_some(args[0])
}

/// Of two settings of the same positions only the last matters.
fn write_over_write(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Write(WriteCombine::Set, At::Slice { .. }) = op else { return None };
    if cx.op(args[0]) != op {
        return None;
    }
    let inner = cx.args(args[0]).to_vec();
    cx.same_shape(cx.shape(inner[1]), cx.shape(args[1])).then(|| cx.make(op.clone(), &[inner[0], args[1]]))?
}

/// Setting positions of a buffer that is one constant all over surrounds the source with the constant.
fn write_over_constant(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Write(WriteCombine::Set, At::Slice { start, step }) = op else { return None };
    let value = cx.splat(args[0])?;
    let (whole, block) = (cx.shape(args[0]).clone(), cx.shape(args[1]).clone());
    let mut hi = Shape::new();
    for (((n, len), first), &step) in whole.iter().zip(&block).zip(start).zip(step) {
        if step != 1 && !cx.at_least(len, 1) {
            return None;
        }
        let taken = (len - &Sym::ONE) * Sym::from(step) + Sym::ONE;
        hi.push(n - first - taken);
    }
    let interior = step.iter().map(|s| s - 1).collect();
    let padded = cx.view(View::Pad { lo: start.clone(), hi, interior, value }, args[1])?;
    cx.same_shape(cx.shape(padded), &whole).then_some(padded)
}

/// A run-time start that is known, and surely in range, is a slice.
fn write_at_known_start(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Write(combine, At::Dynamic { axes }) = op else { return None };
    let (whole, block) = (cx.shape(args[0]).clone(), cx.shape(args[1]).clone());
    let mut start: Shape = whole.iter().map(|_| Sym::ZERO).collect();
    for (&axis, &at) in axes.iter().zip(&args[2..]) {
        let at = cx.symbol(at)?;
        if !cx.at_least(&at, 0) || !cx.at_most(&(&at + &block[axis]), &whole[axis]) {
            return None;
        }
        start[axis] = at;
    }
    let step = SmallVec::from_elem(1, whole.len());
    cx.make(Op::Write(*combine, At::Slice { start, step }), &args[..2])
}
