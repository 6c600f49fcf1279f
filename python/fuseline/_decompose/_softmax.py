"""Softmax and its logarithm, so that a row's maximum and sum are all that has to be saved.

Eager has a kernel for the last dim that differs from the other dims' in rounding: it multiplies by the reciprocal of a
row's sum, and rounds that sum and its logarithm to a half type.
"""

import torch
from torch import Tensor

from ._opmath import fma, is_half, wide_dtype

aten = torch.ops.aten


def _is_last(x: Tensor, dim: int) -> bool:
    return dim in (-1, x.dim() - 1)


def _is_empty(x: Tensor) -> bool:
    return any(isinstance(n, int) and n == 0 for n in x.shape)


def _shifted(x: Tensor, dim: int) -> Tensor:
    wide = x.to(wide_dtype(x.dtype))
    return wide - wide.amax(dim, keepdim=True)


def softmax(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """eᶻ / Σ eᶻ with z = x − max over `dim`; the result keeps x's dtype unless `half_to_float`."""
    dtype = torch.float32 if half_to_float else x.dtype
    if _is_empty(x):
        return torch.empty_like(x, dtype=dtype)
    powers = _shifted(x, dim).exp()
    total = powers.sum(dim, keepdim=True)
    return (powers * (1 / total) if _is_last(x, dim) else powers / total).to(dtype)


def log_softmax(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """z − ln Σ eᶻ with z = x − max over `dim`; the result keeps x's dtype unless `half_to_float`."""
    dtype = torch.float32 if half_to_float else x.dtype
    if _is_empty(x):
        return torch.empty_like(x, dtype=dtype)
    shifted = _shifted(x, dim)
    total = shifted.exp().sum(dim, keepdim=True)
    if _is_last(x, dim):
        total = total.to(dtype).to(shifted.dtype).log().to(dtype).to(shifted.dtype)
    else:
        total = total.log()
    return (shifted - total).to(dtype)


def softmax_backward(grad: Tensor, output: Tensor, dim: int, input_dtype: torch.dtype) -> Tensor:
    """(g − Σ g·y) · y."""
    dtype = wide_dtype(grad.dtype)
    g, y = grad.to(dtype), output.to(dtype)
    return ((g - (g * y).sum(dim, keepdim=True)) * y).to(input_dtype)


def log_softmax_backward(grad: Tensor, output: Tensor, dim: int, input_dtype: torch.dtype) -> Tensor:
    """g − eʸ · Σ g, fused but for half types."""
    dtype = wide_dtype(grad.dtype)
    g, powers = grad.to(dtype), output.to(dtype).exp()
    total = g.sum(dim, keepdim=True)
    result = g - powers * total if is_half(grad.dtype) else fma(powers, total, g, sign=-1)
    return result.to(input_dtype)


TABLE = {
    aten._softmax.default: softmax,
    aten._log_softmax.default: log_softmax,
    aten._softmax_backward_data.default: softmax_backward,
    aten._log_softmax_backward_data.default: log_softmax_backward,
}
