"""Normalisation over the last dimensions, with a residual sum in the same pass."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from .._library import operator
from .._wide import wide, widest


@operator(
    "rms_norm_v1(Tensor x, Tensor? residual, Tensor? weight, float eps) -> (Tensor, Tensor, Tensor)", ("RC", "RC", "C")
)
def rms_norm(
    x: Tensor, residual: Tensor | None, weight: Tensor | None, eps: float
) -> tuple[Tensor, Tensor | None, Tensor]:
    """Normalised rows, x + residual (none without one), and 1 / root mean square of every row, [R]."""
    total = x if residual is None else x + residual
    rows = wide(total)
    scale = torch.rsqrt((rows * rows).mean(1, keepdim=True) + eps)
    y = rows * scale
    if weight is not None:
        y = y * wide(weight)
    return y.to(x.dtype), None if residual is None else total, scale.squeeze(1)


@operator(
    "rms_norm_backward_v1(Tensor dy, Tensor? dtotal, Tensor total, Tensor scale, Tensor? weight) -> (Tensor, Tensor)",
    ("RC", "RC", "RC", "R", "C"),
)
def rms_norm_backward(
    dy: Tensor, dtotal: Tensor | None, total: Tensor, scale: Tensor, weight: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """Gradients of the summed rows, [R, C], and of the weight, [C] (none without one)."""
    unit = wide(total) * scale.unsqueeze(1)
    inner = wide(dy) if weight is None else wide(dy) * wide(weight)
    drows = (inner - unit * (inner * unit).mean(1, keepdim=True)) * scale.unsqueeze(1)
    if dtotal is not None:
        drows = drows + wide(dtotal)
    dweight = None if weight is None else (wide(dy) * unit).sum(0).to(weight.dtype)
    return drows.to(total.dtype), dweight


@operator(
    "layer_norm_v1(Tensor x, Tensor? residual, Tensor? weight, Tensor? bias, float eps)"
    " -> (Tensor, Tensor, Tensor, Tensor)",
    ("RC", "RC", "C", "C"),
)
def layer_norm(
    x: Tensor, residual: Tensor | None, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor | None, Tensor, Tensor]:
    """Normalised rows, x + residual (none without one), and mean and 1 / standard deviation of every row, [R]."""
    total = x if residual is None else x + residual
    rows = wide(total)
    mean = rows.mean(1, keepdim=True)
    centered = rows - mean
    scale = torch.rsqrt((centered * centered).mean(1, keepdim=True) + eps)
    y = centered * scale
    if weight is not None:
        y = y * wide(weight)
    if bias is not None:
        y = y + wide(bias)
    return y.to(x.dtype), None if residual is None else total, mean.squeeze(1), scale.squeeze(1)


@operator(
    "layer_norm_backward_v1(Tensor dy, Tensor? dtotal, Tensor total, Tensor mean, Tensor scale, Tensor? weight,"
    " Tensor? bias) -> (Tensor, Tensor, Tensor)",
    ("RC", "RC", "RC", "R", "R", "C", "C"),
)
def layer_norm_backward(
    dy: Tensor,
    dtotal: Tensor | None,
    total: Tensor,
    mean: Tensor,
    scale: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Gradients of the summed rows, [R, C], and of weight and bias, [C] (none without them)."""
    unit = (wide(total) - mean.unsqueeze(1)) * scale.unsqueeze(1)
    inner = wide(dy) if weight is None else wide(dy) * wide(weight)
    drows = inner - inner.mean(1, keepdim=True) - unit * (inner * unit).mean(1, keepdim=True)
    drows = drows * scale.unsqueeze(1)
    if dtotal is not None:
        drows = drows + wide(dtotal)
    dweight = None if weight is None else (wide(dy) * unit).sum(0).to(weight.dtype)
    dbias = None if bias is None else wide(dy).sum(0).to(bias.dtype)
    return drows.to(total.dtype), dweight, dbias


def _rms_setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    x, residual, weight, _ = inputs
    _, total, scale = output
    ctx.summed = residual is not None
    ctx.save_for_backward(total if ctx.summed else x, scale, weight)
    ctx.set_materialize_grads(False)


def _rms_backward(ctx: Any, dy: Tensor | None, dtotal: Tensor | None, _: Tensor | None) -> tuple[Tensor | None, ...]:
    total, scale, weight = ctx.saved_tensors
    if dy is None:
        return (*_both(ctx, dtotal), None, None)
    dx, dweight = rms_norm_backward(dy, dtotal if ctx.summed else None, total, scale, weight)
    return (*_both(ctx, dx), None if weight is None else dweight, None)


def _layer_setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
    x, residual, weight, bias, _ = inputs
    _, total, mean, scale = output
    ctx.summed = residual is not None
    ctx.save_for_backward(total if ctx.summed else x, mean, scale, weight, bias)
    ctx.set_materialize_grads(False)


def _layer_backward(ctx: Any, dy: Tensor | None, dtotal: Tensor | None, *_: Any) -> tuple[Tensor | None, ...]:
    total, mean, scale, weight, bias = ctx.saved_tensors
    if dy is None:
        return (*_both(ctx, dtotal), None, None, None)
    dx, dweight, dbias = layer_norm_backward(dy, dtotal if ctx.summed else None, total, mean, scale, weight, bias)
    return (*_both(ctx, dx), None if weight is None else dweight, None if bias is None else dbias, None)


def _both(ctx: Any, dx: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
    """Gradients of x and of the residual: the same values."""
    return dx, dx if ctx.summed else None


rms_norm.gradient(_rms_backward, _rms_setup)
layer_norm.gradient(_layer_backward, _layer_setup)


class _Norm(nn.Module):
    weight: nn.Parameter | None
    bias: nn.Parameter | None

    def __init__(
        self,
        normalized_shape: int | list[int] | tuple[int, ...] | torch.Size,
        eps: float | None,
        elementwise_affine: bool,
        parameters: dict[str, bool],
        device: Any,
        dtype: torch.dtype | None,
    ) -> None:
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, there in parameters.items():
            value = nn.Parameter(torch.empty(self.normalized_shape, device=device, dtype=dtype)) if there else None
            self.register_parameter(name, value)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets the weight to one and the bias to zero."""
        for name, parameter in self.named_parameters(recurse=False):
            (nn.init.ones_ if name == "weight" else nn.init.zeros_)(parameter)

    def extra_repr(self) -> str:
        """As torch's."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"

    def _rows(self, x: Tensor) -> Tensor:
        """The tensor as [rows, normalized elements]."""
        split = x.dim() - len(self.normalized_shape)
        if split < 0 or tuple(x.shape[split:]) != self.normalized_shape:
            raise RuntimeError(
                f"normalized_shape {list(self.normalized_shape)} is not the end of shape {list(x.shape)}"
            )
        return x.reshape(math.prod(x.shape[:split]), math.prod(self.normalized_shape))

    def _residual(self, x: Tensor, residual: Tensor | None) -> Tensor | None:
        if residual is None:
            return None
        if residual.shape != x.shape or residual.dtype != x.dtype:
            have, want = (f"{t.dtype} {list(t.shape)}" for t in (residual, x))
            raise RuntimeError(f"residual is {have}, x is {want}: they must be alike")
        return self._rows(residual)


class RMSNorm(_Norm):
    """``torch.nn.RMSNorm`` with an optional residual.

    Args:
        normalized_shape: the last dimensions, or the last one.
        eps: added to the mean square; the epsilon of x's dtype if ``None``.
        elementwise_affine: whether there is a ``weight`` of shape ``normalized_shape``.

    Shape: x and residual ``(*, *normalized_shape)``; results likewise, in x's dtype.

    >>> y = RMSNorm(8)(torch.randn(4, 8))
    >>> y, hidden = RMSNorm(8)(torch.randn(4, 8), residual=torch.randn(4, 8))
    """

    def __init__(
        self,
        normalized_shape: int | list[int] | tuple[int, ...] | torch.Size,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        parameters = {"weight": elementwise_affine}
        super().__init__(normalized_shape, eps, elementwise_affine, parameters, device, dtype)

    def forward(self, x: Tensor, residual: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
        """The normalised x; with a residual, the normalised sum x + residual, and the sum."""
        rows, added = self._rows(x), self._residual(x, residual)
        eps = torch.finfo(widest(x.dtype)).eps if self.eps is None else self.eps
        weight = None if self.weight is None else self.weight.flatten()
        y, total, _ = rms_norm(rows, added, weight, eps)
        return y.view(x.shape) if residual is None else (y.view(x.shape), total.view(x.shape))


class LayerNorm(_Norm):
    """``torch.nn.LayerNorm`` with an optional residual.

    Args:
        normalized_shape: the last dimensions, or the last one.
        eps: added to the variance.
        elementwise_affine: whether there are a ``weight`` and a ``bias`` of shape ``normalized_shape``.
        bias: whether there is a ``bias``.

    Shape: x and residual ``(*, *normalized_shape)``; results likewise, in x's dtype.

    >>> y = LayerNorm(8)(torch.randn(4, 8))
    >>> y, hidden = LayerNorm(8)(torch.randn(4, 8), residual=torch.randn(4, 8))
    """

    def __init__(
        self,
        normalized_shape: int | list[int] | tuple[int, ...] | torch.Size,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        parameters = {"weight": elementwise_affine, "bias": elementwise_affine and bias}
        super().__init__(normalized_shape, eps, elementwise_affine, parameters, device, dtype)

    def forward(self, x: Tensor, residual: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
        """The normalised x; with a residual, the normalised sum x + residual, and the sum."""
        rows, added = self._rows(x), self._residual(x, residual)
        weight = None if self.weight is None else self.weight.flatten()
        bias = None if self.bias is None else self.bias.flatten()
        y, total, _, _ = layer_norm(rows, added, weight, bias, self.eps)
        return y.view(x.shape) if residual is None else (y.view(x.shape), total.view(x.shape))
