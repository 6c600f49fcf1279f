//! f16 and bf16: rounding of f32 values and conversion of bits, branch-free.

/// Rounds to the nearest bf16 (ties to even), kept as f32; NaN stays NaN.
#[inline(always)]
pub(crate) fn round_bf16(x: f32) -> f32 {
    f32::from_bits(u32::from(to_bf16(x)) << 16)
}

/// Bits of the nearest bf16; NaN becomes a quiet NaN.
#[inline(always)]
pub(crate) fn to_bf16(x: f32) -> u16 {
    let u = x.to_bits();
    let rounded = u.wrapping_add(0x7fff + ((u >> 16) & 1));
    let bits = if x.is_nan() { u | 0x0040_0000 } else { rounded };
    (bits >> 16) as u16
}

/// Rounds to the nearest f16 (ties to even, overflow to infinity), kept as f32.
#[inline(always)]
pub(crate) fn round_f16(x: f32) -> f32 {
    let u = x.to_bits();
    let sign = u & 0x8000_0000;
    let magnitude = f32::from_bits(u & 0x7fff_ffff);
    // Drops 13 bits of the mantissa; a carry into the exponent is the right result.
    let normal = f32::from_bits((u & 0x7fff_ffff).wrapping_add(0xfff + ((u >> 13) & 1)) & !0x1fff);
    let normal = if magnitude >= 65520.0 { f32::INFINITY } else { normal };
    // Below 2^-14 the quantum is 2^-24, the last bit of values in [0.5, 1).
    let small = (magnitude + 0.5) - 0.5;
    let rounded = if magnitude < 6.103_515_6e-5 { small } else { normal };
    let rounded = if x.is_nan() { f32::NAN } else { rounded };
    f32::from_bits(rounded.to_bits() | sign)
}

/// Bits of the nearest f16.
#[inline(always)]
pub(crate) fn to_f16(x: f32) -> u16 {
    let u = round_f16(x).to_bits();
    let sign = (u >> 16) & 0x8000;
    let magnitude = u & 0x7fff_ffff;
    let small = (f32::from_bits(magnitude) + 0.5).to_bits() & 0x7ff;
    let normal = (magnitude >> 13).wrapping_sub(112 << 10);
    let finite = if magnitude < 0x3880_0000 { small } else { normal };
    let special = if magnitude > 0x7f80_0000 { 0x7e00 } else { 0x7c00 };
    (sign | if magnitude >= 0x7f80_0000 { special } else { finite }) as u16
}

/// Value of f16 bits.
#[inline(always)]
pub(crate) fn from_f16(h: u16) -> f32 {
    let bits = u32::from(h & 0x7fff) << 13;
    // Multiplying by 2^112 rebiases the exponent and normalises subnormals exactly.
    let finite = f32::from_bits(bits) * f32::from_bits(0x7780_0000);
    let special = f32::from_bits(bits | 0x7f80_0000);
    let magnitude = if bits >= 0x0f80_0000 { special } else { finite };
    f32::from_bits(magnitude.to_bits() | (u32::from(h & 0x8000) << 16))
}

/// Value of bf16 bits.
#[inline(always)]
pub(crate) fn from_bf16(h: u16) -> f32 {
    f32::from_bits(u32::from(h) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_value_round_trips_and_widens_as_the_reference() {
        for h in 0..=u16::MAX {
            let (f, b) = (::half::f16::from_bits(h), ::half::bf16::from_bits(h));
            assert!(f.is_nan() && from_f16(h).is_nan() || from_f16(h).to_bits() == f.to_f32().to_bits(), "{h:x}");
            assert!(b.is_nan() && from_bf16(h).is_nan() || from_bf16(h).to_bits() == b.to_f32().to_bits(), "{h:x}");
            assert!(f.is_nan() || to_f16(from_f16(h)) == h, "{h:x}");
            assert!(b.is_nan() || to_bf16(from_bf16(h)) == h, "{h:x}");
        }
    }

    #[test]
    fn rounding_agrees_with_the_reference() {
        for u in (0..=u32::MAX).step_by(9973).chain(0x3300_0000..0x3300_1000).chain(0x477f_e000..0x4780_0100) {
            let x = f32::from_bits(u);
            let (f, b) = (::half::f16::from_f32(x), ::half::bf16::from_f32(x));
            if x.is_nan() {
                assert!(::half::f16::from_bits(to_f16(x)).is_nan() && ::half::bf16::from_bits(to_bf16(x)).is_nan());
                assert!(round_f16(x).is_nan() && round_bf16(x).is_nan());
                continue;
            }
            assert_eq!(to_f16(x), f.to_bits(), "{x:e}");
            assert_eq!(to_bf16(x), b.to_bits(), "{x:e}");
            assert_eq!(round_f16(x).to_bits(), f.to_f32().to_bits(), "{x:e}");
            assert_eq!(round_bf16(x).to_bits(), b.to_f32().to_bits(), "{x:e}");
        }
    }
}
