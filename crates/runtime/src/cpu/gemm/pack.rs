//! Packing of strided operands into panels.
//!
//! A panel holds `w` lanes (rows of a or columns of b): element (k, lane) lies at `k·w + lane`. Lanes beyond the operand
//! and positions outside the bounds are zero.

use std::ops::Range;

use half::{bf16, f16};
use scalar::DType;

use super::convert::{E4m3, E5m2, Widen};
use super::kernel::Elem;
use super::source::{Exprs, Strided, tabulate};

/// Reusable tables of one thread.
#[derive(Default)]
pub(crate) struct Tables {
    /// Element offsets by lane and by k.
    x: Vec<i64>,
    k: Vec<i64>,
    /// Bounds' lane and k parts, bound by bound.
    bound_x: Vec<i64>,
    bound_k: Vec<i64>,
    /// Valid lanes of the current run by k position modulo the period.
    spans: Vec<(usize, usize)>,
    /// The same as vector masks: those of a panel's row for each position.
    #[cfg(target_arch = "x86_64")]
    masks: Vec<[i32; 8]>,
}

/// What one call packs.
pub(crate) struct Block<'a> {
    /// Addressing.
    pub(crate) source: &'a Strided,
    /// First element of the parameter.
    pub(crate) data: *const u8,
    /// Expression values at the batch index.
    pub(crate) base: &'a Exprs,
    /// Lanes.
    pub(crate) x: Range<usize>,
    /// Contracted positions.
    pub(crate) k: Range<usize>,
    /// Lanes of a panel.
    pub(crate) w: usize,
}

/// Element types that panels may have.
pub(crate) trait Pack: Elem {
    /// Packs a block into `x.len() / w` panels (rounded up) of `k.len() · w` elements.
    ///
    /// # Safety
    /// Every index that the bounds admit is readable at the block's data, and `out` has room for the panels.
    unsafe fn pack(block: &Block<'_>, out: *mut Self, tables: &mut Tables) {
        tables.fill(block);
        #[cfg(target_arch = "x86_64")]
        if block.source.dtype == Self::DTYPE && Self::DTYPE.size() == 4 && is_x86_feature_detected!("avx2") {
            // SAFETY: AVX2 was detected, elements are four bytes on both sides, and the rest is the caller's contract.
            if unsafe { super::pack_x86::pack(block, out.cast(), tables) } {
                return;
            }
        }
        // SAFETY: the caller's contract.
        unsafe { Self::pack_portable(block, out, tables) }
    }

    /// As [`Pack::pack`], for any stored dtype and machine, with filled tables.
    ///
    /// # Safety
    /// As [`Pack::pack`].
    unsafe fn pack_portable(block: &Block<'_>, out: *mut Self, tables: &mut Tables);
}

macro_rules! pack {
    ($($t:ty)*) => { $(
        impl Pack for $t {
            unsafe fn pack_portable(block: &Block<'_>, out: *mut $t, tables: &mut Tables) {
                // SAFETY: the data holds elements of this dtype, the rest is the caller's contract.
                unsafe {
                    match block.source.dtype {
                        DType::Bool | DType::U8 => pack_as::<u8, $t>(block, out, tables),
                        DType::I8 => pack_as::<i8, $t>(block, out, tables),
                        DType::I16 => pack_as::<i16, $t>(block, out, tables),
                        DType::U16 => pack_as::<u16, $t>(block, out, tables),
                        DType::I32 => pack_as::<i32, $t>(block, out, tables),
                        DType::U32 => pack_as::<u32, $t>(block, out, tables),
                        DType::I64 => pack_as::<i64, $t>(block, out, tables),
                        DType::U64 => pack_as::<u64, $t>(block, out, tables),
                        DType::F8E4M3 => pack_as::<E4m3, $t>(block, out, tables),
                        DType::F8E5M2 => pack_as::<E5m2, $t>(block, out, tables),
                        DType::F16 => pack_as::<f16, $t>(block, out, tables),
                        DType::BF16 => pack_as::<bf16, $t>(block, out, tables),
                        DType::F32 => pack_as::<f32, $t>(block, out, tables),
                        DType::F64 => pack_as::<f64, $t>(block, out, tables),
                    }
                }
            }
        }
    )* };
}

pack!(f32 f64 i32 i64);

unsafe fn pack_as<S: Widen<T>, T: Elem>(block: &Block<'_>, out: *mut T, tables: &mut Tables) {
    let data = block.data.cast::<S>();
    // SAFETY: the caller's contract.
    unsafe { if block.source.is_transposed() { transpose(block, data, out, tables) } else { runs(block, data, out, tables) } }
}

impl Tables {
    /// Offsets of a block's lanes and k positions, base included in the lanes.
    pub(super) fn fill(&mut self, block: &Block<'_>) {
        let (s, xs, ks) = (block.source, block.x.len(), block.k.len());
        let Tables { x, k, bound_x, bound_k, .. } = self;
        [&mut *x, k, bound_x, bound_k].into_iter().for_each(|t| t.clear());
        tabulate(&s.x, 0, block.x.start, xs, x);
        x.iter_mut().for_each(|v| *v += block.base[0]);
        tabulate(&s.k, 0, block.k.start, ks, k);
        for bound in 0..s.limits.len() {
            tabulate(&s.x, bound + 1, block.x.start, xs, bound_x);
            let from = bound_x.len() - xs;
            bound_x[from..].iter_mut().for_each(|v| *v += block.base[bound + 1]);
            tabulate(&s.k, bound + 1, block.k.start, s.period().min(ks), bound_k);
        }
    }

    /// Element offsets by lane of the block.
    pub(super) fn lanes(&self) -> &[i64] {
        &self.x
    }
    /// Element offsets by k position of the block.
    pub(super) fn steps(&self) -> &[i64] {
        &self.k
    }
    /// Valid lanes of the measured run by k position, repeating.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn spans(&self) -> &[(usize, usize)] {
        &self.spans
    }
    /// Fills the masks with `mask(span, vector)` for every span and vector of a row.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn mask_lanes(&mut self, mask: impl Fn((usize, usize), usize) -> [i32; 8], vectors: usize) {
        self.masks.clear();
        self.masks
            .extend(self.spans.iter().flat_map(|&span| (0..vectors).map(move |v| (span, v))).map(|(span, v)| mask(span, v)));
    }
    /// Masks of all spans, those of one span together.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn masks(&self) -> &[[i32; 8]] {
        &self.masks
    }

    /// Finds the valid lanes `lo..hi` of a run (`at` in the block, `len` lanes) for each k position of a period.
    pub(super) fn measure(&mut self, block: &Block<'_>, at: usize, len: usize) {
        let s = block.source;
        let (xs, period) = (block.x.len(), s.period().min(block.k.len()));
        self.spans.clear();
        self.spans.resize(period, (0, len));
        for (bound, &(lo, hi)) in s.limits.iter().enumerate() {
            let step = s.x.last().map_or(0, |d| d.coef[bound + 1]);
            let first = self.bound_x[bound * xs + at];
            for (span, &k) in self.spans.iter_mut().zip(&self.bound_k[bound * period..]) {
                let valid = solve(first + k, step, lo, hi, len as i64);
                *span = (span.0.max(valid.0), span.1.min(valid.1));
            }
        }
        self.spans.iter_mut().for_each(|s| s.1 = s.1.max(s.0));
    }
}

/// The i in 0..len with `lo ≤ first + i·step < hi`, as a range (empty when its end is not above its start).
fn solve(first: i64, step: i64, lo: i64, hi: i64, len: i64) -> (usize, usize) {
    let (from, to) = match step {
        0 if lo <= first && first < hi => (0, len),
        0 => (0, 0),
        1 => (lo - first, hi - first),
        s if s > 0 => (ceil_div(lo - first, s), ceil_div(hi - first, s)),
        s => (ceil_div(first - hi + 1, -s), ceil_div(first - lo + 1, -s)),
    };
    (from.clamp(0, len) as usize, to.clamp(0, len) as usize)
}

fn ceil_div(a: i64, b: i64) -> i64 {
    -(-a).div_euclid(b)
}

/// Length of the run of evenly spaced lanes that starts at `lane` of a block and ends before `end`.
pub(super) fn run_length(block: &Block<'_>, lane: usize, end: usize) -> usize {
    let whole = block.source.x.last().map_or(1, |d| d.extent as usize).max(1);
    (whole - (block.x.start + lane) % whole).min(end - lane)
}

/// Packs run by run: lanes of a run are evenly spaced in memory.
unsafe fn runs<S: Widen<T>, T: Elem>(block: &Block<'_>, data: *const S, out: *mut T, tables: &mut Tables) {
    let (lanes, w, step) = (block.x.len(), block.w, block.source.lane_step() as isize);
    let kc = block.k.len();
    for (panel, start) in (0..lanes).step_by(w).enumerate() {
        let end = (start + w).min(lanes);
        // SAFETY: the output has room for this panel of kc·w elements.
        let rows = unsafe { std::slice::from_raw_parts_mut(out.add(panel * kc * w), kc * w) };
        if end - start < w || !block.source.limits.is_empty() {
            rows.fill(T::default());
        }
        let mut lane = start;
        while lane < end {
            let len = run_length(block, lane, end);
            tables.measure(block, lane, len);
            for (k, row) in rows.chunks_exact_mut(w).enumerate() {
                let (lo, hi) = tables.spans[k % tables.spans.len()];
                let row = &mut row[lane - start + lo..lane - start + hi];
                // SAFETY: lanes lo..hi of the run are inside the bounds at this k, so the caller vouches for them.
                unsafe { copy(data.wrapping_offset((tables.x[lane] + tables.k[k]) as isize + lo as isize * step), step, row) };
            }
            lane += len;
        }
    }
}

#[inline(always)]
unsafe fn copy<S: Widen<T>, T: Elem>(from: *const S, step: isize, to: &mut [T]) {
    if step == 1 {
        for (i, to) in to.iter_mut().enumerate() {
            // SAFETY: the caller vouches for `to.len()` elements.
            *to = unsafe { from.add(i).read() }.widen();
        }
    } else {
        for (i, to) in to.iter_mut().enumerate() {
            // SAFETY: the caller vouches for `to.len()` elements at this step.
            *to = unsafe { from.offset(i as isize * step).read() }.widen();
        }
    }
}

/// Packs an operand whose k neighbours are adjacent: reads along k, writes across.
unsafe fn transpose<S: Widen<T>, T: Elem>(block: &Block<'_>, data: *const S, out: *mut T, tables: &Tables) {
    let (lanes, w, kc) = (block.x.len(), block.w, block.k.len());
    for (panel, start) in (0..lanes).step_by(w).enumerate() {
        // SAFETY: the output has room for this panel of kc·w elements.
        let rows = unsafe { std::slice::from_raw_parts_mut(out.add(panel * kc * w), kc * w) };
        if lanes - start < w {
            rows.fill(T::default());
        }
        for (lane, &x) in tables.x[start..(start + w).min(lanes)].iter().enumerate() {
            for (k, &step) in tables.k.iter().enumerate() {
                // SAFETY: no bounds apply, so every lane and k of the block is readable.
                rows[k * w + lane] = unsafe { data.offset((x + step) as isize).read() }.widen();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_solved_exactly() {
        for step in -3..=3i64 {
            for first in -7..=7 {
                for (lo, hi) in [(0, 5), (-2, 3), (4, 4), (1, 100)] {
                    let (from, to) = solve(first, step, lo, hi, 6);
                    let valid = |i: i64| lo <= first + i * step && first + i * step < hi;
                    (0..6)
                        .for_each(|i| assert_eq!(valid(i), (from..to).contains(&(i as usize)), "{first}+{step}i in {lo}..{hi}"));
                }
            }
        }
    }
}
