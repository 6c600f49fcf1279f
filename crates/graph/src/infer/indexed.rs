//! Rules of gather and write.

use scalar::{DType, ScalarOp, Shape};

use super::{Infer, Inferred, arity, distinct_axes, list, per_axis, same_dtype, same_rank};
use crate::{At, TensorType, WriteCombine};

impl Infer<'_> {
    pub(super) fn gather(&mut self, axes: &[usize], args: &[&TensorType]) -> Inferred<TensorType> {
        arity(args, 1 + axes.len())?;
        let (x, indices) = (args[0], &args[1..]);
        let Some(first) = indices.first() else { return Err("needs at least one indexed axis".into()) };
        distinct_axes(axes, x.shape.len())?;
        self.indices(indices, &first.shape)?;
        let out = &first.shape;
        same_rank(&x.shape, out)?;
        for i in (0..out.len()).filter(|i| !axes.contains(i)) {
            self.equal(&x.shape[i], &out[i], || format!("axis {i} of operand {} and indices {}", list(&x.shape), list(out)))?;
        }
        Ok(TensorType { dtype: x.dtype, shape: out.clone() })
    }

    fn indices(&mut self, indices: &[&TensorType], shape: &Shape) -> Inferred<()> {
        for idx in indices {
            if idx.dtype != DType::I64 {
                return Err(format!("indices must be i64, got {}", idx.dtype));
            }
            self.same_shape(shape, &idx.shape)?;
        }
        Ok(())
    }

    /// The result has the destination's type. On axes that are not indexed the source may be shorter than the destination.
    pub(super) fn write(&mut self, combine: WriteCombine, at: &At, args: &[&TensorType]) -> Inferred<TensorType> {
        let extra = match at {
            At::Slice { .. } => 0,
            At::Dynamic { axes } | At::Indices { axes, .. } => axes.len(),
        };
        arity(args, 2 + extra)?;
        let (dst, src, extra) = (args[0], args[1], &args[2..]);
        same_dtype(dst, src)?;
        combinable(combine, dst.dtype)?;
        same_rank(&dst.shape, &src.shape)?;
        match at {
            At::Slice { start, step } => self.write_slice(start, step, dst, src),
            At::Dynamic { axes } => self.write_dynamic(axes, dst, src, extra),
            At::Indices { axes, .. } => self.write_indices(axes, dst, src, extra),
        }?;
        Ok(dst.clone())
    }

    fn write_slice(&mut self, start: &Shape, step: &[i64], dst: &TensorType, src: &TensorType) -> Inferred<()> {
        let rank = dst.shape.len();
        per_axis(start.len(), rank, "a start")?;
        per_axis(step.len(), rank, "a step")?;
        for i in 0..rank {
            self.strided_range(i, &start[i], &src.shape[i], step[i], &dst.shape[i])?;
        }
        Ok(())
    }

    fn write_dynamic(&mut self, axes: &[usize], dst: &TensorType, src: &TensorType, starts: &[&TensorType]) -> Inferred<()> {
        distinct_axes(axes, dst.shape.len())?;
        if let Some(t) = starts.iter().find(|t| t.dtype != DType::I64 || !t.shape.is_empty()) {
            return Err(format!("a start must be i64[], got {t}"));
        }
        (0..dst.shape.len()).try_for_each(|i| self.fits(i, dst, src))
    }

    fn write_indices(&mut self, axes: &[usize], dst: &TensorType, src: &TensorType, indices: &[&TensorType]) -> Inferred<()> {
        if axes.is_empty() {
            return Err("needs at least one indexed axis".into());
        }
        distinct_axes(axes, dst.shape.len())?;
        self.indices(indices, &src.shape)?;
        (0..dst.shape.len()).filter(|i| !axes.contains(i)).try_for_each(|i| self.fits(i, dst, src))
    }

    fn fits(&mut self, axis: usize, dst: &TensorType, src: &TensorType) -> Inferred<()> {
        let (d, s) = (&dst.shape[axis], &src.shape[axis]);
        self.at_least(d, s, || {
            format!("axis {axis} of the source {} must fit the destination {}", list(&src.shape), list(&dst.shape))
        })
    }
}

fn combinable(combine: WriteCombine, dtype: DType) -> Inferred<()> {
    let op = match combine {
        WriteCombine::Set => return Ok(()),
        WriteCombine::Add => ScalarOp::Add,
        WriteCombine::Mul => ScalarOp::Mul,
        WriteCombine::Max => ScalarOp::Max,
        WriteCombine::Min => ScalarOp::Min,
    };
    op.result(&[dtype, dtype]).map(|_| ())
}
