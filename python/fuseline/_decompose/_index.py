"""Reads and writes at positions of a tensor."""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload

aten = torch.ops.aten


def index_fill(x: Tensor, dim: int, index: Tensor, value: Tensor | complex) -> Tensor:
    """`x` with `value` at the positions `index` of `dim`; the result keeps x's strides."""
    filler = value.to(x.dtype) if isinstance(value, Tensor) else torch.full((), value, dtype=x.dtype, device=x.device)
    if x.dim() == 0:
        return aten.index_put(x.reshape(1), [index], filler).reshape(())
    return aten.index_put(x, [None] * (dim % x.dim()) + [index], filler)


def take(x: Tensor, index: Tensor) -> Tensor:
    """The elements of `x`, as if it had one dimension; a result of the index's shape."""
    return aten.index(x.reshape(-1), [index])


def _into_its_own(op: OpOverload) -> Callable[..., Any]:
    """The write, for an expanded tensor into a copy: torch 2.11 traces results of which several elements are one."""

    @functools.wraps(op)
    def run(x: Tensor, *args: Any, **kwargs: Any) -> Any:
        return op(x.contiguous(), *args, **kwargs) if 0 in x.stride() and not x.is_contiguous() else NotImplemented

    return run


TABLE = {
    **{
        op: _into_its_own(op)
        for op in (aten.diagonal_scatter.default, aten.select_scatter.default, aten.slice_scatter.default)
    },
    aten.index_fill.int_Scalar: index_fill,
    aten.index_fill.int_Tensor: index_fill,
    aten.take.default: take,
}
