//! The 8-bit floats of the OCP 8-bit Floating Point Specification (OFP8, revision 1.0): conversion of codes from and to f32.

/// A format: one bit of sign, then exponent and mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct F8 {
    mantissa_bits: u32,
    bias: u32,
    /// The code after the largest finite one: what larger numbers become.
    overflow: u32,
}

/// Four bits of exponent: no infinities, NaN is the largest code, the largest number is 448.
pub const E4M3: F8 = F8 { mantissa_bits: 3, bias: 7, overflow: 0x7f };
/// Five bits of exponent: infinities, and the largest number is 57344.
pub const E5M2: F8 = F8 { mantissa_bits: 2, bias: 15, overflow: 0x7c };

const NAN: u32 = 0x7f;

impl F8 {
    /// Code of the nearest number (ties to even); what rounds beyond the largest becomes infinity, or NaN where there is none.
    #[inline(always)]
    pub const fn encode(self, x: f32) -> u8 {
        let bits = x.to_bits();
        let magnitude = bits & 0x7fff_ffff;
        let dropped = 23 - self.mantissa_bits;
        // Drops bits of the mantissa; a carry into the exponent is the right result.
        let rounded = magnitude.wrapping_add((1 << (dropped - 1)) - 1 + ((magnitude >> dropped) & 1)) >> dropped;
        let normal = rounded.wrapping_sub((127 - self.bias) << self.mantissa_bits);
        let normal = if normal > self.overflow { self.overflow } else { normal };
        // The last bit of this number is the quantum of subnormal ones: adding it rounds them.
        let quantum = (127 + 24 - self.bias - self.mantissa_bits) << 23;
        let small = (f32::from_bits(magnitude) + f32::from_bits(quantum)).to_bits().wrapping_sub(quantum);
        let code = if magnitude < (128 - self.bias) << 23 { small } else { normal };
        let code = if magnitude > 0x7f80_0000 { NAN } else { code };
        (code | (bits >> 24 & 0x80)) as u8
    }

    /// Value of a code, which f32 holds exactly.
    #[inline(always)]
    pub const fn decode(self, code: u8) -> f32 {
        let magnitude = (code & 0x7f) as u32;
        // Multiplying rebiases the exponent and normalises subnormals exactly.
        let rebias = f32::from_bits((254 - self.bias) << 23);
        let finite = f32::from_bits(magnitude << (23 - self.mantissa_bits)) * rebias;
        let is_infinite = magnitude == self.overflow && self.overflow != NAN;
        let special = if is_infinite { f32::INFINITY } else { f32::NAN };
        let value = if magnitude >= self.overflow { special } else { finite };
        f32::from_bits(value.to_bits() | ((code & 0x80) as u32) << 24)
    }

    /// The nearest number of the format, as [`F8::encode`] rounds.
    #[inline(always)]
    pub const fn round(self, x: f32) -> f32 {
        self.decode(self.encode(x))
    }

    /// The largest finite number.
    pub const fn largest(self) -> f32 {
        self.decode(self.overflow as u8 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers by the definition of the format, in increasing order of their codes.
    fn finite(format: F8) -> Vec<f64> {
        let m = format.mantissa_bits as i32;
        let value = |code: u32| {
            let (exponent, fraction) = ((code >> m) as i32, f64::from(code & ((1 << m) - 1)) / f64::from(1 << m));
            let bias = format.bias as i32;
            if exponent == 0 { fraction * 2f64.powi(1 - bias) } else { (1.0 + fraction) * 2f64.powi(exponent - bias) }
        };
        (0..format.overflow).map(value).collect()
    }

    #[test]
    fn every_code_is_its_number_and_round_trips() {
        for format in [E4M3, E5M2] {
            for (code, &value) in finite(format).iter().enumerate() {
                let code = code as u8;
                assert_eq!(f64::from(format.decode(code)), value, "{format:?} {code:x}");
                assert_eq!(f64::from(format.decode(code | 0x80)), -value);
                assert_eq!(format.encode(format.decode(code)), code);
                assert_eq!(format.encode(format.decode(code | 0x80)), code | 0x80);
            }
        }
        assert_eq!((E4M3.largest(), E5M2.largest()), (448.0, 57344.0));
    }

    #[test]
    fn halves_go_to_the_even_code_and_others_to_the_nearest() {
        for format in [E4M3, E5M2] {
            for (code, pair) in finite(format).windows(2).enumerate() {
                let middle = ((pair[0] + pair[1]) / 2.0) as f32;
                let (lower, upper) = (code as u8, code as u8 + 1);
                assert_eq!(format.encode(middle), lower + (lower & 1), "{format:?} {middle}");
                assert_eq!(format.encode(middle.next_down()), lower);
                assert_eq!(format.encode(-middle.next_up()), upper | 0x80);
            }
        }
    }

    #[test]
    fn overflow_and_what_is_no_number() {
        assert_eq!([E4M3.encode(464.0), E4M3.encode(464.0f32.next_up()), E4M3.encode(-1e30)], [0x7e, 0x7f, 0xff]);
        assert_eq!([E4M3.encode(f32::INFINITY), E4M3.encode(f32::NAN)], [0x7f, 0x7f]);
        assert_eq!([E5M2.encode(61440.0f32.next_down()), E5M2.encode(61440.0), E5M2.encode(-1e30)], [0x7b, 0x7c, 0xfc]);
        assert_eq!([E5M2.encode(f32::INFINITY), E5M2.encode(f32::NAN)], [0x7c, 0x7f]);
        assert_eq!(E5M2.decode(0xfc), f32::NEG_INFINITY);
        assert!(E4M3.decode(0x7f).is_nan() && E4M3.decode(0xff).is_nan());
        assert!((0x7d..=0x7f).all(|code| E5M2.decode(code).is_nan()));
        assert_eq!((E4M3.encode(1e-45), E5M2.encode(-1e-45)), (0, 0x80));
    }
}
