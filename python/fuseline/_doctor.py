"""What an installation has, what it lacks, and what to type."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
import os
import platform
import re
from types import ModuleType

OLDEST, NEWEST = (2, 11), (2, 15)
"""Versions of torch that are tested."""


@dataclasses.dataclass(frozen=True, repr=False)
class Diagnosis:
    """Facts by name, and problems with the commands that solve them."""

    facts: dict[str, str]
    problems: list[tuple[str, str]]

    @property
    def ok(self) -> bool:
        """Whether ``torch.compile(model, backend="fuseline")`` can work."""
        return not self.problems

    def __str__(self) -> str:
        lines = [f"{name:<14} {fact}" for name, fact in self.facts.items()]
        lines += [f"problem: {problem}\n    {command}" for problem, command in self.problems]
        return "\n".join(lines if self.problems else [*lines, "all is well"])

    __repr__ = __str__


def _native() -> tuple[ModuleType | None, str]:
    """The compiled half, or why it cannot be imported."""
    try:
        return importlib.import_module("fuseline._native"), ""
    except ImportError as error:
        return None, str(error)


def _torch() -> tuple[ModuleType | None, str]:
    try:
        return importlib.import_module("torch"), ""
    except ImportError as error:
        return None, str(error)


def _release(version: str) -> tuple[int, int]:
    major, minor = re.findall(r"\d+", version)[:2]
    return int(major), int(minor)


def _bytes(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB"


def _about_native(native: ModuleType) -> dict[str, str]:
    model, isa, caches = native.machine()
    levels = ", ".join(f"L{level} {_bytes(size)}" for level, size in enumerate(caches, 1))
    return {
        "fuseline": f"{native.VERSION} (graph form {native.FORM}, op table {native.TABLE})",
        "processor": f"{model}, kernels for {isa}, caches {levels}",
        "dtypes": " ".join(native.DTYPES),
        "plan cache": native.plan_cache(),
    }


def _about_torch(torch: ModuleType, problems: list[tuple[str, str]]) -> dict[str, str]:
    release = _release(torch.__version__)
    tested = f"{OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"
    known = OLDEST <= release <= NEWEST
    if release < OLDEST:
        problems.append((f"torch {torch.__version__} is too old", f"pip install 'torch>={OLDEST[0]}.{OLDEST[1]}'"))
    return {
        "torch": f"{torch.__version__} ({'within' if known else 'outside of'} the tested versions, {tested})",
        "threads": f"{torch.get_num_threads()} of {os.cpu_count()} (torch.set_num_threads)",
    }


def _is_registered() -> bool:
    points = importlib.metadata.entry_points(group="torch_dynamo_backends")
    return any(point.name == "fuseline" for point in points)


def doctor() -> Diagnosis:
    """Looks at this installation; works without torch, and without the compiled half."""
    problems: list[tuple[str, str]] = []
    facts = {"python": f"{platform.python_version()} on {platform.system()} {platform.machine()}"}
    native, reason = _native()
    if native is None:
        problems.append((f"the compiled half is missing ({reason})", "pip install .    # in a checkout; needs Rust"))
    else:
        facts |= _about_native(native)
    torch, reason = _torch()
    if torch is None:
        problems.append((f"torch cannot be imported ({reason})", f"pip install 'torch>={OLDEST[0]}.{OLDEST[1]}'"))
    else:
        facts |= _about_torch(torch, problems)
    if _is_registered():
        facts["backend"] = 'registered: torch.compile(model, backend="fuseline")'
    else:
        problems.append(('the name "fuseline" is not registered with torch', "pip install .    # in a checkout"))
        facts["backend"] = "not registered; torch.compile(model, backend=fuseline.backend) works"
    variables = sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith("FUSELINE_"))
    facts["environment"] = " ".join(variables) or "no FUSELINE_ variables set"
    return Diagnosis(facts, problems)
