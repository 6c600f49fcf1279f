//! Reference evaluation of scalar ops: the meaning of every row of [`ScalarOp`].
//!
//! f16 and bf16 compute in f32 and round the result, as PyTorch does. f32 transcendental functions compute in f64 and
//! round, which is correct rounding but for rare near-ties. Basic f32 and f64 arithmetic rounds once.

use crate::philox::philox;
use crate::{DType, Scalar, ScalarOp as S};

/// The value of `op` on operands whose dtypes [`ScalarOp::result`](crate::ScalarOp::result) accepts.
///
/// # Panics
/// If there are fewer operands than the arity.
pub fn eval(op: S, args: &[Scalar]) -> Scalar {
    let a = args[0];
    match op {
        S::Select => args[if a.is_true() { 1 } else { 2 }],
        S::Cast(to) => cast(a, to),
        S::Bitcast(to) => Scalar::from_bits(to, a.bits()),
        S::Philox(stream) => Scalar::from_bits(DType::U32, u64::from(philox(a.bits(), args[1].bits(), stream))),
        _ if a.dtype().is_float() => float(op, args),
        _ if a.dtype() == DType::Bool => boolean(op, a.is_true(), args.last().is_some_and(|b| b.is_true())),
        _ => integer(op, a, args[args.len() - 1]),
    }
}

/// `op` in f64 without intermediate rounding: the oracle in high precision.
///
/// Truth values are 0 and 1; casts to floats keep the value, casts to integers and bool do as [`ScalarOp::Cast`](S::Cast);
/// integer-only rows act on the operands as i64. Bit patterns have no f64 meaning: `Bitcast` gives NaN.
///
/// # Panics
/// If there are fewer operands than the arity.
pub fn eval_f64(op: S, args: &[f64]) -> f64 {
    let a = args[0];
    let b = args.get(1).copied().unwrap_or(a);
    match op {
        S::Select => args[if a != 0.0 { 1 } else { 2 }],
        S::Cast(to) if to.is_float() => a,
        S::Cast(to) => Scalar::from_f64(to, a).as_f64(),
        S::Bitcast(_) => f64::NAN,
        S::Philox(stream) => f64::from(philox(a as i64 as u64, b as i64 as u64, stream)),
        S::Fma => a.mul_add(b, args[2]),
        S::Not | S::And | S::Or | S::Xor | S::Shl | S::Shr => {
            let int = |v: f64| Scalar::from_f64(DType::I64, v);
            integer(op, int(a), int(b)).as_f64()
        }
        _ => match compare(op, a, b) {
            Some(truth) => f64::from(u8::from(truth)),
            None => f64_op(op, a, b),
        },
    }
}

fn cast(a: Scalar, to: DType) -> Scalar {
    let from = a.dtype();
    if from == to {
        return a;
    }
    match to {
        DType::Bool => Scalar::bool(a.is_true()),
        _ if to.is_low() && from.size() >= 4 && from != DType::F32 => cast(cast(a, DType::F32), to),
        DType::F32 if from == DType::U64 => Scalar::f32(a.bits() as f32),
        DType::F32 if from.is_int() => Scalar::f32(a.as_i64() as f32),
        _ if from.is_float() || to.is_float() => Scalar::from_f64(to, a.as_f64()),
        _ => Scalar::from_bits(to, a.as_i64() as u64),
    }
}

fn compare<T: PartialOrd>(op: S, a: T, b: T) -> Option<bool> {
    Some(match op {
        S::Lt => a < b,
        S::Le => a <= b,
        S::Gt => a > b,
        S::Ge => a >= b,
        S::Eq => a == b,
        S::Ne => a != b,
        _ => return None,
    })
}

fn float(op: S, args: &[Scalar]) -> Scalar {
    let dtype = args[0].dtype();
    let a = args[0].as_f64();
    let b = args.get(1).map_or(a, |b| b.as_f64());
    if let Some(truth) = compare(op, a, b) {
        return Scalar::bool(truth);
    }
    match op {
        S::IsNan => Scalar::bool(a.is_nan()),
        S::IsInf => Scalar::bool(a.is_infinite()),
        S::Fma if dtype == DType::F64 => Scalar::from_f64(dtype, a.mul_add(b, args[2].as_f64())),
        S::Fma => Scalar::from_f64(dtype, f64::from((a as f32).mul_add(b as f32, args[2].as_f64() as f32))),
        S::FloorDiv if dtype != DType::F64 => Scalar::from_f64(dtype, f64::from(floor_div_f32(a as f32, b as f32))),
        _ if dtype == DType::F64 => Scalar::from_f64(dtype, f64_op(op, a, b)),
        _ => Scalar::from_f64(dtype, f64::from(f64_op(op, a, b) as f32)),
    }
}

fn f64_op(op: S, a: f64, b: f64) -> f64 {
    match op {
        S::Neg => -a,
        S::Abs => a.abs(),
        S::Sign if a.is_nan() => a,
        S::Sign if a == 0.0 => 0.0,
        S::Sign => a.signum(),
        S::Sqrt => a.sqrt(),
        S::Rsqrt => 1.0 / a.sqrt(),
        S::Recip => 1.0 / a,
        S::Sigmoid => sigmoid(a),
        S::Floor => a.floor(),
        S::Ceil => a.ceil(),
        S::Trunc => a.trunc(),
        S::Round => a.round_ties_even(),
        S::IsNan => f64::from(u8::from(a.is_nan())),
        S::IsInf => f64::from(u8::from(a.is_infinite())),
        S::Add => a + b,
        S::Sub => a - b,
        S::Mul => a * b,
        S::Div => a / b,
        S::FloorDiv => floor_div_f64(a, b),
        S::Rem => a % b,
        S::Mod => python_mod(a, b),
        S::Max if a.is_nan() || b.is_nan() => a + b,
        S::Min if a.is_nan() || b.is_nan() => a + b,
        S::Max => {
            if a < b {
                b
            } else {
                a
            }
        }
        S::Min => {
            if b < a {
                b
            } else {
                a
            }
        }
        S::Pow => a.powf(b),
        S::Atan2 => a.atan2(b),
        _ => transcendental(op, a),
    }
}

fn transcendental(op: S, a: f64) -> f64 {
    match op {
        S::Exp => a.exp(),
        S::Exp2 => a.exp2(),
        S::Expm1 => a.exp_m1(),
        S::Log => a.ln(),
        S::Log2 => a.log2(),
        S::Log1p => a.ln_1p(),
        S::Sin => a.sin(),
        S::Cos => a.cos(),
        S::Tan => a.tan(),
        S::Asin => a.asin(),
        S::Acos => a.acos(),
        S::Atan => a.atan(),
        S::Sinh => a.sinh(),
        S::Cosh => a.cosh(),
        S::Asinh => libm::asinh(a),
        S::Acosh if a < 1.0 => f64::NAN,
        S::Acosh => libm::acosh(a),
        S::Atanh => libm::atanh(a),
        S::Tanh => a.tanh(),
        S::Erf => libm::erf(a),
        _ => unreachable!("{op:?} does not take floats; ScalarOp::result rejects it"),
    }
}

/// 1/(1 + e⁻ˣ) without losing small results: e⁻ˣ overflows only where the quotient is 0.
fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) }
}

fn python_mod(a: f64, b: f64) -> f64 {
    let r = a % b;
    if r != 0.0 && (b < 0.0) != (r < 0.0) { r + b } else { r }
}

/// PyTorch's `div_floor_floating`, which agrees with Python's `//`, in one precision.
macro_rules! floor_div {
    ($name:ident, $float:ty) => {
        fn $name(a: $float, b: $float) -> $float {
            if b == 0.0 {
                return a / b;
            }
            let r = a % b;
            let mut quotient = (a - r) / b;
            if r != 0.0 && (b < 0.0) != (r < 0.0) {
                quotient -= 1.0;
            }
            if quotient == 0.0 {
                return (0.0 as $float).copysign(a / b);
            }
            let floor = quotient.floor();
            if quotient - floor > 0.5 { floor + 1.0 } else { floor }
        }
    };
}
floor_div!(floor_div_f32, f32);
floor_div!(floor_div_f64, f64);

fn boolean(op: S, a: bool, b: bool) -> Scalar {
    Scalar::bool(match op {
        S::Not => !a,
        S::Add | S::Or | S::Max => a | b,
        S::Mul | S::And | S::Min => a & b,
        S::Xor => a ^ b,
        _ => compare(op, a, b).unwrap_or_else(|| unreachable!("{op:?} does not take bools; ScalarOp::result rejects it")),
    })
}

/// Integers as i128, which holds every operand and every result but a product's high half.
fn integer(op: S, x: Scalar, y: Scalar) -> Scalar {
    let dtype = x.dtype();
    let wide = |s: Scalar| if dtype == DType::U64 { i128::from(s.bits()) } else { i128::from(s.as_i64()) };
    let (a, b) = (wide(x), wide(y));
    if let Some(truth) = compare(op, a, b) {
        return Scalar::bool(truth);
    }
    let in_width = (0..8 * dtype.size() as i128).contains(&b);
    let value = match op {
        S::Neg => -a,
        S::Abs => a.abs(),
        S::Sign => a.signum(),
        S::Not => !a,
        S::Add => a + b,
        S::Sub => a - b,
        S::Mul => a.wrapping_mul(b),
        S::Div | S::FloorDiv | S::Rem | S::Mod if b == 0 => 0,
        S::Div => a / b,
        S::FloorDiv => a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0),
        S::Rem => a % b,
        S::Mod => a - b * (a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0)),
        S::Max => a.max(b),
        S::Min => a.min(b),
        S::Pow => power(a, b),
        S::And => a & b,
        S::Or => a | b,
        S::Xor => a ^ b,
        S::Shl => {
            if in_width {
                a << b
            } else {
                0
            }
        }
        S::Shr => {
            if in_width {
                a >> b
            } else {
                -i128::from(a < 0)
            }
        }
        _ => unreachable!("{op:?} does not take integers; ScalarOp::result rejects it"),
    };
    Scalar::from_bits(dtype, value as u64)
}

fn power(base: i128, mut exponent: i128) -> i128 {
    if exponent < 0 {
        return match base {
            1 => 1,
            -1 => {
                if exponent % 2 == 0 {
                    1
                } else {
                    -1
                }
            }
            _ => 0,
        };
    }
    let (mut square, mut result) = (base as u64, 1u64);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        exponent >>= 1;
    }
    i128::from(result)
}
