//! Losses.

use base::{Error, Result};
use graph::{NodeId, compose};
use scalar::{DType, ScalarOp as S};

use super::reduce::sum;
use super::{Out, one};
use crate::ctx::Ctx;
use crate::node::Node;

pub(super) fn negative_log_likelihood(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let logp = ctx.node(n.input(0)?)?;
    one(weighted(ctx, n, logp)?)
}

/// `SoftmaxCrossEntropyLoss`, with the log-probabilities as second result.
pub(super) fn softmax_cross_entropy(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let scores = ctx.node(n.input(0)?)?;
    if ctx.rank(scores) < 2 {
        return Err(Error::parse("scores need a class axis 1"));
    }
    let logp = compose::log_softmax(ctx.b(), scores, 1)?;
    Ok(vec![weighted(ctx, n, logp)?.into(), logp.into()])
}

/// −w[t]·x[n, t, …] for targets t; ignored targets weigh 0; the mean divides by the sum of weights.
fn weighted(ctx: &mut Ctx, n: &Node<'_>, logp: NodeId) -> Result<NodeId> {
    let dtype = ctx.dtype(logp);
    let target = ctx.node(n.input(1)?)?;
    if ctx.rank(target) + 1 != ctx.rank(logp) {
        return Err(Error::parse("scores [N, C, …] and targets [N, …] expected"));
    }
    let target = ctx.cast(target, DType::I64)?;
    let kept = if n.has("ignore_index") { Some(ctx.with(S::Ne, target, n.int("ignore_index", 0) as f64)?) } else { None };
    let zero = ctx.number_node(DType::I64, 0.0)?;
    let safe = kept.map_or(Ok(target), |kept| ctx.select(kept, target, zero))?;
    let index = ctx.unsqueeze(safe, &[1])?;
    let picked = compose::gather(ctx.b(), logp, 1, index)?;
    let picked = compose::squeeze(ctx.b(), picked, &[1])?;
    let mut weight = match n.maybe(2) {
        Some(w) => {
            let w = ctx.node(w)?;
            compose::take(ctx.b(), w, 0, safe)?
        }
        None => {
            let shape = ctx.shape(picked);
            ctx.full(scalar::Scalar::from_i64(dtype, 1), &shape)?
        }
    };
    if let Some(kept) = kept {
        let none = ctx.number_node(dtype, 0.0)?;
        weight = ctx.select(kept, weight, none)?;
    }
    let product = ctx.bin(S::Mul, picked, weight)?;
    let loss = ctx.un(S::Neg, product)?;
    let axes: Vec<usize> = (0..ctx.rank(loss)).collect();
    match n.string("reduction", "mean") {
        "none" => Ok(loss),
        "sum" => sum(ctx, loss, &axes),
        "mean" => {
            let (total, weights) = (sum(ctx, loss, &axes)?, sum(ctx, weight, &axes)?);
            ctx.bin(S::Div, total, weights)
        }
        other => Err(Error::parse(format!("reduction '{other}'"))),
    }
}
