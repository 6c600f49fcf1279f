//! Every row of the scalar table, against written values and against the f64 oracle.

use half::{bf16, f16};
use scalar::{DType, Scalar, ScalarOp as S, eval, eval_f64};

fn f(dtype: DType, v: f64) -> Scalar {
    Scalar::from_f64(dtype, v)
}

fn int(dtype: DType, v: i64) -> Scalar {
    Scalar::from_i64(dtype, v)
}

fn same(got: Scalar, want: f64) -> bool {
    got.as_f64() == want || (got.as_f64().is_nan() && want.is_nan())
}

const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];
const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

#[test]
fn exact_float_rows() {
    let unary: &[(S, f64, f64)] = &[
        (S::Neg, 1.5, -1.5),
        (S::Abs, -2.0, 2.0),
        (S::Sign, -3.0, -1.0),
        (S::Sign, 0.5, 1.0),
        (S::Sign, NAN, NAN),
        (S::Sqrt, 9.0, 3.0),
        (S::Sqrt, -1.0, NAN),
        (S::Rsqrt, 4.0, 0.5),
        (S::Rsqrt, 0.0, INF),
        (S::Recip, 8.0, 0.125),
        (S::Exp, 0.0, 1.0),
        (S::Exp, -INF, 0.0),
        (S::Exp2, 5.0, 32.0),
        (S::Expm1, 0.0, 0.0),
        (S::Log, 1.0, 0.0),
        (S::Log, -1.0, NAN),
        (S::Log, 0.0, -INF),
        (S::Log2, 8.0, 3.0),
        (S::Log1p, 0.0, 0.0),
        (S::Sin, 0.0, 0.0),
        (S::Cos, 0.0, 1.0),
        (S::Tan, 0.0, 0.0),
        (S::Asin, 2.0, NAN),
        (S::Acos, 1.0, 0.0),
        (S::Atan, 0.0, 0.0),
        (S::Sinh, 0.0, 0.0),
        (S::Cosh, 0.0, 1.0),
        (S::Asinh, 0.0, 0.0),
        (S::Acosh, 1.0, 0.0),
        (S::Acosh, -2.0, NAN),
        (S::Acosh, 0.5, NAN),
        (S::Atanh, 1.0, INF),
        (S::Tanh, INF, 1.0),
        (S::Erf, -INF, -1.0),
        (S::Sigmoid, 0.0, 0.5),
        (S::Sigmoid, -INF, 0.0),
        (S::Floor, -1.5, -2.0),
        (S::Ceil, -1.5, -1.0),
        (S::Trunc, -1.5, -1.0),
        (S::Round, 2.5, 2.0),
        (S::Round, 3.5, 4.0),
        (S::Round, -0.5, 0.0),
    ];
    let binary: &[(S, f64, f64, f64)] = &[
        (S::Add, 1.0, 2.0, 3.0),
        (S::Sub, 1.0, 2.0, -1.0),
        (S::Mul, 3.0, -2.0, -6.0),
        (S::Div, 1.0, 4.0, 0.25),
        (S::Div, 1.0, 0.0, INF),
        (S::FloorDiv, 7.0, 2.0, 3.0),
        (S::FloorDiv, -7.0, 2.0, -4.0),
        (S::FloorDiv, 1.0, 0.0, INF),
        (S::Rem, -7.0, 2.0, -1.0),
        (S::Rem, 7.0, -2.0, 1.0),
        (S::Rem, 1.0, 0.0, NAN),
        (S::Mod, -7.0, 2.0, 1.0),
        (S::Mod, 7.0, -2.0, -1.0),
        (S::Mod, 6.0, -2.0, 0.0),
        (S::Max, 1.0, NAN, NAN),
        (S::Max, NAN, 1.0, NAN),
        (S::Max, 1.0, 2.0, 2.0),
        (S::Min, NAN, 1.0, NAN),
        (S::Min, 1.0, NAN, NAN),
        (S::Min, 1.0, 2.0, 1.0),
        (S::Pow, 2.0, 3.0, 8.0),
        (S::Pow, 0.0, 0.0, 1.0),
        (S::Pow, -8.0, 0.5, NAN),
        (S::Atan2, 0.0, 1.0, 0.0),
    ];
    for d in FLOATS {
        for &(op, x, want) in unary {
            assert!(same(eval(op, &[f(d, x)]), want), "{op:?} {x} in {d}: {}", eval(op, &[f(d, x)]));
        }
        for &(op, x, y, want) in binary {
            let got = eval(op, &[f(d, x), f(d, y)]);
            assert!(same(got, want), "{op:?} {x} {y} in {d}: {got}");
        }
        assert_eq!(eval(S::Fma, &[f(d, 2.0), f(d, 3.0), f(d, 1.0)]), f(d, 7.0));
        assert_eq!(eval(S::Select, &[Scalar::bool(false), f(d, 2.0), f(d, 3.0)]), f(d, 3.0));
        assert_eq!(eval(S::IsNan, &[f(d, NAN)]), Scalar::bool(true));
        assert_eq!(eval(S::IsInf, &[f(d, -INF)]), Scalar::bool(true));
        assert_eq!(eval(S::IsInf, &[f(d, NAN)]), Scalar::bool(false));
    }
}

#[test]
fn signed_zeros() {
    let (plus, minus) = (Scalar::f32(0.0), Scalar::f32(-0.0));
    assert_eq!(eval(S::Max, &[minus, plus]), minus);
    assert_eq!(eval(S::Min, &[plus, minus]), plus);
    assert_eq!(eval(S::Sign, &[minus]), plus);
    assert_eq!(eval(S::Round, &[Scalar::f32(-0.5)]), minus);
    assert_eq!(eval(S::FloorDiv, &[minus, Scalar::f32(2.0)]), minus);
    assert_eq!(eval(S::Rem, &[Scalar::f32(-4.0), Scalar::f32(2.0)]), minus);
}

/// Known values of the functions to 16 digits.
#[test]
#[allow(clippy::approx_constant)]
fn transcendental_values() {
    let table: &[(S, f64, f64)] = &[
        (S::Exp, 1.0, 2.718281828459045),
        (S::Exp2, 0.5, 1.4142135623730951),
        (S::Expm1, 1e-5, 1.0000050000166668e-5),
        (S::Log, 10.0, 2.302585092994046),
        (S::Log2, 10.0, 3.321928094887362),
        (S::Log1p, 1e-5, 9.999950000333332e-6),
        (S::Sin, 1.0, 0.8414709848078965),
        (S::Cos, 1.0, 0.5403023058681398),
        (S::Tan, 1.0, 1.5574077246549023),
        (S::Asin, 0.5, 0.5235987755982989),
        (S::Acos, 0.5, 1.0471975511965979),
        (S::Atan, 1.0, 0.7853981633974483),
        (S::Sinh, 1.0, 1.1752011936438014),
        (S::Cosh, 1.0, 1.5430806348152437),
        (S::Asinh, 1.0, 0.881373587019543),
        (S::Acosh, 2.0, 1.3169578969248168),
        (S::Atanh, 0.5, 0.5493061443340549),
        (S::Tanh, 1.0, 0.7615941559557649),
        (S::Erf, 0.5, 0.5204998778130465),
        (S::Sigmoid, 1.0, 0.7310585786300049),
        (S::Sigmoid, -40.0, 4.248354255291589e-18),
        (S::Rsqrt, 3.0, 0.5773502691896258),
        (S::Recip, 3.0, 0.3333333333333333),
    ];
    for &(op, x, want) in table {
        let wide = eval_f64(op, &[x]);
        assert!((wide - want).abs() <= want.abs() * 4.0 * f64::EPSILON, "{op:?} {x}: {wide}");
        assert_eq!(eval(op, &[f(DType::F64, x)]).as_f64(), wide);
        let x32 = f64::from(x as f32);
        assert_eq!(eval(op, &[Scalar::f32(x as f32)]), Scalar::f32(eval_f64(op, &[x32]) as f32), "{op:?} {x}");
        let (half, brain) = (f(DType::F16, x), f(DType::BF16, x));
        let rounded = |v: Scalar| eval_f64(op, &[v.as_f64()]) as f32;
        assert_eq!(eval(op, &[half]).bits(), u64::from(f16::from_f32(rounded(half)).to_bits()), "{op:?} {x} f16");
        assert_eq!(eval(op, &[brain]).bits(), u64::from(bf16::from_f32(rounded(brain)).to_bits()), "{op:?} {x} bf16");
    }
    assert_eq!(eval_f64(S::Pow, &[2.0, 0.5]), std::f64::consts::SQRT_2);
    assert_eq!(eval_f64(S::Atan2, &[1.0, 1.0]), std::f64::consts::FRAC_PI_4);
}

#[test]
fn float_arithmetic_rounds_once() {
    for (a, b) in [(0.1f32, 0.2f32), (1e-40, 3.0), (3.4e38, 1.1), (1.0, 3.0), (-7.5, 0.3), (16_777_216.0, 1.0)] {
        let args = [Scalar::f32(a), Scalar::f32(b)];
        assert_eq!(eval(S::Add, &args), Scalar::f32(a + b));
        assert_eq!(eval(S::Sub, &args), Scalar::f32(a - b));
        assert_eq!(eval(S::Mul, &args), Scalar::f32(a * b));
        assert_eq!(eval(S::Div, &args), Scalar::f32(a / b));
        assert_eq!(eval(S::Rem, &args), Scalar::f32(a % b));
        assert!(same(eval(S::Sqrt, &args[..1]), f64::from(a.sqrt())), "{a}");
        let (x, y) = (f16::from_f32(a), f16::from_f32(b));
        let half = [f(DType::F16, f64::from(a)), f(DType::F16, f64::from(b))];
        assert_eq!(eval(S::Mul, &half).bits(), u64::from(f16::from_f32(x.to_f32() * y.to_f32()).to_bits()));
    }
    let (a, b, c) = (1.0f32 + f32::EPSILON, 1.0 - f32::EPSILON / 2.0, -1.0f32);
    assert_eq!(eval(S::Fma, &[Scalar::f32(a), Scalar::f32(b), Scalar::f32(c)]), Scalar::f32(a.mul_add(b, c)));
    assert_ne!(a.mul_add(b, c), a * b + c);
    assert_eq!(eval(S::FloorDiv, &[Scalar::f32(1.0), Scalar::f32(0.1)]), Scalar::f32(9.0));
}

#[test]
fn integers_wrap() {
    let i8 = |v| int(DType::I8, v);
    let cases: &[(S, i64, i64, i64)] = &[
        (S::Add, 127, 1, -128),
        (S::Sub, -128, 1, 127),
        (S::Mul, 16, 16, 0),
        (S::Div, -7, 2, -3),
        (S::Div, 5, 0, 0),
        (S::Div, -128, -1, -128),
        (S::FloorDiv, -7, 2, -4),
        (S::FloorDiv, 7, -2, -4),
        (S::FloorDiv, -8, -2, 4),
        (S::FloorDiv, 1, 0, 0),
        (S::Rem, -7, 2, -1),
        (S::Rem, 7, -2, 1),
        (S::Rem, 1, 0, 0),
        (S::Mod, -7, 2, 1),
        (S::Mod, 7, -2, -1),
        (S::Mod, -6, -2, 0),
        (S::Mod, 1, 0, 0),
        (S::Max, -1, 1, 1),
        (S::Min, -1, 1, -1),
        (S::Pow, 3, 4, 81),
        (S::Pow, 2, 7, -128),
        (S::Pow, 2, -1, 0),
        (S::Pow, 0, -1, 0),
        (S::Pow, 1, -5, 1),
        (S::Pow, -1, -5, -1),
        (S::Pow, -1, -4, 1),
        (S::Pow, 5, 0, 1),
        (S::And, 6, 3, 2),
        (S::Or, 6, 3, 7),
        (S::Xor, 6, 3, 5),
        (S::Shl, 1, 7, -128),
        (S::Shl, 1, 8, 0),
        (S::Shl, 1, -1, 0),
        (S::Shr, -8, 1, -4),
        (S::Shr, -8, 99, -1),
        (S::Shr, 8, 99, 0),
    ];
    for &(op, a, b, want) in cases {
        assert_eq!(eval(op, &[i8(a), i8(b)]), i8(want), "{op:?} {a} {b}");
    }
    for (op, a, want) in [(S::Neg, -128, -128), (S::Abs, -128, -128), (S::Abs, -3, 3), (S::Sign, -9, -1), (S::Not, 5, -6)] {
        assert_eq!(eval(op, &[i8(a)]), i8(want), "{op:?} {a}");
    }
    let u64 = |v| Scalar::from_bits(DType::U64, v);
    assert_eq!(eval(S::Mul, &[u64(u64::MAX), u64(u64::MAX)]), u64(1));
    assert_eq!(eval(S::Div, &[u64(u64::MAX), u64(2)]), u64(u64::MAX / 2));
    assert_eq!(eval(S::Lt, &[u64(1), u64(u64::MAX)]), Scalar::bool(true));
    assert_eq!(eval(S::Shr, &[u64(u64::MAX), u64(63)]), u64(1));
    assert_eq!(eval(S::Neg, &[int(DType::U8, 1)]), int(DType::U8, 255));
    assert_eq!(eval(S::Div, &[Scalar::i64(i64::MIN), Scalar::i64(-1)]), Scalar::i64(i64::MIN));
    assert_eq!(eval(S::Pow, &[Scalar::i64(3), Scalar::i64(41)]), Scalar::i64(3i64.wrapping_pow(41)));
}

#[test]
fn bool_rules_and_comparisons() {
    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
        let args = [Scalar::bool(a), Scalar::bool(b)];
        let rows = [
            (S::Add, a | b),
            (S::Or, a | b),
            (S::Max, a | b),
            (S::Mul, a & b),
            (S::And, a & b),
            (S::Min, a & b),
            (S::Xor, a ^ b),
            (S::Lt, !a & b),
            (S::Le, a <= b),
            (S::Gt, a & !b),
            (S::Ge, a >= b),
            (S::Eq, a == b),
            (S::Ne, a != b),
        ];
        for (op, want) in rows {
            assert_eq!(eval(op, &args), Scalar::bool(want), "{op:?} {a} {b}");
        }
        assert_eq!(eval(S::Not, &args[..1]), Scalar::bool(!a));
    }
    for d in FLOATS.into_iter().chain([DType::I16, DType::U32, DType::I64]) {
        let args = [int(d, 1), int(d, 2)];
        let truths = [S::Lt, S::Le, S::Gt, S::Ge, S::Eq, S::Ne].map(|op| eval(op, &args).is_true());
        assert_eq!(truths, [true, true, false, false, false, true], "{d}");
    }
    let nan = [Scalar::f32(f32::NAN), Scalar::f32(f32::NAN)];
    let truths = [S::Lt, S::Le, S::Gt, S::Ge, S::Eq, S::Ne].map(|op| eval(op, &nan).is_true());
    assert_eq!(truths, [false, false, false, false, false, true]);
}

#[test]
fn casts() {
    let cast = |x: Scalar, to| eval(S::Cast(to), &[x]);
    let f32 = Scalar::f32;
    assert_eq!(cast(f32(-1.9), DType::I32), int(DType::I32, -1));
    assert_eq!(cast(f32(300.0), DType::I8), int(DType::I8, 127));
    assert_eq!(cast(f32(-5.0), DType::U16), int(DType::U16, 0));
    assert_eq!(cast(f32(f32::NAN), DType::I8), int(DType::I8, 0));
    assert_eq!(cast(f32(f32::NAN), DType::I64), Scalar::i64(0));
    assert_eq!(cast(f32(1e30), DType::U64), Scalar::from_bits(DType::U64, u64::MAX));
    assert_eq!(cast(f32(f32::NAN), DType::Bool), Scalar::bool(true));
    assert_eq!(cast(f32(-0.0), DType::Bool), Scalar::bool(false));
    assert_eq!(cast(Scalar::i64(-1), DType::U8), int(DType::U8, 255));
    assert_eq!(cast(int(DType::U8, 200), DType::I8), int(DType::I8, -56));
    assert_eq!(cast(Scalar::i64(256), DType::Bool), Scalar::bool(true));
    assert_eq!(cast(Scalar::bool(true), DType::BF16), f(DType::BF16, 1.0));
    assert_eq!(cast(Scalar::from_bits(DType::U64, u64::MAX), DType::F32), f32(18_446_744_073_709_551_615.0));
    assert_eq!(cast(Scalar::i64(16_777_217), DType::F32), f32(16_777_216.0));
    assert_eq!(cast(f32(65520.0), DType::F16), f(DType::F16, INF));
    assert_eq!(
        cast(f(DType::F64, 1.0 + 2f64.powi(-11) + 2f64.powi(-40)), DType::F16),
        f(DType::F16, 1.0),
        "through f32, as PyTorch"
    );
    assert_eq!(eval(S::Bitcast(DType::I32), &[f32(1.0)]), int(DType::I32, 0x3f80_0000));
    assert_eq!(eval(S::Bitcast(DType::F16), &[int(DType::I16, -1)]).bits(), 0xffff);
}

#[test]
fn philox_words() {
    let word = |key: i64, counter: i64, stream| eval(S::Philox(stream), &[Scalar::i64(key), Scalar::i64(counter)]);
    assert_eq!([0, 1, 2, 3].map(|i| word(0, i, 0).bits()), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
    assert_eq!(word(0, 0, 0).dtype(), DType::U32);
    assert_ne!(word(0, 0, 0), word(0, 0, 1));
    assert_ne!(word(1, 0, 0), word(1 << 32, 0, 0));
}

#[test]
fn f64_oracle_of_rows_that_are_not_floats() {
    assert_eq!(eval_f64(S::Lt, &[1.0, 2.0]), 1.0);
    assert_eq!(eval_f64(S::Select, &[0.0, 5.0, 6.0]), 6.0);
    assert_eq!(eval_f64(S::And, &[6.0, 3.0]), 2.0);
    assert_eq!(eval_f64(S::Cast(DType::I8), &[-300.7]), -128.0);
    assert_eq!(eval_f64(S::Cast(DType::F16), &[0.1]), 0.1);
    assert_eq!(eval_f64(S::IsNan, &[NAN]), 1.0);
    assert_eq!(eval_f64(S::Fma, &[2.0, 3.0, 4.0]), 10.0);
}

/// Each row evaluates on every dtype that its rule accepts, and gives the dtype that the rule promises.
#[test]
fn results_have_the_promised_dtype() {
    let rows = S::PLAIN.into_iter().chain([S::Fma, S::Cast(DType::F16), S::Bitcast(DType::I32), S::Philox(3)]);
    let mut accepted = 0;
    for op in rows {
        for d in DType::ALL {
            let mut args = vec![int(d, 1); op.arity()];
            if op == S::Select {
                args[0] = Scalar::bool(true);
            }
            let dtypes: Vec<DType> = args.iter().map(|a| a.dtype()).collect();
            if let Ok(want) = op.result(&dtypes) {
                assert_eq!(eval(op, &args).dtype(), want, "{op:?} on {d}");
                accepted += 1;
            }
        }
        assert_eq!(S::parse(&op.name()), Some(op));
    }
    assert!(accepted > 350, "{accepted}");
}
