//! AVX2 products of few rows and a matrix whose k neighbours are adjacent: dot products, eight k at a time.

#![cfg(target_arch = "x86_64")]

use std::arch::x86_64::*;

use scalar::DType;

use super::skinny::{Adjacent, Out};

/// k positions of a vector.
const V: usize = 8;
/// Most rows that share one pass over columns.
const MOST: usize = 4;

/// A stored element that becomes f32.
trait Stored: Copy {
    /// Eight elements.
    unsafe fn eight(at: *const Self) -> __m256;
    /// One element.
    unsafe fn one(at: *const Self) -> f32;
}

/// A stored half-precision float.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct F16(u16);

/// A stored bfloat.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Bf16(u16);

impl Stored for f32 {
    #[inline(always)]
    unsafe fn eight(at: *const f32) -> __m256 {
        // SAFETY: the caller vouches for the elements and the instructions.
        unsafe { _mm256_loadu_ps(at) }
    }
    #[inline(always)]
    unsafe fn one(at: *const f32) -> f32 {
        // SAFETY: the caller vouches for the element.
        unsafe { *at }
    }
}

impl Stored for F16 {
    #[inline(always)]
    unsafe fn eight(at: *const F16) -> __m256 {
        // SAFETY: the caller vouches for the elements and the instructions.
        unsafe { _mm256_cvtph_ps(_mm_loadu_si128(at.cast())) }
    }
    #[inline(always)]
    unsafe fn one(at: *const F16) -> f32 {
        // SAFETY: the caller vouches for the element and the instructions.
        unsafe { _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(i32::from((*at).0)))) }
    }
}

impl Stored for Bf16 {
    #[inline(always)]
    unsafe fn eight(at: *const Bf16) -> __m256 {
        // SAFETY: the caller vouches for the elements and the instructions.
        unsafe { _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(_mm_loadu_si128(at.cast())))) }
    }
    #[inline(always)]
    unsafe fn one(at: *const Bf16) -> f32 {
        // SAFETY: the caller vouches for the element.
        f32::from_bits(u32::from(unsafe { *at }.0) << 16)
    }
}

/// [`Along`](super::skinny::Along) for f32, from f32, f16 and bf16.
///
/// # Safety
/// The machine has AVX2, FMA and F16C; `a` has `rows · kc` elements, b and `out` their `n` columns.
pub(super) unsafe fn along(rows: usize, a: *const f32, kc: usize, b: &Adjacent, out: Out<f32>, add: bool) {
    // SAFETY: the caller's contract.
    unsafe {
        match b.dtype {
            DType::F16 => columns::<F16>(rows, a, kc, b, out, add),
            DType::BF16 => columns::<Bf16>(rows, a, kc, b, out, add),
            _ => columns::<f32>(rows, a, kc, b, out, add),
        }
    }
}

/// Takes a few columns at a time through all rows, so that memory gives them once.
unsafe fn columns<S: Stored>(rows: usize, a: *const f32, kc: usize, b: &Adjacent, out: Out<f32>, add: bool) {
    let data = b.data.cast::<S>();
    let mut first = 0;
    while first < out.n {
        // SAFETY: the caller's contract, for the columns and rows that are left.
        unsafe {
            let from = data.offset(first as isize * b.apart);
            let step = if rows > 2 { 3 } else { 4 };
            let taken = if first + step <= out.n { step } else { 1 };
            for r in (0..rows).step_by(MOST) {
                let to = out.start.add(r * out.ld + first);
                let a = a.add(r * kc);
                let dots = match ((rows - r).min(MOST), taken) {
                    (1, 1) => dots::<S, 1, 1>,
                    (2, 1) => dots::<S, 2, 1>,
                    (3, 1) => dots::<S, 3, 1>,
                    (_, 1) => dots::<S, 4, 1>,
                    (1, 3) => dots::<S, 1, 3>,
                    (2, 3) => dots::<S, 2, 3>,
                    (3, 3) => dots::<S, 3, 3>,
                    (_, 3) => dots::<S, 4, 3>,
                    (1, _) => dots::<S, 1, 4>,
                    _ => dots::<S, 2, 4>,
                };
                dots(a, kc, (from, b.apart), (to, out.ld), add);
            }
            first += taken;
        }
    }
}

/// R rows times C columns.
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn dots<S: Stored, const R: usize, const C: usize>(
    a: *const f32,
    kc: usize,
    (b, apart): (*const S, isize),
    (to, ld): (*mut f32, usize),
    add: bool,
) {
    let columns: [*const S; C] = std::array::from_fn(|c| b.wrapping_offset(c as isize * apart));
    let mut sums = [[_mm256_setzero_ps(); C]; R];
    let whole = kc / V * V;
    for k in (0..whole).step_by(V) {
        // SAFETY: each column, and each row of a, has eight elements from k.
        unsafe {
            let y: [__m256; C] = columns.map(|c| S::eight(c.add(k)));
            for (r, sums) in sums.iter_mut().enumerate() {
                let x = _mm256_loadu_ps(a.add(r * kc + k));
                for (sum, &y) in sums.iter_mut().zip(&y) {
                    *sum = _mm256_fmadd_ps(x, y, *sum);
                }
            }
        }
    }
    for (r, sums) in sums.iter().enumerate() {
        for ((c, &sum), column) in sums.iter().enumerate().zip(&columns) {
            let mut sum = total(sum);
            // SAFETY: k is below kc, and the caller has room for R rows of C results.
            unsafe {
                for k in whole..kc {
                    sum = S::one(column.add(k)).mul_add(*a.add(r * kc + k), sum);
                }
                let to = to.add(r * ld + c);
                *to = if add { *to + sum } else { sum };
            }
        }
    }
}

/// Sum of the lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn total(v: __m256) -> f32 {
    let quad = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v));
    let pair = _mm_add_ps(quad, _mm_movehl_ps(quad, quad));
    _mm_cvtss_f32(_mm_add_ss(pair, _mm_shuffle_ps::<1>(pair, pair)))
}
