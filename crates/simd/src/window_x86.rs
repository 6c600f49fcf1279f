//! Window folds in AVX2 registers.

use std::arch::x86_64::*;

use super::window::{Fold, Tap};

/// Elements of a vector.
const L: usize = 8;

/// Folds the taps into the elements `range`, at least a vector of them, all of which every tap reaches.
///
/// # Safety
/// As [`super::window::fold`]; the machine has AVX2.
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn fold(fold: Fold, d: *mut f32, range: (usize, usize), taps: &[Tap], step: isize) {
    // SAFETY: same contract.
    unsafe {
        match fold {
            Fold::MulAdd => by_step(d, range, taps, step, |s, x, w| _mm256_add_ps(s, _mm256_mul_ps(x, w)), fold),
            Fold::Add => by_step(d, range, taps, step, |s, x, _| _mm256_add_ps(s, x), fold),
            // `max(x, s)` is s unless x > s; a NaN x is taken, as it is unordered with itself.
            Fold::Max => by_step(d, range, taps, step, |s, x, _| or_nan(_mm256_max_ps(x, s), x), fold),
            Fold::Min => by_step(d, range, taps, step, |s, x, _| or_nan(_mm256_min_ps(x, s), x), fold),
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn or_nan(y: __m256, x: __m256) -> __m256 {
    _mm256_blendv_ps(y, x, _mm256_cmp_ps::<_CMP_UNORD_Q>(x, x))
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn by_step(
    d: *mut f32,
    range: (usize, usize),
    taps: &[Tap],
    step: isize,
    f: impl Fn(__m256, __m256, __m256) -> __m256 + Copy,
    fold: Fold,
) {
    // SAFETY: the caller's contract; each reader touches elements i..i+8 of the tap only.
    unsafe {
        match step {
            1 => rows(d, range, taps, |p, i| _mm256_loadu_ps(p.add(i)), f, fold),
            2 => rows(d, range, taps, |p, i| every_other(p.add(2 * i)), f, fold),
            0 => rows(d, range, taps, |p, _| _mm256_set1_ps(*p), f, fold),
            _ => rows(d, range, taps, |p, i| spaced(p.wrapping_offset(step * i as isize), step), f, fold),
        }
    }
}

/// Elements 0, 2, …, 14.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn every_other(p: *const f32) -> __m256 {
    // SAFETY: elements 0 to 14 lie between readable ones.
    let (low, high) = unsafe { (_mm256_loadu_ps(p), _mm256_loadu_ps(p.add(7))) };
    let mixed = _mm256_shuffle_ps::<0b11_01_10_00>(low, high);
    _mm256_castpd_ps(_mm256_permute4x64_pd::<0b11_01_10_00>(_mm256_castps_pd(mixed)))
}

/// Eight elements that lie `step` apart.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn spaced(p: *const f32, step: isize) -> __m256 {
    // SAFETY: the caller vouches for these eight elements.
    let at = |i: isize| unsafe { *p.wrapping_offset(step * i) };
    _mm256_setr_ps(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7))
}

/// Four vectors at a time, then single ones, the last of which ends at the range's end.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn rows(
    d: *mut f32,
    (from, to): (usize, usize),
    taps: &[Tap],
    read: impl Fn(*const f32, usize) -> __m256,
    f: impl Fn(__m256, __m256, __m256) -> __m256,
    fold: Fold,
) {
    let init = _mm256_set1_ps(fold.init());
    let mut i = from;
    while i + 4 * L <= to {
        let mut s = [init; 4];
        for t in taps {
            let w = _mm256_set1_ps(t.weight);
            for (k, s) in s.iter_mut().enumerate() {
                *s = f(*s, read(t.src, i + k * L), w);
            }
        }
        for (k, s) in s.iter().enumerate() {
            // SAFETY: the elements are inside the range.
            unsafe { _mm256_storeu_ps(d.add(i + k * L), *s) };
        }
        i += 4 * L;
    }
    while i < to {
        let at = i.min(to - L);
        let mut s = init;
        for t in taps {
            s = f(s, read(t.src, at), _mm256_set1_ps(t.weight));
        }
        // SAFETY: the elements are inside the range.
        unsafe { _mm256_storeu_ps(d.add(at), s) };
        i += L;
    }
}
