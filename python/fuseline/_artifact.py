"""A compiled graph, in a form that AOTAutograd's cache stores."""

from __future__ import annotations

from collections import Counter
from typing import Any

from . import _compat, _native, _report
from ._externs import Externs, NotStorable

counts: Counter[str] = Counter()
"""What happened in this process: ``compiled`` from a graph, ``loaded`` from AOTAutograd's cache."""

unstored: list[tuple[str, str]] = []
"""Graphs that AOTAutograd's cache does not hold, with the reason."""


class Artifact(_compat.OutputCode):
    """A graph in the native form with all that compiling it takes; called with one list of arguments, which it empties.

    Pickled without its native half, which is compiled again from the plan cache.
    """

    runner: Any

    def __init__(self, name: str, kind: str, graph: str, settings: str, externs: Externs) -> None:
        super().__init__()
        self.name, self.kind = name, kind
        self.graph, self.settings, self.externs = graph, settings, externs
        self._boxed_call = True
        self._compile()
        counts["compiled"] += 1

    def _compile(self) -> None:
        self.runner = _native.compile(self.graph, self.settings, self.externs)
        _report.record(self.runner, self.kind)

    def __call__(self, arguments: list[Any]) -> list[Any]:
        return self.runner(arguments)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "runner": None}

    def prepare_for_serialization(self) -> None:
        """Called on a copy that is about to be stored; refuses what another process could not read back."""
        try:
            self.externs.check_storable()
        except NotStorable as reason:
            unstored.append((self.name, str(reason)))
            raise _compat.Bypass(f"fuseline {self.name}: {reason}") from reason

    def post_compile(self, example_inputs: Any, constants: Any, graph_kwargs: Any) -> None:
        """Called on what came out of the cache."""
        if self.runner is None:
            self._compile()
            counts["loaded"] += 1

    def set_triton_bundle(self, triton_bundle: Any) -> None:
        """There is no Triton code here."""
