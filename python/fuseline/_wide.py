"""The dtype that values are computed in."""

from __future__ import annotations

import torch


def widest(dtype: torch.dtype) -> torch.dtype:
    """float64 for float64, else float32."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def wide(x: torch.Tensor) -> torch.Tensor:
    """The tensor in the dtype that it is computed with."""
    return x.to(widest(x.dtype))


def autocast_dtype(x: torch.Tensor) -> torch.dtype | None:
    """The dtype that matrix products take now instead of float32, where autocast is on."""
    kind = x.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None
