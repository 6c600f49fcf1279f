//! Addressing of directly read operands: affine functions of a batch, a lane (m or n) and a k position.

use program::{Affine, Bound};
use scalar::DType;
use smallvec::SmallVec;

/// Values of a source's expressions: the element index first, then one per bound.
pub(crate) type Exprs = SmallVec<[i64; 4]>;

/// One loop axis: its extent and its coefficient in every expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Dim {
    pub(crate) extent: i64,
    pub(crate) coef: Exprs,
}

/// Loop axes, outermost first, without axes of extent 1 and with neighbours merged where they act as one.
pub(crate) type Dims = SmallVec<[Dim; 4]>;

/// How a directly read operand is addressed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Strided {
    /// Stored dtype.
    pub(crate) dtype: DType,
    /// Constant terms.
    pub(crate) base: Exprs,
    /// Batch axes, not merged.
    pub(crate) batch: SmallVec<[Exprs; 4]>,
    /// Lane axes.
    pub(crate) x: Dims,
    /// Contracted axes.
    pub(crate) k: Dims,
    /// `lo ≤ expr < hi` of each bound.
    pub(crate) limits: SmallVec<[(i64, i64); 2]>,
}

impl Strided {
    /// From a source's affine index and bounds, given (first axis number, extents) of batch, lanes and k.
    pub(crate) fn new(dtype: DType, index: &Affine, mask: &[Bound], axes: [(usize, &[i64]); 3]) -> Strided {
        let exprs: SmallVec<[&Affine; 4]> = std::iter::once(index).chain(mask.iter().map(|b| &b.expr)).collect();
        let dims = |(first, extents): (usize, &[i64])| -> Dims {
            let dim = |(i, &extent): (usize, &i64)| Dim { extent, coef: exprs.iter().map(|e| e.at(first + i)).collect() };
            extents.iter().enumerate().map(dim).collect()
        };
        Strided {
            dtype,
            base: exprs.iter().map(|e| e.base).collect(),
            batch: dims(axes[0]).into_iter().map(|d| d.coef).collect(),
            x: merge(dims(axes[1])),
            k: merge(dims(axes[2])),
            limits: mask.iter().map(|b| (b.lo, b.hi)).collect(),
        }
    }

    /// Constant terms at a batch index.
    pub(crate) fn at_batch(&self, index: &[i64]) -> Exprs {
        let mut base = self.base.clone();
        for (coef, &i) in self.batch.iter().zip(index) {
            base.iter_mut().zip(coef).for_each(|(b, c)| *b += c * i);
        }
        base
    }

    /// Whether any expression depends on the batch.
    pub(crate) fn varies_over_batch(&self) -> bool {
        self.batch.iter().flatten().any(|&c| c != 0)
    }

    /// Distance in elements between neighbouring lanes inside a run.
    pub(crate) fn lane_step(&self) -> i64 {
        self.x.last().map_or(0, |d| d.coef[0])
    }

    /// Whether neighbours along k are adjacent in memory, no bound applies, and lanes are not adjacent.
    pub(crate) fn is_transposed(&self) -> bool {
        self.limits.is_empty() && self.k.last().is_some_and(|d| d.coef[0] == 1) && self.lane_step() != 1
    }

    /// After how many k positions the bounds' k parts repeat.
    pub(crate) fn period(&self) -> usize {
        let bounded = self.k.iter().position(|d| d.coef[1..].iter().any(|&c| c != 0));
        bounded.map_or(1, |first| self.k[first..].iter().map(|d| d.extent as usize).product())
    }
}

fn merge(dims: Dims) -> Dims {
    let mut out = Dims::new();
    for dim in dims.into_iter().filter(|d| d.extent != 1) {
        match out.last_mut() {
            Some(outer) if outer.coef.iter().zip(&dim.coef).all(|(&o, &i)| o == i * dim.extent) => {
                *outer = Dim { extent: outer.extent * dim.extent, coef: dim.coef };
            }
            _ => out.push(dim),
        }
    }
    out
}

/// Splits a flattened position into indices of the given extents, outermost first.
pub(crate) fn unflatten(mut at: usize, extents: impl DoubleEndedIterator<Item = i64>) -> SmallVec<[i64; 6]> {
    let mut index: SmallVec<[i64; 6]> = extents
        .rev()
        .map(|d| {
            let d = d.max(1) as usize;
            let i = at % d;
            at /= d;
            i as i64
        })
        .collect();
    index.reverse();
    index
}

/// Appends the values of one expression at `count` flattened positions from `start`.
pub(crate) fn tabulate(dims: &[Dim], expr: usize, start: usize, count: usize, out: &mut Vec<i64>) {
    let Some((last, outer)) = dims.split_last() else {
        out.extend(std::iter::repeat_n(0, count));
        return;
    };
    let mut index = unflatten(start, dims.iter().map(|d| d.extent));
    let mut left = count;
    while left > 0 {
        let at: i64 = dims.iter().zip(&index).map(|(d, &i)| d.coef[expr] * i).sum();
        let first = index[outer.len()];
        let run = ((last.extent - first) as usize).min(left);
        out.extend((0..run as i64).map(|i| at + i * last.coef[expr]));
        left -= run;
        index[outer.len()] = 0;
        for (i, d) in index.iter_mut().zip(outer).rev() {
            *i += 1;
            if *i < d.extent {
                break;
            }
            *i = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;

    #[test]
    fn neighbouring_axes_merge_only_when_every_expression_agrees() {
        let affine = |coef: &[i64]| Affine { base: 5, coef: coef.iter().copied().collect() };
        let none: &[i64] = &[];
        let dense = Strided::new(DType::F32, &affine(&[12, 4, 1, 100]), &[], [(0, none), (0, &[2, 3, 4]), (3, &[7])]);
        assert_eq!(dense.x.as_slice(), [Dim { extent: 24, coef: smallvec![1] }]);
        let bound = Bound { expr: affine(&[0, 1, 0]), lo: 0, hi: 2 };
        let masked = Strided::new(DType::F32, &affine(&[12, 4, 1, 100]), &[bound], [(0, none), (0, &[2, 3, 4]), (3, &[7])]);
        assert_eq!(masked.x.len(), 3);
        let mut table = Vec::new();
        tabulate(&masked.x, 1, 5, 8, &mut table);
        assert_eq!(table, [1, 1, 1, 2, 2, 2, 2, 0]);
    }
}
