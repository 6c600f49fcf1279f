"""Fuseline: an operator-fusion compiler for PyTorch.

``torch.compile(model, backend="fuseline")`` needs no import of this package.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["backend", "nn", "optim"]


OLDEST_TORCH = (2, 11)
"""The oldest torch that the backend is tested with."""


def require_torch() -> None:
    """Checks that torch is there and not too old.

    Raises:
        ImportError: it is not; the message says what to install.
    """
    wanted = ".".join(map(str, OLDEST_TORCH))
    advice = f"fuseline needs torch {wanted} or later: pip install 'torch>={wanted}'"
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"{advice}; torch cannot be imported: {error}") from error
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < OLDEST_TORCH:
        raise ImportError(f"{advice}; torch {torch.__version__} is installed")


def backend(module: Any, example_inputs: Any, **arguments: Any) -> Any:
    """The Dynamo backend; registered under the name ``fuseline``.

    Raises:
        ImportError: torch is absent or older than ``OLDEST_TORCH``.
    """
    require_torch()
    from ._backend import backend as implementation

    return implementation(module, example_inputs, **arguments)


def __getattr__(name: str) -> Any:
    """Imports ``fuseline.nn`` and ``fuseline.optim``, and torch with them, when they are first used."""
    if name in ("nn", "optim"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
