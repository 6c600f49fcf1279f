//! Views and concatenation: composition, identities, and slices that fall inside one part.

use graph::{NodeId, Op, View};
use scalar::{Shape, Sym};
use smallvec::SmallVec;

use super::Cx;

super::rules! { reshape_identity, reshape_of_reshape, permute_identity, permute_of_permute, permute_of_ones, expand_identity,
expand_of_expand, slice_identity, slice_unit_step, slice_of_slice, slice_of_expand, slice_of_concat, slice_of_pad, flip_trivial,
flip_of_flip, pad_by_nothing, pad_of_pad, concat_of_one, concat_of_nothing, concat_of_concat, concat_of_slices }

/// The view of an op, and its operand.
fn view<'o>(op: &'o Op, args: &[NodeId]) -> Option<(&'o View, NodeId)> {
    if let Op::View(v) = op { Some((v, args[0])) } else { None }
}

/// The view that computes a value, and that view's operand.
fn viewed(cx: &Cx<'_>, id: NodeId) -> Option<(View, NodeId)> {
    view(cx.op(id), cx.args(id)).map(|(v, x)| (v.clone(), x))
}

/// A reshape to the operand's own shape.
fn reshape_identity(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (View::Reshape(shape), x) = view(op, args)? else { return None };
    cx.same_shape(shape, cx.shape(x)).then_some(x)
}

/// Of two reshapes only the last matters.
fn reshape_of_reshape(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (View::Reshape(_), x) = view(op, args)? else { return None };
    let (View::Reshape(_), inner) = viewed(cx, x)? else { return None };
    cx.make(op.clone(), &[inner])
}

/// A permutation that moves nothing.
fn permute_identity(_: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (View::Permute(perm), x) = view(op, args)? else { return None };
    perm.iter().enumerate().all(|(i, &p)| i == p).then_some(x)
}

/// Two permutations are one.
fn permute_of_permute(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (View::Permute(outer), x) = view(op, args)? else { return None };
    let (View::Permute(inner), x) = viewed(cx, x)? else { return None };
    let both = outer.iter().map(|&p| inner[p]).collect();
    cx.view(View::Permute(both), x)
}

/// A permutation that only moves axes of extent 1 is a reshape.
fn permute_of_ones(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (View::Permute(perm), x) = view(op, args)? else { return None };
    let shape = cx.shape(x).clone();
    let kept = perm.iter().filter(|&&p| !shape[p].is_one());
    if !kept.is_sorted() {
        return None;
    }
    let moved: Shape = perm.iter().map(|&p| shape[p].clone()).collect();
    cx.view(View::Reshape(moved), x)
}

/// An expansion to the operand's own shape.
fn expand_identity(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (View::Expand(shape), x) = view(op, args)? else { return None };
    cx.same_shape(shape, cx.shape(x)).then_some(x)
}

/// Of two expansions only the last matters.
fn expand_of_expand(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (View::Expand(_), x) = view(op, args)? else { return None };
    let (View::Expand(_), inner) = viewed(cx, x)? else { return None };
    cx.make(op.clone(), &[inner])
}

/// A slice of everything.
fn slice_identity(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (View::Slice { start, len, step }, x) = view(op, args)? else { return None };
    let whole = start.iter().all(|s| s.is_zero()) && step.iter().all(|&s| s == 1);
    (whole && cx.same_shape(len, cx.shape(x))).then_some(x)
}

/// The step of a slice of one element is 1.
fn slice_unit_step(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (View::Slice { start, len, step }, x) = view(op, args)? else { return None };
    let unit: SmallVec<[i64; 4]> = step.iter().zip(len).map(|(&s, n)| if n.is_one() { 1 } else { s }).collect();
    (unit != *step).then(|| cx.view(View::Slice { start: start.clone(), len: len.clone(), step: unit }, x))?
}

/// Two slices are one.
fn slice_of_slice(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (View::Slice { start, len, step }, x) = view(op, args)? else { return None };
    let (View::Slice { start: s0, step: t0, .. }, x) = viewed(cx, x)? else { return None };
    let start = (0..start.len()).map(|i| &s0[i] + &start[i] * t0[i]).collect();
    let step = (0..step.len()).map(|i| t0[i].checked_mul(step[i])).collect::<Option<_>>()?;
    cx.view(View::Slice { start, len: len.clone(), step }, x)
}

/// A slice of an expansion slices what is not expanded, and expands less.
fn slice_of_expand(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (View::Slice { start, len, step }, x) = view(op, args)? else { return None };
    let (View::Expand(full), x) = viewed(cx, x)? else { return None };
    let narrow = cx.shape(x).clone();
    let (mut at, mut keep, mut by) = (start.clone(), len.clone(), step.clone());
    for i in (0..full.len()).filter(|&i| narrow[i].is_one() && !full[i].is_one()) {
        (at[i], keep[i], by[i]) = (Sym::ZERO, Sym::ONE, 1);
    }
    let inner = cx.view(View::Slice { start: at, len: keep, step: by }, x)?;
    cx.view(View::Expand(len.clone()), inner)
}

/// A slice of a concatenation that falls inside one operand.
fn slice_of_concat(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (View::Slice { start, len, step }, x) = view(op, args)? else { return None };
    let &Op::Concat(axis) = cx.op(x) else { return None };
    let end = slice_end(&start[axis], &len[axis], step[axis]);
    let mut offset = Sym::ZERO;
    for part in cx.args(x).to_vec() {
        let next = &offset + &cx.shape(part)[axis];
        if cx.at_most(&offset, &start[axis]) && cx.at_most(&end, &next) && cx.at_least(&len[axis], 1) {
            let mut start = start.clone();
            start[axis] = &start[axis] - &offset;
            return cx.view(View::Slice { start, len: len.clone(), step: step.clone() }, part);
        }
        offset = next;
    }
    None
}

/// A slice of a padded value that touches no fill on an axis needs no padding there.
fn slice_of_pad(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (View::Slice { start, len, step }, x) = view(op, args)? else { return None };
    let (View::Pad { mut lo, mut hi, interior, value }, x) = viewed(cx, x)? else { return None };
    let shape = cx.shape(x).clone();
    let mut start = start.clone();
    let mut inside = false;
    for i in 0..shape.len() {
        let trivial = lo[i].is_zero() && hi[i].is_zero();
        let end = slice_end(&start[i], &len[i], step[i]);
        let limit = &lo[i] + &shape[i];
        if !trivial && interior[i] == 0 && cx.at_most(&lo[i], &start[i]) && cx.at_most(&end, &limit) && cx.at_least(&len[i], 1) {
            start[i] = &start[i] - &lo[i];
            (lo[i], hi[i]) = (Sym::ZERO, Sym::ZERO);
            inside = true;
        }
    }
    if !inside {
        return None;
    }
    let padded = cx.view(View::Pad { lo, hi, interior, value }, x)?;
    cx.view(View::Slice { start, len: len.clone(), step: step.clone() }, padded)
}

/// One past the last index that a slice reads.
fn slice_end(start: &Sym, len: &Sym, step: i64) -> Sym {
    start + (len - 1) * step + 1
}

/// Reversing an axis of extent 1, or no axis, changes nothing.
fn flip_trivial(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (View::Flip(axes), x) = view(op, args)? else { return None };
    let kept: SmallVec<[usize; 4]> = axes.iter().copied().filter(|&a| !cx.shape(x)[a].is_one()).collect();
    if kept.is_empty() {
        return Some(x);
    }
    (kept != *axes).then(|| cx.view(View::Flip(kept), x))?
}

/// Two reversals are one; an axis in both is not reversed.
fn flip_of_flip(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (View::Flip(outer), x) = view(op, args)? else { return None };
    let (View::Flip(inner), x) = viewed(cx, x)? else { return None };
    let rank = cx.shape(x).len();
    let once = (0..rank).filter(|a| outer.contains(a) != inner.contains(a)).collect();
    cx.view(View::Flip(once), x)
}

/// Padding by nothing; interior padding does nothing on an axis of extent 1.
fn pad_by_nothing(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (View::Pad { lo, hi, interior, .. }, x) = view(op, args)? else { return None };
    let none = lo.iter().chain(hi).all(|s| s.is_zero());
    let flat = interior.iter().zip(cx.shape(x)).all(|(&i, n)| i == 0 || n.is_one());
    (none && flat).then_some(x)
}

/// Two paddings with one fill are one, when the outer puts nothing between elements.
fn pad_of_pad(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (View::Pad { lo, hi, interior, value }, x) = view(op, args)? else { return None };
    let (View::Pad { lo: lo0, hi: hi0, interior: between, value: fill }, x) = viewed(cx, x)? else { return None };
    if *value != fill || interior.iter().any(|&i| i != 0) {
        return None;
    }
    let sum = |a: &Shape, b: &Shape| a.iter().zip(b).map(|(a, b)| a + b).collect();
    cx.view(View::Pad { lo: sum(lo, &lo0), hi: sum(hi, &hi0), interior: between, value: fill }, x)
}

/// A concatenation of one operand.
fn concat_of_one(_: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Concat(_) = op else { return None };
    (args.len() == 1).then_some(args[0])
}

/// Operands of extent 0 add nothing.
fn concat_of_nothing(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let &Op::Concat(axis) = op else { return None };
    let kept: Vec<NodeId> = args.iter().copied().filter(|&a| !cx.shape(a)[axis].is_zero()).collect();
    (!kept.is_empty() && kept.len() < args.len()).then(|| cx.make(op.clone(), &kept))?
}

/// A concatenation inside another along the same axis is spliced in.
fn concat_of_concat(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Concat(_) = op else { return None };
    let mut flat = Vec::new();
    for &a in args {
        if cx.op(a) == op { flat.extend_from_slice(cx.args(a)) } else { flat.push(a) }
    }
    (flat.len() > args.len()).then(|| cx.make(op.clone(), &flat))?
}

/// Adjacent slices of one value, joined, are one slice.
fn concat_of_slices(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let &Op::Concat(axis) = op else { return None };
    let mut joined: Vec<NodeId> = Vec::new();
    for &a in args {
        match joined.last().and_then(|&last| join_slices(cx, last, a, axis)) {
            Some(both) => *joined.last_mut().expect("a last one exists") = both,
            None => joined.push(a),
        }
    }
    (joined.len() < args.len()).then(|| cx.make(op.clone(), &joined))?
}

/// One slice for two whose ends meet along `axis` and that agree on every other.
fn join_slices(cx: &mut Cx<'_>, a: NodeId, b: NodeId, axis: usize) -> Option<NodeId> {
    let (View::Slice { start: sa, len: la, step: ta }, xa) = viewed(cx, a)? else { return None };
    let (View::Slice { start: sb, len: lb, step: tb }, xb) = viewed(cx, b)? else { return None };
    let agree = |i: usize| i == axis || (cx.equal(&sa[i], &sb[i]) && cx.equal(&la[i], &lb[i]));
    let next = &sa[axis] + &la[axis] * ta[axis];
    if xa != xb || ta != tb || !(0..sa.len()).all(agree) || !cx.equal(&next, &sb[axis]) {
        return None;
    }
    let mut len = la;
    len[axis] += &lb[axis];
    cx.view(View::Slice { start: sa, len, step: ta }, xa)
}
