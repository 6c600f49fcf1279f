//! Conversions: stored dtype ↔ register, and casts between registers.

use scalar::DType;
use scalar::f8::{E4M3, E5M2};

use super::ops::{Arith, Map, Un};
use super::{Leaf, half, leaf};

macro_rules! map {
    ($a:ty => $o:ty, |$x:ident| $e:expr) => {{
        struct Row;
        impl Un for Row {
            type A = $a;
            type O = $o;
            #[inline(always)]
            fn f($x: $a) -> $o {
                $e
            }
        }
        leaf::<Map<Row>>()
    }};
}

/// Stored elements to register elements; `None` where they are the same bits.
pub fn widen(dtype: DType) -> Option<Leaf> {
    match dtype {
        DType::I8 => Some(map!(i8 => i32, |x| i32::from(x))),
        DType::U8 => Some(map!(u8 => i32, |x| i32::from(x))),
        DType::I16 => Some(map!(i16 => i32, |x| i32::from(x))),
        DType::U16 => Some(map!(u16 => i32, |x| i32::from(x))),
        DType::U32 => Some(map!(u32 => i64, |x| i64::from(x))),
        DType::F8E4M3 => Some(map!(u8 => f32, |x| E4M3.decode(x))),
        DType::F8E5M2 => Some(map!(u8 => f32, |x| E5M2.decode(x))),
        DType::F16 => Some(map!(u16 => f32, |x| half::from_f16(x))),
        DType::BF16 => Some(map!(u16 => f32, |x| half::from_bf16(x))),
        DType::Bool | DType::I32 | DType::I64 | DType::U64 | DType::F32 | DType::F64 => None,
    }
}

/// Register elements to stored elements; `None` where they are the same bits.
pub fn narrow(dtype: DType) -> Option<Leaf> {
    match dtype {
        DType::I8 | DType::U8 => Some(map!(i32 => u8, |x| x as u8)),
        DType::I16 | DType::U16 => Some(map!(i32 => u16, |x| x as u16)),
        DType::U32 => Some(map!(i64 => u32, |x| x as u32)),
        DType::F8E4M3 => Some(map!(f32 => u8, |x| E4M3.encode(x))),
        DType::F8E5M2 => Some(map!(f32 => u8, |x| E5M2.encode(x))),
        DType::F16 => Some(map!(f32 => u16, |x| half::to_f16(x))),
        DType::BF16 => Some(map!(f32 => u16, |x| half::to_bf16(x))),
        DType::Bool | DType::I32 | DType::I64 | DType::U64 | DType::F32 | DType::F64 => None,
    }
}

/// A cast before wrapping or rounding into a narrow target (`narrow_in_place` does that).
pub fn cast(from: DType, to: DType) -> Leaf {
    match Arith::of(from) {
        Arith::F32 => from_f32(to),
        Arith::F64 => from_f64(to),
        Arith::Bool => match Arith::of(to) {
            Arith::Bool => map!(u8 => u8, |x| x),
            Arith::I32 => map!(u8 => i32, |x| i32::from(x)),
            Arith::I64 | Arith::U64 => map!(u8 => i64, |x| i64::from(x)),
            Arith::F32 => map!(u8 => f32, |x| f32::from(x)),
            Arith::F64 => map!(u8 => f64, |x| f64::from(x)),
        },
        Arith::I32 => match Arith::of(to) {
            Arith::Bool => map!(i32 => u8, |x| u8::from(x != 0)),
            Arith::I32 => map!(i32 => i32, |x| x),
            Arith::I64 | Arith::U64 => map!(i32 => i64, |x| i64::from(x)),
            Arith::F32 => map!(i32 => f32, |x| x as f32),
            Arith::F64 => map!(i32 => f64, |x| f64::from(x)),
        },
        Arith::I64 => match Arith::of(to) {
            Arith::Bool => map!(i64 => u8, |x| u8::from(x != 0)),
            Arith::I32 => map!(i64 => i32, |x| x as i32),
            Arith::I64 | Arith::U64 => map!(i64 => i64, |x| x),
            Arith::F32 => map!(i64 => f32, |x| x as f32),
            Arith::F64 => map!(i64 => f64, |x| x as f64),
        },
        Arith::U64 => match Arith::of(to) {
            Arith::F32 => map!(u64 => f32, |x| x as f32),
            Arith::F64 => map!(u64 => f64, |x| x as f64),
            _ => cast(DType::I64, to),
        },
    }
}

macro_rules! from_float {
    ($name:ident, $t:ty) => {
        /// Floats truncate and saturate to integers; NaN becomes 0.
        fn $name(to: DType) -> Leaf {
            match to {
                DType::Bool => map!($t => u8, |x| u8::from(x != 0.0)),
                DType::I8 => map!($t => i32, |x| i32::from(x as i8)),
                DType::U8 => map!($t => i32, |x| i32::from(x as u8)),
                DType::I16 => map!($t => i32, |x| i32::from(x as i16)),
                DType::U16 => map!($t => i32, |x| i32::from(x as u16)),
                DType::I32 => map!($t => i32, |x| x as i32),
                DType::U32 => map!($t => i64, |x| i64::from(x as u32)),
                DType::I64 => map!($t => i64, |x| x as i64),
                DType::U64 => map!($t => u64, |x| x as u64),
                DType::F8E4M3 | DType::F8E5M2 | DType::F16 | DType::BF16 | DType::F32 => map!($t => f32, |x| x as f32),
                DType::F64 => map!($t => f64, |x| x as f64),
            }
        }
    };
}
from_float!(from_f32, f32);
from_float!(from_f64, f64);
