//! Conversions that change nothing.

use graph::{NodeId, Op};
use scalar::{DType, ScalarOp as S};

use super::Cx;

super::rules! { cast_to_same, cast_round_trip, bitcast_to_same, bitcast_of_bitcast }

/// A cast to the operand's own dtype.
fn cast_to_same(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let &Op::Map(S::Cast(to)) = op else { return None };
    (cx.dtype(args[0]) == to).then_some(args[0])
}

/// A cast to a dtype that holds every value, and back.
fn cast_round_trip(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let &Op::Map(S::Cast(to)) = op else { return None };
    let &Op::Map(S::Cast(via)) = cx.op(args[0]) else { return None };
    let x = cx.args(args[0])[0];
    (cx.dtype(x) == to && holds(via, to)).then_some(x)
}

/// A bitcast to the operand's own dtype.
fn bitcast_to_same(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let &Op::Map(S::Bitcast(to)) = op else { return None };
    (cx.dtype(args[0]) == to).then_some(args[0])
}

/// Of two bitcasts only the last matters; bool normalises its bits and stays.
fn bitcast_of_bitcast(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Map(S::Bitcast(_)) = op else { return None };
    let &Op::Map(S::Bitcast(via)) = cx.op(args[0]) else { return None };
    let x = cx.args(args[0])[0];
    (via != DType::Bool).then(|| cx.make(op.clone(), &[x]))?
}

/// Whether `wide` represents every value of `narrow` exactly.
fn holds(wide: DType, narrow: DType) -> bool {
    match (wide.is_float(), narrow.is_float()) {
        _ if narrow == DType::Bool => true,
        _ if wide == DType::Bool => false,
        (true, true) => wide.size() > narrow.size() || wide == narrow,
        (true, false) => wide.significand().is_some_and(|bits| value_bits(narrow) <= bits as usize),
        (false, true) => false,
        (false, false) => value_bits(wide) >= value_bits(narrow) && (wide.is_signed() || !narrow.is_signed()),
    }
}

/// Bits of magnitude of an integer dtype.
fn value_bits(d: DType) -> usize {
    8 * d.size() - usize::from(d.is_signed())
}
