"""What one call leaves behind, and how a backend is judged by it against eager and the baseline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import torch
from backend import BASELINE, NAME, compiled
from comparing import Problem, Values, accurately, attempt, compare, exactly, metadata_only, not_shared, widened
from torch.utils._pytree import tree_leaves


@dataclass
class Outcome:
    """Results, tensors that the call may have changed, which arguments results alias, and gradients."""

    results: Any
    state: list[torch.Tensor] = field(default_factory=list)
    aliases: list[list[int]] = field(default_factory=list)
    gradients: list[torch.Tensor | None] = field(default_factory=list)


Run = Callable[[str | None], Outcome]
"""Runs the call on its own copy of everything, compiled by the backend of that name, or in eager for None."""


def aliases(results: Any, arguments: Any) -> list[list[int]]:
    """For every result, which arguments it shares its storage with."""
    storages = [storage(leaf) for leaf in tree_leaves(arguments)]
    return [[i for i, s in enumerate(storages) if s and s == storage(leaf)] for leaf in tree_leaves(results)]


def storage(leaf: Any) -> int:
    """The address of a tensor's storage; 0 where there is none."""
    strided = isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided
    return leaf.untyped_storage().data_ptr() if strided else 0


def gradients_of(results: Any, arguments: Any) -> list[torch.Tensor | None]:
    """Gradients of a fixed weighting of all float results with respect to all arguments that want one."""
    wanted = [leaf for leaf in tree_leaves(arguments) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    outputs = [leaf for leaf in tree_leaves(results) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if not wanted or not outputs:
        return []
    generator = torch.Generator().manual_seed(2)
    tangents = [torch.randn(out.shape, generator=generator, dtype=torch.float64).to(out.dtype) for out in outputs]
    return list(torch.autograd.grad(outputs, wanted, tangents, allow_unused=True))


def differences(ours: Outcome, eager: Outcome, exact: Outcome | None, values: Values) -> list[Problem]:
    """How one outcome differs from eager's; gradients are compared by accuracy."""
    found = list(compare(ours.results, eager.results, exact and exact.results, values))
    found += compare(ours.state, eager.state, exact and exact.state, values, "state, ")
    found += compare(ours.gradients, eager.gradients, exact and exact.gradients, accurately, "gradients, ")
    if ours.aliases != eager.aliases:
        found.append(Problem("alias", f"ours {ours.aliases}, eager {eager.aliases}"))
    return found


def judge(run: Run, exact: Outcome | None, values: Values) -> tuple[list[Problem], list[Problem]]:
    """Our problems with one call, and those that the baseline has as well."""
    try:
        eager = run(None)
    except Exception as error:  # noqa: BLE001 - a call that eager refuses is no test
        return [], [Problem("raises", f"in eager: {type(error).__name__}: {error}")]

    def problems(name: str) -> list[Problem]:
        torch._dynamo.reset()
        return attempt(lambda: differences(run(name), eager, exact, values))

    found = problems(NAME)
    ours = not_shared(found, problems(BASELINE)) if found else []
    return ours, [problem for problem in found if problem not in ours]


def is_gradient_stride(problem: Problem) -> bool:
    """Whether only the strides of a gradient differ."""
    return problem.kind == "strides" and problem.text.startswith("gradients, ")


def attempted(fn: Callable[[], Outcome]) -> Outcome | None:
    """The outcome, or None where the call does not exist in that form (float64, say)."""
    try:
        return fn()
    except Exception:  # noqa: BLE001
        return None


@dataclass(frozen=True)
class Case:
    """A small function, and how its arguments are made afresh for every run."""

    name: str
    fn: Callable[..., Any]
    make: Callable[[], tuple[Any, ...]]
    values: Values = exactly

    def outcome(self, fn: Callable[..., Any]) -> Outcome:
        """One call: results, arguments after it, aliases, and gradients of arguments that want one."""
        torch.manual_seed(1)
        arguments = self.make()
        results = fn(*arguments)
        state = [leaf.detach() for leaf in tree_leaves(arguments) if isinstance(leaf, torch.Tensor)]
        return Outcome(results, state, aliases(results, arguments), gradients_of(results, arguments))


def cases(values: Values = exactly, **functions: tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]) -> list[Any]:
    """Parameters for pytest: one case for every name."""
    return [pytest.param(Case(name, fn, make, values), id=name) for name, (fn, make) in functions.items()]


def assert_as_eager(case: Case, **settings: Any) -> None:
    """The case, compiled as one graph, leaves behind what eager leaves; a failure names every difference.

    Strides of gradients may be the baseline's: AOTAutograd chooses those of the gradients that go in.
    """
    eager = case.outcome(case.fn)
    ours = case.outcome(compiled(case.fn, fullgraph=True, **settings))
    exact = attempted(lambda: replace(case, make=lambda: widened(case.make())).outcome(case.fn))
    problems = differences(ours, eager, exact, case.values)
    if any(map(is_gradient_stride, problems)):
        baseline = case.outcome(compiled(case.fn, BASELINE, fullgraph=True, **settings))
        shared = compare(ours.gradients, baseline.gradients, values=metadata_only)
        problems = [p for p in problems if not is_gradient_stride(p)] + list(shared)
    assert not problems, "\n".join(map(str, problems))


def assert_refused(fn: Callable[..., Any], make: Callable[[], tuple[Any, ...]], error: type[Exception]) -> None:
    """The compiled call raises `error`; skipped where tracing leaves a check out, so that the baseline computes."""
    try:
        compiled(fn, BASELINE)(*make())
    except Exception:  # noqa: BLE001 - the class of the baseline's error is no matter
        torch._dynamo.reset()
    else:
        pytest.skip(f"{BASELINE} computes too: tracing by torch {torch.__version__} drops the check")
    with pytest.raises(error):
        compiled(fn)(*make())
