//! Pointwise ops: typed loops for the common rows, the scalar table's reference evaluation for the others.

use scalar::{DType, Scalar, ScalarOp as S};

use super::value::{Data, Element, Kind, Value, kind, round, store_floats, store_ints, with_kind};

/// Evaluates `op` at every element of operands of one shape.
pub(crate) fn map(op: S, args: &[&Value], out: DType, wide: bool) -> Value {
    let data = match op {
        S::Cast(to) => cast(args[0], to, wide),
        S::Select => with_kind!(args[1].kind(), T => select::<T>(args)),
        S::Bitcast(_) | S::Philox(_) => general(op, args, out, wide),
        S::Lt | S::Le | S::Gt | S::Ge | S::Eq | S::Ne if args[0].dtype != DType::U64 => {
            with_kind!(args[0].kind(), T => compare::<T>(op, args[0], args[1]))
        }
        S::IsNan => Data::Bool(args[0].to_f64s().into_iter().map(f64::is_nan).collect()),
        S::IsInf => Data::Bool(args[0].to_f64s().into_iter().map(f64::is_infinite).collect()),
        _ => match args[0].kind() {
            Kind::Bool => general(op, args, out, wide),
            Kind::Int => ints(op, args, out).unwrap_or_else(|| general(op, args, out, wide)),
            Kind::F32 => f32s(op, args, out),
            Kind::F64 => store_floats(out, wide, f64s(op, args)),
        },
    };
    Value::dense(out, args[0].shape().to_vec(), data)
}

fn unary<T: Element, U>(a: &Value, f: impl Fn(T) -> U) -> Vec<U> {
    a.elements::<T>().iter().map(|&x| f(x)).collect()
}

fn binary<T: Element, U>(a: &Value, b: &Value, f: impl Fn(T, T) -> U) -> Vec<U> {
    a.elements::<T>().iter().zip(b.elements::<T>().iter()).map(|(&x, &y)| f(x, y)).collect()
}

fn select<T: Element>(args: &[&Value]) -> Data {
    let (c, a, b) = (args[0].elements::<bool>(), args[1].elements::<T>(), args[2].elements::<T>());
    T::wrap(c.iter().zip(a.iter().zip(b.iter())).map(|(&c, (&a, &b))| if c { a } else { b }).collect())
}

fn compare<T: Element>(op: S, a: &Value, b: &Value) -> Data {
    Data::Bool(match op {
        S::Lt => binary(a, b, |x: T, y| x < y),
        S::Le => binary(a, b, |x: T, y| x <= y),
        S::Gt => binary(a, b, |x: T, y| x > y),
        S::Ge => binary(a, b, |x: T, y| x >= y),
        S::Eq => binary(a, b, |x: T, y| x == y),
        _ => binary(a, b, |x: T, y| x != y),
    })
}

fn cast(x: &Value, to: DType, wide: bool) -> Data {
    match (x.kind(), kind(to, wide)) {
        (Kind::Bool, Kind::Bool) => Data::Bool(x.elements::<bool>().into_owned()),
        (Kind::Bool, Kind::Int) => Data::Int(unary(x, |v: bool| i64::from(v))),
        (Kind::Int, Kind::Bool) => Data::Bool(unary(x, |v: i64| v != 0)),
        (Kind::Int, Kind::Int) => store_ints(to, x.elements::<i64>().into_owned()),
        (Kind::Int, Kind::F32) if x.dtype == DType::U64 => Data::F32(unary(x, |v: i64| round(to, f64::from(v as u64 as f32)))),
        (Kind::Int, Kind::F32) => Data::F32(unary(x, |v: i64| round(to, f64::from(v as f32)))),
        (Kind::F32, Kind::F32) if to == DType::F32 => Data::F32(x.elements::<f32>().into_owned()),
        (Kind::F32 | Kind::F64, Kind::Bool) => Data::Bool(x.to_f64s().into_iter().map(|v| v != 0.0).collect()),
        (Kind::F32 | Kind::F64, Kind::Int) => {
            Data::Int(x.to_f64s().into_iter().map(|v| Scalar::from_f64(to, v).as_i64()).collect())
        }
        (_, _) => store_floats(to, wide, x.to_f64s()),
    }
}

/// Wrapping integer arithmetic; `None` for rows that the scalar table evaluates.
fn ints(op: S, args: &[&Value], out: DType) -> Option<Data> {
    let a = args[0];
    let b = *args.last()?;
    let values = match op {
        S::Neg => unary(a, i64::wrapping_neg),
        S::Add => binary(a, b, i64::wrapping_add),
        S::Sub => binary(a, b, i64::wrapping_sub),
        S::Mul => binary(a, b, i64::wrapping_mul),
        S::And => binary(a, b, |x: i64, y| x & y),
        S::Or => binary(a, b, |x: i64, y| x | y),
        S::Xor => binary(a, b, |x: i64, y| x ^ y),
        S::Max if out != DType::U64 => binary(a, b, i64::max),
        S::Min if out != DType::U64 => binary(a, b, i64::min),
        _ => return None,
    };
    Some(store_ints(out, values))
}

/// f32, f16 and bf16: rows with one correctly rounded result run in f32, the others in f64 and round to f32; half types
/// round once more.
fn f32s(op: S, args: &[&Value], out: DType) -> Data {
    let a = args[0];
    let b = args[args.len() - 1];
    let values = match op {
        S::Neg => unary(a, |x: f32| -x),
        S::Abs => unary(a, f32::abs),
        S::Sqrt => unary(a, f32::sqrt),
        S::Recip => unary(a, |x: f32| 1.0 / x),
        S::Floor => unary(a, f32::floor),
        S::Ceil => unary(a, f32::ceil),
        S::Trunc => unary(a, f32::trunc),
        S::Round => unary(a, f32::round_ties_even),
        S::Add => binary(a, b, |x: f32, y| x + y),
        S::Sub => binary(a, b, |x: f32, y| x - y),
        S::Mul => binary(a, b, |x: f32, y| x * y),
        S::Div => binary(a, b, |x: f32, y| x / y),
        S::Max => binary(a, b, |x: f32, y| {
            if x.is_nan() || y.is_nan() {
                x + y
            } else if x < y {
                y
            } else {
                x
            }
        }),
        S::Min => binary(a, b, |x: f32, y| {
            if x.is_nan() || y.is_nan() {
                x + y
            } else if y < x {
                y
            } else {
                x
            }
        }),
        S::Fma | S::FloorDiv => return general(op, args, out, false),
        _ => return Data::F32(f64s(op, args).into_iter().map(|v| round(out, v)).collect()),
    };
    match out {
        DType::F32 => Data::F32(values),
        _ => Data::F32(values.into_iter().map(|v| round(out, f64::from(v))).collect()),
    }
}

/// Float rows in f64.
fn f64s(op: S, args: &[&Value]) -> Vec<f64> {
    let columns: Vec<Vec<f64>> = args.iter().map(|a| a.to_f64s()).collect();
    match &columns[..] {
        [a] => a.iter().map(|&x| scalar::eval_f64(op, &[x])).collect(),
        [a, b] => match op {
            S::Add => a.iter().zip(b).map(|(x, y)| x + y).collect(),
            S::Sub => a.iter().zip(b).map(|(x, y)| x - y).collect(),
            S::Mul => a.iter().zip(b).map(|(x, y)| x * y).collect(),
            _ => a.iter().zip(b).map(|(&x, &y)| scalar::eval_f64(op, &[x, y])).collect(),
        },
        _ => (0..columns[0].len()).map(|i| scalar::eval_f64(op, &[columns[0][i], columns[1][i], columns[2][i]])).collect(),
    }
}

/// The scalar table's reference evaluation, element by element.
fn general(op: S, args: &[&Value], out: DType, wide: bool) -> Data {
    let columns: Vec<Vec<Scalar>> = args.iter().map(|a| scalars(a)).collect();
    let mut point = Vec::with_capacity(columns.len());
    let results = (0..args[0].len()).map(|i| {
        point.clear();
        point.extend(columns.iter().map(|c| c[i]));
        scalar::eval(op, &point)
    });
    with_kind!(kind(out, wide), T => T::wrap(results.map(T::from_scalar).collect()))
}

/// Elements as scalars of the value's dtype, row-major.
pub(crate) fn scalars(x: &Value) -> Vec<Scalar> {
    with_kind!(x.kind(), T => unary(x, |v: T| v.to_scalar(x.dtype)))
}
