//! Scalar constants.

use std::fmt;

use half::{bf16, f16};
use serde::{Deserialize, Serialize};

use crate::DType;
use crate::f8::{E4M3, E5M2};

/// A typed constant, compared and hashed by its bits (so NaN equals itself and −0.0 differs from 0.0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Scalar {
    dtype: DType,
    bits: u64,
}

impl Scalar {
    /// From raw little-endian bits, zero-extended.
    pub fn from_bits(dtype: DType, bits: u64) -> Scalar {
        let mask = if dtype.size() == 8 { u64::MAX } else { (1u64 << (8 * dtype.size())) - 1 };
        Scalar { dtype, bits: bits & mask }
    }
    /// Converts with the dtype's rounding; floats to integers truncate and saturate, NaN becomes 0.
    pub fn from_f64(dtype: DType, v: f64) -> Scalar {
        let bits = match dtype {
            DType::Bool => u64::from(v != 0.0),
            DType::F8E4M3 => u64::from(E4M3.encode(v as f32)),
            DType::F8E5M2 => u64::from(E5M2.encode(v as f32)),
            DType::F16 => u64::from(f16::from_f64(v).to_bits()),
            DType::BF16 => u64::from(bf16::from_f64(v).to_bits()),
            DType::F32 => u64::from((v as f32).to_bits()),
            DType::F64 => v.to_bits(),
            DType::U64 => v as u64,
            DType::I64 => (v as i64) as u64,
            _ => {
                let (lo, hi) = int_range(dtype);
                (v as i64).clamp(lo, hi) as u64
            }
        };
        Scalar::from_bits(dtype, bits)
    }
    /// Converts, wrapping integers and rounding floats.
    pub fn from_i64(dtype: DType, v: i64) -> Scalar {
        match dtype {
            DType::Bool => Scalar::from_bits(dtype, u64::from(v != 0)),
            DType::F32 => Scalar::from_bits(dtype, u64::from((v as f32).to_bits())),
            d if d.is_float() => Scalar::from_f64(dtype, v as f64),
            _ => Scalar::from_bits(dtype, v as u64),
        }
    }
    /// Truth value.
    pub fn bool(v: bool) -> Scalar {
        Scalar { dtype: DType::Bool, bits: u64::from(v) }
    }
    /// f32 constant.
    pub fn f32(v: f32) -> Scalar {
        Scalar { dtype: DType::F32, bits: u64::from(v.to_bits()) }
    }
    /// i64 constant.
    pub fn i64(v: i64) -> Scalar {
        Scalar { dtype: DType::I64, bits: v as u64 }
    }
    /// Zero of a dtype (false for bool).
    pub fn zero(dtype: DType) -> Scalar {
        Scalar { dtype, bits: 0 }
    }
    /// Element type.
    pub fn dtype(self) -> DType {
        self.dtype
    }
    /// Zero-extended bits.
    pub fn bits(self) -> u64 {
        self.bits
    }
    /// Value as f64; exact except for 64-bit integers beyond 2^53.
    pub fn as_f64(self) -> f64 {
        match self.dtype {
            DType::F8E4M3 => f64::from(E4M3.decode(self.bits as u8)),
            DType::F8E5M2 => f64::from(E5M2.decode(self.bits as u8)),
            DType::F16 => f16::from_bits(self.bits as u16).to_f64(),
            DType::BF16 => bf16::from_bits(self.bits as u16).to_f64(),
            DType::F32 => f64::from(f32::from_bits(self.bits as u32)),
            DType::F64 => f64::from_bits(self.bits),
            DType::U64 => self.bits as f64,
            _ => self.as_i64() as f64,
        }
    }
    /// Value as i64: sign-extended integers, u64 reinterpreted, floats truncated and saturated.
    pub fn as_i64(self) -> i64 {
        match self.dtype {
            DType::I8 => i64::from(self.bits as i8),
            DType::I16 => i64::from(self.bits as i16),
            DType::I32 => i64::from(self.bits as i32),
            d if d.is_float() => self.as_f64() as i64,
            _ => self.bits as i64,
        }
    }
    /// Whether it is not zero (NaN is true).
    pub fn is_true(self) -> bool {
        if self.dtype.is_float() { self.as_f64() != 0.0 } else { self.bits != 0 }
    }
}

fn int_range(dtype: DType) -> (i64, i64) {
    let bits = 8 * dtype.size() as u32;
    if dtype.is_signed() { (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1) } else { (0, ((1u64 << bits) - 1) as i64) }
}

impl fmt::Display for Scalar {
    /// `1.5`, `-3`, `true`, `nan`, `inf`, `-inf`; floats print the shortest text that reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dtype {
            DType::Bool => write!(f, "{}", self.bits != 0),
            DType::F64 => fmt_float(f, self.as_f64(), &format!("{:?}", self.as_f64())),
            d if d.is_float() => fmt_float(f, self.as_f64(), &format!("{:?}", self.as_f64() as f32)),
            DType::U64 => write!(f, "{}", self.bits),
            _ => write!(f, "{}", self.as_i64()),
        }
    }
}

fn fmt_float(f: &mut fmt::Formatter<'_>, v: f64, text: &str) -> fmt::Result {
    if v.is_nan() { f.write_str("nan") } else { f.write_str(text) }
}
