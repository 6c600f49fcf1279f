//! Softmax and normalisation, written out.

use base::Result;
use graph::NodeId;
use scalar::{Combiner, DType, Scalar, ScalarOp as S, Sym};

use super::{Gen, Profile};

impl Gen<'_, '_> {
    pub(super) fn composite(&mut self) -> Result<Option<NodeId>> {
        if self.profile == Profile::Exact {
            return Ok(None);
        }
        let x = self.float()?;
        let rank = self.shape(x).len();
        if rank == 0 {
            return Ok(None);
        }
        let axis = self.choice.below(rank);
        let low = self.b.dtype(x);
        let wide = self.b.map(S::Cast(low.accumulator()), &[x])?;
        let y = if self.choice.chance(128) { self.softmax(wide, axis)? } else { self.layer_norm(wide, axis)? };
        self.b.map(S::Cast(low), &[y]).map(Some)
    }

    fn softmax(&mut self, x: NodeId, axis: usize) -> Result<NodeId> {
        let m = self.keep(Combiner::Max, x, axis)?;
        let shifted = self.b.map(S::Sub, &[x, m])?;
        let e = self.b.map(S::Exp, &[shifted])?;
        let sum = self.keep(Combiner::Sum, e, axis)?;
        self.b.map(S::Div, &[e, sum])
    }

    fn layer_norm(&mut self, x: NodeId, axis: usize) -> Result<NodeId> {
        let dtype = self.b.dtype(x);
        let mean = self.mean(x, axis)?;
        let centred = self.b.map(S::Sub, &[x, mean])?;
        let square = self.b.map(S::Mul, &[centred, centred])?;
        let variance = self.mean(square, axis)?;
        // A large ε keeps the tame profile well-conditioned.
        let eps = self.number(x, if self.profile == Profile::Tame { 0.5 } else { 1e-5 }, dtype)?;
        let shifted = self.b.map(S::Add, &[variance, eps])?;
        let inverse = self.b.map(S::Rsqrt, &[shifted])?;
        self.b.map(S::Mul, &[centred, inverse])
    }

    /// The mean along an axis, repeated; 0/0 on an empty axis has no element to show.
    fn mean(&mut self, x: NodeId, axis: usize) -> Result<NodeId> {
        let sum = self.keep(Combiner::Sum, x, axis)?;
        let count = self.b.sym(self.shape(x)[axis].clone())?;
        let count = self.b.map(S::Cast(self.b.dtype(x)), &[count])?;
        let count = self.spread(count, &self.shape(x))?;
        self.b.map(S::Div, &[sum, count])
    }

    fn number(&mut self, like: NodeId, value: f64, dtype: DType) -> Result<NodeId> {
        let c = self.b.constant(Scalar::from_f64(dtype, value))?;
        self.spread(c, &self.shape(like))
    }

    /// A reduction along an axis, repeated to the operand's shape.
    fn keep(&mut self, combiner: Combiner, x: NodeId, axis: usize) -> Result<NodeId> {
        let r = self.b.reduce(combiner, &[x], &[axis])?;
        let full = self.shape(x);
        let mut narrow = full.clone();
        narrow[axis] = Sym::ONE;
        let r = self.b.reshape(r, narrow)?;
        self.b.expand(r, full)
    }
}
