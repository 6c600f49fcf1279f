//! Reductions, scans and softmax.

use base::Error;
use scalar::{Combiner, DType, Sym};

use crate::op::{Composite, Op};
use crate::promote::{float_type, sum_type};
use crate::shape::{Dims, axis};
use crate::tensor::{Recorded, Tensor, user_op};

/// Reduces with one combiner; the first of its results.
fn reduce(x: &Tensor, combiner: Combiner, dims: &Dims, keepdim: bool) -> Recorded<Tensor> {
    x.ok()?;
    let axes = dims.resolve(x.rank())?;
    if !matches!(combiner, Combiner::Sum | Combiner::Prod | Combiner::Any | Combiner::All) {
        not_empty(x, &axes)?;
    }
    let out = Tensor::apply(Op::Reduce(combiner, axes.clone()), &[x])?;
    if keepdim { keep(&out, x, &axes) } else { Ok(out) }
}

/// Puts back the reduced axes with extent 1.
fn keep(out: &Tensor, x: &Tensor, axes: &[usize]) -> Recorded<Tensor> {
    let mut shape = x.dims().clone();
    for &a in axes {
        shape[a] = Sym::from(1i64);
    }
    Tensor::apply(Op::Reshape(shape), &[out])
}

fn not_empty(x: &Tensor, axes: &[usize]) -> Recorded<()> {
    match axes.iter().find(|&&a| x.dims()[a].is_zero()) {
        Some(a) => Err(Error::invalid(format!("dim {a} of {} has no elements to choose from", x.ty())).into()),
        None => Ok(()),
    }
}

fn sum(x: &Tensor, dims: &Dims, keepdim: bool) -> Recorded<Tensor> {
    reduce(&x.cast_to(sum_type(x.dtype()))?, Combiner::Sum, dims, keepdim)
}

fn prod(x: &Tensor, dims: &Dims, keepdim: bool) -> Recorded<Tensor> {
    reduce(&x.cast_to(sum_type(x.dtype()))?, Combiner::Prod, dims, keepdim)
}

fn needs_float(x: &Tensor) -> Recorded<()> {
    x.ok()?;
    if x.dtype().is_float() {
        Ok(())
    } else {
        Err(Error::invalid(format!("needs a float tensor, got {}; convert it with to_dtype", x.ty())).into())
    }
}

fn mean(x: &Tensor, dims: &Dims, keepdim: bool) -> Recorded<Tensor> {
    needs_float(x)?;
    Tensor::apply(Op::Compose(Composite::Mean((dims.resolve(x.rank())?, keepdim))), &[x])
}

/// Variance with `correction` subtracted from the count.
fn var(x: &Tensor, dims: &Dims, keepdim: bool, correction: i64) -> Recorded<Tensor> {
    needs_float(x)?;
    Tensor::apply(Op::Compose(Composite::Var((dims.resolve(x.rank())?, keepdim), correction)), &[x])
}

fn truth(x: &Tensor, combiner: Combiner, dims: &Dims, keepdim: bool) -> Recorded<Tensor> {
    x.ok()?;
    reduce(&x.cast_to(DType::Bool)?, combiner, dims, keepdim)
}

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident, $keep:ident: $f:expr;)*) => {
        impl Tensor {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name(&self, dims: impl Into<Dims>) -> Tensor {
                let dims = dims.into();
                user_op(stringify!($name), || $f(self, &dims, false))
            }
            $(#[$doc])*
            ///
            /// The reduced dims stay, with extent 1.
            #[track_caller]
            pub fn $keep(&self, dims: impl Into<Dims>) -> Tensor {
                let dims = dims.into();
                user_op(stringify!($name), || $f(self, &dims, true))
            })*
        }
    };
}

reductions! {
    /// Sum over dims (`..` for all); integers and bools give i64.
    sum, sum_keepdim: sum;
    /// Product over dims; integers and bools give i64.
    prod, prod_keepdim: prod;
    /// Mean over dims, for floats.
    mean, mean_keepdim: mean;
    /// Greatest element over dims; NaN wins.
    amax, amax_keepdim: |x: &Tensor, dims: &Dims, keepdim| reduce(x, Combiner::Max, dims, keepdim);
    /// Least element over dims; NaN wins.
    amin, amin_keepdim: |x: &Tensor, dims: &Dims, keepdim| reduce(x, Combiner::Min, dims, keepdim);
    /// Whether any element over dims is not zero.
    any, any_keepdim: |x: &Tensor, dims: &Dims, keepdim| truth(x, Combiner::Any, dims, keepdim);
    /// Whether all elements over dims are not zero.
    all, all_keepdim: |x: &Tensor, dims: &Dims, keepdim| truth(x, Combiner::All, dims, keepdim);
    /// Sample variance over dims (`correction=1`, as in PyTorch).
    var, var_keepdim: |x: &Tensor, dims: &Dims, keepdim| var(x, dims, keepdim, 1);
    /// Sample standard deviation over dims (`correction=1`, as in PyTorch).
    std, std_keepdim: |x: &Tensor, dims: &Dims, keepdim| Ok(var(x, dims, keepdim, 1)?.sqrt());
    /// ln Σ eˣ over dims, without overflow.
    logsumexp, logsumexp_keepdim: logsumexp;
    /// Index of the greatest element along a dim, or of the flattened tensor for `..`; the first of equals, as i64.
    argmax, argmax_keepdim: |x: &Tensor, dims: &Dims, keepdim| arg(x, Combiner::ArgMax, dims, keepdim);
    /// Index of the least element along a dim, or of the flattened tensor for `..`; the first of equals, as i64.
    argmin, argmin_keepdim: |x: &Tensor, dims: &Dims, keepdim| arg(x, Combiner::ArgMin, dims, keepdim);
}

fn logsumexp(x: &Tensor, dims: &Dims, keepdim: bool) -> Recorded<Tensor> {
    let axes = dims.resolve(x.ok()?.rank())?;
    Tensor::apply(Op::Compose(Composite::LogSumExp((axes, keepdim))), &[&x.cast_to(float_type(x.dtype()))?])
}

fn arg(x: &Tensor, combiner: Combiner, dims: &Dims, keepdim: bool) -> Recorded<Tensor> {
    x.ok()?;
    if dims.is_all() {
        let flat = x.flatten(..);
        return arg(&flat, combiner, &Dims::from(0), false);
    }
    let axes = dims.resolve(x.rank())?;
    if axes.len() != 1 {
        return Err(Error::invalid("takes one dim, or `..` for the flattened tensor").into());
    }
    not_empty(x, &axes)?;
    let out = Tensor::apply_many(Op::Reduce(combiner, axes.clone()), &[x])?.swap_remove(1);
    if keepdim { keep(&out, x, &axes) } else { Ok(out) }
}

/// Values and indices along one dim.
fn extreme(x: &Tensor, combiner: Combiner, dim: i64) -> Recorded<(Tensor, Tensor)> {
    x.ok()?;
    let axes = Dims::from(dim).resolve(x.rank())?;
    not_empty(x, &axes)?;
    let mut parts = Tensor::apply_many(Op::Reduce(combiner, axes), &[x])?;
    let indices = parts.swap_remove(1);
    Ok((parts.swap_remove(0), indices))
}

fn along(x: &Tensor, dim: i64) -> Recorded<usize> {
    Ok(axis(dim, x.ok()?.rank())?)
}

impl Tensor {
    /// Greatest elements along a dim and their first indices (i64).
    #[track_caller]
    pub fn max(&self, dim: i64) -> (Tensor, Tensor) {
        user_op("max", || extreme(self, Combiner::ArgMax, dim))
    }
    /// Least elements along a dim and their first indices (i64).
    #[track_caller]
    pub fn min(&self, dim: i64) -> (Tensor, Tensor) {
        user_op("min", || extreme(self, Combiner::ArgMin, dim))
    }
    /// Variance over dims with `correction` subtracted from the count.
    #[track_caller]
    pub fn var_with(&self, dims: impl Into<Dims>, correction: i64, keepdim: bool) -> Tensor {
        let dims = dims.into();
        user_op("var", || var(self, &dims, keepdim, correction))
    }
    /// Variance and mean over dims (`correction=1`, as in PyTorch).
    #[track_caller]
    pub fn var_mean(&self, dims: impl Into<Dims>) -> (Tensor, Tensor) {
        let dims = dims.into();
        user_op("var_mean", || Ok((var(self, &dims, false, 1)?, mean(self, &dims, false)?)))
    }
    /// Standard deviation and mean over dims (`correction=1`, as in PyTorch).
    #[track_caller]
    pub fn std_mean(&self, dims: impl Into<Dims>) -> (Tensor, Tensor) {
        let dims = dims.into();
        user_op("std_mean", || Ok((var(self, &dims, false, 1)?.sqrt(), mean(self, &dims, false)?)))
    }
    /// Least and greatest elements over dims; NaN wins.
    #[track_caller]
    pub fn aminmax(&self, dims: impl Into<Dims>) -> (Tensor, Tensor) {
        let dims = dims.into();
        user_op("aminmax", || Ok((reduce(self, Combiner::Min, &dims, false)?, reduce(self, Combiner::Max, &dims, false)?)))
    }
    /// Number of elements over dims that are not zero, as i64.
    #[track_caller]
    pub fn count_nonzero(&self, dims: impl Into<Dims>) -> Tensor {
        let dims = dims.into();
        user_op("count_nonzero", || sum(&self.ok()?.cast_to(DType::Bool)?, &dims, false))
    }
    /// Sum over dims where NaN counts as 0.
    #[track_caller]
    pub fn nansum(&self, dims: impl Into<Dims>) -> Tensor {
        let dims = dims.into();
        user_op("nansum", || sum(&self.ok()?.masked_fill(&self.isnan(), 0), &dims, false))
    }
    /// Mean over dims of the elements that are not NaN.
    #[track_caller]
    pub fn nanmean(&self, dims: impl Into<Dims>) -> Tensor {
        let dims = dims.into();
        user_op("nanmean", || {
            needs_float(self)?;
            let missing = self.isnan();
            let total = sum(&self.masked_fill(&missing, 0), &dims, false)?;
            Ok(total / sum(&missing.logical_not(), &dims, false)?)
        })
    }
    /// eˣ / Σ eˣ along a dim.
    #[track_caller]
    pub fn softmax(&self, dim: i64) -> Tensor {
        user_op("softmax", || {
            let axis = along(self, dim)?;
            Tensor::apply(Op::Compose(Composite::Softmax(axis)), &[&self.cast_to(float_type(self.dtype()))?])
        })
    }
    /// Logarithm of the softmax along a dim.
    #[track_caller]
    pub fn log_softmax(&self, dim: i64) -> Tensor {
        user_op("log_softmax", || {
            let axis = along(self, dim)?;
            Tensor::apply(Op::Compose(Composite::LogSoftmax(axis)), &[&self.cast_to(float_type(self.dtype()))?])
        })
    }
    /// Running sums along a dim; integers and bools give i64.
    #[track_caller]
    pub fn cumsum(&self, dim: i64) -> Tensor {
        user_op("cumsum", || Tensor::apply(Op::Scan(Combiner::Sum, along(self, dim)?), &[&self.cast_to(sum_type(self.dtype()))?]))
    }
    /// Running products along a dim; integers and bools give i64.
    #[track_caller]
    pub fn cumprod(&self, dim: i64) -> Tensor {
        user_op("cumprod", || {
            Tensor::apply(Op::Scan(Combiner::Prod, along(self, dim)?), &[&self.cast_to(sum_type(self.dtype()))?])
        })
    }
    /// Square root of the sum of squares over dims.
    #[track_caller]
    pub fn norm(&self, dims: impl Into<Dims>) -> Tensor {
        let dims = dims.into();
        user_op("norm", || {
            needs_float(self)?;
            let acc = self.cast_to(self.dtype().accumulator())?;
            reduce(&acc.square(), Combiner::Sum, &dims, false)?.sqrt().cast_to(self.dtype())
        })
    }
}
