//! Combiner states on elements: how one element becomes a state, and how two states merge.

use std::marker::PhantomData;

use super::fold::Ptrs;
use super::math;
use super::ops::Bin;

/// One combiner over one arithmetic type.
pub(super) trait State {
    /// Bytes of each component are implied by this type.
    type S: Copy;
    /// State number `i`, with an element step per component.
    ///
    /// # Safety
    /// The pointers are valid there.
    unsafe fn get(p: &Ptrs, i: usize, step: [usize; 3]) -> Self::S;
    /// Writes state number `i`.
    ///
    /// # Safety
    /// The pointers are valid there.
    unsafe fn put(p: &Ptrs, i: usize, s: Self::S);
    /// Writes state number `i` of a scan's results, hidden components left out.
    ///
    /// # Safety
    /// The pointers are valid there.
    #[inline(always)]
    unsafe fn emit(p: &Ptrs, i: usize, s: Self::S) {
        // SAFETY: same contract.
        unsafe { Self::put(p, i, s) }
    }
    /// The state of source element number `i`.
    ///
    /// # Safety
    /// The pointers are valid there.
    unsafe fn lift(src: &Ptrs, i: usize, step: [usize; 3]) -> Self::S;
    /// `a` followed by `b`.
    fn merge<const FMA: bool>(a: Self::S, b: Self::S) -> Self::S;
    /// The state of `n` elements that lie side by side, if there is a better way than one by one.
    ///
    /// # Safety
    /// The pointers are valid for `n` elements.
    unsafe fn block<const FMA: bool>(_src: &Ptrs, _step: [usize; 3], _n: usize) -> Option<Self::S> {
        None
    }
    /// Merges `rows` rows of `n` elements into `n` states, if there is a better way than row by row.
    ///
    /// # Safety
    /// The pointers are valid for all of them.
    unsafe fn columns(_acc: &Ptrs, _src: &Ptrs, _row: isize, _rows: usize, _n: usize) -> bool {
        false
    }
}

/// Partial results that a long fold keeps, whatever the vector width.
pub(super) const LANES: usize = 32;

/// Folds `n` elements with [`LANES`] partial results and a tree; the order depends on `n` only. (A call inside a closure
/// would be compiled for the base instruction set.)
///
/// # Safety
/// `a` is valid for `n` elements, n > 0.
#[inline(always)]
pub(super) unsafe fn lanes<T: Copy>(a: *const T, n: usize, f: impl Fn(T, T) -> T) -> T {
    // SAFETY: every index is below n.
    unsafe {
        if n < LANES {
            let mut s = *a;
            for i in 1..n {
                s = f(s, *a.add(i));
            }
            return s;
        }
        let mut lane = a.cast::<[T; LANES]>().read_unaligned();
        let mut i = LANES;
        while i + LANES <= n {
            for j in 0..LANES {
                lane[j] = f(lane[j], *a.add(i + j));
            }
            i += LANES;
        }
        // Through memory: seen with the tree below, the loop above would be compiled to vectors of two.
        let mut lane = std::hint::black_box(lane);
        for j in 0..n - i {
            lane[j] = f(lane[j], *a.add(i + j));
        }
        let mut width = LANES / 2;
        while width > 0 {
            for j in 0..width {
                lane[j] = f(lane[j], lane[j + width]);
            }
            width /= 2;
        }
        lane[0]
    }
}

/// A combiner whose state is one element.
pub(super) struct Single<B>(PhantomData<B>);

impl<T: Copy, B: Bin<A = T, O = T>> State for Single<B> {
    type S = T;
    #[inline(always)]
    unsafe fn get(p: &Ptrs, i: usize, step: [usize; 3]) -> T {
        // SAFETY: same contract.
        unsafe { *p[0].cast::<T>().add(i * step[0]) }
    }
    #[inline(always)]
    unsafe fn put(p: &Ptrs, i: usize, s: T) {
        // SAFETY: same contract.
        unsafe { *p[0].cast::<T>().add(i) = s }
    }
    #[inline(always)]
    unsafe fn lift(src: &Ptrs, i: usize, step: [usize; 3]) -> T {
        // SAFETY: same contract.
        unsafe { Self::get(src, i, step) }
    }
    #[inline(always)]
    fn merge<const FMA: bool>(a: T, b: T) -> T {
        B::f(a, b)
    }
    #[inline(always)]
    unsafe fn block<const FMA: bool>(src: &Ptrs, step: [usize; 3], n: usize) -> Option<T> {
        if step[0] != 1 {
            return None;
        }
        // SAFETY: same contract.
        Some(unsafe { lanes(src[0].cast::<T>(), n, B::f) })
    }
}

/// f32 sum with a running compensation in the second (hidden) component: (sum, what rounding lost).
pub(super) struct SumF32;

#[inline(always)]
fn compensated(s: (f32, f32), x: f32) -> (f32, f32) {
    let y = x + s.1;
    let sum = s.0 + y;
    let back = sum - s.0;
    let lost = (s.0 - (sum - back)) + (y - back);
    (sum, if lost.abs() < f32::INFINITY { lost } else { 0.0 })
}

impl State for SumF32 {
    type S = (f32, f32);
    #[inline(always)]
    unsafe fn get(p: &Ptrs, i: usize, step: [usize; 3]) -> (f32, f32) {
        // SAFETY: same contract.
        unsafe { (*p[0].cast::<f32>().add(i * step[0]), *p[1].cast::<f32>().add(i * step[1])) }
    }
    #[inline(always)]
    unsafe fn put(p: &Ptrs, i: usize, s: (f32, f32)) {
        // SAFETY: same contract.
        unsafe {
            *p[0].cast::<f32>().add(i) = s.0;
            *p[1].cast::<f32>().add(i) = s.1;
        }
    }
    #[inline(always)]
    unsafe fn emit(p: &Ptrs, i: usize, s: (f32, f32)) {
        // SAFETY: same contract.
        unsafe { *p[0].cast::<f32>().add(i) = s.0 }
    }
    #[inline(always)]
    unsafe fn lift(src: &Ptrs, i: usize, step: [usize; 3]) -> (f32, f32) {
        // SAFETY: same contract.
        unsafe { (*src[0].cast::<f32>().add(i * step[0]), 0.0) }
    }
    #[inline(always)]
    fn merge<const FMA: bool>(a: (f32, f32), b: (f32, f32)) -> (f32, f32) {
        compensated(a, b.0)
    }
    #[inline(always)]
    unsafe fn block<const FMA: bool>(src: &Ptrs, step: [usize; 3], n: usize) -> Option<(f32, f32)> {
        if step[0] != 1 {
            return None;
        }
        // SAFETY: same contract.
        Some((unsafe { lanes(src[0].cast::<f32>(), n, |a, b| a + b) }, 0.0))
    }
    /// Eight rows at a time, pairwise.
    #[inline(always)]
    unsafe fn columns(acc: &Ptrs, src: &Ptrs, row: isize, rows: usize, n: usize) -> bool {
        let (sum, lost) = (acc[0].cast::<f32>(), acc[1].cast::<f32>());
        let mut r = 0;
        // SAFETY: same contract.
        unsafe {
            let at = |r: usize, i: usize| *src[0].wrapping_offset(r as isize * row).cast::<f32>().add(i);
            while r + 8 <= rows {
                for i in 0..n {
                    let low = (at(r, i) + at(r + 1, i)) + (at(r + 2, i) + at(r + 3, i));
                    let high = (at(r + 4, i) + at(r + 5, i)) + (at(r + 6, i) + at(r + 7, i));
                    let s = compensated((*sum.add(i), *lost.add(i)), low + high);
                    *sum.add(i) = s.0;
                    *lost.add(i) = s.1;
                }
                r += 8;
            }
            for r in r..rows {
                for i in 0..n {
                    let s = compensated((*sum.add(i), *lost.add(i)), at(r, i));
                    *sum.add(i) = s.0;
                    *lost.add(i) = s.1;
                }
            }
        }
        true
    }
}

/// Ordering of an arg combiner.
pub(super) trait Order: Bin {
    /// `a` is strictly better than `b`; NaN is better than numbers.
    fn better(a: Self::A, b: Self::A) -> bool;
}

/// (extremum, its first index).
pub(super) struct Arg<B>(PhantomData<B>);

impl<T: Copy, B: Order + Bin<A = T, O = T>> State for Arg<B> {
    type S = (T, i64);
    #[inline(always)]
    unsafe fn get(p: &Ptrs, i: usize, step: [usize; 3]) -> (T, i64) {
        // SAFETY: same contract.
        unsafe { (*p[0].cast::<T>().add(i * step[0]), *p[1].cast::<i64>().add(i * step[1])) }
    }
    #[inline(always)]
    unsafe fn put(p: &Ptrs, i: usize, s: (T, i64)) {
        // SAFETY: same contract.
        unsafe {
            *p[0].cast::<T>().add(i) = s.0;
            *p[1].cast::<i64>().add(i) = s.1;
        }
    }
    #[inline(always)]
    unsafe fn lift(src: &Ptrs, i: usize, step: [usize; 3]) -> (T, i64) {
        // SAFETY: same contract.
        unsafe { Self::get(src, i, step) }
    }
    #[inline(always)]
    fn merge<const FMA: bool>(a: (T, i64), b: (T, i64)) -> (T, i64) {
        let tied = !B::better(a.0, b.0) && !B::better(b.0, a.0);
        if B::better(b.0, a.0) || (tied && b.1 < a.1) { b } else { a }
    }
    /// The extremum first, then the least index that holds it.
    #[inline(always)]
    unsafe fn block<const FMA: bool>(src: &Ptrs, step: [usize; 3], n: usize) -> Option<(T, i64)> {
        if step[0] != 1 {
            return None;
        }
        // SAFETY: same contract.
        unsafe {
            let best = lanes(src[0].cast::<T>(), n, B::f);
            let mut first = i64::MAX;
            for i in 0..n {
                let (x, at) = Self::get(src, i, step);
                first = if !B::better(best, x) && at < first { at } else { first };
            }
            Some((best, first))
        }
    }
}

/// Floats that the statistical combiners work in.
pub(super) trait Real: Copy + PartialOrd {
    const ZERO: Self;
    const ONE: Self;
    const LEAST: Self;
    fn add(self, o: Self) -> Self;
    fn sub(self, o: Self) -> Self;
    fn mul(self, o: Self) -> Self;
    fn div(self, o: Self) -> Self;
    fn exp<const FMA: bool>(self) -> Self;
    fn of(n: usize) -> Self;
    fn max(self, o: Self) -> Self;
}

macro_rules! real {
    ($t:ident, |$x:ident| $exp:expr) => {
        impl Real for $t {
            const ZERO: $t = 0.0;
            const ONE: $t = 1.0;
            const LEAST: $t = $t::NEG_INFINITY;
            #[inline(always)]
            fn add(self, o: $t) -> $t {
                self + o
            }
            #[inline(always)]
            fn sub(self, o: $t) -> $t {
                self - o
            }
            #[inline(always)]
            fn mul(self, o: $t) -> $t {
                self * o
            }
            #[inline(always)]
            fn div(self, o: $t) -> $t {
                self / o
            }
            #[inline(always)]
            fn exp<const FMA: bool>(self) -> $t {
                let $x = self;
                $exp
            }
            #[inline(always)]
            fn of(n: usize) -> $t {
                n as $t
            }
            #[inline(always)]
            fn max(self, o: $t) -> $t {
                if (self < o) | o.is_nan() { o } else { self }
            }
        }
    };
}
real!(f32, |x| math::exp::<FMA>(x));
real!(f64, |x| x.exp());

macro_rules! components {
    ($($i:tt)*) => {
        #[inline(always)]
        unsafe fn get(p: &Ptrs, i: usize, step: [usize; 3]) -> Self::S {
            // SAFETY: same contract.
            unsafe { ($(*p[$i].cast::<T>().add(i * step[$i]),)*) }
        }
        #[inline(always)]
        unsafe fn put(p: &Ptrs, i: usize, s: Self::S) {
            // SAFETY: same contract.
            unsafe { $(*p[$i].cast::<T>().add(i) = s.$i;)* }
        }
    };
}

/// (mean, Σ of squared deviations, count), merged as Chan, Golub and LeVeque (1979).
pub(super) struct Welford<T>(PhantomData<T>);

impl<T: Real> State for Welford<T> {
    type S = (T, T, T);
    components!(0 1 2);
    #[inline(always)]
    unsafe fn lift(src: &Ptrs, i: usize, step: [usize; 3]) -> (T, T, T) {
        // SAFETY: same contract.
        unsafe { (*src[0].cast::<T>().add(i * step[0]), T::ZERO, T::ONE) }
    }
    #[inline(always)]
    fn merge<const FMA: bool>(a: (T, T, T), b: (T, T, T)) -> (T, T, T) {
        if a.2 == T::ZERO {
            return b;
        }
        if b.2 == T::ZERO {
            return a;
        }
        let count = a.2.add(b.2);
        let delta = b.0.sub(a.0);
        let share = b.2.div(count);
        let spread = delta.mul(delta).mul(a.2.mul(share));
        (a.0.add(delta.mul(share)), a.1.add(b.1).add(spread), count)
    }
    /// Mean first, then the deviations from it: the block is in L1.
    #[inline(always)]
    unsafe fn block<const FMA: bool>(src: &Ptrs, step: [usize; 3], n: usize) -> Option<(T, T, T)> {
        if step[0] != 1 {
            return None;
        }
        let a = src[0].cast::<T>();
        // SAFETY: same contract.
        unsafe {
            let mean = lanes(a, n, T::add).div(T::of(n));
            let square = |x: T| x.sub(mean).mul(x.sub(mean));
            Some((mean, mapped_sum(a, n, square), T::of(n)))
        }
    }
}

/// Σ f(aᵢ) with blocks of squares, exponentials, … in a local buffer, so that both loops vectorise.
///
/// # Safety
/// `a` is valid for `n` elements.
#[inline(always)]
unsafe fn mapped_sum<T: Real>(a: *const T, n: usize, f: impl Fn(T) -> T) -> T {
    const BLOCK: usize = 256;
    let mut buffer = [T::ZERO; BLOCK];
    let mut sum = T::ZERO;
    for start in (0..n).step_by(BLOCK) {
        let m = (n - start).min(BLOCK);
        // SAFETY: start + i < n.
        unsafe {
            for i in 0..m {
                buffer[i] = f(*a.add(start + i));
            }
            sum = sum.add(lanes(buffer.as_ptr(), m, T::add));
        }
    }
    sum
}

/// (max m, Σ exp(x − m)), where −∞ against a maximum of −∞ counts 1.
pub(super) struct MaxSum<T>(PhantomData<T>);

#[inline(always)]
fn shrink<T: Real, const FMA: bool>(x: T, max: T) -> T {
    if x == T::LEAST && max == T::LEAST { T::ONE } else { x.sub(max).exp::<FMA>() }
}

impl<T: Real> State for MaxSum<T> {
    type S = (T, T);
    components!(0 1);
    #[inline(always)]
    unsafe fn lift(src: &Ptrs, i: usize, step: [usize; 3]) -> (T, T) {
        // SAFETY: same contract.
        let x = unsafe { *src[0].cast::<T>().add(i * step[0]) };
        (x, if x == T::LEAST { T::ONE } else { x.sub(x).add(T::ONE) })
    }
    #[inline(always)]
    fn merge<const FMA: bool>(a: (T, T), b: (T, T)) -> (T, T) {
        let max = a.0.max(b.0);
        (max, a.1.mul(shrink::<T, FMA>(a.0, max)).add(b.1.mul(shrink::<T, FMA>(b.0, max))))
    }
    #[inline(always)]
    unsafe fn block<const FMA: bool>(src: &Ptrs, step: [usize; 3], n: usize) -> Option<(T, T)> {
        if step[0] != 1 {
            return None;
        }
        let a = src[0].cast::<T>();
        // SAFETY: same contract.
        unsafe {
            let max = lanes(a, n, T::max);
            if max == T::LEAST {
                return Some((max, T::of(n)));
            }
            Some((max, mapped_sum(a, n, |x| x.sub(max).exp::<FMA>())))
        }
    }
}

/// h ← a·h + b over operands (a, b): state (Πa, h).
pub(super) struct Recurrence<T>(PhantomData<T>);

impl<T: Real> State for Recurrence<T> {
    type S = (T, T);
    components!(0 1);
    #[inline(always)]
    unsafe fn lift(src: &Ptrs, i: usize, step: [usize; 3]) -> (T, T) {
        // SAFETY: same contract.
        unsafe { Self::get(src, i, step) }
    }
    #[inline(always)]
    fn merge<const FMA: bool>(a: (T, T), b: (T, T)) -> (T, T) {
        (a.0.mul(b.0), b.0.mul(a.1).add(b.1))
    }
}
