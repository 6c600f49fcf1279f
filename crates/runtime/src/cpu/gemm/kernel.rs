//! Micro-kernels: which exist for an element type, and the portable ones.

use scalar::DType;

use super::skinny::{Across, Along, across_portable};

/// `c[r][j] (+)= Σₖ a[k·mr + r] · b[k·nr + j]` for the kernel's rows and all `nr` columns: (k count, a panel, b panel, c,
/// row stride of c, add to c instead of overwriting). Each sum runs over k in order from zero and is then added to c.
pub(crate) type Micro<T> = unsafe fn(usize, *const T, *const T, *mut T, usize, bool);

/// The kernels of one element type on this machine.
pub(crate) struct Kernels<T: 'static> {
    /// Rows of an a panel.
    pub(crate) mr: usize,
    /// Columns of a b panel.
    pub(crate) nr: usize,
    /// Kernels for 1..=mr rows; all read panels of `mr`.
    pub(crate) micro: &'static [Micro<T>],
    /// Few rows times a matrix where it lies.
    pub(crate) across: Across<T>,
    pub(crate) along: Option<Along<T>>,
}

/// Element type of packed panels and accumulators.
pub(crate) trait Elem: Copy + Default + PartialEq + Send + Sync + 'static {
    /// Stored dtype of the same bits.
    const DTYPE: DType;
    /// Kernels for this machine.
    fn kernels() -> &'static Kernels<Self>;
    /// `a·b + c`; integers wrap.
    fn mul_add(a: Self, b: Self, c: Self) -> Self;
    /// `a·b + c` with one rounding.
    fn fused(a: Self, b: Self, c: Self) -> Self;
    /// `a + b`; integers wrap.
    fn plus(a: Self, b: Self) -> Self;
}

macro_rules! float {
    ($t:ty, $dtype:ident, $avx2:path, $avx512:path) => {
        impl Elem for $t {
            const DTYPE: DType = DType::$dtype;
            fn kernels() -> &'static Kernels<$t> {
                #[cfg(target_arch = "x86_64")]
                {
                    if is_x86_feature_detected!("avx512f") {
                        return &$avx512;
                    }
                    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                        return &$avx2;
                    }
                }
                const { &portable::<$t>() }
            }
            #[inline(always)]
            fn mul_add(a: $t, b: $t, c: $t) -> $t {
                a * b + c
            }
            #[inline(always)]
            fn fused(a: $t, b: $t, c: $t) -> $t {
                a.mul_add(b, c)
            }
            #[inline(always)]
            fn plus(a: $t, b: $t) -> $t {
                a + b
            }
        }
    };
}

macro_rules! integer {
    ($t:ty, $dtype:ident, $avx2:path) => {
        impl Elem for $t {
            const DTYPE: DType = DType::$dtype;
            fn kernels() -> &'static Kernels<$t> {
                #[cfg(target_arch = "x86_64")]
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    return &$avx2;
                }
                const { &portable::<$t>() }
            }
            #[inline(always)]
            fn mul_add(a: $t, b: $t, c: $t) -> $t {
                a.wrapping_mul(b).wrapping_add(c)
            }
            #[inline(always)]
            fn fused(a: $t, b: $t, c: $t) -> $t {
                a.wrapping_mul(b).wrapping_add(c)
            }
            #[inline(always)]
            fn plus(a: $t, b: $t) -> $t {
                a.wrapping_add(b)
            }
        }
    };
}

float!(f32, F32, super::x86::F32_AVX2, super::x86::F32_AVX512);
float!(f64, F64, super::x86::F64_AVX2, super::x86::F64_AVX512);
integer!(i32, I32, super::x86::I32_AVX2);
integer!(i64, I64, super::x86::I64_AVX2);

/// Portable kernels for every type, which the compiler vectorises for the baseline.
pub(crate) const fn portable<T: Elem>() -> Kernels<T> {
    let micro: &[Micro<T>] = const { &[rows::<T, 1>, rows::<T, 2>, rows::<T, 3>, rows::<T, 4>] };
    Kernels { mr: 4, nr: 8, micro, across: across_portable::<T>, along: None }
}

unsafe fn rows<T: Elem, const R: usize>(kc: usize, a: *const T, b: *const T, c: *mut T, ldc: usize, add: bool) {
    // SAFETY: the caller's contract is the same.
    unsafe { generic::<T, R, 4, 8>(kc, a, b, c, ldc, add) }
}

/// An `R × N` kernel over panels of `MR` and `N`, to be compiled for a feature set by its caller.
///
/// # Safety
/// Panels of `kc` steps are readable and `R` rows of `N` elements at `c` are writable (readable too when `add`).
#[inline(always)]
pub(super) unsafe fn generic<T: Elem, const R: usize, const MR: usize, const N: usize>(
    kc: usize,
    a: *const T,
    b: *const T,
    c: *mut T,
    ldc: usize,
    add: bool,
) {
    let mut acc = [[T::default(); N]; R];
    for k in 0..kc {
        // SAFETY: k is below kc, and panels hold MR and N elements for each.
        let (x, y) = unsafe { (&*a.add(k * MR).cast::<[T; R]>(), &*b.add(k * N).cast::<[T; N]>()) };
        for (row, &x) in acc.iter_mut().zip(x) {
            for (sum, &y) in row.iter_mut().zip(y) {
                *sum = T::mul_add(x, y, *sum);
            }
        }
    }
    for (r, row) in acc.iter().enumerate() {
        // SAFETY: the caller gives R writable rows of N elements.
        let out = unsafe { &mut *c.add(r * ldc).cast::<[T; N]>() };
        for (out, &sum) in out.iter_mut().zip(row) {
            *out = if add { T::plus(*out, sum) } else { sum };
        }
    }
}
