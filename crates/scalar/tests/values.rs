//! Dtypes and constants.

use scalar::DType::{self, BF16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
use scalar::Scalar;

#[test]
fn promotion_follows_pytorch() {
    let table = [
        (Bool, U8, U8),
        (Bool, F16, F16),
        (I8, U8, I16),
        (U8, I16, I16),
        (U8, I64, I64),
        (I32, I64, I64),
        (I64, F16, F16),
        (I64, F32, F32),
        (F16, BF16, F32),
        (F16, F32, F32),
        (BF16, F64, F64),
        (F32, F64, F64),
        (I8, U16, I32),
        (I32, U32, I64),
        (I64, U64, F32),
        (U8, U32, U32),
        (U16, I32, I32),
        (I16, U16, I32),
        (U32, I64, I64),
        (U8, U64, U64),
    ];
    for (a, b, want) in table {
        assert_eq!((a.promote(b), b.promote(a)), (want, want), "{a} with {b}");
    }
    for d in DType::ALL {
        assert_eq!(d.promote(d), d);
        assert_eq!(DType::parse(d.name()), Some(d));
        assert!(d.accumulator().size() >= d.size());
        assert!(!(d.is_float() && d.is_int()));
    }
}

#[test]
fn conversions_saturate_and_round() {
    assert_eq!(Scalar::from_f64(I8, f64::NAN), Scalar::zero(I8));
    assert_eq!(Scalar::from_f64(U32, 1e300), Scalar::from_i64(U32, i64::from(u32::MAX)));
    assert_eq!(Scalar::from_f64(I16, -1e9).as_i64(), -32768);
    assert_eq!(Scalar::from_f64(U64, -3.0).bits(), 0);
    assert_eq!(Scalar::from_f64(I32, -2.9).as_i64(), -2);
    assert_eq!(Scalar::from_f64(F16, 1e6).as_f64(), f64::INFINITY);
    assert_eq!(Scalar::from_f64(BF16, 1.0 + 1.0 / 256.0).as_f64(), 1.0);
    assert_eq!(Scalar::from_i64(U8, -1).as_i64(), 255);
    assert_eq!(Scalar::from_i64(F32, 3).as_f64(), 3.0);
    assert_eq!(Scalar::from_bits(U8, 0x1ff).bits(), 0xff);
    assert_eq!(Scalar::from_bits(U64, u64::MAX).as_f64(), 18_446_744_073_709_551_615.0);
    assert!(Scalar::f32(f32::NAN).is_true() && !Scalar::f32(-0.0).is_true());
    assert_ne!(Scalar::f32(0.0), Scalar::f32(-0.0));
    assert_eq!(Scalar::f32(f32::NAN), Scalar::f32(f32::NAN));
}

#[test]
fn display_reads_back() {
    for (s, text) in [
        (Scalar::bool(true), "true"),
        (Scalar::i64(-3), "-3"),
        (Scalar::f32(1.5), "1.5"),
        (Scalar::f32(0.1), "0.1"),
        (Scalar::f32(1e30), "1e30"),
        (Scalar::f32(f32::NAN), "nan"),
        (Scalar::f32(f32::NEG_INFINITY), "-inf"),
        (Scalar::from_f64(F64, 0.1), "0.1"),
        (Scalar::from_bits(U64, u64::MAX), "18446744073709551615"),
        (Scalar::f32(-0.0), "-0.0"),
    ] {
        assert_eq!(s.to_string(), text);
    }
    for bits in 0..=u64::from(u16::MAX) {
        for d in [F16, BF16] {
            let s = Scalar::from_bits(d, bits);
            let read: f64 = s.to_string().parse().unwrap();
            assert!(s.as_f64().is_nan() || Scalar::from_f64(d, read) == s, "{d} {bits:#x} prints {s}");
        }
    }
}
