//! Products of few rows: memory decides their time, so the column operand is read once, where it lies, and never packed.
//!
//! A column operand lies *across* when neighbouring columns are adjacent, *along* when neighbouring k positions are. Across, sums run
//! over k in the order and rounding of the micro-kernels, so that a row has the same result in any product. Along, they run in as
//! many parts as a vector has lanes: a row has the same result in any product of few rows.

use scalar::DType;

use super::kernel::Elem;
use super::pack::{Block, Pack, Tables};
use super::plan::{Operand, Product, Source};
use super::source::Strided;
use crate::cpu::launch::Launch;

/// Most rows of such a product.
pub(super) const ROWS: usize = 8;
/// Most columns of a tile over an operand that lies across: long runs of memory, and accumulators of all rows that stay in L1.
const ACROSS_NC: usize = 4096;
const ACROSS_SUMS: usize = 8192;
/// Columns of a tile over an operand that lies along.
const ALONG_NC: usize = 64;
/// Rows of the operand that are widened together.
const WIDENED: usize = 8;

/// `c[r·n + j] += Σₖ a[k·rows + r] · b[offset[k] + j]` for j below n: (rows, a, b, offsets of the k rows, c, n).
pub(crate) type Across<T> = unsafe fn(usize, *const T, *const T, &[i64], *mut T, usize);

/// `c[r·ld + j] (+)= Σₖ a[r·kc + k] · b[j·apart + k]` for j below n: (rows, a, kc, b, c, add to c instead of overwriting).
pub(crate) type Along<T> = unsafe fn(usize, *const T, usize, &Adjacent, Out<T>, bool);

/// An operand whose k neighbours are adjacent.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only x86 has kernels along k"))]
pub(crate) struct Adjacent {
    pub(super) data: *const u8,
    pub(super) dtype: DType,
    /// Elements between columns.
    pub(super) apart: isize,
}

/// Where results go: `n` of each row, rows `ld` apart.
#[derive(Clone, Copy)]
pub(crate) struct Out<T> {
    pub(super) start: *mut T,
    pub(super) ld: usize,
    pub(super) n: usize,
}

/// How a column operand lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lies {
    Across,
    Along,
}

impl Lies {
    /// How an operand lies, if kernels can read it there.
    pub(super) fn of<T: Pack>(operand: &Operand, along: bool) -> Option<Lies> {
        let Source::Direct { strided: s, .. } = &operand.source else { return None };
        let widens = T::DTYPE == DType::F32 && matches!(s.dtype, DType::F16 | DType::BF16);
        if operand.frozen.is_some() || s.x.len() != 1 || !s.limits.is_empty() || !(s.dtype == T::DTYPE || widens) {
            return None;
        }
        if s.lane_step() == 1 {
            return Some(Lies::Across);
        }
        (along && s.is_transposed() && s.k.len() == 1).then_some(Lies::Along)
    }

    /// Most columns of a tile of `rows`.
    pub(super) fn columns(self, rows: usize) -> usize {
        match self {
            Lies::Across => ACROSS_NC.min(ACROSS_SUMS / rows),
            Lies::Along => ALONG_NC,
        }
    }

    /// Rows of a panel of the row operand.
    pub(super) fn panel_rows(self, rows: usize) -> usize {
        match self {
            Lies::Across => rows,
            Lies::Along => 1,
        }
    }

    /// Elements of working memory that a tile of `rows × columns` needs.
    pub(super) fn room(self, rows: usize, columns: usize) -> usize {
        match self {
            Lies::Across => (rows + WIDENED) * columns,
            Lies::Along => 0,
        }
    }
}

impl Operand {
    /// The data itself, where one row in memory is its own panel of width 1.
    pub(super) fn as_panel<T: Pack>(&self, launch: &Launch<'_>) -> Option<*const T> {
        let Source::Direct { param, strided: s } = &self.source else { return None };
        let adjacent = s.k.len() == 1 && s.k[0].coef[0] == 1 && s.limits.is_empty();
        (adjacent && !self.varies && s.dtype == T::DTYPE)
            .then(|| launch.params[*param].cast_const().cast::<T>().wrapping_offset(s.base[0] as isize))
    }
}

impl<T: Pack> Product<T> {
    /// Adds a k block's product to `out` (sets it for the first block). The block's lanes are the columns of `out`.
    ///
    /// # Safety
    /// The block is readable, `a` has `rows` elements for each k, and `room` has [`Lies::room`] elements.
    pub(super) unsafe fn skinny_block(
        &self,
        lies: Lies,
        a: *const T,
        block: &Block<'_>,
        out: Out<T>,
        room: *mut T,
        tables: &mut Tables,
    ) {
        let add = block.k.start > 0;
        match lies {
            Lies::Across => {
                tables.fill(block);
                let sums = Out { start: room, ld: out.n, n: out.n };
                // SAFETY: the caller's contract.
                unsafe {
                    self.across_block(a, block, sums, tables);
                    super::run::copy_out(room, out.n, out.start, out.ld, (self.rows.count, out.n), add);
                }
            }
            Lies::Along => {
                let Some(along) = self.kernels.along else { return };
                let Strided { dtype, x, k, .. } = block.source;
                let first = block.base[0] + block.x.start as i64 * x[0].coef[0] + block.k.start as i64 * k[0].coef[0];
                let data = block.data.wrapping_offset(first as isize * dtype.size() as isize);
                let b = Adjacent { data, dtype: *dtype, apart: x[0].coef[0] as isize };
                // SAFETY: the caller's contract.
                unsafe { along(self.rows.count, a, block.k.len(), &b, out, add) };
            }
        }
    }

    unsafe fn across_block(&self, a: *const T, block: &Block<'_>, sums: Out<T>, tables: &Tables) {
        let (rows, n, across) = (self.rows.count, sums.n, self.kernels.across);
        let (dtype, first) = (block.source.dtype, tables.lanes()[0] as isize);
        // SAFETY: the room has this many elements, and the rest is the caller's contract.
        unsafe {
            std::slice::from_raw_parts_mut(sums.start, rows * n).fill(T::default());
            let Some(widen) = simd::convert::widen(dtype).filter(|_| dtype != T::DTYPE) else {
                return across(rows, a, block.data.cast::<T>().wrapping_offset(first), tables.steps(), sums.start, n);
            };
            let wide = sums.start.add(rows * n);
            let offsets: [i64; WIDENED] = std::array::from_fn(|i| (i * n) as i64);
            for (i, steps) in tables.steps().chunks(WIDENED).enumerate() {
                for (step, offset) in steps.iter().zip(offsets) {
                    let from = block.data.wrapping_offset((first + *step as isize) * dtype.size() as isize);
                    widen(wide.add(offset as usize).cast(), from, from, from, n);
                }
                across(rows, a.add(i * WIDENED * rows), wide, &offsets[..steps.len()], sums.start, n);
            }
        }
    }
}

/// [`Across`] for every type, which the compiler vectorises for the baseline.
pub(super) unsafe fn across_portable<T: Elem>(rows: usize, a: *const T, b: *const T, offsets: &[i64], c: *mut T, n: usize) {
    // SAFETY: the caller's contract is the same.
    unsafe { across::<T, false>(rows, a, b, offsets, c, n) }
}

/// See [`Across`]; four k rows at a time, so that c is read and written once for four multiply-adds.
///
/// # Safety
/// `a` has `rows` elements for each offset; at each offset `n` elements of `b` are readable; c has `rows · n` elements.
#[inline(always)]
pub(super) unsafe fn across<T: Elem, const FUSED: bool>(
    rows: usize,
    a: *const T,
    b: *const T,
    offsets: &[i64],
    c: *mut T,
    n: usize,
) {
    let fma = if FUSED { T::fused } else { T::mul_add };
    // SAFETY: the caller's contract, for an offset.
    let from = |o: i64| unsafe { std::slice::from_raw_parts(b.offset(o as isize), n) };
    // SAFETY: the caller's contract, for k below the number of offsets and r below `rows`.
    let at = |k: usize, r: usize| unsafe { *a.add(k * rows + r) };
    // SAFETY: as above; no row is borrowed twice at a time.
    let to = |r: usize| unsafe { std::slice::from_raw_parts_mut(c.add(r * n), n) };
    let (quads, rest) = offsets.as_chunks::<4>();
    for (q, quad) in quads.iter().enumerate() {
        let y = quad.map(from);
        let x = |r: usize| std::array::from_fn(|i| at(q * 4 + i, r));
        for r in (0..rows / 2 * 2).step_by(2) {
            quad_of_two::<T, FUSED>([x(r), x(r + 1)], y, to(r), to(r + 1));
        }
        if rows % 2 == 1 {
            quad_of_one::<T, FUSED>(x(rows - 1), y, to(rows - 1));
        }
    }
    for (i, &o) in rest.iter().enumerate() {
        for r in 0..rows {
            let x = at(quads.len() * 4 + i, r);
            to(r).iter_mut().zip(from(o)).for_each(|(sum, &y)| *sum = fma(x, y, *sum));
        }
    }
}

/// Adds four rows, each times an element, to a row.
#[inline(always)]
fn quad_of_one<T: Elem, const FUSED: bool>(x: [T; 4], y: [&[T]; 4], c: &mut [T]) {
    let fma = if FUSED { T::fused } else { T::mul_add };
    let [y0, y1, y2, y3] = y;
    for ((((c, &y0), &y1), &y2), &y3) in c.iter_mut().zip(y0).zip(y1).zip(y2).zip(y3) {
        *c = fma(x[3], y3, fma(x[2], y2, fma(x[1], y1, fma(x[0], y0, *c))));
    }
}

/// Adds four rows, each times an element, to two rows.
#[inline(always)]
fn quad_of_two<T: Elem, const FUSED: bool>([x, z]: [[T; 4]; 2], y: [&[T]; 4], c: &mut [T], d: &mut [T]) {
    let fma = if FUSED { T::fused } else { T::mul_add };
    let [y0, y1, y2, y3] = y;
    for (((((c, d), &y0), &y1), &y2), &y3) in c.iter_mut().zip(d).zip(y0).zip(y1).zip(y2).zip(y3) {
        *c = fma(x[3], y3, fma(x[2], y2, fma(x[1], y1, fma(x[0], y0, *c))));
        *d = fma(z[3], y3, fma(z[2], y2, fma(z[1], y1, fma(z[0], y0, *d))));
    }
}
