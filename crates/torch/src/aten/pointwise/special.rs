//! Functions of two numbers that are several rows.

use scalar::Scalar;

use super::*;

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.copysign.Tensor" | "aten.copysign.Scalar" => copysign,
        "aten.nextafter.default" => nextafter,
        "aten.hypot.default" => hypot,
        "aten.xlogy.Tensor" | "aten.xlogy.Scalar_Self" | "aten.xlogy.Scalar_Other" => |c| times_log(c, S::Log),
        "aten.special_xlog1py.default" | "aten.special_xlog1py.self_scalar" | "aten.special_xlog1py.other_scalar" => {
            |c| times_log(c, S::Log1p)
        }
        "aten.logit.default" => logit,
        "aten.round.decimals" => round_decimals,
        _ => return None,
    })
}

/// The signed integers of a float's size.
pub(super) fn bits_of(dtype: DType) -> DType {
    match dtype.size() {
        2 => DType::I16,
        4 => DType::I32,
        _ => DType::I64,
    }
}

/// An integer in the shape of `x`.
fn pattern(c: &mut Ctx<'_>, x: NodeId, bits: i64) -> Result<NodeId> {
    like(c, x, &Number::Int(bits))
}

/// The magnitude of a with the sign of b.
fn signed(c: &mut Ctx<'_>, a: NodeId, b: NodeId) -> Result<NodeId> {
    let dtype = c.b.dtype(a);
    let bits = bits_of(dtype);
    let sign = i64::MIN >> (64 - 8 * dtype.size());
    let (a, b) = (c.b.map(S::Bitcast(bits), &[a])?, c.b.map(S::Bitcast(bits), &[b])?);
    let (magnitude, sign) = (pattern(c, a, !sign)?, pattern(c, b, sign)?);
    let (a, b) = (c.b.map(S::And, &[a, magnitude])?, c.b.map(S::And, &[b, sign])?);
    let both = c.b.map(S::Or, &[a, b])?;
    c.b.map(S::Bitcast(dtype), &[both])
}

fn copysign(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let values = values(c, ["self", "other"])?;
    let dtype = c.dtype()?;
    let [a, b] = spread(c, &values, dtype)?;
    Ok(vec![signed(c, a, b)?])
}

/// The next float from a towards b.
fn nextafter(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let values = values(c, ["self", "other"])?;
    let dtype = c.dtype()?;
    let [a, b] = spread(c, &values, dtype)?;
    let (rising, positive) = (c.b.map(S::Lt, &[a, b])?, with(c, S::Gt, a, 0.0)?);
    let outwards = c.b.map(S::Eq, &[rising, positive])?;
    let at = c.b.map(S::Bitcast(bits_of(dtype)), &[a])?;
    let (one, minus_one) = (pattern(c, at, 1)?, pattern(c, at, -1)?);
    let step = c.b.map(S::Select, &[outwards, one, minus_one])?;
    let moved = c.b.map(S::Add, &[at, step])?;
    let moved = c.b.map(S::Bitcast(dtype), &[moved])?;
    let least = c.b.map(S::Bitcast(dtype), &[one])?;
    let least = signed(c, least, b)?;
    let at_zero = with(c, S::Eq, a, 0.0)?;
    let moved = c.b.map(S::Select, &[at_zero, least, moved])?;
    let same = c.b.map(S::Eq, &[a, b])?;
    let moved = c.b.map(S::Select, &[same, b, moved])?;
    let sum = c.b.map(S::Add, &[a, b])?;
    let (no_a, no_b) = (c.b.map(S::IsNan, &[a])?, c.b.map(S::IsNan, &[b])?);
    let undefined = c.b.map(S::Or, &[no_a, no_b])?;
    Ok(vec![c.b.map(S::Select, &[undefined, sum, moved])?])
}

/// √(a² + b²) in f64, where no square of a narrower float overflows; an infinity wins over NaN.
fn hypot(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let values = values(c, ["self", "other"])?;
    let dtype = c.dtype()?;
    if dtype == DType::F64 {
        return Err(c.unsupported("squares of f64 overflow"));
    }
    let narrow = spread(c, &values, dtype)?;
    let [a, b] = [c.cast(narrow[0], DType::F64)?, c.cast(narrow[1], DType::F64)?];
    let (aa, bb) = (c.b.map(S::Mul, &[a, a])?, c.b.map(S::Mul, &[b, b])?);
    let sum = c.b.map(S::Add, &[aa, bb])?;
    let root = c.b.map(S::Sqrt, &[sum])?;
    let (inf_a, inf_b) = (c.b.map(S::IsInf, &[a])?, c.b.map(S::IsInf, &[b])?);
    let endless = c.b.map(S::Or, &[inf_a, inf_b])?;
    let infinity = float_like(c, root, f64::INFINITY)?;
    let y = c.b.map(S::Select, &[endless, infinity, root])?;
    Ok(vec![c.cast(y, dtype)?])
}

/// a · log(b), 0 where a is 0, NaN where b is NaN; the logarithm is rounded to the dtype.
fn times_log(c: &mut Ctx<'_>, log: S) -> Result<Vec<NodeId>> {
    let values = values(c, ["self", "other"])?;
    let dtype = c.dtype()?;
    let [a, b] = spread(c, &values, dtype)?;
    let log = c.b.map(log, &[b])?;
    let product = c.b.map(S::Mul, &[a, log])?;
    let (zero, nothing) = (float_like(c, a, 0.0)?, with(c, S::Eq, a, 0.0)?);
    let y = c.b.map(S::Select, &[nothing, zero, product])?;
    let undefined = c.b.map(S::IsNan, &[b])?;
    Ok(vec![c.b.map(S::Select, &[undefined, b, y])?])
}

/// ln(x / (1 − x)) with x clamped to [eps, 1 − eps].
fn logit(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, dtype) = (tensor(c, "self")?, c.dtype()?);
    if dtype.accumulator() != dtype {
        return Err(c.unsupported(format!("dtype {dtype}")));
    }
    let mut x = c.cast(x, dtype)?;
    if c.has("eps") {
        let eps = c.float("eps")?;
        let high = if dtype == DType::F64 { 1.0 - eps } else { f64::from(1.0 - eps as f32) };
        x = compose::clamp(c.b, x, Some(eps), Some(high))?;
    }
    let rest = compose::full(c.b, &c.b.shape(x).clone(), Scalar::from_i64(dtype, 1))?;
    let rest = c.b.map(S::Sub, &[rest, x])?;
    let odds = c.b.map(S::Div, &[x, rest])?;
    Ok(vec![c.b.map(S::Log, &[odds])?])
}

/// Rounds half to even at a decimal place; f16 and bf16 in f32.
fn round_decimals(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, dtype, decimals) = (tensor(c, "self")?, c.dtype()?, c.int("decimals")?);
    if !dtype.is_float() || decimals.abs() > 22 {
        return Err(c.unsupported(format!("{decimals} decimals of {dtype}")));
    }
    let x = c.cast(x, dtype.accumulator())?;
    let power = 10f64.powi(decimals.unsigned_abs() as i32);
    let (there, back) = if decimals < 0 { (S::Div, S::Mul) } else { (S::Mul, S::Div) };
    let y = with(c, there, x, power)?;
    let y = c.b.map(S::Round, &[y])?;
    let y = with(c, back, y, power)?;
    Ok(vec![c.cast(y, dtype)?])
}
