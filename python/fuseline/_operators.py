"""What our own operators are made of: the decompositions that the backend traces with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch._ops import OpOverload

TABLE: dict[OpOverload, Callable[..., Any]] = {}
"""From each registered operator with kernels to its reference function."""
