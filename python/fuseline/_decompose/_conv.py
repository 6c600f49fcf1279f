"""Gradients of convolutions with a kernel of one element: matrix products, which fuse with their neighbours."""

import math
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten


def _is_product(grad: Tensor, x: Tensor, weight: Tensor, settings: tuple[Any, ...]) -> bool:
    """Whether the convolution multiplies each position's channels by a matrix, in the default layout and f32 or f64."""
    stride, padding, dilation, transposed, output_padding, groups = settings
    plain = groups == 1 and not transposed and not any(padding) and all(s == 1 for s in stride)
    tensors = (grad, x, weight)
    wide = all(t.dtype == x.dtype and t.dtype in (torch.float32, torch.float64) for t in tensors)
    return plain and wide and math.prod(weight.shape[2:]) == 1 and x.is_contiguous() and weight.is_contiguous()


def convolution_backward(
    grad: Tensor,
    x: Tensor,
    weight: Tensor,
    bias_sizes: list[int] | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
    output_mask: list[bool],
) -> Any:
    """Gradients of x [N, C, …], weight [K, C, 1, …] and bias [K] for grad [N, K, …], where the mask asks for them."""
    if not _is_product(grad, x, weight, (stride, padding, dilation, transposed, output_padding, groups)):
        return NotImplemented
    rows, matrix = grad.flatten(2), weight.flatten(1)
    grads: list[Tensor | None] = [None, None, None]
    if output_mask[0]:
        transposed_matrix = matrix.t().expand(x.shape[0], *matrix.t().shape)
        grads[0] = torch.bmm(transposed_matrix, rows).view(x.shape)
    if output_mask[1]:
        zero = matrix.new_zeros(matrix.shape)
        grads[1] = torch.addbmm(zero, rows, x.flatten(2).transpose(1, 2), beta=0).view(weight.shape)
    if output_mask[2]:
        grads[2] = rows.sum((0, 2))
    return tuple(grads)


TABLE = {aten.convolution_backward.default: convolution_backward}
