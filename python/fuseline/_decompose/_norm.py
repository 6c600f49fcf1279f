"""Layer, group and batch norm. Only the means and reciprocal deviations are results beside the output.

Eager rounds those two to the parameters' dtype (the input's dtype without parameters) and its backward reads them so
rounded; the output is computed from them unrounded, but for batch norm in training.
"""

import math

import torch
from torch import Tensor

from ._opmath import fma, wide

aten = torch.ops.aten


def _statistics_dtype(x: Tensor, *parameters: Tensor | None) -> torch.dtype:
    return next((p.dtype for p in parameters if p is not None), x.dtype)


def _moments(x: Tensor, dims: list[int], eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """Mean, biased variance and 1/√(variance + eps) of wide `x` over `dims`, which stay as 1."""
    variance, mean = torch.var_mean(x, dims, correction=0, keepdim=True)
    return mean, variance, (variance + eps).rsqrt()


def layer_norm(
    x: Tensor, normalized_shape: list[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """((x − mean) · rstd) · weight + bias; mean and rstd have the shape of `x` with 1 for the normalised dims."""
    rank = len(normalized_shape)
    wide_x = wide(x)
    mean, _, rstd = _moments(wide_x, list(range(x.dim() - rank, x.dim())), eps)
    y = (wide_x - mean) * rstd
    if weight is not None:
        y = fma(y, wide(weight), 0.0 if bias is None else wide(bias))
    elif bias is not None:
        y = y + wide(bias)
    dtype = _statistics_dtype(x, weight, bias)
    return y.to(x.dtype), mean.to(dtype), rstd.to(dtype)


def layer_norm_backward(
    grad: Tensor,
    x: Tensor,
    normalized_shape: list[int],
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    output_mask: list[bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Gradients of x, weight and bias, each where the mask asks for it."""
    outer = x.dim() - len(normalized_shape)
    outer_dims, inner_dims = list(range(outer)), list(range(outer, x.dim()))
    wide_grad, wide_x, mean, rstd = wide(grad), wide(x), wide(mean), wide(rstd)
    grads: list[Tensor | None] = [None, None, None]
    if output_mask[0]:
        grads[0] = _layer_norm_input_grad(wide_grad, wide_x, mean, rstd, weight, inner_dims).to(x.dtype)
    if output_mask[1] and weight is not None:
        normalized = (wide_x - mean) * rstd
        grads[1] = _sum_over(wide_grad * normalized, outer_dims).to(weight.dtype)
    if output_mask[2] and bias is not None:
        grads[2] = _sum_over(wide_grad, outer_dims).to(bias.dtype)
    return grads[0], grads[1], grads[2]


def _sum_over(x: Tensor, dims: list[int]) -> Tensor:
    return x.sum(dims) if dims else x


def _layer_norm_input_grad(
    grad: Tensor, x: Tensor, mean: Tensor, rstd: Tensor, weight: Tensor | None, dims: list[int]
) -> Tensor:
    """rstd·g·w + b·x + c with b and c from the row sums of g·w and g·w·x, as eager's kernel has it."""
    scaled = grad if weight is None else grad * wide(weight)
    count = math.prod(x.shape[d] for d in dims)
    if count == 0:
        return torch.zeros_like(scaled)
    total = scaled.sum(dims, keepdim=True)
    dot = (scaled * x).sum(dims, keepdim=True)
    slope = (total * mean - dot) * rstd * rstd * rstd * (1 / count)
    offset = -slope * mean - total * rstd * (1 / count)
    direct = rstd * grad if weight is None else rstd * grad * wide(weight)
    return fma(x, slope, direct) + offset


def _per_channel(t: Tensor, x: Tensor) -> Tensor:
    """`t` of shape (…, C) as (…, C, 1, …) to broadcast over the spatial dims of `x`."""
    return t.reshape(*t.shape, *[1] * (x.dim() - 2))


def _affine(x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    """x · scale + shift in wide arithmetic, rounded to x's dtype; scale and shift end in the channel dim."""
    return fma(wide(x), _per_channel(scale, x), _per_channel(shift, x)).to(x.dtype)


def _scale_and_shift(mean: Tensor, rstd: Tensor, weight: Tensor | None, bias: Tensor | None) -> tuple[Tensor, Tensor]:
    scale = rstd if weight is None else rstd * wide(weight)
    return scale, fma(scale, mean, 0.0 if bias is None else wide(bias), sign=-1)


def group_norm(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, n: int, c: int, _hxw: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """x · scale + shift per sample and channel; mean and rstd have shape (n, group)."""
    grouped = wide(x).reshape(n, group, c // group, *x.shape[2:])
    mean, _, rstd = _moments(grouped, list(range(2, grouped.dim())), eps)
    mean, rstd = mean.reshape(n, group), rstd.reshape(n, group)
    spread = [t.unsqueeze(2).expand(n, group, c // group).reshape(n, c) for t in (mean, rstd)]
    dtype = _statistics_dtype(x, weight, bias)
    return _affine(x, *_scale_and_shift(*spread, weight, bias)), mean.to(dtype), rstd.to(dtype)


def _updated(running: Tensor, new: Tensor, momentum: float) -> Tensor:
    return (new * momentum + wide(running) * (1 - momentum)).to(running.dtype)


def batch_norm_functional(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Output, saved mean and rstd of shape (C,) (empty in evaluation), and the new running statistics."""
    if not training:
        y, mean, rstd = batch_norm_inference(x, weight, bias, running_mean, running_var, momentum, eps)
        return y, mean, rstd, running_mean, running_var
    mean, variance, rstd = _channel_moments(x, eps)
    count = x.numel() // x.shape[1]
    new_mean = _updated(running_mean, mean, momentum)
    new_var = _updated(running_var, variance * (count / (count - 1)), momentum)
    y, saved_mean, saved_rstd = _batch_normalized(x, mean, rstd, weight, bias, running_mean)
    return y, saved_mean, saved_rstd, new_mean, new_var


def _channel_moments(x: Tensor, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    dims = [0, *range(2, x.dim())]
    mean, variance, rstd = _moments(wide(x), dims, eps)
    return mean.reshape(-1), variance.reshape(-1), rstd.reshape(-1)


def _batch_normalized(
    x: Tensor, mean: Tensor, rstd: Tensor, weight: Tensor | None, bias: Tensor | None, running: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    dtype = _statistics_dtype(x, weight, bias, running)
    mean, rstd = mean.to(dtype), rstd.to(dtype)
    return _affine(x, *_scale_and_shift(wide(mean), wide(rstd), weight, bias)), mean, rstd


def batch_norm_no_stats(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, training: bool, momentum: float, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Batch norm that keeps no running statistics; always by the batch's own."""
    mean, _, rstd = _channel_moments(x, eps)
    return _batch_normalized(x, mean, rstd, weight, bias, None)


def batch_norm_inference(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Batch norm by the running statistics; the saved statistics are empty, as eager's on the CPU."""
    rstd = (wide(running_var) + eps).rsqrt()
    y = _affine(x, *_scale_and_shift(wide(running_mean), rstd, weight, bias))
    empty = x.new_empty((0,), dtype=_statistics_dtype(x, weight, bias, running_mean))
    return y, empty, empty.clone()


TABLE = {
    aten.native_layer_norm.default: layer_norm,
    aten.native_layer_norm_backward.default: layer_norm_backward,
    aten.native_group_norm.default: group_norm,
    aten._native_batch_norm_legit_functional.default: batch_norm_functional,
    aten._native_batch_norm_legit.no_stats: batch_norm_no_stats,
    aten._native_batch_norm_legit_no_training.default: batch_norm_inference,
}
