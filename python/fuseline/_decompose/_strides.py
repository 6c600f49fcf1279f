"""Strides of eager's kernels where the formulas of a decomposition would keep other ones."""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch._prims_common import suggest_memory_format
from torch.utils import _pytree as pytree

aten = torch.ops.aten

CONTIGUOUS = (
    aten._softmax.default,
    aten._log_softmax.default,
    aten._softmax_backward_data.default,
    aten._log_softmax_backward_data.default,
    aten.native_layer_norm.default,
    aten.log_sigmoid_forward.default,
    aten.mse_loss_backward.default,
    aten.smooth_l1_loss_backward.default,
    aten.nll_loss2d_backward.default,
    aten.glu_backward.default,
)
"""Operators whose results are contiguous whatever the operands' strides."""

AS_OPERAND = {
    aten.native_group_norm.default: 0,
    aten._native_batch_norm_legit_functional.default: 0,
    aten._native_batch_norm_legit.no_stats: 0,
    aten._native_batch_norm_legit_no_training.default: 0,
    aten.native_batch_norm_backward.default: 1,
    aten.channel_shuffle.default: 0,
}
"""Operators whose first result is channels last where the operand of that number is, else contiguous."""

_CHANNELS_LAST = {4: torch.channels_last, 5: torch.channels_last_3d}


def _format_of(x: Tensor) -> torch.memory_format:
    wanted = _CHANNELS_LAST.get(x.dim())
    if wanted is None or x.is_contiguous() or not x.is_contiguous(memory_format=wanted):
        return torch.contiguous_format
    return wanted


def _suggested(f: Callable[..., Any]) -> Callable[..., Any]:
    """The result channels last where the first operand's strides are like that, those of single elements too."""

    @functools.wraps(f)
    def run(x: Tensor, *args: Any, **kwargs: Any) -> Any:
        return f(x, *args, **kwargs).contiguous(memory_format=suggest_memory_format(x))

    return run


def _contiguous(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def run(*args: Any, **kwargs: Any) -> Any:
        return pytree.tree_map_only(Tensor, Tensor.contiguous, f(*args, **kwargs))

    return run


def _as_operand(f: Callable[..., Any], number: int) -> Callable[..., Any]:
    @functools.wraps(f)
    def run(*args: Any, **kwargs: Any) -> Any:
        result = f(*args, **kwargs)
        first = result if isinstance(result, Tensor) else result[0]
        if first is None:
            return result
        first = first.contiguous(memory_format=_format_of(args[number]))
        return first if isinstance(result, Tensor) else (first, *result[1:])

    return run


def _along_dimensions(roll: Callable[..., Any]) -> Callable[..., Any]:
    kept = _suggested(roll)

    @functools.wraps(roll)
    def run(x: Tensor, shifts: Any, dims: Any = ()) -> Any:
        return kept(x, shifts, dims) if dims else roll(x, shifts, dims)

    return run


def with_eager_strides(table: dict[OpOverload, Callable[..., Any]]) -> dict[OpOverload, Callable[..., Any]]:
    """The table with the results of those operators brought to eager's strides."""
    as_operand = {op: _as_operand(table[op], number) for op, number in AS_OPERAND.items()}
    contiguous = {op: _contiguous(table[op]) for op in CONTIGUOUS}
    suggested = {
        aten.max_unpool2d.default: _suggested(table[aten.max_unpool2d.default]),
        aten.roll.default: _along_dimensions(table[aten.roll.default]),
    }
    return table | contiguous | as_operand | suggested
