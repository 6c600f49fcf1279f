//! The windows that hold a position: what the gradient of a pooling sums over.

use base::{Error, Result};
use scalar::{Combiner, Scalar, ScalarOp as S, Shape, Sym};

use super::broadcast::{binary, per_channel, where_, with_scalar};
use super::conv::pad_axes;
use super::index::slice_axis;
use super::pool::Pool;
use super::reduce::reduce;
use crate::{Builder, NodeId};

/// The positions of pooled axes in blocks of one stride, each seen with the ⌈kernel / stride⌉ windows that may hold it.
///
/// A value per window is `[…, windows…]`. Over the cover it is `[…, (block, place)…, back…]`: the window that starts in
/// the same block and those before it, the last of them first.
pub struct Cover<'a> {
    pool: &'a Pool,
    extents: &'a [Sym],
}

impl<'a> Cover<'a> {
    /// The cover of axes of `extents` by the windows of `pool`.
    ///
    /// # Errors
    /// Windows with gaps between their taps (unsupported).
    pub fn new(pool: &'a Pool, extents: &'a [Sym]) -> Result<Cover<'a>> {
        if pool.dilation.iter().any(|&d| d != 1) {
            return Err(Error::unsupported(format!("windows dilated by {:?}", pool.dilation)));
        }
        Ok(Cover { pool, extents })
    }
    /// How many windows hold a position at most.
    fn overlap(&self, i: usize) -> i64 {
        (self.pool.kernel[i] + self.pool.stride[i] - 1) / self.pool.stride[i]
    }
    fn blocks(&self, i: usize) -> Sym {
        (&self.extents[i] + self.pool.pads[i].0).ceil_div(&Sym::from(self.pool.stride[i]))
    }

    /// A value per window over the cover; `fill` where there is no window.
    ///
    /// # Errors
    /// A rank that does not fit.
    pub fn windows(&self, b: &mut Builder, y: NodeId, fill: Scalar) -> Result<NodeId> {
        let n = self.extents.len();
        let shape = b.shape(y).clone();
        let first = shape.len() - n;
        let pads: Vec<_> = (0..n).map(|i| (Sym::from(self.overlap(i) - 1), self.blocks(i) - shape[first + i].clone())).collect();
        let mut y = pad_axes(b, y, first, &pads, &vec![0; n], fill)?;
        for i in 0..n {
            y = b.window(y, first + i, self.overlap(i), 1, 1)?;
        }
        let (mut column, mut spread): (Shape, Shape) = (shape[..first].into(), shape[..first].into());
        for i in 0..n {
            column.extend([self.blocks(i), Sym::ONE]);
            spread.extend([self.blocks(i), Sym::from(self.pool.stride[i])]);
        }
        let taps = (0..n).map(|i| Sym::from(self.overlap(i)));
        column.extend(taps.clone());
        spread.extend(taps);
        let y = b.reshape(y, column)?;
        b.expand(y, spread)
    }

    /// A value over the cover, zero where the window ends before the position.
    ///
    /// # Errors
    /// Another shape than that of [`Cover::windows`].
    pub fn held(&self, b: &mut Builder, mut z: NodeId) -> Result<NodeId> {
        let (n, rank) = (self.extents.len(), b.shape(z).len());
        for i in 0..n {
            let (kernel, stride, overlap) = (self.pool.kernel[i], self.pool.stride[i], self.overlap(i));
            if kernel == overlap * stride {
                continue;
            }
            let place = b.iota(Sym::from(stride))?;
            let place = per_channel(b, place, rank - 3 * n + 2 * i + 1, rank)?;
            let tap = b.iota(Sym::from(overlap))?;
            let tap = with_scalar(b, S::Mul, tap, stride as f64)?;
            let tap = per_channel(b, tap, rank - n + i, rank)?;
            let from_start = binary(b, S::Sub, place, tap)?;
            let held = with_scalar(b, S::Lt, from_start, (kernel - (overlap - 1) * stride) as f64)?;
            let none = Scalar::zero(b.dtype(z));
            let none = b.constant(none)?;
            z = where_(b, held, z, none)?;
        }
        Ok(z)
    }

    /// The sum over the windows of a value over the cover, for every position: `[…, extents…]`.
    ///
    /// # Errors
    /// Another shape than that of [`Cover::windows`].
    pub fn sum(&self, b: &mut Builder, z: NodeId) -> Result<NodeId> {
        let (n, rank) = (self.extents.len(), b.shape(z).len());
        let total = reduce(b, Combiner::Sum, z, &(rank - n..rank).collect::<Vec<_>>(), false)?;
        self.positions(b, total)
    }

    /// `[…, (block, place)…]` as `[…, extents…]`.
    fn positions(&self, b: &mut Builder, x: NodeId) -> Result<NodeId> {
        let n = self.extents.len();
        let first = b.shape(x).len() - 2 * n;
        let mut merged: Shape = b.shape(x)[..first].into();
        merged.extend(self.lengths());
        let x = b.reshape(x, merged)?;
        (0..n).try_fold(x, |x, i| slice_axis(b, x, first + i, &Sym::from(self.pool.pads[i].0), &self.extents[i], 1))
    }

    /// Extents of the positions in whole blocks, from the start of the padding.
    pub fn lengths(&self) -> Shape {
        (0..self.extents.len()).map(|i| self.blocks(i) * self.pool.stride[i]).collect()
    }

    /// A value per position of [`Cover::lengths`] over the cover, `[(block, place)…, 1…]`.
    ///
    /// # Errors
    /// Another shape.
    pub fn split(&self, b: &mut Builder, x: NodeId) -> Result<NodeId> {
        let n = self.extents.len();
        let mut shape: Shape = (0..n).flat_map(|i| [self.blocks(i), Sym::from(self.pool.stride[i])]).collect();
        shape.resize(3 * n, Sym::ONE);
        b.reshape(x, shape)
    }
}
