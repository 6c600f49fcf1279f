"""Gradients of batch norm in the order of eager's loops, so that what cancels there cancels here."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch._prims_common import suggest_memory_format

from ._norm import _per_channel, _statistics_dtype
from ._opmath import is_half, wide

aten = torch.ops.aten


def _rounds_each_step(grad: Tensor, x: Tensor) -> bool:
    """Whether eager takes its loop for any strides, which computes in a half type; those for dense tensors do not."""
    if not is_half(x.dtype):
        return False
    wanted, given = suggest_memory_format(x), suggest_memory_format(grad)
    dense = x.is_contiguous(memory_format=wanted) and grad.is_contiguous(memory_format=given)
    return not dense or wanted != given


def _same(x: Tensor) -> Tensor:
    return x


def batch_norm_backward(
    grad: Tensor,
    x: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    saved_mean: Tensor | None,
    saved_rstd: Tensor | None,
    training: bool,
    eps: float,
    output_mask: list[bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Gradients of x, weight and bias, each where the mask asks for it.

    In the loop for any strides eager sums in float32, and rounds the sum of `grad` in bfloat16 only.
    """
    dtype = _statistics_dtype(x, weight, running_mean, saved_mean)
    cast: Callable[[Tensor], Tensor] = _same if _rounds_each_step(grad, x) else wide
    if training:
        assert saved_mean is not None and saved_rstd is not None
        mean, rstd = cast(saved_mean), cast(saved_rstd)
    else:
        assert running_mean is not None and running_var is not None
        mean, rstd = cast(running_mean), (wide(running_var) + eps).rsqrt()
        rstd = rstd if cast is wide else rstd.to(dtype)
    g, centred = cast(grad), cast(x) - _per_channel(mean, x)
    dims = [0, *range(2, x.dim())]
    total, dot = wide(grad).sum(dims), wide(centred * g).sum(dims)
    if cast is _same and x.dtype == torch.bfloat16:
        total = total.to(x.dtype)
    grads: list[Tensor | None] = [None, None, None]
    if output_mask[0]:
        if training:
            g = _without_projections(g, centred, total, dot, rstd)
        g = g * _per_channel(rstd, x)
        grads[0] = (g if weight is None else g * _per_channel(cast(weight), x)).to(x.dtype)
    if output_mask[1]:
        grads[1] = (dot * rstd).to(dtype)
    if output_mask[2]:
        grads[2] = total.to(dtype)
    return grads[0], grads[1], grads[2]


def _without_projections(g: Tensor, centred: Tensor, total: Tensor, dot: Tensor, rstd: Tensor) -> Tensor:
    """g − mean(g) − centred · mean(g · centred) · rstd², in the dtype of g."""
    count = g.numel() // g.shape[1]
    mean = _divided(total, count).to(g.dtype)
    slope = _divided(dot.to(g.dtype) * rstd * rstd, count).to(g.dtype)
    return g - _per_channel(mean, g) - (centred * _per_channel(slope, g)).to(g.dtype)


def _divided(x: Tensor, count: int) -> Tensor:
    """x / count, where a half type rounds the count as well."""
    return x / torch.full((), count, dtype=x.dtype, device=x.device) if is_half(x.dtype) else x / count


TABLE = {aten.native_batch_norm_backward.default: batch_norm_backward}
