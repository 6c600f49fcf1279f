"""Fuseline: an operator-fusion compiler for PyTorch.

``torch.compile(model, backend="fuseline")`` needs no import of this package.
"""

from __future__ import annotations

from typing import Any

__all__ = ["backend"]


def backend(module: Any, example_inputs: Any, **arguments: Any) -> Any:
    """The Dynamo backend; registered under the name ``fuseline``."""
    from ._backend import backend as implementation

    return implementation(module, example_inputs, **arguments)
