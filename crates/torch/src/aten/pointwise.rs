//! Element-wise functions of one tensor, and the element-wise families.

mod activation;
mod arithmetic;
mod convert;
mod logic;
mod special;

use base::Result;
use graph::{NodeId, compose};
use scalar::{DType, ScalarOp as S, Shape};

use super::Lower;
use super::ctx::{Ctx, Number};
use super::promote::{Value, operands, result_type, value};
use special::bits_of;

pub(super) fn lookup(target: &str) -> Option<Lower> {
    let families = [unary_lookup, arithmetic::lookup, logic::lookup, special::lookup, activation::lookup, convert::lookup];
    families.iter().find_map(|family| family(target))
}

/// Functions that are one row; those of floats see integers as floats.
const ROWS: &[(&str, S)] = &[
    ("aten.abs.default", S::Abs),
    ("aten.acos.default", S::Acos),
    ("aten.acosh.default", S::Acosh),
    ("aten.asin.default", S::Asin),
    ("aten.asinh.default", S::Asinh),
    ("aten.atan.default", S::Atan),
    ("aten.atanh.default", S::Atanh),
    ("aten.bitwise_not.default", S::Not),
    ("aten.cos.default", S::Cos),
    ("aten.cosh.default", S::Cosh),
    ("aten.erf.default", S::Erf),
    ("aten.exp.default", S::Exp),
    ("aten.exp2.default", S::Exp2),
    ("aten.expm1.default", S::Expm1),
    ("aten.log.default", S::Log),
    ("aten.log1p.default", S::Log1p),
    ("aten.log2.default", S::Log2),
    ("aten.neg.default", S::Neg),
    ("aten.reciprocal.default", S::Recip),
    ("aten.rsqrt.default", S::Rsqrt),
    ("aten.sigmoid.default", S::Sigmoid),
    ("aten.sin.default", S::Sin),
    ("aten.sinh.default", S::Sinh),
    ("aten.sqrt.default", S::Sqrt),
    ("aten.tan.default", S::Tan),
    ("aten.tanh.default", S::Tanh),
];

/// Roundings, which leave integers as they are.
const ROUNDINGS: &[(&str, S)] = &[
    ("aten.ceil.default", S::Ceil),
    ("aten.floor.default", S::Floor),
    ("aten.round.default", S::Round),
    ("aten.trunc.default", S::Trunc),
];

fn unary_lookup(target: &str) -> Option<Lower> {
    Some(match target {
        _ if row(ROWS, target).is_some() => unary,
        _ if row(ROUNDINGS, target).is_some() => rounding,
        "aten.positive.default" => |c| Ok(vec![c.tensor("self")?]),
        "aten.sign.default" | "aten.sgn.default" => sign,
        "aten.frac.default" => fraction,
        "aten.log10.default" => log10,
        _ => return None,
    })
}

/// The entry of a target.
fn row<T: Copy>(rows: &[(&str, T)], target: &str) -> Option<T> {
    rows.iter().find(|r| r.0 == target).map(|r| r.1)
}

/// The entry of this node's target.
fn row_of<T: Copy>(c: &Ctx<'_>, rows: &[(&str, T)]) -> Result<T> {
    row(rows, c.target()).ok_or_else(|| c.unsupported("no row"))
}

/// One operand, computed in the result's dtype.
fn unary(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (op, x) = (row_of(c, ROWS)?, tensor(c, "self")?);
    let dtype = c.dtype()?;
    let x = c.cast(x, dtype)?;
    Ok(vec![c.b.map(op, &[x])?])
}

fn rounding(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (op, x) = (row_of(c, ROUNDINGS)?, tensor(c, "self")?);
    Ok(vec![if c.b.dtype(x).is_float() { c.b.map(op, &[x])? } else { x }])
}

/// x less its whole part: +0 for whole numbers, and for −0.
fn fraction(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let x = tensor(c, "self")?;
    let whole = c.b.map(S::Trunc, &[x])?;
    Ok(vec![c.b.map(S::Sub, &[x, whole])?])
}

/// (x > 0) − (x < 0), so NaN gives 0.
fn sign(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let x = tensor(c, "self")?;
    let dtype = c.b.dtype(x);
    if dtype == DType::Bool {
        return Ok(vec![x]);
    }
    let [above, below] = [S::Gt, S::Lt].map(|op| with(c, op, x, 0.0));
    let (above, below) = (c.cast(above?, dtype)?, c.cast(below?, dtype)?);
    Ok(vec![c.b.map(S::Sub, &[above, below])?])
}

/// ln x / ln 10 in f64, so that powers of ten come out exactly.
fn log10(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, dtype) = (tensor(c, "self")?, c.dtype()?);
    if dtype == DType::F64 {
        return Err(c.unsupported("f64 would not give whole numbers for powers of ten"));
    }
    let x = c.cast(x, dtype)?;
    let x = c.cast(x, DType::F64)?;
    let log = c.b.map(S::Log, &[x])?;
    let log = with(c, S::Mul, log, std::f64::consts::LOG10_E)?;
    Ok(vec![c.cast(log, dtype)?])
}

/// A tensor that torch has element-wise kernels for: not u16, u32 or u64, which it mostly refuses.
fn tensor(c: &Ctx<'_>, name: &str) -> Result<NodeId> {
    let x = c.tensor(name)?;
    refuse_wide_unsigned(c, c.b.dtype(x))?;
    Ok(x)
}

fn refuse_wide_unsigned(c: &Ctx<'_>, dtype: DType) -> Result<()> {
    match dtype {
        DType::U16 | DType::U32 | DType::U64 => Err(c.unsupported(format!("dtype {dtype}"))),
        _ => Ok(()),
    }
}

/// Tensors or numbers by their names.
fn values<const N: usize>(c: &Ctx<'_>, names: [&str; N]) -> Result<[Value; N]> {
    let mut found = Vec::with_capacity(N);
    for name in names {
        let value = value(c, name)?;
        if let Value::Tensor(x) = value {
            refuse_wide_unsigned(c, c.b.dtype(x))?;
        }
        found.push(value);
    }
    found.try_into().map_err(|_| c.unsupported("operands"))
}

/// Operands in one dtype and the result's shape.
fn spread<const N: usize>(c: &mut Ctx<'_>, values: &[Value; N], dtype: DType) -> Result<[NodeId; N]> {
    let nodes = operands(c, values, dtype)?;
    nodes.try_into().map_err(|_| c.unsupported("operands"))
}

/// `op(x, value)` with the value in x's dtype.
fn with(c: &mut Ctx<'_>, op: S, x: NodeId, value: f64) -> Result<NodeId> {
    compose::with_scalar(c.b, op, x, value)
}

/// A number in the shape and dtype of `x`.
fn like(c: &mut Ctx<'_>, x: NodeId, value: &Number) -> Result<NodeId> {
    let (dtype, shape): (DType, Shape) = (c.b.dtype(x), c.b.shape(x).clone());
    let constant = c.constant(value, dtype)?;
    c.expand(constant, &shape)
}

/// A float in the shape and dtype of `x`.
fn float_like(c: &mut Ctx<'_>, x: NodeId, value: f64) -> Result<NodeId> {
    compose::scalar_like(c.b, x, value)
}
