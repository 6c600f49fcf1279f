//! Choices that are already made.

use graph::{NodeId, Op, Region};
use scalar::{DType, ScalarOp as S};

use super::Cx;

super::rules! { select_of_constant, select_of_same, select_of_not, select_of_bools, constant_if }

/// A constant condition.
fn select_of_constant(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Map(S::Select) = op else { return None };
    Some(if cx.splat(args[0])?.is_true() { args[1] } else { args[2] })
}

/// Both choices are one value.
fn select_of_same(_: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Map(S::Select) = op else { return None };
    (args[1] == args[2]).then_some(args[1])
}

/// `!c ? a : b` is `c ? b : a`.
fn select_of_not(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Map(S::Select) = op else { return None };
    let Op::Map(S::Not) = cx.op(args[0]) else { return None };
    let condition = cx.args(args[0])[0];
    cx.make(op.clone(), &[condition, args[2], args[1]])
}

/// `c ? true : false` is c, and `c ? false : true` is `!c`.
fn select_of_bools(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Map(S::Select) = op else { return None };
    if cx.dtype(args[1]) != DType::Bool {
        return None;
    }
    match (cx.splat(args[1])?.is_true(), cx.splat(args[2])?.is_true()) {
        (true, false) => Some(args[0]),
        (false, true) => cx.make(Op::Map(S::Not), &[args[0]]),
        _ => None,
    }
}

/// An `If` whose condition is known is the body taken.
fn constant_if(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (index, region, operands) = match op {
        Op::Result(i) => (*i as usize, cx.op(args[0]).clone(), cx.args(args[0]).to_vec()),
        Op::Region(Region::If { then, .. }) if then.outputs.len() == 1 => (0, op.clone(), args.to_vec()),
        _ => return None,
    };
    let Op::Region(Region::If { then, other }) = region else { return None };
    let body = if cx.scalar(operands[0])?.is_true() { then } else { other };
    cx.inline(&body, &operands[1..])?.get(index).copied()
}
