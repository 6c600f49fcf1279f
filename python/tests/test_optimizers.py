"""Every optimizer of torch's own list: three compiled steps leave what three steps of eager leave."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from backend import BASELINE, compiled
from comparing import inaccuracy, is_float, same_bits, summary
from outcomes import Outcome, attempted, judge
from torch.testing._internal.common_optimizers import optim_db
from torch.utils._pytree import tree_map

STEPS = 3

CASES = [
    pytest.param(
        info,
        dict(given.kwargs),
        foreach,
        id=f"{info.optim_cls.__name__}-{number}-{foreach or 'default'}",
        marks=[pytest.mark.full] if number or foreach else [],
    )
    for info in optim_db
    for number, given in enumerate(info.optim_inputs_func(device="cpu"))
    for foreach in (None, *info.supported_impls)
    if foreach != "differentiable"
]


def settings(kwargs: dict[str, Any], implementation: str | None) -> dict[str, Any]:
    """Keyword arguments of the optimizer, every tensor in it its own copy."""
    own = tree_map(lambda leaf: leaf.clone() if isinstance(leaf, torch.Tensor) else leaf, kwargs)
    return {**own, implementation: True} if implementation else own


def parameters(optimizer: type, dtype: torch.dtype) -> list[torch.nn.Parameter]:
    """Parameters with gradients; of rank 2 alone where the optimizer takes no other."""
    generator = torch.Generator().manual_seed(4)
    shapes = [(5, 7), (3, 2)] if optimizer.__name__ == "Muon" else [(5, 7), (11,), ()]
    made = [torch.nn.Parameter(torch.randn(shape, generator=generator).to(dtype)) for shape in shapes]
    for parameter in made:
        gradient = torch.randn(parameter.shape, generator=generator).to(dtype)
        parameter.grad = gradient.to_sparse() if optimizer.__name__ == "SparseAdam" else gradient
    return made


def outcome(info: Any, kwargs: dict[str, Any], name: str | None, dtype: torch.dtype) -> Outcome:
    """Parameters and the optimizer's state after the steps."""
    made = parameters(info.optim_cls, dtype)
    optimizer = info.optim_cls(made, **kwargs)

    def step() -> Any:
        if info.step_requires_closure:
            return optimizer.step(lambda: sum((parameter**2).sum() for parameter in made))
        return optimizer.step()

    run = compiled(step, name) if name else step
    results = [run() for _ in range(STEPS)]
    state = {str(i): dict(optimizer.state[parameter]) for i, parameter in enumerate(made)}
    return Outcome([results, [parameter.detach() for parameter in made], state])


def values(ours: torch.Tensor, eager: torch.Tensor, exact: Any) -> str | None:
    """As accurate as eager, on the scale of parameters and gradients, which is 1."""
    if is_float(eager):
        return None if same_bits(ours, eager) else inaccuracy(ours, eager, exact, least_scale=1.0)
    return None if torch.equal(ours, eager) else summary(ours, eager)


@pytest.mark.parametrize(("info", "kwargs", "implementation"), CASES)
def test_as_eager(info: Any, kwargs: dict[str, Any], implementation: str | None) -> None:
    """Three steps, compiled and not."""
    dtype = torch.float32
    exact = attempted(lambda: outcome(info, settings(kwargs, implementation), None, torch.float64))
    ours, shared = judge(lambda name: outcome(info, settings(kwargs, implementation), name, dtype), exact, values)
    assert not ours, "\n".join(map(str, ours))
    if shared:
        pytest.skip(f"{BASELINE} too: {shared[0]}")
