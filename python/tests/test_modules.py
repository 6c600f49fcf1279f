"""Every module of torch's own list, in training and evaluation, forward and backward, against eager."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable
from typing import Any

import pytest
import torch
from backend import BASELINE, compiled
from comparing import accurately, copied, widened
from outcomes import Outcome, aliases, attempted, gradients_of, judge
from torch.testing._internal.common_modules import module_db

DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)

CASES = [
    pytest.param(
        info,
        dtype,
        training,
        id=f"{info.formatted_name}-{str(dtype).removeprefix('torch.')}-{'train' if training else 'eval'}",
        marks=[pytest.mark.full] if dtype != torch.float32 else [],
    )
    for info in module_db
    for dtype in DTYPES
    if dtype in info.dtypes
    for training in (True, False)
]


def inputs(info: Any, dtype: torch.dtype, training: bool, everything: bool) -> Iterable[Any]:
    """All module inputs, or the first."""
    found = info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=training)
    return found if everything else itertools.islice(found, 1)


def built(info: Any, given: Any, dtype: torch.dtype, training: bool) -> torch.nn.Module:
    """The module with random parameters that depend on nothing but the seed."""
    torch.manual_seed(3)
    kwargs = {"dtype": dtype, **given.constructor_input.kwargs}
    try:
        module = info.module_cls(*given.constructor_input.args, **kwargs)
    except TypeError:
        module = info.module_cls(*given.constructor_input.args, **given.constructor_input.kwargs).to(dtype)
    return module.train(training)


def outcome(module: torch.nn.Module, name: str | None, args: Any, kwargs: Any) -> Outcome:
    """One call of a copy of the module on a copy of the arguments."""
    torch.manual_seed(1)
    module, args, kwargs = copy.deepcopy(module), copied(args), copied(kwargs)
    results = (compiled(module, name) if name else module)(*args, **kwargs)
    leaves = (args, kwargs, list(module.parameters()))
    state = [buffer.detach() for buffer in module.buffers()]
    return Outcome(results, state, aliases(results, leaves), gradients_of(results, leaves))


@pytest.mark.parametrize(("info", "dtype", "training"), CASES)
def test_as_eager(info: Any, dtype: torch.dtype, training: bool, full: bool) -> None:
    """A module gives what eager gives: results, buffers, gradients of inputs and of parameters."""
    failed: list[str] = []
    excused: list[str] = []
    for number, given in enumerate(inputs(info, dtype, training, full)):
        module = built(info, given, dtype, training)
        args, kwargs = given.forward_input.args, given.forward_input.kwargs
        exact = attempted(
            lambda m=module, a=args, k=kwargs: outcome(copy.deepcopy(m).double(), None, widened(a), widened(k))
        )
        ours, shared = judge(lambda name, m=module, a=args, k=kwargs: outcome(m, name, a, k), exact, accurately)
        failed += [f"input {number} ({given.desc}): {problem}" for problem in ours]
        excused += [f"input {number} ({given.desc}): {problem}" for problem in shared]
    assert not failed, "\n".join(failed)
    if excused:
        pytest.skip(f"{BASELINE} too: {excused[0]}")
