//! Losses.

use base::Result;
use scalar::{Combiner, DType, ScalarOp as S};

use super::activation::one_minus;
use super::broadcast::{bad, binary, cast, scalar_like, upcast, with_scalar};
use super::index::{squeeze, unsqueeze};
use super::reduce::{all_axes, log_softmax, mean, reduce, sum};
use crate::{Builder, NodeId};

/// What becomes of the elementwise loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// Kept.
    None,
    /// Averaged.
    #[default]
    Mean,
    /// Summed.
    Sum,
}

fn finish(b: &mut Builder, loss: NodeId, how: Reduction) -> Result<NodeId> {
    let axes = all_axes(b, loss);
    match how {
        Reduction::None => Ok(loss),
        Reduction::Mean => mean(b, loss, &axes, false),
        Reduction::Sum => sum(b, loss, &axes, false),
    }
}

/// (x − y)².
///
/// # Errors
/// Shapes that do not broadcast.
pub fn mse(b: &mut Builder, x: NodeId, y: NodeId, how: Reduction) -> Result<NodeId> {
    let d = binary(b, S::Sub, x, y)?;
    let loss = b.map(S::Mul, &[d, d])?;
    finish(b, loss, how)
}

/// |x − y|.
///
/// # Errors
/// Shapes that do not broadcast.
pub fn l1(b: &mut Builder, x: NodeId, y: NodeId, how: Reduction) -> Result<NodeId> {
    let d = binary(b, S::Sub, x, y)?;
    let loss = b.map(S::Abs, &[d])?;
    finish(b, loss, how)
}

/// Binary cross-entropy of logits x with targets y in 0..=1: (1 − y)·x + max(−x, 0) + ln(1 + e^−|x|).
///
/// # Errors
/// Shapes that do not broadcast.
pub fn bce_with_logits(b: &mut Builder, x: NodeId, y: NodeId, how: Reduction) -> Result<NodeId> {
    let (wide, dtype) = upcast(b, x)?;
    let y = cast(b, y, dtype.accumulator())?;
    let rest = one_minus(b, y)?;
    let linear = binary(b, S::Mul, rest, wide)?;
    let negative = b.map(S::Neg, &[wide])?;
    let hinge = with_scalar(b, S::Max, negative, 0.0)?;
    let size = b.map(S::Abs, &[wide])?;
    let decay = b.map(S::Neg, &[size])?;
    let decay = b.map(S::Exp, &[decay])?;
    let log = b.map(S::Log1p, &[decay])?;
    let tail = b.map(S::Add, &[hinge, log])?;
    let loss = binary(b, S::Add, linear, tail)?;
    let loss = finish(b, loss, how)?;
    cast(b, loss, dtype)
}

/// −x[n, target[n, …], …] for log-probabilities x `[N, C, …]` (or `[C]`) and integer targets without the class axis. Targets
/// equal to `ignore_index` count as 0 and not at all in the mean.
///
/// # Errors
/// Shapes that do not fit or targets that are not integers.
pub fn nll(b: &mut Builder, x: NodeId, target: NodeId, ignore_index: Option<i64>, how: Reduction) -> Result<NodeId> {
    let axis = usize::from(b.shape(x).len() > 1);
    if b.shape(x).is_empty() || b.shape(target).len() + 1 != b.shape(x).len() || !b.dtype(target).is_int() {
        return Err(bad(b, "nll", &[x, target], "needs x [N, C, …] and integer targets [N, …]"));
    }
    let target = cast(b, target, DType::I64)?;
    let kept = ignore_index.map(|i| with_scalar(b, S::Ne, target, i as f64)).transpose()?;
    let safe = match kept {
        Some(kept) => {
            let zero = scalar_like(b, target, 0.0)?;
            b.map(S::Select, &[kept, target, zero])?
        }
        None => target,
    };
    let index = unsqueeze(b, safe, &[axis])?;
    let picked = b.gather(x, &[index], &[axis])?;
    let picked = squeeze(b, picked, &[axis])?;
    let loss = b.map(S::Neg, &[picked])?;
    match kept {
        None => finish(b, loss, how),
        Some(kept) => finish_kept(b, loss, kept, how),
    }
}

fn finish_kept(b: &mut Builder, loss: NodeId, kept: NodeId, how: Reduction) -> Result<NodeId> {
    let zero = scalar_like(b, loss, 0.0)?;
    let loss = b.map(S::Select, &[kept, loss, zero])?;
    if how != Reduction::Mean {
        return finish(b, loss, how);
    }
    let axes = all_axes(b, loss);
    let (wide, dtype) = upcast(b, loss)?;
    let total = reduce(b, Combiner::Sum, wide, &axes, false)?;
    let counted = cast(b, kept, dtype.accumulator())?;
    let n = reduce(b, Combiner::Sum, counted, &axes, false)?;
    let y = b.map(S::Div, &[total, n])?;
    cast(b, y, dtype)
}

/// [`nll`] of [`log_softmax`] over the class axis (axis 1, or 0 of a vector); in f32 for f16 and bf16.
///
/// # Errors
/// As [`nll`].
pub fn cross_entropy(
    b: &mut Builder,
    logits: NodeId,
    target: NodeId,
    ignore_index: Option<i64>,
    how: Reduction,
) -> Result<NodeId> {
    let axis = usize::from(b.shape(logits).len() > 1);
    let (wide, dtype) = upcast(b, logits)?;
    let logp = log_softmax(b, wide, axis)?;
    let loss = nll(b, logp, target, ignore_index, how)?;
    cast(b, loss, dtype)
}
