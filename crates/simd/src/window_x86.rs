//! Window folds in AVX2 registers.

use std::arch::x86_64::*;

use super::window::{Fold, Tap};

/// Elements of a vector.
const L: usize = 8;

/// Folds the taps into `n` results.
///
/// # Safety
/// As [`super::window::fold`]; the machine has AVX2.
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn fold(fold: Fold, d: *mut f32, n: usize, src: *const f32, taps: &[Tap], step: isize) {
    let row = Row { d, n, src, taps, step, inside: taps.iter().fold((0, n), |(lo, hi), t| (lo.max(t.span.0), hi.min(t.span.1))) };
    let init = _mm256_set1_ps(fold.init());
    // SAFETY: same contract.
    unsafe {
        match fold {
            Fold::MulAdd => by_step(&row, init, |s, x, w| _mm256_add_ps(s, _mm256_mul_ps(x, w))),
            Fold::Add => by_step(&row, init, |s, x, _| _mm256_add_ps(s, x)),
            // `max(x, s)` is s unless x > s; a NaN x is taken, as it is unordered with itself.
            Fold::Max => by_step(&row, init, |s, x, _| or_nan(_mm256_max_ps(x, s), x)),
            Fold::Min => by_step(&row, init, |s, x, _| or_nan(_mm256_min_ps(x, s), x)),
        }
    }
}

struct Row<'a> {
    d: *mut f32,
    n: usize,
    src: *const f32,
    taps: &'a [Tap],
    step: isize,
    /// Elements that every tap reaches.
    inside: (usize, usize),
}

#[inline]
#[target_feature(enable = "avx2")]
fn or_nan(y: __m256, x: __m256) -> __m256 {
    _mm256_blendv_ps(y, x, _mm256_cmp_ps::<_CMP_UNORD_Q>(x, x))
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn by_step(row: &Row<'_>, init: __m256, f: impl Fn(__m256, __m256, __m256) -> __m256 + Copy) {
    let step = row.step;
    // SAFETY: the caller's contract; each reader touches elements i..i+8 of the tap only.
    unsafe {
        match step {
            1 => rows(row, init, |p, i| _mm256_loadu_ps(p.add(i)), f),
            2 => rows(row, init, |p, i| every_other(p.add(2 * i)), f),
            0 => rows(row, init, |p, _| _mm256_set1_ps(*p), f),
            _ => rows(row, init, |p, i| spaced(p.wrapping_offset(step * i as isize), step), f),
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

/// Eight vectors at a time, or four, or one, where all taps reach; masked vectors elsewhere.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn rows(
    row: &Row<'_>,
    init: __m256,
    read: impl Fn(*const f32, usize) -> __m256 + Copy,
    f: impl Fn(__m256, __m256, __m256) -> __m256 + Copy,
) {
    let (lo, hi) = row.inside;
    let mut i = 0;
    while i < row.n {
        let whole = if lo <= i { hi.saturating_sub(i) / L } else { 0 };
        // SAFETY: the caller's contract; all taps reach this many vectors.
        i += L * unsafe {
            match whole {
                8.. => vectors::<8>(row, i, init, read, f),
                4.. => vectors::<4>(row, i, init, read, f),
                1.. => vectors::<1>(row, i, init, read, f),
                0 => masked(row, i, init, f),
            }
        };
    }
}

/// The N vectors from element `i` on; gives N.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn vectors<const N: usize>(
    row: &Row<'_>,
    i: usize,
    init: __m256,
    read: impl Fn(*const f32, usize) -> __m256,
    f: impl Fn(__m256, __m256, __m256) -> __m256,
) -> usize {
    let mut s = [init; N];
    for t in row.taps {
        let (from, w) = (row.src.wrapping_offset(t.at), _mm256_set1_ps(t.weight));
        for (k, s) in s.iter_mut().enumerate() {
            *s = f(*s, read(from, i + k * L), w);
        }
    }
    for (k, s) in s.iter().enumerate() {
        // SAFETY: the elements are below n.
        unsafe { _mm256_storeu_ps(row.d.add(i + k * L), *s) };
    }
    N
}

/// The vector of elements from `i` on: a tap leaves those that it does not reach as they are. Gives 1.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn masked(row: &Row<'_>, i: usize, init: __m256, f: impl Fn(__m256, __m256, __m256) -> __m256) -> usize {
    let lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let below = |end: usize| _mm256_cmpgt_epi32(_mm256_set1_epi32(end.saturating_sub(i).min(L) as i32), lane);
    let offsets = _mm256_mullo_epi32(lane, _mm256_set1_epi32(row.step as i32));
    let mut s = init;
    for t in row.taps {
        let mask = _mm256_andnot_si256(below(t.span.0), below(t.span.1));
        let from = row.src.wrapping_offset(t.at + row.step * i as isize);
        // SAFETY: the mask admits only elements of the tap's span.
        let x = unsafe {
            if row.step == 1 {
                _mm256_blendv_ps(init, _mm256_maskload_ps(from, mask), _mm256_castsi256_ps(mask))
            } else {
                _mm256_mask_i32gather_ps::<4>(init, from, offsets, _mm256_castsi256_ps(mask))
            }
        };
        s = f(s, x, _mm256_set1_ps(t.weight));
    }
    // SAFETY: the mask admits only elements below n.
    unsafe { _mm256_maskstore_ps(row.d.add(i), below(row.n), s) };
    1
}
