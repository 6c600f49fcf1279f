"""What Dynamo decided: graph breaks, recompiles, symbolic and specialised sizes, each with the user's line."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterable
from typing import Any

from . import _compat


@dataclasses.dataclass(frozen=True)
class GraphBreak:
    """A place where Dynamo ended a graph, or a frame that it gave up."""

    source: str
    """File and line of the user."""
    reason: str
    hint: str
    skipped: bool
    """Whether the whole frame runs in eager mode."""


@dataclasses.dataclass(frozen=True)
class Recompile:
    """A frame that was compiled again."""

    function: str
    source: str
    """The line whose assumption failed, else the function's first."""
    guard: str
    """The guard that failed."""
    fix: str


@dataclasses.dataclass(frozen=True)
class Size:
    """A symbolic size, in the range for which no recompile is needed; None is unbounded."""

    symbol: str
    names: tuple[str, ...]
    """What has it in the user's function, as ``x.size()[0]``."""
    low: int | None
    high: int | None


@dataclasses.dataclass(frozen=True)
class Specialisation:
    """A size that could have been symbolic, but was made a constant, or equal to another, by the user's code."""

    name: str
    value: str
    source: str
    """The line that did it, with its code."""


FIXES = (
    (
        r"tensor '([^']*)' size mismatch at index (\d+)",
        "torch._dynamo.mark_dynamic({0}, {1}), or torch.compile(dynamic=True)",
    ),
    (r"tensor '([^']*)' stride mismatch", "give {0} one memory layout, as {0}.contiguous()"),
    (r"tensor '([^']*)' dtype mismatch", "give {0} one dtype: each needs kernels of its own"),
    (r"tensor '([^']*)' rank mismatch", "give {0} one number of dimensions"),
    (r"tensor '([^']*)' requires_grad mismatch", "call always with or always without gradients of {0}"),
    (
        r"tensor '([^']*)' dispatch key set mismatch",
        "call always inside or always outside of no_grad, inference_mode, vmap",
    ),
    (r"GLOBAL_STATE changed|grad_mode", "call always in the same grad, autocast and deterministic modes"),
    (r"torch_function_mode|TORCH_FUNCTION_MODE", "call always under the same torch function modes"),
    (r"num_threads", "set the number of threads once, before the first call"),
    (
        r"___check_obj_id|___check_type_id|check_obj_id| is ",
        "pass the same object, or one of the same type, on every call",
    ),
    (r"len\(|___dict_|dict_keys", "keep containers the same length and keys the same"),
    (
        r"(?:size|stride)\(\)\[|^Eq\(|^Ne\(|[<>]=? ",
        "the code branches on a size: take the branch out of the compiled function",
    ),
    (r"^(\S+) == ", "{0} is a constant of the graph: pass a tensor, or torch.compile(dynamic=True)"),
)
"""Failed guards, and what stops them from failing."""


def mark() -> tuple[int, list[Any]]:
    """The state of Dynamo's records, for :func:`breaks` and :func:`recompiles`."""
    return _compat.break_count(), _compat.compilations()


def _position(file: str, line: object) -> str:
    return f"{os.path.basename(file)}:{line}"


def _explained(reason: str) -> tuple[str, str]:
    """Reason and hint out of one of Dynamo's messages."""
    reason = reason.split("*** While handling")[0]
    title, *lines = [line.strip() for line in reason.strip().splitlines()]
    explanation = [line.removeprefix("Explanation: ") for line in lines if line.startswith("Explanation: ")]
    hints = [line.removeprefix("Hint: ") for line in lines if line.startswith("Hint: ")]
    if title.startswith("generic_jump"):
        title, hints = "the code branches on a tensor's values", ["use torch.where, or torch.cond"]
    return ": ".join([title, *explanation]), " ".join(h for h in hints if not h.startswith("Please report"))


def breaks(since: tuple[int, list[Any]] = (0, [])) -> list[GraphBreak]:
    """Graph breaks and skipped frames after a :func:`mark`, each once."""
    found: dict[GraphBreak, None] = {}
    for reason, stack in _compat.breaks_since(since[0]):
        source = _position(stack[-1].filename, stack[-1].lineno) if stack else ""
        found[GraphBreak(source, *_explained(reason), skipped=False)] = None
    for frame in _new(since[1]):
        if frame.fail_reason:
            line = getattr(frame, "fail_user_frame_lineno", None) or frame.co_firstlineno
            source = _position(frame.co_filename, line)
            found[GraphBreak(source, *_explained(frame.fail_reason), skipped=True)] = None
    return list(found)


def recompiles(since: tuple[int, list[Any]] = (0, [])) -> list[Recompile]:
    """Recompiles after a :func:`mark`, as far back as Dynamo keeps records."""
    return [_recompile(f) for f in _new(since[1]) if f.recompile_reason]


def _new(old: Iterable[Any]) -> list[Any]:
    known = {id(frame) for frame in old}
    return [frame for frame in _compat.compilations() if id(frame) not in known]


def _recompile(frame: Any) -> Recompile:
    first = frame.recompile_reason.splitlines()[0]
    guard, _, code = re.sub(r"^\d+/\d+: ", "", first).partition("  # ")
    place = re.search(r"([^/\s]+:\d+) in ", code)
    source = place.group(1) if place else _position(frame.co_filename, frame.co_firstlineno)
    guard = guard.strip()
    return Recompile(frame.co_name, source, guard, fix(guard))


def fix(guard: str) -> str:
    """What stops a guard from failing; empty if nothing is known."""
    for pattern, text in FIXES:
        if match := re.search(pattern, guard):
            return text.format(*match.groups())
    return ""


def _name(source: Any) -> str:
    name = source.name if isinstance(source.name, str) else source.name()
    return re.sub(r"L\['([^']*)'\]", r"\1", name)


def _bound(bound: Any) -> int | None:
    return int(bound) if bound.is_Integer and abs(int(bound)) < 2**62 else None


def sizes() -> tuple[tuple[Size, ...], tuple[Specialisation, ...]]:
    """Symbolic and specialised sizes of the graph that is being compiled."""
    env = _compat.shape_env()
    if env is None:
        return (), ()
    names = {symbol: tuple(map(_name, sources)) for symbol, sources in env.var_to_sources.items()}
    symbolic = [
        Size(str(symbol), names.get(symbol, ()), _bound(bounds.lower), _bound(bounds.upper))
        for symbol, bounds in env.var_to_range.items()
        if symbol not in env.replacements
    ]
    special = []
    for symbol, value in env.replacements.items():
        if names.get(symbol):
            shown = names[value][0] if names.get(value) else str(value)
            line = env.replacements_slocs.get(symbol)
            special.append(Specialisation(names[symbol][0], shown, _line(line)))
    return tuple(symbolic), tuple(special)


def _line(location: Any) -> str:
    """The user's code and line, as Dynamo writes them, ``code  # file:line in function``."""
    text = getattr(location, "maybe_user_loc", None) or ""
    code, _, place = text.partition("  # ")
    return f"{place.split(' in ')[0].rsplit('/', 1)[-1]}: {code}" if place else text
