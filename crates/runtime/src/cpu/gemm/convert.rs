//! Widening of stored elements to the type of a product.

use half::{bf16, f16};
use scalar::f8;

/// A stored [`f8::E4M3`].
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct E4m3(u8);

/// A stored [`f8::E5M2`].
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct E5m2(u8);

impl E4m3 {
    fn to_bits(self) -> u8 {
        self.0
    }
}

impl E5m2 {
    fn to_bits(self) -> u8 {
        self.0
    }
}

/// Conversion of a stored element.
pub(crate) trait Widen<T>: Copy {
    /// The value in the product's type.
    fn widen(self) -> T;
}

macro_rules! widen {
    ($($from:ty)*) => { $(widen!(@ $from => f32 f64 i32 i64);)* };
    (@ $from:ty => $($to:ty)*) => { $(
        impl Widen<$to> for $from {
            #[inline(always)]
            fn widen(self) -> $to {
                self as $to
            }
        }
    )* };
}

widen!(i8 u8 i16 u16 i32 u32 i64 u64 f32 f64);

macro_rules! widen_low {
    ($($from:ty: $f:ident => $($to:ty)*;)*) => { $($(
        impl Widen<$to> for $from {
            #[inline(always)]
            fn widen(self) -> $to {
                $f(self.to_bits()) as $to
            }
        }
    )*)* };
}

widen_low! {
    E4m3: from_e4m3 => f32 f64 i32 i64;
    E5m2: from_e5m2 => f32 f64 i32 i64;
    f16: from_f16 => f32 f64 i32 i64;
    bf16: from_bf16 => f32 f64 i32 i64;
}

#[inline(always)]
fn from_e4m3(code: u8) -> f32 {
    f8::E4M3.decode(code)
}

#[inline(always)]
fn from_e5m2(code: u8) -> f32 {
    f8::E5M2.decode(code)
}

fn from_bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Without branches, so that loops vectorise: the exponent is rebased by a multiplication, which also handles subnormals.
#[inline(always)]
fn from_f16(bits: u16) -> f32 {
    const REBASE: f32 = f32::from_bits((127 + 112) << 23);
    let magnitude = u32::from(bits & 0x7FFF);
    let finite = (f32::from_bits(magnitude << 13) * REBASE).to_bits();
    let special = if magnitude >= 0x7C00 { 0x7F80_0000 } else { 0 };
    f32::from_bits(finite | special | u32::from(bits & 0x8000) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_widens_as_the_reference() {
        for bits in 0..=u16::MAX {
            let (a, b) = (from_f16(bits), f16::from_bits(bits).to_f32());
            assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()), "{bits:#x}: {a} {b}");
            let (a, b) = (from_bf16(bits), bf16::from_bits(bits).to_f32());
            assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()), "{bits:#x}: {a} {b}");
        }
    }
}
