"""What a user can choose."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import torch
from torch._ops import OpOverload

MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs", "lite")
"""Inductor's names; all of them choose the same CPU code, since kernels are neither graph-captured nor timed there."""


@dataclasses.dataclass(frozen=True)
class Options:
    """Options of one compilation: ``torch.compile(model, backend="fuseline", options={...})``."""

    mode: str = "default"
    numerics: str = "eager"
    """``eager`` rounds wherever torch's eager rounds, ``wide`` keeps f16 and bf16 intermediates in f32."""
    rng: str = "fused"
    """``fused`` makes random numbers inside kernels, ``eager`` runs eager's own kernels, for equal bits."""
    fuse: bool = True
    """False gives one kernel per op, to compare."""
    verify: int = 0
    """Number of first calls of each graph whose kernels are checked against the unfused graph, on the live inputs."""
    verify_tolerance: float | None = None
    """Relative tolerance of that check; a few roundings of each result's dtype if it is None."""
    torch_ops: frozenset[str] = frozenset()
    """Ops that torch runs though they have a lowering, e.g. ``aten.mm.default``."""

    @staticmethod
    def of(mode: str | None, options: dict[str, Any] | None) -> Options:
        """Options from torch.compile's ``mode`` and ``options``.

        Raises:
            ValueError: an unknown option or value; the message lists the known ones.
        """
        given = {name: value for name, value in (options or {}).items() if (name, value) != ("mode", None)}
        if mode is not None:
            given.setdefault("mode", mode)
        known = {f.name for f in dataclasses.fields(Options)}
        unknown = sorted(set(given) - known)
        if unknown:
            raise ValueError(f"unknown option {', '.join(map(repr, unknown))}; known: {', '.join(sorted(known))}")
        if "torch_ops" in given:
            given["torch_ops"] = _ops(given["torch_ops"])
        chosen = Options(**given)
        _of_type("fuse", chosen.fuse, isinstance(chosen.fuse, bool), "True or False")
        _of_type("verify", chosen.verify, type(chosen.verify) is int and chosen.verify >= 0, "a number of calls")
        tolerance = chosen.verify_tolerance
        positive = isinstance(tolerance, (int, float)) and not isinstance(tolerance, bool) and tolerance >= 0
        _of_type("verify_tolerance", tolerance, tolerance is None or positive, "a positive number or None")
        _one_of("mode", chosen.mode, MODES)
        _one_of("numerics", chosen.numerics, ("eager", "wide"))
        _one_of("rng", chosen.rng, ("fused", "eager"))
        return chosen


def _of_type(name: str, value: object, fits: bool, wanted: str) -> None:
    if not fits:
        raise ValueError(f"option {name}={value!r}; it takes {wanted}")


def _ops(given: object) -> frozenset[str]:
    """Names of the operators that are given by name or as torch has them."""
    _of_type("torch_ops", given, isinstance(given, Iterable) and not isinstance(given, str), "several operators")
    names = [str(op) if isinstance(op, OpOverload) else op for op in given]
    for name in names:
        found: Any = torch.ops
        for part in name.split(".") if isinstance(name, str) else [""]:
            found = getattr(found, part, None) if part else None
        known = isinstance(found, OpOverload)
        _of_type("torch_ops", name, known, 'names of operators with their overload, such as "aten.mm.default"')
    return frozenset(names)


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"option {name}={value!r}; known values: {', '.join(map(repr, allowed))}")
