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
    F16,
    BF16,
    F32,
    F64,
}

use DType::{BF16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
use serde::{Deserialize, Serialize};

impl DType {
    /// Every dtype, narrowest kind first.
    pub const ALL: [DType; 13] = [Bool, I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32, F64];

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            Bool | I8 | U8 => 1,
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
    /// f16, bf16, f32 or f64.
    pub const fn is_float(self) -> bool {
        matches!(self, F16 | BF16 | F32 | F64)
    }
    /// Any integer, bool excluded.
    pub const fn is_int(self) -> bool {
        !self.is_float() && !matches!(self, Bool)
    }
    /// Signed integer or float.
    pub const fn is_signed(self) -> bool {
        self.is_float() || matches!(self, I8 | I16 | I32 | I64)
    }
    /// The dtype in which reductions and composites accumulate: f32 for f16 and bf16, else itself.
    pub const fn accumulator(self) -> DType {
        match self {
            F16 | BF16 => F32,
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
            (F16, BF16) => F32,
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
