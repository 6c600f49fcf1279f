"""Fuseline: an operator-fusion compiler for PyTorch.

``torch.compile(model, backend="fuseline")`` needs no import of this package.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["backend", "nn"]


def backend(module: Any, example_inputs: Any, **arguments: Any) -> Any:
    """The Dynamo backend; registered under the name ``fuseline``."""
    from ._backend import backend as implementation

    return implementation(module, example_inputs, **arguments)


def __getattr__(name: str) -> Any:
    """Imports ``fuseline.nn``, and torch with it, when it is first used."""
    if name == "nn":
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
