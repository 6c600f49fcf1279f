//! Reductions over windows: a row of f32 results, each folded from a few taps, kept in registers while the taps stream by.
//!
//! Element `i` of the row takes the taps in order, those whose span holds `i` (weights are finite where a span leaves
//! elements out); so its value depends neither on where in the row it lies nor on the instruction set.

/// One tap of a window over a row of results.
#[derive(Clone, Copy, Debug)]
pub struct Tap {
    /// Where the operand of element 0 lies, in elements; element `i` reads `step · i` further.
    pub at: isize,
    /// What the operand is multiplied by ([`Fold::MulAdd`]).
    pub weight: f32,
    /// Elements that the tap reaches.
    pub span: (usize, usize),
}

/// How taps are folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Sum of products with the taps' weights, each product and each sum rounded.
    MulAdd,
    /// Sum.
    Add,
    /// Maximum; NaN wins.
    Max,
    /// Minimum; NaN wins.
    Min,
}

impl Fold {
    /// What a fold starts from.
    pub const fn init(self) -> f32 {
        match self {
            Fold::MulAdd | Fold::Add => 0.0,
            Fold::Max => f32::NEG_INFINITY,
            Fold::Min => f32::INFINITY,
        }
    }

    #[inline(always)]
    fn apply(self, s: f32, x: f32, weight: f32) -> f32 {
        match self {
            Fold::MulAdd => s + x * weight,
            Fold::Add => s + x,
            Fold::Max => {
                if (s < x) | x.is_nan() {
                    x
                } else {
                    s
                }
            }
            Fold::Min => {
                if (x < s) | x.is_nan() {
                    x
                } else {
                    s
                }
            }
        }
    }
}

/// Folds the taps of `src` into `n` results at `d`. Elements of a tap lie `step` apart; spans end at `n` or before.
///
/// # Safety
/// Every tap is readable at each element of its span, `d` is writable, and they do not overlap.
pub unsafe fn fold(fold: Fold, d: *mut f32, n: usize, src: *const f32, taps: &[Tap], step: isize) {
    #[cfg(target_arch = "x86_64")]
    if super::isa() != super::Isa::Base && step.unsigned_abs() < 1 << 24 {
        // SAFETY: same contract, and AVX2 is there.
        return unsafe { super::window_x86::fold(fold, d, n, src, taps, step) };
    }
    // SAFETY: same contract.
    unsafe { singly(fold, d, n, src, taps, step) }
}

/// One element after the other.
unsafe fn singly(fold: Fold, d: *mut f32, n: usize, src: *const f32, taps: &[Tap], step: isize) {
    for i in 0..n {
        let mut s = fold.init();
        for t in taps.iter().filter(|t| t.span.0 <= i && i < t.span.1) {
            // SAFETY: the tap reaches element i.
            s = fold.apply(s, unsafe { *src.wrapping_offset(t.at + step * i as isize) }, t.weight);
        }
        // SAFETY: i is below n.
        unsafe { *d.add(i) = s };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slow(how: Fold, n: usize, src: &[f32], taps: &[Tap], step: isize) -> Vec<f32> {
        let mut d = vec![0.0; n];
        // SAFETY: the taps reach what their spans say.
        unsafe { singly(how, d.as_mut_ptr(), n, src.as_ptr(), taps, step) };
        d
    }

    #[test]
    fn vectors_equal_single_elements_bit_for_bit() {
        let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0, 1e-40, -3.5, 7.25];
        let mut seed = 7u32;
        let mut random = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed >> 8
        };
        for n in (0..75).chain([127, 200, 300]) {
            for (count, step) in [(1, 1), (4, 1), (9, 1), (9, 2), (3, 2), (25, 3), (2, -1), (0, 1), (6, 0)] {
                let with_special = n % 3 == 0;
                let size = n * 3 + 40;
                let data: Vec<f32> = (0..size)
                    .map(|_| {
                        if with_special && random() % 9 == 0 {
                            special[random() as usize % 8]
                        } else {
                            random() as f32 / 1e6 - 8.0
                        }
                    })
                    .collect();
                let taps: Vec<Tap> = (0..count)
                    .map(|t: usize| {
                        let first = if step < 0 { n + t % 7 } else { t % 7 };
                        let span = if n > 9 && t % 4 == 1 { (t % 5, n - t % 3) } else { (0, n) };
                        Tap { at: first as isize, weight: t as f32 - 1.5, span }
                    })
                    .collect();
                for how in [Fold::MulAdd, Fold::Add, Fold::Max, Fold::Min] {
                    let mut d = vec![9.0; n + 1];
                    // SAFETY: every tap has room for n elements at this step.
                    unsafe { fold(how, d.as_mut_ptr(), n, data.as_ptr(), &taps, step) };
                    assert_eq!(d.pop(), Some(9.0));
                    for (i, (a, b)) in d.iter().zip(slow(how, n, &data, &taps, step)).enumerate() {
                        assert!(
                            a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
                            "{how:?} n {n} step {step} at {i}: {a} {b}"
                        );
                    }
                }
            }
        }
    }
}
