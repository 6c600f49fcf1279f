"""Writes of one value at positions along a dimension."""

import torch
from torch import Tensor

aten = torch.ops.aten


def index_fill(x: Tensor, dim: int, index: Tensor, value: Tensor | complex) -> Tensor:
    """`x` with `value` at the positions `index` of `dim`; the result keeps x's strides."""
    filler = value.to(x.dtype) if isinstance(value, Tensor) else torch.full((), value, dtype=x.dtype, device=x.device)
    if x.dim() == 0:
        return aten.index_put(x.reshape(1), [index], filler).reshape(())
    return aten.index_put(x, [None] * (dim % x.dim()) + [index], filler)


TABLE = {
    aten.index_fill.int_Scalar: index_fill,
    aten.index_fill.int_Tensor: index_fill,
}
