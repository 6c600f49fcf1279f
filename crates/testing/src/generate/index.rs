//! Gathers and writes at indices that are in range by construction.

use base::Result;
use graph::{At, NodeId, WriteCombine};
use scalar::{DType, Scalar, ScalarOp as S, Shape, Sym};
use smallvec::smallvec;

use super::{Gen, Profile};

impl Gen<'_, '_> {
    pub(super) fn indexed(&mut self) -> Result<Option<NodeId>> {
        let x = self.value();
        let Some((axis, n)) = self.fixed_axis(x, 1) else { return Ok(None) };
        match self.choice.below(4) {
            0 => self.gather(x, axis, n).map(Some),
            1 => self.write_slice(x).map(Some),
            2 => self.write_dynamic(x, axis, n).map(Some),
            _ => self.write_indices(x, axis, n).map(Some),
        }
    }

    fn gather(&mut self, x: NodeId, axis: usize, n: i64) -> Result<NodeId> {
        let mut out = self.shape(x);
        out[axis] = Sym::from(1 + self.choice.below(6) as i64);
        let indices = self.indices(&out, axis, n)?;
        self.b.gather(x, &[indices], &[axis])
    }

    /// Values 0 to n−1 of the given shape that vary along `axis`: from a counter, or from an input by remainder.
    fn indices(&mut self, shape: &Shape, axis: usize, n: i64) -> Result<NodeId> {
        let len = shape[axis].clone();
        let line = if self.choice.chance(128) { self.b.iota(len.clone())? } else { self.fresh(DType::I64, [len.clone()])? };
        let (scale, limit) = (self.choice.below(4) as i64, self.b.constant(Scalar::i64(n))?);
        let line_shape: Shape = smallvec![len.clone()];
        let limit = self.spread(limit, &line_shape)?;
        let scale = self.b.constant(Scalar::i64(scale))?;
        let scale = self.spread(scale, &line_shape)?;
        let scaled = self.b.map(S::Mul, &[line, scale])?;
        let wrapped = self.b.map(S::Mod, &[scaled, limit])?;
        let lined = shape.iter().enumerate().map(|(i, _)| if i == axis { len.clone() } else { Sym::ONE });
        let lined = self.b.reshape(wrapped, lined)?;
        self.b.expand(lined, shape.clone())
    }

    /// Setting or combining; float sums and products may meet in any order, so exact programs avoid them.
    fn combine(&mut self, dtype: DType, collide: bool) -> WriteCombine {
        use WriteCombine::{Add, Max, Min, Mul, Set};
        match (dtype == DType::Bool, collide, self.profile) {
            (true, ..) => Set,
            (_, true, Profile::Exact) if dtype.is_float() => *self.choice.pick(&[Max, Min]),
            (_, true, _) => *self.choice.pick(&[Add, Max, Min]),
            _ => *self.choice.pick(&[Set, Add, Max, Set, Mul]),
        }
    }

    fn write_slice(&mut self, x: NodeId) -> Result<NodeId> {
        let block = self.slice(x)?;
        let Some(graph::View::Slice { start, step, .. }) = (match &self.b.graph().node(block).op {
            graph::Op::View(v) => Some(v.clone()),
            _ => None,
        }) else {
            return Ok(x);
        };
        let source = self.changed(block)?;
        let combine = self.combine(self.b.dtype(x), false);
        self.b.write(combine, At::Slice { start, step }, x, source, &[])
    }

    fn write_dynamic(&mut self, x: NodeId, axis: usize, n: i64) -> Result<NodeId> {
        let mut len = self.shape(x);
        len[axis] = Sym::from(1 + self.choice.below(n as usize) as i64);
        let zeros = vec![0i64; len.len()];
        let block = self.b.slice(x, zeros, len, &vec![1; self.shape(x).len()])?;
        let source = self.changed(block)?;
        let at = if self.choice.chance(128) { self.fresh(DType::I64, [])? } else { self.b.constant(Scalar::i64(1))? };
        let combine = self.combine(self.b.dtype(x), false);
        self.b.write(combine, At::Dynamic { axes: smallvec![axis] }, x, source, &[at])
    }

    fn write_indices(&mut self, x: NodeId, axis: usize, n: i64) -> Result<NodeId> {
        let mut shape = self.shape(x);
        shape[axis] = Sym::from(1 + self.choice.below(5) as i64);
        let indices = self.indices(&shape, axis, n)?;
        let at = self.indices(&shape, axis, n)?;
        let source = self.b.gather(x, &[at], &[axis])?;
        let dtype = self.b.dtype(x);
        if dtype == DType::Bool {
            return Ok(source);
        }
        let combine = self.combine(dtype, true);
        self.b.write(combine, At::Indices { axes: smallvec![axis], unique: false }, x, source, &[indices])
    }

    /// The value through one op, so that a write is not trivially what was there.
    fn changed(&mut self, x: NodeId) -> Result<NodeId> {
        let op = if self.b.dtype(x) == DType::Bool { S::Not } else { S::Abs };
        self.b.map(op, &[x])
    }
}
