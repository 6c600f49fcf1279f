//! Normalisations. All compute in f32 for f16 and bf16 and round once, as PyTorch's kernels do.

use base::Result;
use scalar::{ScalarOp as S, Shape, Sym};

use super::broadcast::{bad, binary, cast, per_channel, upcast, with_scalar};
use super::reduce::{mean, var};
use crate::{Builder, NodeId};

/// Scale and shift of a normalisation, each optional.
#[derive(Clone, Copy, Debug, Default)]
pub struct Affine {
    /// Multiplied.
    pub weight: Option<NodeId>,
    /// Added.
    pub bias: Option<NodeId>,
}

/// 1/√(v + eps).
fn inverse_deviation(b: &mut Builder, v: NodeId, eps: f64) -> Result<NodeId> {
    let v = with_scalar(b, S::Add, v, eps)?;
    b.map(S::Rsqrt, &[v])
}

/// (x − mean) / √(var + eps) over axes.
fn standardise(b: &mut Builder, x: NodeId, axes: &[usize], eps: f64) -> Result<NodeId> {
    let m = mean(b, x, axes, true)?;
    let v = var(b, x, axes, 0, true)?;
    let d = binary(b, S::Sub, x, m)?;
    let r = inverse_deviation(b, v, eps)?;
    binary(b, S::Mul, d, r)
}

/// y · weight + bias with parameters that broadcast, in y's dtype.
fn affine(b: &mut Builder, y: NodeId, p: Affine) -> Result<NodeId> {
    let dtype = b.dtype(y);
    let y = match p.weight {
        Some(w) => {
            let w = cast(b, w, dtype)?;
            binary(b, S::Mul, y, w)?
        }
        None => y,
    };
    match p.bias {
        Some(v) => {
            let v = cast(b, v, dtype)?;
            binary(b, S::Add, y, v)
        }
        None => Ok(y),
    }
}

/// The parameters `[C]` as views against `rank` axes with the channel at `axis`.
fn channel_affine(b: &mut Builder, p: Affine, axis: usize, rank: usize) -> Result<Affine> {
    let mut view = |v: Option<NodeId>| v.map(|v| per_channel(b, v, axis, rank)).transpose();
    Ok(Affine { weight: view(p.weight)?, bias: view(p.bias)? })
}

/// (x − mean)/√(var + eps) · weight + bias over the axes from `first_axis` to the last (Ba et al. 2016); the parameters have
/// the extents of those axes.
///
/// # Errors
/// An axis out of range, parameters of another shape, or a dtype that is not a float.
pub fn layer_norm(b: &mut Builder, x: NodeId, first_axis: usize, p: Affine, eps: f64) -> Result<NodeId> {
    let axes = last_axes(b, "layer_norm", x, first_axis)?;
    let (wide, dtype) = upcast(b, x)?;
    let y = standardise(b, wide, &axes, eps)?;
    let y = affine(b, y, p)?;
    cast(b, y, dtype)
}

fn last_axes(b: &Builder, op: &str, x: NodeId, first: usize) -> Result<Vec<usize>> {
    let rank = b.shape(x).len();
    if first >= rank {
        return Err(bad(b, op, &[x], format!("axis {first} is out of range")));
    }
    Ok((first..rank).collect())
}

/// x / √(mean x² + eps) · weight over the axes from `first_axis` to the last (Zhang & Sennrich 2019).
///
/// # Errors
/// As [`layer_norm`].
pub fn rms_norm(b: &mut Builder, x: NodeId, first_axis: usize, weight: Option<NodeId>, eps: f64) -> Result<NodeId> {
    let axes = last_axes(b, "rms_norm", x, first_axis)?;
    let (wide, dtype) = upcast(b, x)?;
    let squares = b.map(S::Mul, &[wide, wide])?;
    let m = mean(b, squares, &axes, true)?;
    let r = inverse_deviation(b, m, eps)?;
    let y = binary(b, S::Mul, wide, r)?;
    let y = affine(b, y, Affine { weight, bias: None })?;
    cast(b, y, dtype)
}

/// Batch normalisation with given statistics: x · α + β per channel of axis 1, with α = weight/√(var + eps) and
/// β = bias − mean · α. Both are per-channel vectors that depend on parameters only.
///
/// # Errors
/// Parameters that are not `[C]`, or a dtype that is not a float.
pub fn batch_norm(b: &mut Builder, x: NodeId, mean: NodeId, var: NodeId, p: Affine, eps: f64) -> Result<NodeId> {
    let rank = b.shape(x).len();
    let axis = channel_axis(b, "batch_norm", x)?;
    let (wide, dtype) = upcast(b, x)?;
    let compute = b.dtype(wide);
    let (m, v) = (cast(b, mean, compute)?, cast(b, var, compute)?);
    let r = inverse_deviation(b, v, eps)?;
    let alpha = affine(b, r, Affine { weight: p.weight, bias: None })?;
    let shift = b.map(S::Mul, &[m, alpha])?;
    let beta = match p.bias {
        Some(bias) => {
            let bias = cast(b, bias, compute)?;
            b.map(S::Sub, &[bias, shift])?
        }
        None => b.map(S::Neg, &[shift])?,
    };
    let p = channel_affine(b, Affine { weight: Some(alpha), bias: Some(beta) }, axis, rank)?;
    let y = affine(b, wide, p)?;
    cast(b, y, dtype)
}

fn channel_axis(b: &Builder, op: &str, x: NodeId) -> Result<usize> {
    if b.shape(x).len() < 2 { Err(bad(b, op, &[x], "needs a batch and a channel axis")) } else { Ok(1) }
}

/// Result of [`batch_norm_train`].
#[derive(Clone, Copy, Debug)]
pub struct BatchNorm {
    /// Normalised, in x's dtype.
    pub y: NodeId,
    /// Mean of the batch per channel.
    pub mean: NodeId,
    /// Biased variance of the batch per channel.
    pub var: NodeId,
}

/// Batch normalisation with the statistics of the batch, over all axes but axis 1. The running averages are the caller's.
///
/// # Errors
/// As [`batch_norm`].
pub fn batch_norm_train(b: &mut Builder, x: NodeId, p: Affine, eps: f64) -> Result<BatchNorm> {
    let rank = b.shape(x).len();
    let axis = channel_axis(b, "batch_norm", x)?;
    let axes: Vec<usize> = (0..rank).filter(|&a| a != axis).collect();
    let (wide, dtype) = upcast(b, x)?;
    let y = standardise(b, wide, &axes, eps)?;
    let p = channel_affine(b, p, axis, rank)?;
    let y = affine(b, y, p)?;
    Ok(BatchNorm { y: cast(b, y, dtype)?, mean: mean(b, wide, &axes, false)?, var: var(b, wide, &axes, 0, false)? })
}

/// Each of `groups` groups of channels (axis 1) is normalised with its spatial axes (Wu & He 2018); parameters are `[C]`.
///
/// # Errors
/// A channel count that `groups` does not divide, or as [`batch_norm`].
pub fn group_norm(b: &mut Builder, x: NodeId, groups: i64, p: Affine, eps: f64) -> Result<NodeId> {
    let shape = b.shape(x).clone();
    let axis = channel_axis(b, "group_norm", x)?;
    let grouped = split_channels(&shape, groups)
        .ok_or_else(|| bad(b, "group_norm", &[x], format!("{groups} groups do not divide the channels")))?;
    let (wide, dtype) = upcast(b, x)?;
    let y = b.reshape(wide, &grouped)?;
    let y = standardise(b, y, &(2..grouped.len()).collect::<Vec<_>>(), eps)?;
    let y = b.reshape(y, &shape)?;
    let p = channel_affine(b, p, axis, shape.len())?;
    let y = affine(b, y, p)?;
    cast(b, y, dtype)
}

/// `[N, C, …]` as `[N, groups, C/groups, …]`.
fn split_channels(shape: &Shape, groups: i64) -> Option<Shape> {
    let groups = (groups > 0).then(|| Sym::from(groups))?;
    let each = shape[1].exact_div(&groups)?;
    Some([shape[0].clone(), groups, each].into_iter().chain(shape[2..].iter().cloned()).collect())
}

/// Each channel of each sample is normalised over its spatial axes (Ulyanov et al. 2016); parameters are `[C]`.
///
/// # Errors
/// As [`batch_norm`].
pub fn instance_norm(b: &mut Builder, x: NodeId, p: Affine, eps: f64) -> Result<NodeId> {
    let rank = b.shape(x).len();
    let axis = channel_axis(b, "instance_norm", x)?;
    let (wide, dtype) = upcast(b, x)?;
    let y = standardise(b, wide, &(2..rank).collect::<Vec<_>>(), eps)?;
    let p = channel_affine(b, p, axis, rank)?;
    let y = affine(b, y, p)?;
    cast(b, y, dtype)
}

/// x / max(‖x‖₂, eps) along an axis (PyTorch's `normalize`).
///
/// # Errors
/// An axis out of range, or a dtype that is not a float.
pub fn normalize(b: &mut Builder, x: NodeId, axis: usize, eps: f64) -> Result<NodeId> {
    let n = super::reduce::vector_norm(b, x, 2, &[axis], true)?;
    let n = with_scalar(b, S::Max, n, eps)?;
    binary(b, S::Div, x, n)
}
