"""Every op of torch's own list against eager: values, dtypes, strides, aliasing, gradients, non-contiguous inputs.

One sample for each op and dtype, in float32 also non-contiguous; with `--full` every sample both ways. What the
baseline backend gets wrong too is skipped, with the reason, found at run time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
import torch
from backend import BASELINE, compiled
from comparing import converted, copied, is_float
from op_rules import rule
from outcomes import Outcome, aliases, attempted, gradients_of, judge
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_leaves

DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.bool)
SAMPLES_LOOKED_AT = 6

CASES = [
    pytest.param(
        op,
        dtype,
        id=f"{op.formatted_name}-{str(dtype).removeprefix('torch.')}",
    )
    for op in op_db
    for dtype in DTYPES
    if op.supports_dtype(dtype, "cpu")
]

Call = tuple[Any, tuple[Any, ...], dict[str, Any]]


def samples(op: Any, dtype: torch.dtype, everything: bool, most: int | None) -> Iterable[Any]:
    """All samples of an op, at most so many, or the first of the first few that has two elements or more."""
    found = op.sample_inputs_func(op, "cpu", dtype, has_gradient(op, dtype))
    if everything and most is None:
        return found
    if everything:
        found = list(found)
        return found[:: max(1, -(-len(found) // most))]
    few = list(itertools.islice(found, SAMPLES_LOOKED_AT))
    large = [s for s in few if isinstance(s.input, torch.Tensor) and s.input.numel() > 1]
    return (large or few)[:1]


def has_gradient(op: Any, dtype: torch.dtype) -> bool:
    """Whether eager differentiates the op at that dtype."""
    return op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")


def layouts(sample: Any, strides: bool) -> Iterator[tuple[str, Call]]:
    """The sample as it is, and if asked for with non-contiguous tensors, where all of it is strided."""
    call = (sample.input, sample.args, sample.kwargs)
    yield "", call
    if strides and all(leaf.layout == torch.strided for leaf in tree_leaves(call) if isinstance(leaf, torch.Tensor)):
        strided = sample.noncontiguous()
        yield "non-contiguous, ", (strided.input, strided.args, strided.kwargs)


def body(op: Any) -> Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]:
    """The op as one function of its sample."""
    fn = op.get_op()
    return lambda first, args, kwargs: fn(first, *args, **kwargs)


def outcome(fn: Callable[..., Any], call: Call) -> Outcome:
    """One call on its own copy of the arguments."""
    torch.manual_seed(1)
    call = copied(call)
    results = fn(*call)
    state = [leaf.detach() for leaf in tree_leaves(call) if is_float(leaf)]
    return Outcome(results, state, aliases(results, call), gradients_of(results, call))


@pytest.mark.parametrize(("op", "dtype"), CASES)
def test_as_eager(op: Any, dtype: torch.dtype, full: bool, most: int | None) -> None:
    """An op gives what eager gives."""
    failed: list[str] = []
    excused: list[str] = []
    other = torch.float32 if dtype == torch.float64 else torch.float64
    for number, sample in enumerate(samples(op, dtype, full, most)):
        for label, call in layouts(sample, full or dtype == torch.float32):
            fn = body(op)
            exact = attempted(lambda fn=fn, call=call: outcome(fn, converted(call, other)))
            ours, shared = judge(
                lambda name, fn=fn, call=call: outcome(compiled(fn, name) if name else fn, call), exact, rule(op)
            )
            failed += [f"sample {number}: {label}{problem}" for problem in ours]
            excused += [f"sample {number}: {label}{problem}" for problem in shared]
    assert not failed, "\n".join(failed)
    if excused:
        pytest.skip(f"{BASELINE} too: {excused[0]}")
