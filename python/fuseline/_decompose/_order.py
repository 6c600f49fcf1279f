"""Pointwise operators, where eager's kernels order a result's dimensions otherwise than tracing does.

Eager compares the strides of its operands, after it has copied those of another type than the common one. Tracing
converts half types too, and formulas of several operators meet the operands in another order. The copy of an expanded
operand is dense, and speaks for an order that the operand itself leaves open: an expanded tensor times a transposed one
is transposed in eager mode, and in half types was traced as contiguous. Results are brought to eager's order.
"""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._decomp import decomposition_table, meta_table
from torch._ops import OpOverload
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes, is_contiguous_or_false
from torch._prims_common import compute_elementwise_output_logical_to_physical_perm as order_of
from torch.fx.experimental.symbolic_shapes import statically_known_true

aten = torch.ops.aten

AS_TRACED = (
    aten.where.self,
    aten.masked_fill.Scalar,
    aten.masked_fill.Tensor,
    aten.native_dropout_backward.default,
    aten.ldexp.Tensor,
)
"""Operators that are traced as they run: of a mask, which eager does not convert to the other operands' type, and a
formula in eager mode too."""

FIRST = {aten.threshold_backward.default: 1}
"""The number of the operand that speaks first, where it is not the one that is given first."""


def _is_pointwise(op: object) -> bool:
    """Whether it is a kernel of its own that computes elements of several tensors and changes none of its arguments."""
    if not isinstance(op, OpOverload) or torch.Tag.pointwise not in op.tags or op in AS_TRACED or op._schema.is_mutable:
        return False
    tensors = [argument for argument in op._schema.arguments if str(argument.type) in ("Tensor", "Optional[Tensor]")]
    composite = torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), "CompositeImplicitAutograd")
    return len(tensors) > 1 and not composite


OPERATORS = tuple(op for op in {**decomposition_table, **meta_table} if _is_pointwise(op))
"""The pointwise operators that tracing knows by a formula; kernels know the others' order themselves."""


def _in_doubt(operands: list[Tensor]) -> bool:
    """Whether operands differ in their layout, as far as is known without a guard, and one is not contiguous."""
    if all(map(is_contiguous_or_false, operands)):
        return False
    layouts = [(*x.shape, *x.stride()) for x in operands]
    return not all(map(functools.partial(_alike, layouts[0]), layouts[1:]))


def _alike(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two lists of sizes, which may be symbols, are known to be equal."""
    return len(one) == len(other) and all(statically_known_true(a == b) for a, b in zip(one, other, strict=True))


def _order_of_eager(operands: list[Tensor], result: Tensor) -> list[int]:
    """The dimensions of eager's result from outer to inner."""
    _, common = elementwise_dtypes(*operands, type_promotion_kind=ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT)
    if result.dtype.is_floating_point and not common.is_floating_point:
        common = result.dtype
    whole = [x.to(common).expand(result.shape) for x in operands]
    return order_of(*whole, _skip_checks=True)[0]


def _told_apart(order: list[int], x: Tensor) -> list[int]:
    """Those dimensions of `order` that have more than one element."""
    return [dim for dim in order if not isinstance(x.shape[dim], int) or x.shape[dim] != 1]


def _ordered(op: OpOverload, decomposition: Callable[..., Any] | None) -> Callable[..., Any]:
    """`op` or its decomposition with the order of eager's result."""
    running, first = False, FIRST.get(op, 0)

    def traced(*args: Any, **kwargs: Any) -> Any:
        nonlocal running
        result = decomposition(*args, **kwargs) if decomposition else NotImplemented
        if result is not NotImplemented:
            return result
        running = True
        try:
            return op(*args, **kwargs)
        finally:
            running = False

    @functools.wraps(decomposition or op)
    def run(*args: Any, **kwargs: Any) -> Any:
        if running:
            return NotImplemented
        operands = [x for x in args if isinstance(x, Tensor)]
        operands = operands[first:] + operands[:first]
        if any(x.layout is not torch.strided for x in operands) or not _in_doubt(operands):
            return decomposition(*args, **kwargs) if decomposition else NotImplemented
        result = traced(*args, **kwargs)
        order = _order_of_eager(operands, result)
        if _told_apart(order, result) == _told_apart(order_of(result, _skip_checks=True)[0], result):
            return result
        back = [order.index(dim) for dim in range(len(order))]
        return result.permute(order).contiguous().permute(back)

    return run


def in_eager_order(table: dict[OpOverload, Callable[..., Any]]) -> dict[OpOverload, Callable[..., Any]]:
    """The table with the results of pointwise operators in the order of eager's."""
    return table | {op: _ordered(op, table.get(op)) for op in OPERATORS}
