"""Every use of torch's private interfaces for reports and profiling, the same from torch 2.11 to 2.15."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import Any

import torch
import torch._dynamo.utils as dynamo
from torch._C._profiler import _RecordFunctionFast as range_of
from torch._guards import TracingContext
from torch.autograd import profiler

__all__ = ["break_count", "breaks_since", "compilations", "original", "profiler", "range_of", "shape_env"]


def break_count() -> int:
    """Number of graph breaks that Dynamo knows of; ``torch._dynamo.reset()`` clears them."""
    return len(dynamo.graph_break_reasons)


def breaks_since(count: int) -> list[tuple[str, Sequence[traceback.FrameSummary]]]:
    """Reason and user's stack of the graph breaks after the first ``count``."""
    return [(r.reason, r.user_stack) for r in dynamo.graph_break_reasons[count:]]


def compilations() -> list[Any]:
    """Dynamo's records of the last frames that it compiled (64 by default): ``co_name``, ``co_filename``,
    ``co_firstlineno``, ``recompile_reason`` and ``fail_reason``."""
    return list(dynamo.get_compilation_metrics())


def shape_env() -> Any:
    """The ``ShapeEnv`` of the graph that is being compiled, if its sizes may be symbolic."""
    context = TracingContext.try_get()
    return context.fake_mode.shape_env if context is not None and context.fake_mode is not None else None


def original(fn: Any) -> Any:
    """What ``torch.compile`` was called with, for its result; else ``fn`` itself."""
    if isinstance(fn, torch._dynamo.eval_frame.OptimizedModule):
        return fn._orig_mod
    return torch._dynamo.eval_frame.innermost_fn(fn)
