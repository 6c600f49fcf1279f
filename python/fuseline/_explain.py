"""Compiles one function apart from all others, to report on it."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from . import _compat, _dynamo, _report
from ._backend import backend


def explain(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> _report.Report:
    """Compiles ``fn``, a function, a module or what ``torch.compile`` made of one, runs it once and reports.

    Results that require gradients are differentiated, so that the backward graph is there too. Other compiled
    functions, gradients and torch's random state stay as they are; other side effects of ``fn`` happen. Arguments that
    autograd has computed are copied, so that their own graph stays whole.
    """
    target = _fresh(_compat.original(fn))
    known, before = set(_report.alive()), _dynamo.mark()
    with torch.random.fork_rng(devices=[]):
        args, kwargs = tree_map(_cut, (args, kwargs))
        _differentiate(torch.compile(target, backend=functools.partial(backend))(*args, **kwargs))
    graphs = _report.snapshot(runner for runner in _report.alive() if runner not in known)
    report = _report.Report(graphs, _dynamo.breaks(before), _dynamo.recompiles(before))
    torch._dynamo.reset_code(target.__code__)
    return report


def _fresh(fn: Callable[..., Any]) -> types.FunctionType:
    """A function that does the same, with code of its own, which Dynamo has not compiled yet."""
    if isinstance(fn, types.FunctionType):
        copy = types.FunctionType(fn.__code__.replace(), fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
        copy.__kwdefaults__ = fn.__kwdefaults__
        return copy

    def explained(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    return _fresh(explained)


def _cut(argument: object) -> object:
    """An argument from which no gradient flows back to what made it."""
    if isinstance(argument, torch.Tensor) and argument.grad_fn is not None:
        return argument.detach().requires_grad_().clone()
    return argument


def _differentiate(results: object) -> None:
    """Runs the backward from the results to the leaves; no gradient is stored."""
    starts = [t for t in tree_leaves(results) if isinstance(t, torch.Tensor) and t.grad_fn is not None]
    open_, seen, leaves = [t.grad_fn for t in starts], set(), []
    while open_:
        node = open_.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if type(node).__name__ == "AccumulateGrad":
            leaves.append(node.variable)
        open_ += [following for following, _ in node.next_functions]
    if leaves:
        torch.autograd.grad(starts, leaves, [torch.ones_like(t) for t in starts], allow_unused=True)
