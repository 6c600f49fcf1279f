//! CUDA spellings of dtypes, constants and scalar ops.

use base::Numerics;
use scalar::{Combiner, DType, Scalar, ScalarOp};

/// Type of a value in registers.
pub(crate) fn register(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::I8 => "signed char",
        DType::U8 => "unsigned char",
        DType::I16 => "short",
        DType::U16 => "unsigned short",
        DType::I32 => "int",
        DType::U32 => "u32",
        DType::I64 => "i64",
        DType::U64 => "u64",
        DType::F8E4M3 | DType::F8E5M2 | DType::F16 | DType::BF16 | DType::F32 => "float",
        DType::F64 => "double",
    }
}

/// Type of a value in memory.
pub(crate) fn stored(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "b8",
        DType::F8E4M3 => "f8e4m3",
        DType::F8E5M2 => "f8e5m2",
        DType::F16 => "f16",
        DType::BF16 => "bf16",
        other => register(other),
    }
}

/// A constant of its dtype's register type.
pub(crate) fn constant(c: Scalar) -> String {
    let dtype = c.dtype();
    match dtype {
        DType::Bool => c.is_true().to_string(),
        DType::F64 if c.as_f64().is_finite() => format!("{:?}", c.as_f64()),
        DType::F64 => format!("__longlong_as_double({:#x}ll)", c.bits()),
        d if d.is_float() => {
            let x = c.as_f64() as f32;
            if x.is_finite() { format!("{x:?}f") } else { format!("__int_as_float({:#x})", x.to_bits()) }
        }
        DType::U64 => format!("{}ull", c.bits()),
        DType::I64 => format!("(i64){:#x}ull", c.bits()),
        _ => format!("({}){}", register(dtype), c.as_i64()),
    }
}

/// The state of a combiner over elements of a dtype.
pub(crate) fn state(combiner: Combiner, dtype: DType) -> String {
    let name = match combiner {
        Combiner::Sum => "Sum",
        Combiner::Prod => "Prod",
        Combiner::Max => "Max",
        Combiner::Min => "Min",
        Combiner::Any => "Any",
        Combiner::All => "All",
        Combiner::ArgMax => "ArgMax",
        Combiner::ArgMin => "ArgMin",
        Combiner::Welford => "Welford",
        Combiner::MaxSum => "MaxSum",
        Combiner::Affine => "Affine",
    };
    format!("{name}<{}>", register(combiner.state_dtype(dtype)))
}

/// Rounds a register expression to a dtype that is narrower than its register.
pub(crate) fn round(dtype: DType, text: String) -> String {
    match dtype {
        DType::F8E4M3 => format!("round_f8e4m3({text})"),
        DType::F8E5M2 => format!("round_f8e5m2({text})"),
        DType::F16 => format!("round_f16({text})"),
        DType::BF16 => format!("round_bf16({text})"),
        _ => text,
    }
}

/// An op on register expressions; `dtype` is that of the last operand.
pub(crate) fn op(op: ScalarOp, dtype: DType, result: DType, args: &[String], numerics: Numerics) -> String {
    let low = matches!(result, DType::F16 | DType::BF16);
    if op == ScalarOp::Tanh && low && numerics == Numerics::Wide {
        return format!("tanh_low({})", args[0]);
    }
    let text = expression(op, dtype, result, args);
    let exact =
        matches!(op, ScalarOp::Cast(_) | ScalarOp::Select | ScalarOp::Max | ScalarOp::Min | ScalarOp::Neg | ScalarOp::Abs);
    let rounds = low && !exact && numerics == Numerics::Eager;
    if rounds { round(result, text) } else { text }
}

fn expression(op: ScalarOp, dtype: DType, result: DType, args: &[String]) -> String {
    use ScalarOp as S;
    let a = args[0].as_str();
    let b = args.get(1).map_or("", String::as_str);
    match op {
        S::Select => return format!("({a} ? {b} : {})", args[2]),
        S::Cast(to) => return cast(dtype, to, a),
        S::Bitcast(to) => return bitcast(dtype, to, a),
        S::Philox(stream) => return format!("philox((u64){a}, (u64){b}, {stream}u)"),
        S::Fma => return format!("s_fma({a}, {b}, {})", args[2]),
        S::IsNan => return format!("is_nan({a})"),
        S::IsInf => return format!("is_inf({a})"),
        S::Lt => return format!("({a} < {b})"),
        S::Le => return format!("({a} <= {b})"),
        S::Gt => return format!("({a} > {b})"),
        S::Ge => return format!("({a} >= {b})"),
        S::Eq => return format!("({a} == {b})"),
        S::Ne => return format!("({a} != {b})"),
        _ => {}
    }
    if dtype == DType::Bool {
        return match op {
            S::Not => format!("(!{a})"),
            S::Add | S::Or | S::Max => format!("({a} | {b})"),
            S::Mul | S::And | S::Min => format!("({a} & {b})"),
            _ => format!("({a} ^ {b})"),
        };
    }
    let float = dtype.is_float();
    let ty = register(result);
    let unsigned = if result.size() == 8 { "u64" } else { "u32" };
    let wrapped = |sign: &str| format!("({ty})(({unsigned}){a} {sign} ({unsigned}){b})");
    let infix = |sign: &str| if float { format!("({a} {sign} {b})") } else { wrapped(sign) };
    match op {
        S::Add => infix("+"),
        S::Sub => infix("-"),
        S::Mul => infix("*"),
        S::And => format!("({ty})({a} & {b})"),
        S::Or => format!("({ty})({a} | {b})"),
        S::Xor => format!("({ty})({a} ^ {b})"),
        S::Not => format!("({ty})(~{a})"),
        S::Neg if float => format!("(-{a})"),
        S::Neg => format!("({ty})(0 - ({unsigned}){a})"),
        _ => format!("s_{}({})", op.name(), args.join(", ")),
    }
}

fn cast(from: DType, to: DType, a: &str) -> String {
    let ty = register(to);
    match (from, to) {
        (f, t) if f == t => a.to_owned(),
        (_, DType::Bool) => format!("({a} != 0)"),
        (f, t) if f.is_float() && t.is_int() => format!("to_int<{ty}>((double){a})"),
        (_, low) if low.is_low() => round(to, format!("(float){a}")),
        _ => format!("({ty}){a}"),
    }
}

fn bitcast(from: DType, to: DType, a: &str) -> String {
    let bits = match from {
        low if low.is_low() => format!("Down<{}>::of({a}).b", stored(from)),
        DType::F32 => format!("__float_as_uint({a})"),
        DType::F64 => format!("(u64)__double_as_longlong({a})"),
        _ => a.to_owned(),
    };
    match to {
        DType::F16 | DType::BF16 => format!("up({}{{(unsigned short)({bits})}})", stored(to)),
        DType::F8E4M3 | DType::F8E5M2 => format!("up({}{{(unsigned char)({bits})}})", stored(to)),
        DType::F32 => format!("__uint_as_float((u32)({bits}))"),
        DType::F64 => format!("__longlong_as_double((i64)({bits}))"),
        _ => format!("({})({bits})", register(to)),
    }
}
