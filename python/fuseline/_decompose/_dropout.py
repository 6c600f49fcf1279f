"""Dropout as `torch.nn.functional.dropout` computes it on the CPU: x times noise, noise = mask / (1 − p).

The noise is rounded to x's dtype first, and a dropped infinity gives NaN. The mask is `bernoulli` of a bool tensor,
which draws the numbers that eager's does.
"""

import torch
from torch import Tensor
from torch._prims_common import compute_elementwise_output_logical_to_physical_perm

aten = torch.ops.aten


def native_dropout(x: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """Output and bool mask of the kept elements."""
    if train is False or p == 0:
        return x.clone(), torch.ones_like(x, dtype=torch.bool)
    mask = torch.empty_like(x, dtype=torch.bool)
    if p == 1:
        return x * 0, torch.zeros_like(mask)
    mask = _drawn(mask, 1 - p)
    return x * (mask.to(x.dtype) / (1 - p)), mask


def _drawn(mask: Tensor, p: float) -> Tensor:
    """`mask` with probability `p` of being True, drawn in the order of its memory as eager draws it in place."""
    if mask.is_contiguous():
        return aten.bernoulli.p(mask, p)
    order = list(compute_elementwise_output_logical_to_physical_perm(mask)[0])
    drawn = aten.bernoulli.p(mask.permute(order), p)
    return drawn.permute([order.index(d) for d in range(mask.dim())])


def native_dropout_backward(grad: Tensor, mask: Tensor, scale: float) -> Tensor:
    """g · noise, with `scale` = 1/(1 − p), or 0 for p = 1."""
    if not grad.is_floating_point():
        return grad * mask * scale
    if scale == 0:
        return grad * 0
    return grad * (mask.to(grad.dtype) / (1 / scale))


TABLE = {
    aten.native_dropout.default: native_dropout,
    aten.native_dropout_backward.default: native_dropout_backward,
}
