//! Micro-kernels for x86: AVX2 with FMA, and AVX-512.

#![cfg(target_arch = "x86_64")]

use std::arch::x86_64::*;

use super::kernel::{Elem, Kernels, Micro, generic};
use super::skinny::{Across, Along, across};
use super::skinny_x86::along;

/// Defines `$name::<R>`, a [`Micro`] of R rows and `$vecs` vectors, by intrinsics: $zero, $splat, $load, $store, $fma, $add.
macro_rules! micro {
    ($name:ident, $feature:literal, $t:ty, $mr:literal, $vecs:literal, $lanes:literal,
     $zero:ident, $splat:ident, $load:ident, $store:ident, $fma:ident, $add:ident) => {
        #[target_feature(enable = $feature)]
        unsafe fn $name<const R: usize>(kc: usize, a: *const $t, b: *const $t, c: *mut $t, ldc: usize, add: bool) {
            let mut acc = [[$zero(); $vecs]; R];
            let (mut a, mut b) = (a, b);
            for r in 0..R {
                _mm_prefetch::<_MM_HINT_T0>(c.wrapping_add(r * ldc).cast());
            }
            let mut step = || {
                let mut y = [$zero(); $vecs];
                for (j, y) in y.iter_mut().enumerate() {
                    // SAFETY: each of the kc steps has $vecs vectors in the b panel.
                    *y = unsafe { $load(b.add(j * $lanes)) };
                }
                for (r, row) in acc.iter_mut().enumerate() {
                    // SAFETY: each of the kc steps has $mr elements in the a panel, and R ≤ $mr.
                    let x = $splat(unsafe { *a.add(r) });
                    for (sum, &y) in row.iter_mut().zip(&y) {
                        *sum = $fma(x, y, *sum);
                    }
                }
                // SAFETY: at most one past the panels' ends.
                (a, b) = unsafe { (a.add($mr), b.add($vecs * $lanes)) };
            };
            for _ in 0..kc / 4 {
                step();
                step();
                step();
                step();
            }
            for _ in 0..kc % 4 {
                step();
            }
            for (r, row) in acc.iter().enumerate() {
                for (j, &sum) in row.iter().enumerate() {
                    // SAFETY: c has R rows of $vecs vectors.
                    unsafe {
                        let out = c.add(r * ldc + j * $lanes);
                        $store(out, if add { $add($load(out), sum) } else { sum });
                    }
                }
            }
        }
    };
}

micro!(
    f32_avx2,
    "avx2,fma",
    f32,
    6,
    2,
    8,
    _mm256_setzero_ps,
    _mm256_set1_ps,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_fmadd_ps,
    _mm256_add_ps
);
micro!(
    f64_avx2,
    "avx2,fma",
    f64,
    6,
    2,
    4,
    _mm256_setzero_pd,
    _mm256_set1_pd,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_fmadd_pd,
    _mm256_add_pd
);
micro!(
    f32_avx512,
    "avx512f",
    f32,
    12,
    2,
    16,
    _mm512_setzero_ps,
    _mm512_set1_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_fmadd_ps,
    _mm512_add_ps
);
micro!(
    f64_avx512,
    "avx512f",
    f64,
    12,
    2,
    8,
    _mm512_setzero_pd,
    _mm512_set1_pd,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_fmadd_pd,
    _mm512_add_pd
);

/// Compiles the portable loops for AVX2, whose integer multiplications the baseline lacks.
#[target_feature(enable = "avx2")]
unsafe fn int_avx2<T: Elem, const R: usize, const N: usize>(
    kc: usize,
    a: *const T,
    b: *const T,
    c: *mut T,
    ldc: usize,
    add: bool,
) {
    // SAFETY: the caller's contract is the same.
    unsafe { generic::<T, R, 4, N>(kc, a, b, c, ldc, add) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn across_avx2<T: Elem>(rows: usize, a: *const T, b: *const T, offsets: &[i64], c: *mut T, n: usize) {
    // SAFETY: the caller's contract is the same.
    unsafe { across::<T, true>(rows, a, b, offsets, c, n) }
}

#[target_feature(enable = "avx512f,fma")]
unsafe fn across_avx512<T: Elem>(rows: usize, a: *const T, b: *const T, offsets: &[i64], c: *mut T, n: usize) {
    // SAFETY: the caller's contract is the same.
    unsafe { across::<T, true>(rows, a, b, offsets, c, n) }
}

/// The table `$f::<1>, $f::<2>, …`.
macro_rules! by_rows {
    ($f:ident: $($r:literal)*) => { &[$($f::<$r>),*] };
}

pub(super) static F32_AVX2: Kernels<f32> = kernels(16, by_rows!(f32_avx2: 1 2 3 4 5 6), across_avx2::<f32>, Some(along));
pub(super) static F64_AVX2: Kernels<f64> = kernels(8, by_rows!(f64_avx2: 1 2 3 4 5 6), across_avx2::<f64>, None);
pub(super) static F32_AVX512: Kernels<f32> =
    kernels(32, by_rows!(f32_avx512: 1 2 3 4 5 6 7 8 9 10 11 12), across_avx512::<f32>, Some(along));
pub(super) static F64_AVX512: Kernels<f64> =
    kernels(16, by_rows!(f64_avx512: 1 2 3 4 5 6 7 8 9 10 11 12), across_avx512::<f64>, None);
pub(super) static I32_AVX2: Kernels<i32> = kernels(
    16,
    &[int_avx2::<i32, 1, 16>, int_avx2::<i32, 2, 16>, int_avx2::<i32, 3, 16>, int_avx2::<i32, 4, 16>],
    across_avx2::<i32>,
    None,
);
pub(super) static I64_AVX2: Kernels<i64> = kernels(
    8,
    &[int_avx2::<i64, 1, 8>, int_avx2::<i64, 2, 8>, int_avx2::<i64, 3, 8>, int_avx2::<i64, 4, 8>],
    across_avx2::<i64>,
    None,
);

const fn kernels<T: Elem>(nr: usize, micro: &'static [Micro<T>], across: Across<T>, along: Option<Along<T>>) -> Kernels<T> {
    Kernels { mr: micro.len(), nr, micro, across, along }
}
