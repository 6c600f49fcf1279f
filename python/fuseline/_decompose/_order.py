"""Pointwise operators on half types, where eager's kernels order a result's dimensions otherwise than tracing does.

Tracing converts half types to float32, in which they are computed, and only then compares strides; eager converts in
registers. The copy of an expanded operand is dense, and speaks for an order that the operand itself leaves open: an
expanded tensor times a transposed one is transposed in eager mode, and traced as contiguous. Such operands are permuted
to the order of eager's result, in which every reading is the same, and the result is permuted back.
"""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch._prims_common import compute_elementwise_output_logical_to_physical_perm as order_of

from ._opmath import is_half

aten = torch.ops.aten

OPERATORS = (
    aten.add.Tensor,
    aten.addcmul.default,
    aten.atan2.default,
    aten.copysign.Tensor,
    aten.div.Tensor,
    aten.div.Tensor_mode,
    aten.eq.Tensor,
    aten.fmax.default,
    aten.fmin.default,
    aten.fmod.Tensor,
    aten.ge.Tensor,
    aten.gt.Tensor,
    aten.hypot.default,
    aten.le.Tensor,
    aten.logical_and.default,
    aten.logical_or.default,
    aten.logical_xor.default,
    aten.lt.Tensor,
    aten.maximum.default,
    aten.minimum.default,
    aten.mul.Tensor,
    aten.ne.Tensor,
    aten.pow.Tensor_Tensor,
    aten.remainder.Tensor,
    aten.sub.Tensor,
)


def _is_expanded(x: Tensor) -> bool:
    sizes = zip(x.shape, x.stride(), strict=True)
    return any(isinstance(stride, int) and stride == 0 and size != 1 for size, stride in sizes)


def _is_operand(x: object) -> bool:
    return isinstance(x, Tensor) and x.layout is torch.strided and x.dim() > 0


def _in_doubt(operands: list[Tensor]) -> bool:
    """Whether there are several, all of one half type, and one is expanded: eager copies operands of another type."""
    if len(operands) < 2 or not is_half(operands[0].dtype):
        return False
    return all(x.dtype == operands[0].dtype for x in operands) and any(map(_is_expanded, operands))


def _ordered(op: OpOverload) -> Callable[..., Any]:
    running = False

    @functools.wraps(op)
    def run(*args: Any, **kwargs: Any) -> Any:
        nonlocal running
        operands = [x for x in args if _is_operand(x)]
        if running or not _in_doubt(operands):
            return NotImplemented
        shape = torch.broadcast_shapes(*(x.shape for x in operands))
        whole = [x.expand(shape) if _is_operand(x) else x for x in args]
        order, _ = order_of(*filter(_is_operand, whole), _skip_checks=True)
        if order == sorted(order):
            return NotImplemented
        running = True
        try:
            result = op(*(x.permute(order) if _is_operand(x) else x for x in whole), **kwargs)
        finally:
            running = False
        return result.permute([order.index(dim) for dim in range(len(shape))])

    return run


TABLE = {op: _ordered(op) for op in OPERATORS}
