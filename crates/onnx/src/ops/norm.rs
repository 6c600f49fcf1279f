//! Normalisations.

use base::{Error, Result};
use graph::NodeId;
use graph::compose::{self, Affine};
use scalar::{DType, ScalarOp as S};

use super::reduce::mean;
use super::{Out, one};
use crate::ctx::Ctx;
use crate::node::{Node, axes, axis};

fn epsilon(n: &Node<'_>) -> f64 {
    f64::from(n.float("epsilon", 1e-5))
}

fn affine(ctx: &mut Ctx, n: &Node<'_>, weight: usize, bias: usize) -> Result<Affine> {
    let weight = n.maybe(weight).map(|v| ctx.node(v)).transpose()?;
    Ok(Affine { weight, bias: n.maybe(bias).map(|v| ctx.node(v)).transpose()? })
}

/// `BatchNormalization`, with running averages as further results in training mode.
pub(super) fn batch(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let p = affine(ctx, n, 1, 2)?;
    let (running_mean, running_var) = (ctx.node(n.input(3)?)?, ctx.node(n.input(4)?)?);
    if !n.flag("training_mode", false) {
        return one(compose::batch_norm(ctx.b(), x, running_mean, running_var, p, epsilon(n))?);
    }
    let batch = compose::batch_norm_train(ctx.b(), x, p, epsilon(n))?;
    let momentum = f64::from(n.float("momentum", 0.9));
    let mut out = vec![batch.y.into()];
    for (running, current) in [(running_mean, batch.mean), (running_var, batch.var)] {
        let old = ctx.with(S::Mul, running, momentum)?;
        let current = ctx.cast(current, ctx.dtype(running))?;
        let new = ctx.with(S::Mul, current, 1.0 - momentum)?;
        out.push(ctx.bin(S::Add, old, new)?.into());
    }
    Ok(out)
}

/// `LayerNormalization`, with mean and inverse deviation as further results.
pub(super) fn layer(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let rank = ctx.rank(x);
    let first = axis(n.int("axis", -1), rank)?;
    let p = affine(ctx, n, 1, 2)?;
    let trailing = ctx.shape(x)[first..].to_vec();
    let p = Affine { weight: full_shape(ctx, p.weight, &trailing)?, bias: full_shape(ctx, p.bias, &trailing)? };
    let mut out = vec![compose::layer_norm(ctx.b(), x, first, p, epsilon(n))?.into()];
    if n.outputs() > 1 {
        let axes: Vec<usize> = (first..rank).collect();
        let wide = ctx.cast(x, ctx.dtype(x).accumulator())?;
        let (m, deviation) = (mean(ctx, wide, &axes)?, inverse_deviation(ctx, wide, &axes, epsilon(n))?);
        out.extend([ctx.unsqueeze(m, &axes)?.into(), ctx.unsqueeze(deviation, &axes)?.into()]);
    }
    Ok(out)
}

/// A parameter repeated to the normalised extents.
fn full_shape(ctx: &mut Ctx, p: Option<NodeId>, trailing: &[scalar::Sym]) -> Result<Option<NodeId>> {
    p.map(|p| ctx.expand(p, &trailing.iter().cloned().collect())).transpose()
}

/// 1/√(variance + eps) over axes, which disappear.
fn inverse_deviation(ctx: &mut Ctx, x: NodeId, axes: &[usize], eps: f64) -> Result<NodeId> {
    let variance = compose::var(ctx.b(), x, axes, 0, false)?;
    let moved = ctx.with(S::Add, variance, eps)?;
    ctx.un(S::Rsqrt, moved)
}

pub(super) fn rms(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let first = axis(n.int("axis", -1), ctx.rank(x))?;
    let weight = n.maybe(1).map(|v| ctx.node(v)).transpose()?;
    let trailing = ctx.shape(x)[first..].to_vec();
    let weight = full_shape(ctx, weight, &trailing)?;
    one(compose::rms_norm(ctx.b(), x, first, weight, epsilon(n))?)
}

pub(super) fn instance(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let p = affine(ctx, n, 1, 2)?;
    one(compose::instance_norm(ctx.b(), x, p, epsilon(n))?)
}

/// `GroupNormalization`: parameters per group before op set 21, per channel since.
pub(super) fn group(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let groups = n.int("num_groups", 0);
    let mut p = affine(ctx, n, 1, 2)?;
    if n.opset < 21 {
        let channels = ctx.shape(x).get(1).cloned().ok_or_else(|| Error::parse("operand has no channel axis"))?;
        let each = if groups > 0 { channels.exact_div(&groups.into()) } else { None };
        let each = each.ok_or_else(|| Error::parse(format!("{groups} groups do not divide {channels} channels")))?;
        for part in [&mut p.weight, &mut p.bias].into_iter().flatten() {
            *part = compose::repeat_interleave(ctx.b(), *part, 0, &each)?;
        }
    }
    one(compose::group_norm(ctx.b(), x, groups, p, epsilon(n))?)
}

/// `LpNormalization`: x over its norm along an axis; 0 where the norm is 0.
pub(super) fn lp(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let at = axis(n.int("axis", -1), ctx.rank(x))?;
    let norm = compose::vector_norm(ctx.b(), x, n.int("p", 2), &[at], true)?;
    let empty = ctx.with(S::Eq, norm, 0.0)?;
    let unit = ctx.number_node(ctx.dtype(norm), 1.0)?;
    let divisor = ctx.select(empty, unit, norm)?;
    one(ctx.bin(S::Div, x, divisor)?)
}

/// `MeanVarianceNormalization`: (x − mean) / (√variance + 1e-9).
pub(super) fn mean_variance(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let axes = axes(n.ints("axes").unwrap_or(&[0, 2, 3]), ctx.rank(x))?;
    let average = mean(ctx, x, &axes)?;
    let average = ctx.unsqueeze(average, &axes)?;
    let centred = ctx.bin(S::Sub, x, average)?;
    let variance = compose::var(ctx.b(), x, &axes, 0, true)?;
    let deviation = ctx.un(S::Sqrt, variance)?;
    let deviation = ctx.with(S::Add, deviation, 1e-9)?;
    let deviation = ctx.cast(deviation, DType::F32)?;
    one(ctx.bin(S::Div, centred, deviation)?)
}
