"""Every use of torch's private interfaces for caches, guards, reports and profiling, equal from torch 2.11 to 2.15."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
import torch._dynamo.utils as dynamo
from torch._C._profiler import _RecordFunctionFast as range_of
from torch._dynamo.source import GlobalStateSource
from torch._functorch import config as functorch_config
from torch._guards import Guard, TracingContext
from torch.autograd import profiler

__all__ = [
    "CACHES",
    "Bypass",
    "OutputCode",
    "aot_cache",
    "break_count",
    "breaks_since",
    "bypasses",
    "cacheable",
    "compilations",
    "guard",
    "keep_saved_tensors",
    "original",
    "profiler",
    "range_of",
    "shape_env",
]

try:
    from torch._functorch._aot_autograd.autograd_cache import BypassAOTAutogradCache as Bypass
    from torch._functorch._aot_autograd.schemas import SerializableAOTDispatchCompiler
    from torch._inductor.output_code import OutputCode

    CACHES = hasattr(functorch_config, "bundled_autograd_cache") and hasattr(torch.compiler.config, "cache_key_tag")
except ImportError:
    CACHES, OutputCode, Bypass = False, object, RuntimeError


def cacheable(result: type[Any], compiler: Callable[..., Any]) -> Callable[..., Any]:
    """A compiler whose results, all of class ``result``, AOTAutograd may store; the compiler itself without a cache."""
    return SerializableAOTDispatchCompiler(result, compiler) if CACHES else compiler


@contextlib.contextmanager
def aot_cache(key: str) -> Iterator[None]:
    """AOTAutograd, where run inside, stores its whole results under ``key``.

    The backward graph is compiled together with the forward one, since they are stored together. Effect tokens are made
    inside the graph: what comes out of the cache is given none.
    """
    if not CACHES:
        yield
        return
    tag = f"{torch.compiler.config.cache_key_tag}:{key}"
    with (
        functorch_config.patch(
            bundled_autograd_cache=True, force_non_lazy_backward_lowering=True, unlift_effect_tokens=True
        ),
        torch.compiler.config.patch(cache_key_tag=tag),
    ):
        yield


def bypasses() -> int:
    """How many graphs AOTAutograd's cache refused, in this process."""
    return dynamo.counters["aot_autograd"]["autograd_cache_bypass"]


def guard(check: Callable[[], bool], text: str) -> None:
    """Makes Dynamo compile again, for the frame that it compiles now, once ``check()`` is false; ``text`` says why."""
    context = TracingContext.try_get()
    if context is None:
        return

    def create(builder: Any, _: Guard) -> None:
        builder.guard_manager.root.add_lambda_guard(lambda _: check(), [text], None)

    context.guards_context.dynamo_guards.add(Guard(GlobalStateSource(), create))


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


def keep_saved_tensors() -> None:
    """Lets the backward graph that is being compiled run again with ``retain_graph``: it is given no saved tensor."""
    context = TracingContext.try_get()
    donated = context.fw_metadata.bw_donated_idxs if context is not None and context.fw_metadata is not None else None
    if donated:
        donated.clear()


def original(fn: Any) -> Any:
    """What ``torch.compile`` was called with, for its result; else ``fn`` itself."""
    if isinstance(fn, torch._dynamo.eval_frame.OptimizedModule):
        return fn._orig_mod
    return torch._dynamo.eval_frame.innermost_fn(fn)
