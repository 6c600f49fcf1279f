//! Windows over padded planes.
//!
//! What the conditions admit of an operand is copied between margins of elements that change nothing. Then no tap needs a mask,
//! and the rows of a tile follow each other in one run of vectors: results in the margins between them are dropped. Steps of more
//! than one element are taken apart into as many planes (`phases`), in which neighbouring results read neighbouring elements.

use simd::copy;
use simd::window::{self, Fold, Tap};
use smallvec::SmallVec;

use super::mask::{Lin, Mask};
use super::window::Offsets;

/// Elements that a vector may read and write beyond a plane.
const SLACK: usize = 8;

/// A direction of the tile in which a condition bounds the operand.
#[derive(Clone, Copy, Debug)]
struct Direction {
    /// Number of the condition, and what it admits: `lo..hi`.
    cond: usize,
    lo: i64,
    hi: i64,
    /// What one row or column adds to the condition's expression.
    step: i64,
    /// Elements of the operand for each unit of the expression.
    stride: i64,
    /// Least offset of a tap, and how much further the largest is.
    least: i64,
    reach: i64,
}

/// The positions of a direction in one tile.
#[derive(Clone, Copy)]
struct Positions {
    /// Of the tile's first point, without a tap's offset.
    first: i64,
    /// Of the plane's first element.
    start: i64,
    /// Those that the condition admits.
    admitted: (i64, i64),
    phases: i64,
    /// Positions of each phase.
    each: i64,
    stride: i64,
}

impl Direction {
    fn of(mask: &Mask, along: impl Fn(&Lin) -> i64, x: &Lin, taps: &[Offsets]) -> Option<Direction> {
        let (cond, (lin, lo, hi)) = mask.conditions().enumerate().find(|(_, (lin, ..))| along(lin) != 0)?;
        let step = along(lin);
        let offsets = || taps.iter().map(|t| t.conds[cond]);
        let (least, most) = (offsets().min()?, offsets().max()?);
        let fits = step > 0 && along(x) % step == 0;
        fits.then(|| Direction { cond, lo, hi, step, stride: along(x) / step, least, reach: most - least })
    }

    fn positions(&self, first: i64, count: usize) -> Positions {
        let start = first + self.least;
        let end = start + self.step * (count as i64 - 1) + self.reach + 1;
        let admitted = (self.lo.max(start), self.hi.min(end));
        Positions { first, start, admitted, phases: self.step, each: count as i64 + self.reach / self.step, stride: self.stride }
    }

    /// Phase of a tap and its place within it.
    fn place(&self, tap: &Offsets) -> (i64, i64) {
        split(tap.conds[self.cond] - self.least, self.step)
    }

    /// Elements that a tap's offset adds to the operand's index.
    fn elements(&self, tap: &Offsets) -> i64 {
        self.stride * tap.conds[self.cond]
    }
}

/// Remainder and quotient.
fn split(distance: i64, phases: i64) -> (i64, i64) {
    (distance % phases, distance / phases)
}

impl Positions {
    /// One position: all of a direction that no condition bounds.
    const ONE: Positions = Positions { first: 0, start: 0, admitted: (0, 1), phases: 1, each: 1, stride: 0 };

    /// Phase and place within it.
    fn place(&self, at: i64) -> (i64, i64) {
        if self.phases == 1 { (0, at - self.start) } else { split(at - self.start, self.phases) }
    }
}

/// How the taps of a window lie in a padded plane.
#[derive(Debug)]
pub(super) struct Planes {
    rows: Option<Direction>,
    cols: Direction,
    /// Elements of the operand from the tile's first point to position (first row, first column).
    from: i64,
    spots: Vec<Spot>,
}

/// Where a tap reads: number of the part of the plane, and row and column in it.
#[derive(Debug)]
struct Spot {
    part: i64,
    row: i64,
    col: i64,
}

/// One plane of an operand, copied.
struct Plane {
    rows: Positions,
    cols: Positions,
}

impl Plane {
    fn len(&self) -> usize {
        (self.rows.phases * self.cols.phases * self.rows.each * self.cols.each) as usize
    }
    /// Where a spot lies in the copy.
    fn at(&self, spot: &Spot) -> isize {
        ((spot.part * self.rows.each + spot.row) * self.cols.each + spot.col) as isize
    }

    /// Copies the admitted elements of an operand whose first point is at `x`.
    unsafe fn fill(&self, to: *mut f32, x: *const f32, init: f32) {
        // SAFETY: the caller has room for a plane and the slack.
        unsafe { copy::fill(size_of::<f32>(), to.cast(), u64::from(init.to_bits()), self.len() + SLACK) };
        let Positions { first, admitted: (lo, hi), phases, stride, .. } = self.cols;
        for row in self.rows.admitted.0..self.rows.admitted.1 {
            let (phase, place) = self.rows.place(row);
            let from = x.wrapping_offset(((row - self.rows.first) * self.rows.stride) as isize);
            for col in lo..hi.min(lo + phases) {
                let count = (hi - col + phases - 1) / phases;
                let source = from.wrapping_offset(((col - first) * stride) as isize);
                let (part, col) = self.cols.place(col);
                let target = to.wrapping_offset(self.at(&Spot { part: phase * phases + part, row: place, col }));
                // SAFETY: the conditions admit these positions, and the plane has room for each.
                unsafe {
                    copy::strided(size_of::<f32>(), target.cast(), 1, source.cast(), (stride * phases) as isize, count as usize)
                };
            }
        }
    }
}

/// The operand of a tile's first point, and the weight of each tap there, with what a row adds to both.
pub(super) struct Operands {
    pub(super) x: *const f32,
    pub(super) x_row: isize,
    pub(super) weight: Option<*const f32>,
    pub(super) weight_row: isize,
}

impl Operands {
    /// Gives the spots the weights of a row; false if one is not finite.
    unsafe fn weigh(&self, row: isize, taps: &[Offsets], spots: &mut [Tap]) -> bool {
        let Some(weight) = self.weight.map(|w| w.wrapping_offset(row * self.weight_row)) else { return true };
        // SAFETY: the caller vouches for the weights at every tap and row.
        spots.iter_mut().zip(taps).for_each(|(s, t)| s.weight = unsafe { *weight.wrapping_offset(t.weight) });
        spots.iter().all(|s| s.weight.is_finite())
    }
}

/// Results: first element, elements from one row to the next, rows and columns.
pub(super) struct Results {
    pub(super) start: *mut f32,
    pub(super) row: isize,
    pub(super) rows: usize,
    pub(super) cols: usize,
}

impl Planes {
    /// The planes of a window, if one condition bounds its columns, at most one its rows, and all taps read the same plane.
    pub(super) fn of(mask: &Mask, x: &Lin, weight: Option<&Lin>, taps: &[Offsets]) -> Option<Planes> {
        let cols = Direction::of(mask, |l| l.col, x, taps)?;
        let rows = Direction::of(mask, |l| l.row, x, taps);
        let bounded = 1 + usize::from(rows.is_some());
        let shared = rows.is_none() || weight.is_none_or(|w| w.row == 0);
        let rest = |t: &Offsets| t.x as i64 - cols.elements(t) - rows.map_or(0, |d| d.elements(t));
        let from = rest(taps.first()?);
        let fits = mask.conditions().count() == bounded && shared && taps.iter().all(|t| rest(t) == from);
        let spot = |t: &Offsets| {
            let ((p, row), (q, col)) = (rows.map_or((0, 0), |d| d.place(t)), cols.place(t));
            Spot { part: p * cols.step + q, row, col }
        };
        fits.then(|| Planes { rows, cols, from, spots: taps.iter().map(spot).collect() })
    }

    /// Folds a tile; `firsts` are the conditions' expressions at its first point, `room` gives memory for so many elements. False
    /// where a weight is not finite, which padding must meet.
    ///
    /// # Safety
    /// The operand is readable where the conditions admit it, the weights at every tap and row, and the results are writable.
    pub(super) unsafe fn fold(
        &self,
        fold: Fold,
        taps: &[Offsets],
        firsts: &[i64],
        from: &Operands,
        to: &Results,
        room: impl FnOnce(usize) -> *mut f32,
    ) -> bool {
        let (high, times) = if self.rows.is_some() { (to.rows, 1) } else { (1, to.rows) };
        let rows = self.rows.map_or(Positions::ONE, |d| d.positions(firsts[d.cond], high));
        let plane = Plane { rows, cols: self.cols.positions(firsts[self.cols.cond], to.cols) };
        let width = plane.cols.each as usize;
        let run = ((high - 1) * width + to.cols).next_multiple_of(SLACK);
        let copied = room(plane.len() + SLACK + run);
        let folded = copied.wrapping_add(plane.len() + SLACK);
        let mut spots: SmallVec<[Tap; 32]> =
            self.spots.iter().map(|s| Tap { at: plane.at(s), weight: 1.0, span: (0, run) }).collect();
        for r in 0..times as isize {
            // SAFETY: the caller's contract.
            if !unsafe { from.weigh(r, taps, &mut spots) } {
                return false;
            }
            let d = to.start.wrapping_offset(r * to.row);
            // SAFETY: the caller's contract; every tap reads a run of the plane or the slack behind it.
            unsafe {
                plane.fill(copied, from.x.wrapping_offset(self.from as isize + r * from.x_row), fold.init());
                window::fold(fold, folded, run, copied, &spots, 1);
                for row in 0..high {
                    let (d, s) = (d.wrapping_offset(row as isize * to.row), folded.wrapping_add(row * width));
                    copy::near(d.cast(), s.cast(), to.cols * size_of::<f32>());
                }
            }
        }
        true
    }
}
