//! Pointwise arithmetic.

use base::{Error, Result};
use graph::NodeId;
use graph::compose::{self, Running};
use scalar::{DType, Scalar, ScalarOp as S, Sym};

use super::{Out, one};
use crate::ctx::Ctx;
use crate::node::{Node, axis};

/// Ops of one operand that are one scalar op.
pub(super) fn unary(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let op = match n.op() {
        "Abs" => S::Abs,
        "Acos" => S::Acos,
        "Acosh" => S::Acosh,
        "Asin" => S::Asin,
        "Asinh" => S::Asinh,
        "Atan" => S::Atan,
        "Atanh" => S::Atanh,
        "BitwiseNot" | "Not" => S::Not,
        "Ceil" => S::Ceil,
        "Cos" => S::Cos,
        "Cosh" => S::Cosh,
        "Erf" => S::Erf,
        "Exp" => S::Exp,
        "Floor" => S::Floor,
        "IsNaN" => S::IsNan,
        "Log" => S::Log,
        "Neg" => S::Neg,
        "Reciprocal" => S::Recip,
        "Round" => S::Round,
        "Sigmoid" => S::Sigmoid,
        "Sign" => S::Sign,
        "Sin" => S::Sin,
        "Sinh" => S::Sinh,
        "Sqrt" => S::Sqrt,
        "Tan" => S::Tan,
        "Tanh" => S::Tanh,
        other => return Err(Error::internal(format!("no scalar op for {other}"))),
    };
    let x = ctx.node(n.input(0)?)?;
    one(ctx.un(op, x)?)
}

/// Ops of two operands that are one scalar op after broadcasting.
pub(super) fn binary(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let op = match n.op() {
        "Add" => S::Add,
        "BitwiseAnd" | "And" => S::And,
        "BitwiseOr" | "Or" => S::Or,
        "BitwiseXor" | "Xor" => S::Xor,
        "Div" => S::Div,
        "Equal" => S::Eq,
        "Greater" => S::Gt,
        "GreaterOrEqual" => S::Ge,
        "Less" => S::Lt,
        "LessOrEqual" => S::Le,
        "Mul" => S::Mul,
        "Sub" => S::Sub,
        other => return Err(Error::internal(format!("no scalar op for {other}"))),
    };
    let (a, b) = operands(ctx, n)?;
    one(ctx.bin(op, a, b)?)
}

/// Both operands; before op set 7 the attributes `broadcast` and `axis` align the second.
fn operands(ctx: &mut Ctx, n: &Node<'_>) -> Result<(NodeId, NodeId)> {
    let (a, b) = (ctx.node(n.input(0)?)?, ctx.node(n.input(1)?)?);
    if n.opset >= 7 || !n.has("axis") {
        return Ok((a, b));
    }
    let (rank, own) = (ctx.rank(a), ctx.rank(b));
    let at = axis(n.int("axis", 0), rank)?;
    let trailing = rank.checked_sub(at + own).ok_or_else(|| Error::parse(format!("axis {at} leaves no room for rank {own}")))?;
    let positions: Vec<usize> = (own..own + trailing).collect();
    Ok((a, ctx.unsqueeze(b, &positions)?))
}

/// `Max`, `Min`, `Sum`, `Mean` of any number of operands.
pub(super) fn variadic(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let op = match n.op() {
        "Max" => S::Max,
        "Min" => S::Min,
        _ => S::Add,
    };
    let parts = n.all()?.into_iter().cloned().collect::<Vec<_>>();
    let parts = parts.iter().map(|v| ctx.node(v)).collect::<Result<Vec<_>>>()?;
    let (&first, rest) = parts.split_first().ok_or_else(|| Error::parse("no operands"))?;
    let mut total = first;
    for &part in rest {
        total = ctx.bin(op, total, part)?;
    }
    one(if n.op() == "Mean" { ctx.with(S::Div, total, parts.len() as f64)? } else { total })
}

/// `Pow`; squares and cubes by a constant become products, as other runtimes compute them.
pub(super) fn pow(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let (x, dtype) = (ctx.node(n.input(0)?)?, ctx.value_dtype(n.input(0)?));
    let constant = n.input(1)?.host().filter(|h| h.len() == 1 && h.shape().len() <= ctx.rank(x)).map(|h| h.get(0).as_f64());
    if let Some(e) = constant.filter(|e| [1.0, 2.0, 3.0].contains(e)) {
        let mut product = x;
        for _ in 1..e as usize {
            product = ctx.bin(S::Mul, product, x)?;
        }
        return one(product);
    }
    let (x, e) = operands(ctx, n)?;
    let compute = if dtype.is_float() || !ctx.dtype(e).is_float() { dtype } else { DType::F64 };
    let (x, e) = (ctx.cast(x, compute)?, ctx.cast(e, compute)?);
    let power = ctx.bin(S::Pow, x, e)?;
    one(ctx.cast(power, dtype)?)
}

pub(super) fn modulo(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let (a, b) = operands(ctx, n)?;
    one(ctx.bin(if n.flag("fmod", false) { S::Rem } else { S::Mod }, a, b)?)
}

pub(super) fn bit_shift(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let op = match n.string("direction", "") {
        "LEFT" => S::Shl,
        "RIGHT" => S::Shr,
        other => return Err(Error::parse(format!("direction '{other}' is neither LEFT nor RIGHT"))),
    };
    let (a, b) = operands(ctx, n)?;
    one(ctx.bin(op, a, b)?)
}

/// `Clip`: bounds are attributes before op set 11, optional operands since; an upper bound below the lower one wins.
pub(super) fn clip(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let mut x = ctx.node(n.input(0)?)?;
    let dtype = ctx.dtype(x);
    for (i, attribute, op) in [(1, "min", S::Max), (2, "max", S::Min)] {
        let bound = match n.maybe(i) {
            Some(value) => Some(ctx.node(value)?),
            None if n.has(attribute) => Some(ctx.number_node(dtype, f64::from(n.float(attribute, 0.0)))?),
            None => None,
        };
        if let Some(bound) = bound {
            let bound = scalar_of(ctx, bound)?;
            x = ctx.bin(op, x, bound)?;
        }
    }
    one(x)
}

/// A one-element node as 0-d.
pub(super) fn scalar_of(ctx: &mut Ctx, x: NodeId) -> Result<NodeId> {
    if ctx.rank(x) == 0 { Ok(x) } else { ctx.b().reshape(x, std::iter::empty::<Sym>()) }
}

pub(super) fn is_inf(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let inf = ctx.un(S::IsInf, x)?;
    let side = match (n.flag("detect_negative", true), n.flag("detect_positive", true)) {
        (true, true) => return one(inf),
        (true, false) => ctx.with(S::Lt, x, 0.0)?,
        (false, true) => ctx.with(S::Gt, x, 0.0)?,
        (false, false) => ctx.b().constant(Scalar::bool(false))?,
    };
    one(ctx.bin(S::And, inf, side)?)
}

/// `CumSum` and `CumProd`.
pub(super) fn cumulative(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let at = ctx.number(n.input(1)?, "axis")?.as_i64();
    let at = axis(at, ctx.rank(x))?;
    let how = Running { exclusive: n.flag("exclusive", false), reverse: n.flag("reverse", false) };
    let f = if n.op() == "CumSum" { compose::cumsum } else { compose::cumprod };
    let y = f(ctx.b(), x, at, how)?;
    one(ctx.cast(y, ctx.dtype(x))?)
}
