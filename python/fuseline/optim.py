"""Optimizers whose step is one launch of a generated kernel over all parameters.

>>> optimizer = fuseline.optim.AdamW(model.parameters(), lr=3e-4)
>>> loss.backward(); optimizer.step()
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from . import _graph, _symbols
from ._backend import Alone, compile_form
from ._library import NAMESPACE
from ._options import Options
from ._repeat import repeated
from ._wide import widest

VERSION = 1
"""Version of the operator; it ends its name, and a change of what it computes gives it a new name."""

__all__ = ["VERSION", "AdamW"]

STATE = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")
"""Names of the state's tensors, as torch has them."""

SCALARS = 8
"""Length of a row of scalars, see ``updated``."""


def updated(scalars: Tensor, param: Tensor, grad: Tensor, first: Tensor, second: Tensor, *most: Tensor) -> list[Tensor]:
    """New values of a parameter and its moments, all [n], computed in the parameter's dtype or float32.

    ``scalars`` are: 1 - lr·decay, 1 - β₁, β₂, 1 - β₂, √(1 - β₂ᵗ), ε, -lr / (1 - β₁ᵗ), and the sign of the gradient.
    """
    math = widest(param.dtype)
    shrink, toward, keep, add, correction, eps, step, sign = (scalars[i].to(math) for i in range(SCALARS))
    g = grad.to(math) * sign
    m = first.to(math)
    m = m + toward * (g - m)
    v = second.to(math) * keep + add * g * g
    high = [torch.maximum(one.to(math), v) for one in most]
    root = torch.sqrt(high[0] if high else v) / correction + eps
    p = param.to(math) * shrink + step * (m / root)
    new = (p, m, v, *high)
    return [value.to(old.dtype) for value, old in zip(new, (param, first, second, *most), strict=True)]


def step(scalars: Tensor, param: Tensor, grad: Tensor, *state: Tensor) -> list[Any]:
    """Updates a parameter and its moments."""
    new = updated(scalars, param, grad, *state)
    for old, value in zip((param, *state), new, strict=True):
        old.copy_(value)
    return []


Dtypes = tuple[torch.dtype, ...]
"""Dtypes of a parameter, its gradient and its moments."""


@functools.cache
def form(dtypes: Dtypes) -> dict[str, Any]:
    """The traced step of one parameter."""
    extents = [((SCALARS,), torch.float64), *((("n",), dtype) for dtype in dtypes)]
    return _graph.form(_symbols.trace(lambda tensors: step(*tensors), extents), "adamw_v1")


_runners: dict[Any, Callable[[list[Any]], list[Any]]] = {}


def runner(parts: tuple[tuple[Dtypes, int], ...]) -> Callable[[list[Any]], list[Any]]:
    """The compiled step of parameters of these dtypes, each with the number of its scalars.

    It takes the scalars by number, and then the size and the tensors of each parameter.
    """
    key = (parts, torch.get_num_threads())
    if key not in _runners:
        whole = repeated("adamw_v1", [(form(dtypes), row) for dtypes, row in parts])
        _runners[key] = compile_form(whole, Options(), Alone())
    return _runners[key]


def _adamw(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    first: Sequence[Tensor],
    second: Sequence[Tensor],
    most: Sequence[Tensor],
    scalars: Tensor,
    rows: Sequence[int],
) -> None:
    lists = (params, grads, first, second, most) if most else (params, grads, first, second)
    arguments: list[Any] = list(scalars.unbind())
    parts, copied = [], []
    for row, tensors in zip(rows, zip(*lists, strict=True), strict=True):
        flat = [dense(tensor, tensors[0]) for tensor in tensors]
        arguments += [flat[0].numel(), *flat]
        parts.append((tuple(tensor.dtype for tensor in tensors), row))
        for number in (0, *range(2, len(tensors))):
            if flat[number].data_ptr() != tensors[number].data_ptr():
                copied.append((in_memory_order(tensors[number], tensors[0]), flat[number]))
    runner(tuple(parts))(arguments)
    for tensor, result in copied:
        tensor.copy_(result.view(tensor.shape))


def in_memory_order(tensor: Tensor, param: Tensor) -> Tensor:
    """The tensor with its dimensions in the order in which the parameter's lie in memory."""
    if param.is_contiguous():
        return tensor
    return tensor.permute(sorted(range(param.dim()), key=lambda axis: -param.stride(axis)))


def dense(tensor: Tensor, param: Tensor) -> Tensor:
    """The elements in the order of the parameter's memory, [n]: a view, or a copy if the tensor lies otherwise."""
    return in_memory_order(tensor, param).contiguous().view(-1)


_NAME = f"{NAMESPACE}::adamw_v1"
torch.library.define(
    _NAME,
    "(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs,"
    " Tensor(d!)[] max_exp_avg_sqs, Tensor scalars, int[] rows) -> ()",
)
torch.library.impl(_NAME, "CPU", _adamw)
torch.library.register_fake(_NAME, lambda *_: None)


class AdamW(torch.optim.AdamW):
    """``torch.optim.AdamW`` in one launch for any number of parameters, of which none is copied.

    Learning rate, betas, epsilon, weight decay and step count are values that the kernel reads: a scheduler that
    changes them compiles nothing. What is compiled depends on the number of parameters, their dtypes and groups, not
    on sizes. Values are computed in float32 (float64 for float64 parameters) and rounded once. ``state_dict`` is
    torch's.

    Args: as torch's, without the choice of an implementation.

    Raises:
        RuntimeError: sparse gradients; parameters that are not real numbers on the CPU.

    >>> optimizer = AdamW([torch.nn.Parameter(torch.randn(4))], lr=1e-2)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step; gives what the closure gives, which computes gradients first."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for amsgrad in (False, True):
            groups = [group for group in self.param_groups if bool(group["amsgrad"]) == amsgrad]
            self._step(groups, amsgrad)
        return loss

    @torch.compiler.disable
    def _step(self, groups: Sequence[dict[str, Any]], amsgrad: bool) -> None:
        pairs = [(n, param) for n, group in enumerate(groups) for param in group["params"] if param.grad is not None]
        if not pairs:
            return
        states = [self._state(param, amsgrad) for _, param in pairs]
        torch._foreach_add_([state["step"] for state in states], 1)
        keys = [(n, float(state["step"])) for (n, _), state in zip(pairs, states, strict=True)]
        numbers = {key: row for row, key in enumerate(dict.fromkeys(keys))}
        rows = [numbers[key] for key in keys]
        params = [param for _, param in pairs]
        moments = [[state[name] for state in states] for name in STATE[: 2 + amsgrad]]
        grads = [param.grad for param in params]
        table = torch.tensor([factors(groups[n], step) for n, step in numbers], dtype=torch.float64)
        torch.ops.fuseline.adamw_v1(params, grads, *moments, *([] if amsgrad else [[]]), table, rows)

    def _state(self, param: Tensor, amsgrad: bool) -> dict[str, Tensor]:
        grad = param.grad
        if grad is None or grad.is_sparse:
            raise RuntimeError("AdamW does not support sparse gradients; torch.optim.SparseAdam does")
        if param.device.type != "cpu" or param.is_complex() or grad.dtype.is_complex:
            raise RuntimeError(f"AdamW takes real parameters on the CPU, not {param.dtype} on {param.device}")
        state = self.state[param]
        if not state:
            state["step"] = torch.zeros((), dtype=torch.float32)
            for name in STATE[: 2 + amsgrad]:
                state[name] = torch.zeros_like(param, memory_format=torch.preserve_format)
        return state


def factors(group: dict[str, Any], step: float) -> tuple[float, ...]:
    """The scalars of ``updated`` for a parameter group at a step count."""
    lr, (beta1, beta2) = float(group["lr"]), (float(beta) for beta in group["betas"])
    return (
        1 - lr * float(group["weight_decay"]),
        1 - beta1,
        beta2,
        1 - beta2,
        (1 - beta2**step) ** 0.5,
        float(group["eps"]),
        -lr / (1 - beta1**step),
        -1.0 if group["maximize"] else 1.0,
    )
