//! Functions on tensors, as `torch.nn.functional`.

use base::Error;
use graph::compose;
use scalar::Sym;

use crate::op::{Affine, Composite, Loss, Op};
use crate::ops::indices;
use crate::promote::Number;
use crate::random::Generator;
use crate::shape::IntoShape;
use crate::tensor::{Recorded, Tensor, user_op};

/// What becomes of an elementwise loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// Kept.
    None,
    /// Averaged.
    #[default]
    Mean,
    /// Summed.
    Sum,
}

fn composite(op: Composite, args: &[&Tensor]) -> Recorded<Tensor> {
    Tensor::apply(Op::Compose(op), args)
}

/// Operands followed by the optional ones that are present.
fn with<'a>(args: &[&'a Tensor], optional: &[Option<&'a Tensor>]) -> Vec<&'a Tensor> {
    args.iter().copied().chain(optional.iter().copied().flatten()).collect()
}

/// x · weightᵀ + bias with `weight` `[out, in]`, over the last dim.
#[track_caller]
pub fn linear(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Tensor {
    user_op("linear", || composite(Composite::Linear { bias: bias.is_some() }, &with(&[x, weight], &[bias])))
}

/// Geometry of a convolution; the same in every spatial dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conv {
    /// Distance of neighbouring windows.
    pub stride: i64,
    /// Zeros on each side.
    pub padding: i64,
    /// Distance of neighbouring taps.
    pub dilation: i64,
    /// Groups of channels that do not mix.
    pub groups: i64,
}

impl Default for Conv {
    /// Stride and dilation 1, no padding, one group.
    fn default() -> Conv {
        Conv { stride: 1, padding: 0, dilation: 1, groups: 1 }
    }
}

impl Conv {
    fn geometry(self, spatial: usize) -> compose::Conv {
        compose::Conv {
            stride: vec![self.stride; spatial],
            pads: vec![(Sym::from(self.padding), Sym::from(self.padding)); spatial],
            dilation: vec![self.dilation; spatial],
            groups: self.groups,
        }
    }
}

fn conv(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, conv: Conv, spatial: usize) -> Recorded<Tensor> {
    if x.ok()?.rank() != spatial + 2 {
        return Err(Error::invalid(format!("needs x of rank {} ([N, C, …]), got {}", spatial + 2, x.ty())).into());
    }
    composite(Composite::Conv { geometry: conv.geometry(spatial), bias: bias.is_some() }, &with(&[x, weight], &[bias]))
}

fn conv_transpose(
    x: &Tensor,
    w: &Tensor,
    bias: Option<&Tensor>,
    conv: Conv,
    output_padding: i64,
    spatial: usize,
) -> Recorded<Tensor> {
    let output_padding = vec![output_padding; spatial];
    let op = Composite::ConvTranspose { geometry: conv.geometry(spatial), output_padding, bias: bias.is_some() };
    composite(op, &with(&[x, w], &[bias]))
}

/// Cross-correlation of x `[N, C, L]` with `weight` `[O, C/groups, K]`.
#[track_caller]
pub fn conv1d(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, options: Conv) -> Tensor {
    user_op("conv1d", || conv(x, weight, bias, options, 1))
}
/// Cross-correlation of x `[N, C, H, W]` with `weight` `[O, C/groups, K, L]`.
#[track_caller]
pub fn conv2d(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, options: Conv) -> Tensor {
    user_op("conv2d", || conv(x, weight, bias, options, 2))
}
/// Transposed convolution of x `[N, C, L]` with `weight` `[C, O/groups, K]`.
#[track_caller]
pub fn conv_transpose1d(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, options: Conv, output_padding: i64) -> Tensor {
    user_op("conv_transpose1d", || conv_transpose(x, weight, bias, options, output_padding, 1))
}
/// Transposed convolution of x `[N, C, H, W]` with `weight` `[C, O/groups, K, L]`.
#[track_caller]
pub fn conv_transpose2d(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, options: Conv, output_padding: i64) -> Tensor {
    user_op("conv_transpose2d", || conv_transpose(x, weight, bias, options, output_padding, 2))
}

/// Scale, shift and ε of a normalisation.
#[derive(Clone, Copy, Debug)]
pub struct Norm<'a> {
    /// Multiplied.
    pub weight: Option<&'a Tensor>,
    /// Added.
    pub bias: Option<&'a Tensor>,
    /// Added to the variance.
    pub eps: f64,
}

impl Default for Norm<'_> {
    /// No scale and shift, ε 10⁻⁵.
    fn default() -> Self {
        Norm { weight: None, bias: None, eps: 1e-5 }
    }
}

impl<'a> Norm<'a> {
    fn affine(&self) -> Affine {
        Affine { weight: self.weight.is_some(), bias: self.bias.is_some() }
    }
    fn args(&self, args: &[&'a Tensor]) -> Vec<&'a Tensor> {
        with(args, &[self.weight, self.bias])
    }
}

/// First of the last `dims` dims.
fn first_of(x: &Tensor, dims: usize) -> Recorded<usize> {
    let first = x.ok()?.rank().checked_sub(dims).filter(|_| dims > 0);
    first.ok_or_else(|| Error::invalid(format!("cannot normalise {dims} dims of {}", x.ty())).into())
}

/// (x − mean)/√(var + ε) · weight + bias over the last `dims` dims.
#[track_caller]
pub fn layer_norm(x: &Tensor, dims: usize, norm: Norm<'_>) -> Tensor {
    user_op("layer_norm", || {
        let op = Composite::LayerNorm { first: first_of(x, dims)?, eps: norm.eps.into(), affine: norm.affine() };
        composite(op, &norm.args(&[x]))
    })
}
/// x / √(mean x² + ε) · weight over the last `dims` dims.
#[track_caller]
pub fn rms_norm(x: &Tensor, dims: usize, weight: Option<&Tensor>, eps: f64) -> Tensor {
    user_op("rms_norm", || {
        let op = Composite::RmsNorm { first: first_of(x, dims)?, eps: eps.into(), weight: weight.is_some() };
        composite(op, &with(&[x], &[weight]))
    })
}
/// Groups of channels (dim 1) are normalised with their spatial dims.
#[track_caller]
pub fn group_norm(x: &Tensor, groups: i64, norm: Norm<'_>) -> Tensor {
    let op = Composite::GroupNorm { groups, eps: norm.eps.into(), affine: norm.affine() };
    user_op("group_norm", || composite(op, &norm.args(&[x])))
}
/// Channels (dim 1) are normalised with given statistics.
#[track_caller]
pub fn batch_norm(x: &Tensor, mean: &Tensor, var: &Tensor, norm: Norm<'_>) -> Tensor {
    let op = Composite::BatchNorm { eps: norm.eps.into(), affine: norm.affine() };
    user_op("batch_norm", || composite(op, &norm.args(&[x, mean, var])))
}
/// Channels (dim 1) are normalised with the statistics of the batch: (result, mean, biased variance).
#[track_caller]
pub fn batch_norm_train(x: &Tensor, norm: Norm<'_>) -> (Tensor, Tensor, Tensor) {
    user_op("batch_norm", || {
        let op = Op::Compose(Composite::BatchNormTrain { eps: norm.eps.into(), affine: norm.affine() });
        let out = Tensor::apply_many(op, &norm.args(&[x]))?;
        Ok((out[0].clone(), out[1].clone(), out[2].clone()))
    })
}

/// eˣ / Σ eˣ along a dim.
#[track_caller]
pub fn softmax(x: &Tensor, dim: i64) -> Tensor {
    x.softmax(dim)
}
/// Logarithm of the softmax along a dim.
#[track_caller]
pub fn log_softmax(x: &Tensor, dim: i64) -> Tensor {
    x.log_softmax(dim)
}
/// Gelu, exact or in its tanh form.
#[track_caller]
pub fn gelu(x: &Tensor, tanh: bool) -> Tensor {
    if tanh { x.gelu_tanh() } else { x.gelu() }
}
/// x · sigmoid(x).
#[track_caller]
pub fn silu(x: &Tensor) -> Tensor {
    x.silu()
}
/// max(x, 0).
#[track_caller]
pub fn relu(x: &Tensor) -> Tensor {
    x.relu()
}
/// x where x > 0, else `slope` · x; one slope, or one per channel (dim 1).
#[track_caller]
pub fn prelu(x: &Tensor, slope: &Tensor) -> Tensor {
    user_op("prelu", || composite(Composite::Prelu, &[x, slope]))
}
/// Surrounds with a value; (before, after) pairs from the last dim.
#[track_caller]
pub fn pad(x: &Tensor, pads: &[i64], value: impl Into<Number>) -> Tensor {
    x.pad(pads, value)
}

/// Settings of [`scaled_dot_product_attention`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Attention<'a> {
    /// Bool (true takes part) or float (added to the scores), broadcast to `[…, L, S]`.
    pub mask: Option<&'a Tensor>,
    /// Query i sees keys up to i.
    pub causal: bool,
    /// Factor of the scores; 1/√E by default.
    pub scale: Option<f64>,
}

/// softmax(q·kᵀ·scale + mask)·v for q `[…, L, E]`, k `[…, S, E]`, v `[…, S, V]`; fewer heads of k and v are shared.
#[track_caller]
pub fn scaled_dot_product_attention(q: &Tensor, k: &Tensor, v: &Tensor, options: Attention<'_>) -> Tensor {
    let op = Composite::Attention { causal: options.causal, scale: options.scale.map(Into::into), mask: options.mask.is_some() };
    user_op("scaled_dot_product_attention", || composite(op, &with(&[q, k, v], &[options.mask])))
}

/// Rotary position embedding of x `[…, L, D]` at integer `positions` `[L]`, pairing the halves of the last dim (Llama).
#[track_caller]
pub fn rope(x: &Tensor, positions: &Tensor, base: f64) -> Tensor {
    user_op("rope", || {
        let Some(dim) = x.ok()?.size(-1).as_int() else {
            return Err(Error::invalid(format!("the last dim of {} must be a number", x.ty())).into());
        };
        composite(Composite::Rope { dim, base: base.into() }, &[x, &indices(positions)?])
    })
}

/// Rows of a table `[n, d]` at integer positions of any shape.
#[track_caller]
pub fn embedding(index: &Tensor, table: &Tensor) -> Tensor {
    user_op("embedding", || composite(Composite::Embedding, &[&indices(index)?, table]))
}

/// Zeroes elements with probability `p` and scales the others by 1/(1 − p), with random numbers from the default generator;
/// the tensor itself when not training. Every execution draws anew.
#[track_caller]
pub fn dropout(x: &Tensor, p: f64, training: bool) -> Tensor {
    user_op("dropout", || dropout_by(x, p, training, &Generator::default()))
}
/// As [`dropout`], with random numbers from a generator.
#[track_caller]
pub fn dropout_with(x: &Tensor, p: f64, training: bool, generator: &Generator) -> Tensor {
    user_op("dropout", || dropout_by(x, p, training, generator))
}

fn dropout_by(x: &Tensor, p: f64, training: bool, generator: &Generator) -> Recorded<Tensor> {
    if !training || p == 0.0 {
        return Ok(x.ok()?.clone());
    }
    composite(Composite::Dropout(p.into()), &[x, &Tensor::key(generator)])
}

/// Window of a pooling; the same in every spatial dim.
fn window(size: i64, stride: i64, padding: i64, spatial: usize) -> compose::Pool {
    compose::Pool {
        kernel: vec![size; spatial],
        stride: vec![stride; spatial],
        pads: vec![(padding, padding); spatial],
        dilation: vec![1; spatial],
        ceil_mode: false,
    }
}

/// Greatest of each window of the last dim; padding never wins.
#[track_caller]
pub fn max_pool1d(x: &Tensor, size: i64, stride: i64, padding: i64) -> Tensor {
    user_op("max_pool1d", || composite(Composite::MaxPool(window(size, stride, padding, 1)), &[x]))
}
/// Greatest of each window of the last two dims; padding never wins.
#[track_caller]
pub fn max_pool2d(x: &Tensor, size: i64, stride: i64, padding: i64) -> Tensor {
    user_op("max_pool2d", || composite(Composite::MaxPool(window(size, stride, padding, 2)), &[x]))
}
/// Mean of each window of the last dim; padding counts.
#[track_caller]
pub fn avg_pool1d(x: &Tensor, size: i64, stride: i64, padding: i64) -> Tensor {
    user_op("avg_pool1d", || composite(Composite::AvgPool(window(size, stride, padding, 1), true), &[x]))
}
/// Mean of each window of the last two dims; padding counts.
#[track_caller]
pub fn avg_pool2d(x: &Tensor, size: i64, stride: i64, padding: i64) -> Tensor {
    user_op("avg_pool2d", || composite(Composite::AvgPool(window(size, stride, padding, 2), true), &[x]))
}
/// Mean over equal windows, so that the last two dims get the given extents: 1, or divisors of theirs.
#[track_caller]
pub fn adaptive_avg_pool2d(x: &Tensor, size: [i64; 2]) -> Tensor {
    user_op("adaptive_avg_pool2d", || {
        if size == [1, 1] {
            return Ok(x.ok()?.mean_keepdim([-2, -1]));
        }
        composite(Composite::AdaptiveAvgPool(size.to_vec()), &[x])
    })
}
/// Repeats each pixel of x `[N, C, H, W]` `scale` times in both directions.
#[track_caller]
pub fn interpolate_nearest(x: &Tensor, scale: usize) -> Tensor {
    user_op("interpolate", || {
        let [n, c, h, w] = &x.ok()?.dims()[..] else {
            return Err(Error::invalid(format!("needs [N, C, H, W], got {}", x.ty())).into());
        };
        let (one, s) = (Sym::from(1i64), Sym::from(scale as i64));
        let thin = [n, c, h, &one, w, &one].into_shape();
        let wide = [n, c, h, &s, w, &s].into_shape();
        Ok(x.reshape(thin).expand(wide).reshape([n, c, &(h * &s), &(w * &s)].into_shape()))
    })
}

/// (x − y)², reduced.
#[track_caller]
pub fn mse_loss(x: &Tensor, y: &Tensor, reduction: Reduction) -> Tensor {
    user_op("mse_loss", || composite(Composite::Loss(Loss::Mse, reduction), &[x, y]))
}
/// |x − y|, reduced.
#[track_caller]
pub fn l1_loss(x: &Tensor, y: &Tensor, reduction: Reduction) -> Tensor {
    user_op("l1_loss", || composite(Composite::Loss(Loss::L1, reduction), &[x, y]))
}
/// Binary cross-entropy of logits with targets in 0..=1, reduced.
#[track_caller]
pub fn binary_cross_entropy_with_logits(x: &Tensor, y: &Tensor, reduction: Reduction) -> Tensor {
    user_op("binary_cross_entropy_with_logits", || composite(Composite::Loss(Loss::BceWithLogits, reduction), &[x, y]))
}
/// −x at the target class, for log-probabilities `[N, C, …]`; class `ignore` does not count.
#[track_caller]
pub fn nll_loss(x: &Tensor, target: &Tensor, ignore: Option<i64>, reduction: Reduction) -> Tensor {
    user_op("nll_loss", || composite(Composite::Loss(Loss::Nll(ignore), reduction), &[x, &indices(target)?]))
}
/// Negative log-softmax at the target class, for logits `[N, C, …]`; class `ignore` does not count.
#[track_caller]
pub fn cross_entropy(x: &Tensor, target: &Tensor, ignore: Option<i64>, reduction: Reduction) -> Tensor {
    user_op("cross_entropy", || composite(Composite::Loss(Loss::CrossEntropy(ignore), reduction), &[x, &indices(target)?]))
}
