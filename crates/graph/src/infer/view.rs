//! Rules of the layout-only ops.

use scalar::{Scalar, Shape, Sym};

use super::{Infer, Inferred, distinct_axes, in_rank, list, per_axis, positive};
use crate::{TensorType, View};

impl Infer<'_> {
    pub(super) fn view(&mut self, view: &View, x: &TensorType) -> Inferred<TensorType> {
        let shape = match view {
            View::Reshape(shape) => self.reshape(shape, &x.shape),
            View::Permute(perm) => permute(perm, &x.shape),
            View::Expand(shape) => self.expand(shape, &x.shape),
            View::Slice { start, len, step } => self.slice(start, len, step, &x.shape),
            View::Flip(axes) => distinct_axes(axes, x.shape.len()).map(|()| x.shape.clone()),
            View::Pad { lo, hi, interior, value } => fill(*value, x).and_then(|()| self.pad(lo, hi, interior, &x.shape)),
            View::Window { axis, size, stride, dilation } => self.window(*axis, size, *stride, *dilation, &x.shape),
        }?;
        Ok(TensorType { dtype: x.dtype, shape })
    }

    fn reshape(&mut self, shape: &Shape, x: &Shape) -> Inferred<Shape> {
        for n in shape {
            self.not_negative(n, "extent")?;
        }
        let (from, to) = (Sym::product(x), Sym::product(shape));
        self.equal(&from, &to, || format!("element counts of {} and {}", list(x), list(shape)))?;
        Ok(shape.clone())
    }

    fn expand(&mut self, shape: &Shape, x: &Shape) -> Inferred<Shape> {
        per_axis(shape.len(), x.len(), "an extent")?;
        let one = Sym::from(1i64);
        for (n, to) in x.iter().zip(shape) {
            if *n == one || self.facts.proves_eq(n, &one) {
                self.not_negative(to, "extent")?;
            } else {
                self.equal(n, to, || format!("shapes {} and {} (only extent 1 expands)", list(x), list(shape)))?;
            }
        }
        Ok(shape.clone())
    }

    fn slice(&mut self, start: &Shape, len: &Shape, step: &[i64], x: &Shape) -> Inferred<Shape> {
        per_axis(start.len(), x.len(), "a start")?;
        per_axis(len.len(), x.len(), "a length")?;
        per_axis(step.len(), x.len(), "a step")?;
        for (i, n) in x.iter().enumerate() {
            self.not_negative(&len[i], "length")?;
            self.strided_range(i, &start[i], &len[i], step[i], n)?;
        }
        Ok(len.clone())
    }

    /// Requires that `start + o·step` for `o` below `len` lies in an axis of extent `n`.
    pub(super) fn strided_range(&mut self, axis: usize, start: &Sym, len: &Sym, step: i64, n: &Sym) -> Inferred<()> {
        positive(step, "step")?;
        self.not_negative(start, "start")?;
        if len.is_zero() {
            return Ok(());
        }
        let end = start + (len - 1) * step + 1;
        self.at_least(n, &end, || {
            format!("the range from {start} with {len} elements and step {step} must lie in axis {axis} of extent {n}")
        })
    }

    fn pad(&mut self, lo: &Shape, hi: &Shape, interior: &[i64], x: &Shape) -> Inferred<Shape> {
        per_axis(lo.len(), x.len(), "lo")?;
        per_axis(hi.len(), x.len(), "hi")?;
        per_axis(interior.len(), x.len(), "interior")?;
        let mut shape = Shape::new();
        for (i, n) in x.iter().enumerate() {
            self.not_negative(&lo[i], "lo")?;
            self.not_negative(&hi[i], "hi")?;
            if interior[i] < 0 {
                return Err(format!("interior must not be negative, got {}", interior[i]));
            }
            shape.push(n + &lo[i] + &hi[i] + self.gaps(n) * interior[i]);
        }
        Ok(shape)
    }

    /// Number of gaps between neighbours among `n` elements.
    fn gaps(&self, n: &Sym) -> Sym {
        let gaps = n - 1;
        let zero = Sym::from(0i64);
        if self.facts.proves_ge(&gaps, &zero) { gaps } else { Sym::max(&gaps, &zero) }
    }

    fn window(&mut self, axis: usize, size: &Sym, stride: i64, dilation: i64, x: &Shape) -> Inferred<Shape> {
        in_rank(axis, x.len())?;
        positive(stride, "stride")?;
        positive(dilation, "dilation")?;
        self.at_least(size, &Sym::from(1i64), || "window size must be at least 1".into())?;
        let span = (size - 1) * dilation + 1;
        self.at_least(&x[axis], &span, || format!("a window that spans {span} must fit axis {axis} of extent {}", x[axis]))?;
        let mut shape = x.clone();
        shape[axis] = (&x[axis] - &span).floor_div(&Sym::from(stride)) + 1;
        shape.push(size.clone());
        Ok(shape)
    }
}

fn permute(perm: &[usize], x: &Shape) -> Inferred<Shape> {
    per_axis(perm.len(), x.len(), "an operand axis")?;
    distinct_axes(perm, x.len())?;
    Ok(perm.iter().map(|&p| x[p].clone()).collect())
}

fn fill(value: Scalar, x: &TensorType) -> Inferred<()> {
    if value.dtype() == x.dtype { Ok(()) } else { Err(format!("the fill is {}, the operand {}", value.dtype(), x.dtype)) }
}
