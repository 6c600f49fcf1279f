"""What the backend did in this process: text for a terminal, and versioned JSON (docs/torch.md has its fields)."""

from __future__ import annotations

import dataclasses
import gc
import json
import weakref
from collections.abc import Iterable
from typing import Any

import torch

from . import _dynamo, _native

VERSION = 1
"""Version of the JSON form; raised when a field changes meaning or disappears."""


@dataclasses.dataclass(frozen=True)
class Origin:
    """What is known of a graph when it is compiled."""

    kind: str
    """``forward``, ``backward``, ``inference`` or ``operator``."""
    sizes: tuple[_dynamo.Size, ...]
    specialisations: tuple[_dynamo.Specialisation, ...]


_alive: weakref.WeakKeyDictionary[Any, Origin] = weakref.WeakKeyDictionary()


def record(runner: Any, kind: str) -> None:
    """Remembers a compiled graph for as long as something can call it."""
    _alive[runner] = Origin(kind, *_dynamo.sizes())


@dataclasses.dataclass(frozen=True)
class CompiledGraph:
    """A compiled graph and what its calls have done so far."""

    origin: Origin
    native: dict[str, Any]
    """Name, calls, seconds of compilation, and steps: segments with their kernels, and torch's calls."""
    text: str

    @staticmethod
    def of(runner: Any, origin: Origin) -> CompiledGraph:
        """The graph as it is now."""
        return CompiledGraph(origin, json.loads(runner.report()), runner.text())

    @property
    def name(self) -> str:
        """Name, unique in the process: ``forward0``."""
        return self.native["name"]

    @property
    def segments(self) -> list[dict[str, Any]]:
        """Steps that are kernels of ours."""
        return [s for s in self.native["steps"] if s["kind"] == "segment"]

    @property
    def externs(self) -> list[dict[str, Any]]:
        """Steps that torch runs."""
        return [s for s in self.native["steps"] if s["kind"] == "extern"]

    @property
    def kernels(self) -> list[dict[str, Any]]:
        """Kernels in order."""
        return [k for s in self.segments for k in s["report"]["kernels"]]

    @property
    def extra_memory_bytes(self) -> float:
        """Bytes by which live results and intermediates exceed those of one kernel per op, in the worst segment."""
        extra = [s["report"]["after"]["peak_bytes"] - s["report"]["before"]["peak_bytes"] for s in self.segments]
        return max([0.0, *extra])

    def to_dict(self) -> dict[str, Any]:
        """The graph as plain data."""
        own = {k: v for k, v in self.native.items() if k != "version"}
        return own | dataclasses.asdict(self.origin) | {"extra_memory_bytes": self.extra_memory_bytes}

    def __str__(self) -> str:
        calls, seconds = self.native["calls"], self.native["compile_seconds"]
        lines = [
            f"=== {self.name}: {self.origin.kind}, {calls} calls, compiled in {seconds * 1e3:.1f} ms",
            "",
            self.text.rstrip(),
        ]
        if self.origin.sizes:
            lines += ["", "symbolic sizes"]
            lines += [f"  {s.symbol} = {' = '.join(s.names) or '?'}, {_range(s)}" for s in self.origin.sizes]
        if self.origin.specialisations:
            lines += ["", "sizes made constant by the code"]
            lines += [f"  {s.name} = {s.value}  {s.source}" for s in self.origin.specialisations]
        if self.extra_memory_bytes:
            lines += ["", f"memory above one kernel per op: {self.extra_memory_bytes:.0f} B"]
        return "\n".join(lines)


def _range(size: _dynamo.Size) -> str:
    return f"{'-∞' if size.low is None else size.low} to {'∞' if size.high is None else size.high}"


@dataclasses.dataclass(frozen=True, repr=False)
class Report:
    """Compiled graphs, and why there is more than one."""

    graphs: list[CompiledGraph]
    breaks: list[_dynamo.GraphBreak]
    recompiles: list[_dynamo.Recompile]

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, with its ``version``."""
        return {
            "version": VERSION,
            "fuseline": _native.VERSION,
            "torch": torch.__version__,
            "graphs": [g.to_dict() for g in self.graphs],
            "breaks": [dataclasses.asdict(b) for b in self.breaks],
            "recompiles": [dataclasses.asdict(r) for r in self.recompiles],
        }

    def to_json(self) -> str:
        """The report as JSON text."""
        return json.dumps(self.to_dict())

    def __str__(self) -> str:
        counts = f"{len(self.graphs)} graphs, {len(self.breaks)} graph breaks, {len(self.recompiles)} recompiles"
        parts = [f"fuseline {_native.VERSION}, torch {torch.__version__}: {counts}", *map(str, self.graphs)]
        if self.breaks:
            parts.append("\n".join(["graph breaks", *map(_break_text, self.breaks)]))
        if self.recompiles:
            parts.append("\n".join(["recompiles", *map(_recompile_text, self.recompiles)]))
        return "\n\n".join(parts)

    __repr__ = __str__


def _break_text(b: _dynamo.GraphBreak) -> str:
    lines = [f"  {b.source}{' (the whole function runs in eager mode)' if b.skipped else ''}: {b.reason}"]
    return "\n".join(lines + ([f"    hint: {b.hint}"] if b.hint else []))


def _recompile_text(r: _dynamo.Recompile) -> str:
    lines = [f"  {r.function} ({r.source}): {r.guard}"]
    return "\n".join(lines + ([f"    fix: {r.fix}"] if r.fix else []))


def alive() -> list[Any]:
    """Compiled graphs that something can still call, in order of compilation."""
    gc.collect()
    return list(_alive)


def snapshot(runners: Iterable[Any]) -> list[CompiledGraph]:
    """Compiled graphs as they are now."""
    return [CompiledGraph.of(runner, _alive[runner]) for runner in runners]


def report() -> Report:
    """Every graph of this process that something can still call, and Dynamo's breaks and recompiles.

    Breaks and recompiles are those of all backends, back to the last ``torch._dynamo.reset()``, and recompiles at most
    as far back as Dynamo keeps records (64 compilations).
    """
    return Report(snapshot(alive()), _dynamo.breaks(), _dynamo.recompiles())
