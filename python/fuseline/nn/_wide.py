"""The dtype that values are computed in."""

from __future__ import annotations

import torch


def widest(dtype: torch.dtype) -> torch.dtype:
    """float64 for float64, else float32."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def wide(x: torch.Tensor) -> torch.Tensor:
    """The tensor in the dtype that it is computed with."""
    return x.to(widest(x.dtype))
