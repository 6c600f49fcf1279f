//! Comparisons, choices, bounds, truth and bits.

use scalar::Scalar;

use super::*;

const COMPARISONS: &[(&str, S)] =
    &[("aten.eq", S::Eq), ("aten.ge", S::Ge), ("aten.gt", S::Gt), ("aten.le", S::Le), ("aten.lt", S::Lt), ("aten.ne", S::Ne)];

const BITS: &[(&str, S)] = &[
    ("aten.bitwise_and", S::And),
    ("aten.bitwise_or", S::Or),
    ("aten.bitwise_xor", S::Xor),
    ("aten.bitwise_left_shift", S::Shl),
    ("aten.bitwise_right_shift", S::Shr),
    ("aten.__lshift__", S::Shl),
    ("aten.__rshift__", S::Shr),
];

const TRUTH: &[(&str, S)] = &[("aten.logical_and", S::And), ("aten.logical_or", S::Or), ("aten.logical_xor", S::Xor)];

/// The op without its overload.
fn packet(target: &str) -> &str {
    target.rsplit_once('.').map_or(target, |(packet, _)| packet)
}

pub(super) fn lookup(target: &str) -> Option<Lower> {
    let packet = packet(target);
    Some(match target {
        _ if row(COMPARISONS, packet).is_some() => compare,
        _ if row(BITS, packet).is_some() => bits,
        _ if row(TRUTH, packet).is_some() => truth,
        "aten.logical_not.default" => negation,
        "aten.where.self" | "aten.where.ScalarOther" | "aten.where.ScalarSelf" | "aten.where.Scalar" => select,
        "aten.relu.default" => |c| bounded(c, Some(Bound::Number(Number::Int(0))), None),
        "aten.hardtanh.default" => |c| clamp(c, "min_val", "max_val"),
        "aten.clamp.default" | "aten.clamp.Tensor" => |c| clamp(c, "min", "max"),
        "aten.clamp_min.default" | "aten.clamp_min.Tensor" => |c| clamp(c, "min", ""),
        "aten.clamp_max.default" | "aten.clamp_max.Tensor" => |c| clamp(c, "", "max"),
        "aten.isnan.default" => |c| float_test(c, S::IsNan),
        "aten.isinf.default" => |c| float_test(c, S::IsInf),
        "aten.signbit.default" => signbit,
        _ => return None,
    })
}

/// Two operands, compared in their common dtype.
fn compare(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let op = row(COMPARISONS, packet(c.target())).ok_or_else(|| c.unsupported("no row"))?;
    let values = values(c, ["self", "other"])?;
    let dtype = result_type(c, &values);
    let args = spread(c, &values, dtype)?;
    Ok(vec![c.b.map(op, &args)?])
}

fn bits(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let op = row(BITS, packet(c.target())).ok_or_else(|| c.unsupported("no row"))?;
    let values = values(c, ["self", "other"])?;
    let dtype = c.dtype()?;
    let args = spread(c, &values, dtype)?;
    Ok(vec![c.b.map(op, &args)?])
}

fn truth(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let op = row(TRUTH, packet(c.target())).ok_or_else(|| c.unsupported("no row"))?;
    let values = values(c, ["self", "other"])?;
    let args = spread(c, &values, DType::Bool)?;
    Ok(vec![c.b.map(op, &args)?])
}

fn negation(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let x = tensor(c, "self")?;
    let x = c.cast(x, DType::Bool)?;
    Ok(vec![c.b.map(S::Not, &[x])?])
}

fn select(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (shape, dtype) = (c.shape()?, c.dtype()?);
    let condition = c.tensor("condition")?;
    let condition = c.cast(condition, DType::Bool)?;
    let condition = c.expand(condition, &shape)?;
    let values = [value(c, "self")?, value(c, "other")?];
    let [a, b] = spread(c, &values, dtype)?;
    Ok(vec![c.b.map(S::Select, &[condition, a, b])?])
}

/// A limit of a clamp.
enum Bound {
    Tensor(NodeId),
    Number(Number),
}

fn bound(c: &Ctx<'_>, name: &str) -> Result<Option<Bound>> {
    if !c.has(name) {
        return Ok(None);
    }
    Ok(Some(match values(c, [name])? {
        [Value::Tensor(x)] => Bound::Tensor(x),
        [Value::Number(n)] => Bound::Number(n),
    }))
}

fn clamp(c: &mut Ctx<'_>, low: &str, high: &str) -> Result<Vec<NodeId>> {
    let (low, high) = (bound(c, low)?, bound(c, high)?);
    bounded(c, low, high)
}

/// min(max(x, low), high). A number replaces `x` only where `x` is beyond it, so zeros keep their sign and NaN stays; two
/// numbers of which one is NaN give NaN. Of tensors, NaN wins.
fn bounded(c: &mut Ctx<'_>, low: Option<Bound>, high: Option<Bound>) -> Result<Vec<NodeId>> {
    let (x, dtype) = (tensor(c, "self")?, c.dtype()?);
    let [mut x] = spread(c, &[Value::Tensor(x)], dtype)?;
    if let (Some(Bound::Number(a)), Some(Bound::Number(b))) = (&low, &high)
        && (is_nan(a) || is_nan(b))
    {
        return Ok(vec![float_like(c, x, f64::NAN)?]);
    }
    for (beyond, nearer, bound) in [(S::Lt, S::Max, low), (S::Gt, S::Min, high)] {
        x = match bound {
            None => x,
            Some(Bound::Tensor(t)) => {
                let [limit] = spread(c, &[Value::Tensor(t)], dtype)?;
                c.b.map(nearer, &[x, limit])?
            }
            Some(Bound::Number(n)) if fits(&n, dtype) => {
                let limit = like(c, x, &n)?;
                let outside = c.b.map(beyond, &[x, limit])?;
                c.b.map(S::Select, &[outside, limit, x])?
            }
            Some(Bound::Number(n)) => return Err(c.unsupported(format!("bound {n:?} is no {dtype}"))),
        };
    }
    Ok(vec![x])
}

fn is_nan(number: &Number) -> bool {
    matches!(number, Number::Float(v) if v.is_nan())
}

/// Whether torch converts the number to the dtype without a complaint of overflow. What a single NaN does differs by version.
fn fits(number: &Number, dtype: DType) -> bool {
    match number {
        Number::Bool(_) => true,
        Number::Int(n) if dtype.is_int() => Scalar::from_i64(dtype, *n).as_i64() == *n,
        Number::Int(n) => dtype != DType::F16 || n.unsigned_abs() <= 65504,
        Number::Float(v) if dtype.is_float() => v.is_infinite() || dtype.largest().is_some_and(|most| v.abs() <= most),
        Number::Sym(_) => dtype == DType::I64 || dtype.is_float() && dtype != DType::F16,
        Number::Float(_) => false,
    }
}

/// A question that only floats can answer with yes.
fn float_test(c: &mut Ctx<'_>, op: S) -> Result<Vec<NodeId>> {
    let x = tensor(c, "self")?;
    if c.b.dtype(x).is_float() { Ok(vec![c.b.map(op, &[x])?]) } else { never(c) }
}

fn never(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let shape = c.shape()?;
    Ok(vec![compose::full(c.b, &shape, Scalar::bool(false))?])
}

fn signbit(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let x = tensor(c, "self")?;
    let dtype = c.b.dtype(x);
    if !dtype.is_float() && !dtype.is_signed() || dtype == DType::Bool {
        return never(c);
    }
    let x = if dtype.is_float() { c.b.map(S::Bitcast(bits_of(dtype)), &[x])? } else { x };
    Ok(vec![with(c, S::Lt, x, 0.0)?])
}
