//! Affine expressions and conditions on a tile.

use program::{Affine, Bound};
use smallvec::SmallVec;

/// An affine expression with zero terms dropped and the tile's two directions picked out.
#[derive(Clone, Debug)]
pub(crate) struct Lin {
    base: i64,
    terms: SmallVec<[(u16, i64); 4]>,
    /// Step from one row of the tile to the next.
    pub(crate) row: i64,
    /// Step from one column to the next.
    pub(crate) col: i64,
}

impl Lin {
    pub(crate) fn new(affine: &Affine, row_axis: Option<usize>, col_axis: Option<usize>) -> Lin {
        let along = |axis: Option<usize>| axis.map_or(0, |a| affine.at(a));
        let terms = affine.coef.iter().enumerate().filter(|(_, c)| **c != 0).map(|(a, c)| (a as u16, *c)).collect();
        Lin { base: affine.base, terms, row: along(row_axis), col: along(col_axis) }
    }

    /// Value at the tile's first point.
    #[inline]
    pub(crate) fn at(&self, index: &[i64]) -> i64 {
        self.terms.iter().fold(self.base, |sum, &(axis, coef)| sum + coef * index[axis as usize])
    }
}

/// `lo ≤ expr < hi`.
#[derive(Clone, Debug)]
pub(crate) struct Cond {
    lin: Lin,
    lo: i64,
    hi: i64,
}

/// How much of a tile satisfies all conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cover {
    All,
    Part,
    Nothing,
}

/// A conjunction of conditions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mask(Vec<Cond>);

impl Mask {
    pub(crate) fn new(bounds: &[Bound], row_axis: Option<usize>, col_axis: Option<usize>) -> Mask {
        let cond = |b: &Bound| Cond { lin: Lin::new(&b.expr, row_axis, col_axis), lo: b.lo, hi: b.hi };
        Mask(bounds.iter().map(cond).collect())
    }

    /// Whether any condition varies over (rows, columns).
    pub(crate) fn varies(&self) -> (bool, bool) {
        (self.0.iter().any(|c| c.lin.row != 0), self.0.iter().any(|c| c.lin.col != 0))
    }

    /// Cover of a `rows × cols` tile. Conditions that each hold somewhere count as `Part`.
    #[inline]
    pub(crate) fn cover(&self, index: &[i64], rows: usize, cols: usize) -> Cover {
        let mut cover = Cover::All;
        for c in &self.0 {
            let first = c.lin.at(index);
            let (down, along) = (c.lin.row * (rows as i64 - 1), c.lin.col * (cols as i64 - 1));
            let (least, most) = (first + down.min(0) + along.min(0), first + down.max(0) + along.max(0));
            if most < c.lo || least >= c.hi {
                return Cover::Nothing;
            }
            if least < c.lo || most >= c.hi {
                cover = Cover::Part;
            }
        }
        cover
    }

    /// Whether every condition varies over at most one direction of the tile, so that they hold on a rectangle.
    pub(crate) fn is_rectangular(&self) -> bool {
        self.0.iter().all(|c| c.lin.row == 0 || c.lin.col == 0)
    }

    /// Rows and columns of a `rows × cols` tile where all conditions hold, given their expressions' values at its first
    /// point; they are rectangular.
    pub(crate) fn rectangle(&self, firsts: impl Iterator<Item = i64>, rows: usize, cols: usize) -> [(usize, usize); 2] {
        let (mut down, mut along) = ((0, rows as i64), (0, cols as i64));
        for (c, first) in self.0.iter().zip(firsts) {
            let (direction, step, count) =
                if c.lin.row == 0 { (&mut along, c.lin.col, cols) } else { (&mut down, c.lin.row, rows) };
            let (start, end) = c.solve(first, step, count as i64);
            *direction = (direction.0.max(start), direction.1.min(end));
        }
        [down, along].map(|(start, end)| {
            let end = end.max(0);
            (start.clamp(0, end) as usize, end as usize)
        })
    }

    /// The conditions: expression, least value and end.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = (&Lin, i64, i64)> {
        self.0.iter().map(|c| (&c.lin, c.lo, c.hi))
    }

    /// Values of the conditions' expressions at the tile's first point, for [`Mask::interval`].
    pub(crate) fn firsts(&self, index: &[i64]) -> SmallVec<[i64; 4]> {
        self.0.iter().map(|c| c.lin.at(index)).collect()
    }

    /// The columns of a row where all conditions hold: `start..end` with `start ≤ end ≤ cols`.
    pub(crate) fn interval(&self, firsts: &[i64], row: usize, cols: usize) -> (usize, usize) {
        let (mut start, mut end) = (0, cols as i64);
        for (c, first) in self.0.iter().zip(firsts) {
            let e = first + c.lin.row * row as i64;
            let (s, t) = c.solve(e, c.lin.col, cols as i64);
            (start, end) = (start.max(s), end.min(t));
        }
        let end = end.max(0);
        (start.clamp(0, end) as usize, end as usize)
    }
}

impl Cond {
    /// The i with `lo ≤ e + step·i < hi`; all of `0..count` or none without a step.
    fn solve(&self, e: i64, step: i64, count: i64) -> (i64, i64) {
        let ceil = |a: i64, b: i64| -(-a).div_euclid(b);
        match step {
            0 if self.lo <= e && e < self.hi => (0, count),
            0 => (0, 0),
            1 => (self.lo - e, self.hi - e),
            step if step > 0 => (ceil(self.lo - e, step), ceil(self.hi - e, step)),
            step => ((e - self.hi).div_euclid(-step) + 1, (e - self.lo).div_euclid(-step) + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_and_covers_agree_with_each_point() {
        let axis = |k: i64| k - 2;
        for code in 0..5 * 5 * 4 * 4 * 3 {
            let (row, col) = (axis(code % 5), axis(code / 5 % 5));
            let (lo, hi, base) = (code / 25 % 4 - 2, code / 100 % 4, code / 400 - 1);
            let bound = Bound { expr: Affine { base, coef: [row, col].into_iter().collect() }, lo, hi };
            let second = Bound { expr: Affine { base: 1, coef: [0, 1].into_iter().collect() }, lo: 1, hi: 4 };
            let mask = Mask::new(&[bound, second], Some(0), Some(1));
            let (rows, cols, index) = (3, 5, [2, -1]);
            let holds = |r: i64, c: i64| {
                let e = base + row * (2 + r) + col * (c - 1);
                lo <= e && e < hi && (1..4).contains(&c)
            };
            let firsts = mask.firsts(&index);
            let mut count = 0;
            for r in 0..rows {
                let (start, end) = mask.interval(&firsts, r, cols);
                for c in 0..cols {
                    assert_eq!((start..end).contains(&c), holds(r as i64, c as i64), "code {code} row {r} col {c}");
                    count += usize::from(holds(r as i64, c as i64));
                }
            }
            if mask.is_rectangular() {
                let [down, along] = mask.rectangle(firsts.iter().copied(), rows, cols);
                assert_eq!(down.1.saturating_sub(down.0) * along.1.saturating_sub(along.0), count, "code {code}");
            }
            match mask.cover(&index, rows, cols) {
                Cover::All => assert_eq!(count, rows * cols),
                Cover::Nothing => assert_eq!(count, 0),
                Cover::Part => assert!(count < rows * cols),
            }
        }
    }
}
