"""How eager's CPU kernels round: half types computed in float32 and rounded once, a·b + c as one fused operation."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

P = ParamSpec("P")


def is_half(dtype: torch.dtype) -> bool:
    """Whether `dtype` is float16 or bfloat16."""
    return dtype in (torch.float16, torch.bfloat16)


def wide_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype a kernel computes in: float32 for float16 and bfloat16, else `dtype`."""
    return torch.float32 if is_half(dtype) else dtype


def wide(x: Tensor) -> Tensor:
    """`x` in its `wide_dtype`."""
    return x.to(wide_dtype(x.dtype))


def _map_tensors(f: Callable[[Tensor], Tensor], tree: Any) -> Any:
    return pytree.tree_map_only(Tensor, f, tree)


def rounds_once(f: Callable[P, Any]) -> Callable[P, Any]:
    """Runs `f` on wide copies of its tensors and rounds its results to the dtype of the first tensor."""

    @functools.wraps(f)
    def run(*args: P.args, **kwargs: P.kwargs) -> Any:
        first = next(a for a in args if isinstance(a, Tensor))
        result = f(*_map_tensors(wide, args), **_map_tensors(wide, kwargs))
        return _map_tensors(lambda t: t.to(first.dtype), result)

    return run


def fma(a: Tensor, b: Tensor, c: Tensor | float, sign: int = 1) -> Tensor:
    """`c + sign·a·b` with one rounding, which is what eager's `addcmul` does where kernels are compiled with FMA."""
    base = c if isinstance(c, Tensor) else torch.full((), c, dtype=a.dtype, device=a.device)
    return torch.addcmul(base, a, b, value=sign)
