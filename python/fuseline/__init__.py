"""Fuseline: an operator-fusion compiler for PyTorch.

``torch.compile(model, backend="fuseline")`` needs no import of this package.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._doctor import OLDEST, Diagnosis, doctor

if TYPE_CHECKING:
    from ._native import DeviationError
    from ._report import Report

__all__ = [
    "DeviationError",
    "Diagnosis",
    "Report",
    "backend",
    "doctor",
    "empty_cache",
    "explain",
    "memory_stats",
    "nn",
    "optim",
    "report",
]


def require_torch() -> None:
    """Checks that torch is there and not too old.

    Raises:
        ImportError: it is not; the message says what to install.
    """
    wanted = ".".join(map(str, OLDEST))
    advice = f"fuseline needs torch {wanted} or later: pip install 'torch>={wanted}'"
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"{advice}; torch cannot be imported: {error}") from error
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < OLDEST:
        raise ImportError(f"{advice}; torch {torch.__version__} is installed")


def backend(module: Any, example_inputs: Any, **arguments: Any) -> Any:
    """The Dynamo backend; registered under the name ``fuseline``.

    Raises:
        ImportError: torch is absent or older than 2.11.
    """
    require_torch()
    from ._backend import backend as implementation

    return implementation(module, example_inputs, **arguments)


def report() -> Report:
    """What the backend did in this process: every compiled graph that is alive, graph breaks and recompiles."""
    require_torch()
    from ._report import report as implementation

    return implementation()


def explain(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Report:
    """Compiles ``fn``, runs it and its backward once and reports; other compiled functions stay as they are."""
    require_torch()
    from ._explain import explain as implementation

    return implementation(fn, *args, **kwargs)


def memory_stats() -> dict[str, int]:
    """Bytes of the memory that intermediates live in: ``allocated`` now, ``reserved`` from the system, ``peak``.

    The peak is the most that was allocated. Results are torch's own tensors and do not count.
    """
    from . import _native

    return dict(zip(("allocated", "reserved", "peak"), _native.memory_stats(), strict=True))


def empty_cache() -> None:
    """Returns memory that no intermediate uses to the system, and makes the present use the peak."""
    from . import _native

    _native.empty_cache()


def __getattr__(name: str) -> Any:
    """What needs torch or the compiled half, when it is asked for."""
    if name in ("nn", "optim"):
        return importlib.import_module(f"{__name__}.{name}")
    if name == "DeviationError":
        from ._native import DeviationError

        return DeviationError
    if name == "Report":
        from ._report import Report

        return Report
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
