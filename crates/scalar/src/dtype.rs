//! Element types.

use std::fmt;

/// Element type of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum DType {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    /// 8 bits, 4 of exponent; stored only, see [`f8`].
    F8E4M3,
    /// 8 bits, 5 of exponent; stored only, see [`f8`].
    F8E5M2,
    F16,
    BF16,
    F32,
    F64,
}

use DType::{BF16, Bool, F8E4M3, F8E5M2, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
use serde::{Deserialize, Serialize};

use crate::f8::{self, F8};

impl DType {
    /// Every dtype, narrowest kind first.
    pub const ALL: [DType; 15] = [Bool, I8, U8, I16, U16, I32, U32, I64, U64, F8E4M3, F8E5M2, F16, BF16, F32, F64];

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            Bool | I8 | U8 | F8E4M3 | F8E5M2 => 1,
            I16 | U16 | F16 | BF16 => 2,
            I32 | U32 | F32 => 4,
            I64 | U64 | F64 => 8,
        }
    }
    /// Text-form name, e.g. `f32`.
    pub const fn name(self) -> &'static str {
        match self {
            Bool => "bool",
            I8 => "i8",
            U8 => "u8",
            I16 => "i16",
            U16 => "u16",
            I32 => "i32",
            U32 => "u32",
            I64 => "i64",
            U64 => "u64",
            F8E4M3 => "f8e4m3",
            F8E5M2 => "f8e5m2",
            F16 => "f16",
            BF16 => "bf16",
            F32 => "f32",
            F64 => "f64",
        }
    }
    /// Inverse of [`DType::name`].
    pub fn parse(name: &str) -> Option<DType> {
        DType::ALL.into_iter().find(|d| d.name() == name)
    }
    /// f8e4m3, f8e5m2, f16, bf16, f32 or f64.
    pub const fn is_float(self) -> bool {
        matches!(self, F32 | F64) || self.is_low()
    }
    /// A float of at most 16 bits: computed with as f32.
    pub const fn is_low(self) -> bool {
        matches!(self, F16 | BF16) || self.f8().is_some()
    }
    /// The format of an 8-bit float. Those are only stored, converted and multiplied in contractions: other ops refuse them.
    pub const fn f8(self) -> Option<F8> {
        match self {
            F8E4M3 => Some(f8::E4M3),
            F8E5M2 => Some(f8::E5M2),
            _ => None,
        }
    }
    /// Bits of a float's significand, the hidden one included.
    pub const fn significand(self) -> Option<u32> {
        match self {
            F8E4M3 => Some(4),
            F8E5M2 => Some(3),
            F16 => Some(11),
            BF16 => Some(8),
            F32 => Some(24),
            F64 => Some(53),
            _ => None,
        }
    }
    /// A float's greatest finite number.
    pub fn largest(self) -> Option<f64> {
        match self {
            F8E4M3 | F8E5M2 => self.f8().map(|format| f64::from(format.largest())),
            F16 => Some(half::f16::MAX.to_f64()),
            BF16 => Some(half::bf16::MAX.to_f64()),
            F32 => Some(f64::from(f32::MAX)),
            F64 => Some(f64::MAX),
            _ => None,
        }
    }
    /// Any integer, bool excluded.
    pub const fn is_int(self) -> bool {
        !self.is_float() && !matches!(self, Bool)
    }
    /// Signed integer or float.
    pub const fn is_signed(self) -> bool {
        self.is_float() || matches!(self, I8 | I16 | I32 | I64)
    }
    /// The dtype in which reductions and composites accumulate: f32 for floats of at most 16 bits, else itself.
    pub const fn accumulator(self) -> DType {
        match self {
            low if low.is_low() => F32,
            d => d,
        }
    }
    /// PyTorch's type promotion of two tensors' dtypes.
    pub fn promote(self, other: DType) -> DType {
        if self == other {
            return self;
        }
        let (a, b) = (self.min(other), self.max(other));
        match (a, b) {
            (F16, BF16) | (F8E4M3, F8E5M2) => F32,
            (_, f) if f.is_float() => f,
            (Bool, i) => i,
            (I8, U8) => I16,
            (I8 | I16, U16) => I32,
            (I8 | I16 | I32, U32) => I64,
            (I8 | I16 | I32 | I64, U64) => F32,
            (_, wider) => wider,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scalar;

    #[test]
    fn significands_and_largest_numbers_are_those_of_the_stored_values() {
        for dtype in DType::ALL {
            assert_eq!((dtype.significand().is_some(), dtype.largest().is_some()), (dtype.is_float(), dtype.is_float()));
            let (Some(bits), Some(largest)) = (dtype.significand(), dtype.largest()) else { continue };
            let stored = |v: f64| Scalar::from_f64(dtype, v).as_f64();
            let whole = 2f64.powi(bits as i32);
            assert!(stored(whole - 1.0) == whole - 1.0 && stored(whole + 1.0) == whole, "{dtype:?}");
            assert!(stored(largest) == largest && !stored(largest * 1.1).is_finite(), "{dtype:?}");
        }
    }
}
