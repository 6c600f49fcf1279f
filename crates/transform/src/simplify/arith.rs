//! Scalar arithmetic: identities, idempotence, powers.

use graph::{NodeId, Op};
use scalar::{DType, Scalar, ScalarOp as S};

use super::Cx;

super::rules! { order_operands, neutral_right, annihilator, same_operands, difference_of_same, double_inverse, abs_of_abs, abs_of_neg,
extremum_again, nested_bounds, reassociate_integers, divide_by_power_of_two, power_one, power_two, compare_same, not_of_compare }

/// Operands of a commutative op: constants last, else by id.
fn order_operands(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Map(s) = op else { return None };
    // The sign of max(−0.0, 0.0) may depend on the order, so float extrema keep theirs.
    if !s.is_commutative() || (matches!(s, S::Max | S::Min) && cx.dtype(args[0]).is_float()) {
        return None;
    }
    let key = |id: NodeId| (cx.uniform(id).is_some(), id);
    (key(args[0]) > key(args[1])).then(|| cx.make(op.clone(), &[args[1], args[0]]))?
}

/// `x + 0` (integers), `x + −0.0`, `x − 0`, `x · 1`, `x / 1`, `x | 0`, `x & ~0`, `x << 0`.
fn neutral_right(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (s, x, c) = with_constant(cx, op, args)?;
    let d = c.dtype();
    let zero = Scalar::zero(d);
    let neutral = match s {
        S::Add if d.is_float() => Scalar::from_f64(d, -0.0),
        S::Add | S::Sub | S::Or | S::Xor | S::Shl | S::Shr => zero,
        S::Mul | S::Div => one(d),
        S::FloorDiv if d.is_int() => one(d),
        S::And => all_ones(d),
        _ => return None,
    };
    (c == neutral).then_some(x)
}

/// `x · 0` and `x & 0` are zero and `x | ~0` all ones, for integers and bool.
fn annihilator(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (s, x, c) = with_constant(cx, op, args)?;
    let d = c.dtype();
    let absorbs = match s {
        S::Mul | S::And if !d.is_float() => Scalar::zero(d),
        S::Or => all_ones(d),
        S::Add if d == DType::Bool => one(d),
        _ => return None,
    };
    let shape = cx.shape(x).clone();
    (c == absorbs).then(|| cx.full(c, &shape))?
}

/// `max(x, x)`, `min(x, x)`, `x & x`, `x | x`.
fn same_operands(_: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Map(S::Max | S::Min | S::And | S::Or) = op else { return None };
    (args[0] == args[1]).then_some(args[0])
}

/// `x − x` and `x ^ x` are zero for integers and bool.
fn difference_of_same(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Map(S::Sub | S::Xor) = op else { return None };
    let d = cx.dtype(args[0]);
    if args[0] != args[1] || d.is_float() {
        return None;
    }
    let shape = cx.shape(args[0]).clone();
    cx.full(Scalar::zero(d), &shape)
}

/// `−(−x)` and `!(!x)`.
fn double_inverse(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Map(S::Neg | S::Not) = op else { return None };
    (cx.op(args[0]) == op).then(|| cx.args(args[0])[0])
}

/// `|(|x|)|`, and likewise for ops that round to integers.
fn abs_of_abs(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Map(s @ (S::Abs | S::Floor | S::Ceil | S::Trunc | S::Round)) = op else { return None };
    let Op::Map(inner) = cx.op(args[0]) else { return None };
    let rounds = |s: &S| matches!(s, S::Floor | S::Ceil | S::Trunc | S::Round);
    (s == inner || (rounds(s) && rounds(inner))).then_some(args[0])
}

/// `|−x|`, unless −x wraps around because the dtype has no sign.
fn abs_of_neg(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Map(S::Abs) = op else { return None };
    let Op::Map(S::Neg) = cx.op(args[0]) else { return None };
    let x = cx.args(args[0])[0];
    cx.dtype(x).is_signed().then(|| cx.make(op.clone(), &[x]))?
}

/// `max(max(x, y), y)`, and min.
fn extremum_again(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Map(S::Max | S::Min) = op else { return None };
    (cx.op(args[0]) == op && cx.args(args[0])[1] == args[1]).then_some(args[0])
}

/// `max(max(x, a), b)` with constants is one `max`, and min; zeros of floats stay because their signs matter.
fn nested_bounds(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (s, inner, b) = with_constant(cx, op, args)?;
    if !matches!(s, S::Max | S::Min) || cx.op(inner) != op {
        return None;
    }
    let inner = cx.args(inner).to_vec();
    let a = cx.splat(inner[1])?;
    let plain = |c: Scalar| !c.dtype().is_float() || (c.as_f64() != 0.0 && !c.as_f64().is_nan());
    if !plain(a) || !plain(b) {
        return None;
    }
    let shape = cx.shape(inner[0]).clone();
    let bound = cx.full(scalar::eval(s, &[a, b]), &shape)?;
    cx.make(op.clone(), &[inner[0], bound])
}

/// `(x ∘ a) ∘ b` with integer constants is `x ∘ (a ∘ b)`.
fn reassociate_integers(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (s, inner, b) = with_constant(cx, op, args)?;
    if !matches!(s, S::Add | S::Mul | S::And | S::Or | S::Xor) || b.dtype().is_float() || cx.op(inner) != op {
        return None;
    }
    let inner = cx.args(inner).to_vec();
    let a = cx.splat(inner[1])?;
    let shape = cx.shape(inner[0]).clone();
    let merged = cx.full(scalar::eval(s, &[a, b]), &shape)?;
    cx.make(op.clone(), &[inner[0], merged])
}

/// `x / c` is `x · (1/c)` when both c and 1/c are normal powers of two: the same real number, rounded once.
fn divide_by_power_of_two(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (S::Div, x, c) = with_constant(cx, op, args)? else { return None };
    let d = c.dtype();
    if !d.is_float() || !is_power_of_two(c.as_f64()) {
        return None;
    }
    let inverse = Scalar::from_f64(d, 1.0 / c.as_f64());
    if !is_normal(inverse) || !is_normal(c) || 1.0 / inverse.as_f64() != c.as_f64() {
        return None;
    }
    let shape = cx.shape(x).clone();
    let inverse = cx.full(inverse, &shape)?;
    cx.make(Op::Map(S::Mul), &[x, inverse])
}

/// `x¹`.
fn power_one(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (S::Pow, x, c) = with_constant(cx, op, args)? else { return None };
    (c == one(c.dtype())).then_some(x)
}

/// `x²` is `x · x`, as PyTorch computes it.
fn power_two(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let (S::Pow, x, c) = with_constant(cx, op, args)? else { return None };
    (c == Scalar::from_i64(c.dtype(), 2)).then(|| cx.make(Op::Map(S::Mul), &[x, x]))?
}

/// `x = x`, `x ≤ x`, `x < x` … for integers and bool; NaN forbids it for floats.
fn compare_same(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Map(s @ (S::Eq | S::Ne | S::Lt | S::Le | S::Gt | S::Ge)) = op else { return None };
    if args[0] != args[1] || cx.dtype(args[0]).is_float() {
        return None;
    }
    let shape = cx.shape(args[0]).clone();
    cx.full(Scalar::bool(matches!(s, S::Eq | S::Le | S::Ge)), &shape)
}

/// The negation of a comparison is the opposite one; orders of floats are excepted because of NaN.
fn not_of_compare(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Map(S::Not) = op else { return None };
    let &Op::Map(inner) = cx.op(args[0]) else { return None };
    let operands = cx.args(args[0]).to_vec();
    let total = !cx.dtype(operands[0]).is_float();
    let opposite = match inner {
        S::Eq => S::Ne,
        S::Ne => S::Eq,
        S::Lt if total => S::Ge,
        S::Le if total => S::Gt,
        S::Gt if total => S::Le,
        S::Ge if total => S::Lt,
        _ => return None,
    };
    cx.make(Op::Map(opposite), &operands)
}

/// A binary op whose second operand is a constant: op, first operand, constant.
fn with_constant(cx: &Cx<'_>, op: &Op, args: &[NodeId]) -> Option<(S, NodeId, Scalar)> {
    match (op, args) {
        (&Op::Map(s), &[x, c]) => Some((s, x, cx.splat(c)?)),
        _ => None,
    }
}

fn one(d: DType) -> Scalar {
    Scalar::from_i64(d, 1)
}

fn all_ones(d: DType) -> Scalar {
    if d == DType::Bool { Scalar::bool(true) } else { Scalar::from_i64(d, -1) }
}

fn is_power_of_two(v: f64) -> bool {
    v.is_normal() && v.to_bits() & ((1 << 52) - 1) == 0
}

/// Neither zero, subnormal, infinite nor NaN in its own dtype.
fn is_normal(c: Scalar) -> bool {
    let least = match c.dtype() {
        DType::F16 => 2f64.powi(-14),
        DType::F64 => f64::MIN_POSITIVE,
        _ => f64::from(f32::MIN_POSITIVE),
    };
    c.as_f64().is_finite() && c.as_f64().abs() >= least
}
