//! Sums, products, quotients, remainders, powers.
//!
//! Of f16 and bf16, products and quotients read a second operand that is a number or a 0-d tensor in f32; the other ops
//! round it first.

use super::*;

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.add.Tensor" | "aten.add.Scalar" => |c| sum(c, S::Add, ["self", "other"]),
        "aten.sub.Tensor" | "aten.sub.Scalar" => |c| sum(c, S::Sub, ["self", "other"]),
        "aten.rsub.Scalar" | "aten.rsub.Tensor" => |c| sum(c, S::Sub, ["other", "self"]),
        "aten.mul.Tensor" | "aten.mul.Scalar" => |c| scaled(c, S::Mul),
        "aten.div.Tensor" | "aten.div.Scalar" => |c| scaled(c, S::Div),
        "aten.div.Tensor_mode" | "aten.div.Scalar_mode" => rounded_quotient,
        "aten.floor_divide.default" | "aten.floor_divide.Scalar" => floor_quotient,
        "aten.fmod.Tensor" | "aten.fmod.Scalar" => |c| remainder(c, S::Rem),
        "aten.remainder.Tensor" | "aten.remainder.Scalar" | "aten.remainder.Scalar_Tensor" => |c| remainder(c, S::Mod),
        "aten.maximum.default" => |c| plain(c, S::Max),
        "aten.minimum.default" => |c| plain(c, S::Min),
        "aten.fmax.default" => |c| extremum_of_numbers(c, S::Lt),
        "aten.fmin.default" => |c| extremum_of_numbers(c, S::Gt),
        "aten.atan2.default" => |c| plain(c, S::Atan2),
        "aten.pow.Tensor_Tensor" | "aten.pow.Scalar" => power,
        "aten.pow.Tensor_Scalar" => constant_power,
        "aten.addcmul.default" => addcmul,
        "aten.addcdiv.default" => addcdiv,
        _ => return None,
    })
}

/// Two operands, computed in the result's dtype.
fn plain(c: &mut Ctx<'_>, op: S) -> Result<Vec<NodeId>> {
    let values = values(c, ["self", "other"])?;
    let dtype = c.dtype()?;
    let args = spread(c, &values, dtype)?;
    Ok(vec![c.b.map(op, &args)?])
}

/// The second of two where the first is beyond it, NaN only if both are. Of equal zeros eager takes the first, in bf16 the second.
fn extremum_of_numbers(c: &mut Ctx<'_>, beyond: S) -> Result<Vec<NodeId>> {
    let values = values(c, ["self", "other"])?;
    let dtype = c.dtype()?;
    let [a, b] = spread(c, &values, dtype)?;
    let (a, b) = if dtype == DType::BF16 { (b, a) } else { (a, b) };
    let takes = c.b.map(beyond, &[a, b])?;
    let best = c.b.map(S::Select, &[takes, b, a])?;
    if !dtype.is_float() {
        return Ok(vec![best]);
    }
    let (no_a, no_b) = (c.b.map(S::IsNan, &[a])?, c.b.map(S::IsNan, &[b])?);
    let best = c.b.map(S::Select, &[no_b, a, best])?;
    Ok(vec![c.b.map(S::Select, &[no_a, b, best])?])
}

/// a ± alpha · b with one rounding.
fn sum(c: &mut Ctx<'_>, op: S, names: [&str; 2]) -> Result<Vec<NodeId>> {
    let values = values(c, names)?;
    let (dtype, alpha) = (c.dtype()?, c.number("alpha")?);
    let [a, b] = spread(c, &values, dtype)?;
    if alpha == Number::Int(1) || alpha == Number::Float(1.0) || alpha == Number::Bool(true) {
        return Ok(vec![c.b.map(op, &[a, b])?]);
    }
    if dtype == DType::Bool || dtype.is_int() && matches!(alpha, Number::Float(_)) {
        return Err(c.unsupported(format!("alpha {alpha:?} for {dtype}")));
    }
    if dtype.is_int() {
        let by = like(c, b, &alpha)?;
        let b = c.b.map(S::Mul, &[b, by])?;
        return Ok(vec![c.b.map(op, &[a, b])?]);
    }
    if dtype.accumulator() != dtype && !is_power_of_two(c.float("alpha")?) {
        return Err(c.unsupported(format!("alpha {alpha:?} for {dtype}: torch rounds some products and some not")));
    }
    let by = like(c, b, &alpha)?;
    let by = if op == S::Sub { c.b.map(S::Neg, &[by])? } else { by };
    Ok(vec![c.b.map(S::Fma, &[b, by, a])?])
}

/// Whether a product with it is exact.
fn is_power_of_two(x: f64) -> bool {
    x.is_normal() && x.to_bits() << 12 == 0
}

/// The dtype in which torch multiplies or divides by `other`: f32 for f16 and bf16 if `other` is one number.
fn scaling_dtype(c: &Ctx<'_>, other: &Value, dtype: DType) -> DType {
    match other {
        Value::Tensor(t) if c.rank(*t) > 0 => dtype,
        _ if dtype.is_float() => dtype.accumulator(),
        _ => dtype,
    }
}

/// `self` rounded to the dtype, and `other`, in the dtype in which torch multiplies or divides by it.
fn scaling(c: &mut Ctx<'_>, [left, right]: &[Value; 2], dtype: DType) -> Result<[NodeId; 2]> {
    let math = scaling_dtype(c, right, dtype);
    let [a] = spread(c, std::array::from_ref(left), dtype)?;
    let [b] = spread(c, std::array::from_ref(right), math)?;
    Ok([c.cast(a, math)?, b])
}

fn scaled(c: &mut Ctx<'_>, op: S) -> Result<Vec<NodeId>> {
    let values = values(c, ["self", "other"])?;
    let dtype = c.dtype()?;
    let args = scaling(c, &values, dtype)?;
    let y = c.b.map(op, &args)?;
    Ok(vec![c.cast(y, dtype)?])
}

fn rounded_quotient(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    match c.text("rounding_mode")? {
        None => scaled(c, S::Div),
        Some("floor") => floor_quotient(c),
        Some("trunc") => whole_quotient(c),
        Some(mode) => Err(c.unsupported(format!("rounding_mode {mode}"))),
    }
}

/// a / b without its fraction. A quotient of f16 or bf16 tensors is rounded first.
fn whole_quotient(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let values = values(c, ["self", "other"])?;
    let dtype = c.dtype()?;
    if !dtype.is_float() {
        return integer_quotient(c, S::Div, &values);
    }
    let args = scaling(c, &values, dtype)?;
    let quotient = c.b.map(S::Div, &args)?;
    let whole = c.b.map(S::Trunc, &[quotient])?;
    Ok(vec![c.cast(whole, dtype)?])
}

/// ⌊a / b⌋.
fn floor_quotient(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let values = values(c, ["self", "other"])?;
    let dtype = c.dtype()?;
    if !dtype.is_float() {
        return integer_quotient(c, S::FloorDiv, &values);
    }
    if scaling_dtype(c, &values[1], dtype) != dtype.accumulator() {
        return Err(c.unsupported(format!("tensors of {dtype}: torch rounds some intermediates and some not")));
    }
    let args = scaling(c, &values, dtype)?;
    let quotient = c.b.map(S::FloorDiv, &args)?;
    Ok(vec![c.cast(quotient, dtype)?])
}

/// Division by an integer that is known not to be zero, where torch would raise.
fn integer_quotient(c: &mut Ctx<'_>, op: S, values: &[Value; 2]) -> Result<Vec<NodeId>> {
    let dtype = c.dtype()?;
    let divisor = match &values[1] {
        Value::Number(Number::Int(n)) if dtype.is_int() => scalar::Scalar::from_i64(dtype, *n),
        other => return Err(c.unsupported(format!("{dtype} divided by {other:?}, which may be zero"))),
    };
    if !divisor.is_true() {
        return Err(c.unsupported("division by zero"));
    }
    let args = spread(c, values, dtype)?;
    Ok(vec![c.b.map(op, &args)?])
}

fn remainder(c: &mut Ctx<'_>, op: S) -> Result<Vec<NodeId>> {
    let values = values(c, ["self", "other"])?;
    if c.dtype()?.is_float() { plain(c, op) } else { integer_quotient(c, op, &values) }
}

/// aᵇ with a tensor exponent.
fn power(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let values = values(c, ["self", "exponent"])?;
    let dtype = c.dtype()?;
    let args = spread(c, &values, dtype)?;
    Ok(vec![c.b.map(S::Pow, &args)?])
}

/// aᵇ with a constant exponent; small whole exponents and halves are products, quotients and roots.
fn constant_power(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, exponent, dtype) = (tensor(c, "self")?, c.float("exponent")?, c.dtype()?);
    if dtype.is_int() && exponent < 0.0 {
        return Err(c.unsupported("integers to negative powers"));
    }
    let x = c.cast(x, dtype)?;
    // Of f16 torch rounds the result only, of bf16 every product.
    let math = if dtype == DType::F16 { DType::F32 } else { dtype };
    let y = c.cast(x, math)?;
    let y = match exponent {
        1.0 => y,
        2.0 => c.b.map(S::Mul, &[y, y])?,
        3.0 => {
            let square = c.b.map(S::Mul, &[y, y])?;
            c.b.map(S::Mul, &[square, y])?
        }
        -2.0 => {
            let square = c.b.map(S::Mul, &[y, y])?;
            c.b.map(S::Recip, &[square])?
        }
        // Of f16 torch raises to the half, which differs from the root at −0 and −∞.
        0.5 if dtype.is_float() && dtype != DType::F16 => c.b.map(S::Sqrt, &[x])?,
        -0.5 if dtype.is_float() && dtype != DType::F16 => c.b.map(S::Rsqrt, &[x])?,
        -1.0 => c.b.map(S::Recip, &[x])?,
        _ => {
            let number = c.number("exponent")?;
            let exponent = like(c, x, &number)?;
            c.b.map(S::Pow, &[x, exponent])?
        }
    };
    Ok(vec![c.cast(y, dtype)?])
}

/// self, tensor1 and tensor2 in the dtype of the computation, and `value · tensor1`.
fn accumulate(c: &mut Ctx<'_>) -> Result<[NodeId; 3]> {
    let values = values(c, ["self", "tensor1", "tensor2"])?;
    let (dtype, value) = (c.dtype()?, c.number("value")?);
    if dtype == DType::Bool || dtype.is_int() && !matches!(value, Number::Int(_)) {
        return Err(c.unsupported(format!("value {value:?} for {dtype}")));
    }
    let [x, a, b] = spread(c, &values, dtype.accumulator())?;
    if value == Number::Int(1) || value == Number::Float(1.0) {
        return Ok([x, a, b]);
    }
    let by = like(c, a, &value)?;
    Ok([x, c.b.map(S::Mul, &[a, by])?, b])
}

/// self + (value · tensor1) · tensor2, the sum fused with the last product.
fn addcmul(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let ([x, a, b], dtype) = (accumulate(c)?, c.dtype()?);
    let y = if dtype.is_float() {
        c.b.map(S::Fma, &[a, b, x])?
    } else {
        let product = c.b.map(S::Mul, &[a, b])?;
        c.b.map(S::Add, &[x, product])?
    };
    Ok(vec![c.cast(y, dtype)?])
}

/// self + (value · tensor1) / tensor2.
fn addcdiv(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let ([x, a, b], dtype) = (accumulate(c)?, c.dtype()?);
    if !dtype.is_float() {
        return Err(c.unsupported(format!("dtype {dtype}")));
    }
    let quotient = c.b.map(S::Div, &[a, b])?;
    let y = c.b.map(S::Add, &[x, quotient])?;
    Ok(vec![c.cast(y, dtype)?])
}
