"""Cross entropy of a linear layer's results, of which only some rows exist at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from .._library import operator
from .._wide import autocast_dtype, widest
from ._loss import cross_entropy, cross_entropy_backward, reduced, shape_of

LEAST_ROWS = 64
"""Rows of a chunk that a matrix product is still quick with."""


def chunks(x: Tensor, weight: Tensor) -> Iterator[slice]:
    """Rows of x, [R, D], whose logits take no more memory than all of x, or than ``LEAST_ROWS`` rows of logits."""
    size = max(LEAST_ROWS, x.numel() // weight.shape[0])
    return (slice(start, min(start + size, x.shape[0])) for start in range(0, x.shape[0], size))


@operator(
    "linear_cross_entropy_v1(Tensor x, Tensor weight, Tensor? bias, Tensor target, Tensor? class_weight,"
    " int ignore_index, float label_smoothing) -> (Tensor, Tensor)",
    (),
    kernels=False,
)
def linear_cross_entropy(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    class_weight: Tensor | None,
    ignore_index: int,
    label_smoothing: float,
) -> tuple[Tensor, Tensor]:
    """As ``cross_entropy_v1`` of the logits x @ weight.T + bias, for x [R, D], weight [C, D], bias [C], target [R]."""
    losses, totals = _rows(x), _rows(x)
    for rows in chunks(x, weight):
        logits = functional.linear(x[rows], weight, bias)
        losses[rows], totals[rows] = cross_entropy(logits, target[rows], class_weight, ignore_index, label_smoothing)
    return losses, totals


@operator(
    "linear_cross_entropy_backward_v1(Tensor dloss, Tensor x, Tensor weight, Tensor? bias, Tensor target,"
    " Tensor totals, Tensor? class_weight, int ignore_index, float label_smoothing) -> (Tensor, Tensor, Tensor)",
    (),
    kernels=False,
)
def linear_cross_entropy_backward(
    dloss: Tensor,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    totals: Tensor,
    class_weight: Tensor | None,
    ignore_index: int,
    label_smoothing: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of x, weight and bias (empty without one); logits are computed again, chunk by chunk."""
    dx = torch.empty_like(x, memory_format=torch.contiguous_format)
    dweight = weight.new_zeros(weight.shape, dtype=widest(weight.dtype))
    dbias = weight.new_zeros(0 if bias is None else weight.shape[0], dtype=dweight.dtype)
    for rows in chunks(x, weight):
        logits = functional.linear(x[rows], weight, bias)
        dlogits = cross_entropy_backward(
            dloss[rows], logits, target[rows], totals[rows], class_weight, ignore_index, label_smoothing
        )
        torch.mm(dlogits, weight, out=dx[rows])
        _add_product(dweight, dlogits, x[rows])
        if bias is not None:
            dbias += dlogits.sum(0, dtype=dbias.dtype)
    return dx, dweight.to(weight.dtype), dbias.to(weight.dtype)


def _add_product(total: Tensor, dlogits: Tensor, x: Tensor) -> None:
    """Adds dlogits.T @ x."""
    if total.dtype == x.dtype:
        total.addmm_(dlogits.T, x)
    else:
        total += dlogits.T @ x


def _rows(x: Tensor) -> Tensor:
    return x.new_empty(x.shape[0], dtype=widest(x.dtype))


linear_cross_entropy.fake(lambda x, *_: (_rows(x), _rows(x)))
linear_cross_entropy_backward.fake(
    lambda dloss, x, weight, bias, *_: (
        torch.empty_like(x, memory_format=torch.contiguous_format),
        weight.new_empty(weight.shape),
        weight.new_empty(0 if bias is None else weight.shape[0]),
    )
)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    x, weight, bias, target, class_weight, ctx.ignore_index, ctx.label_smoothing = inputs
    ctx.save_for_backward(x, weight, bias, target, output[1], class_weight)


def _backward(ctx: Any, dloss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
    dx, dweight, dbias = linear_cross_entropy_backward(dloss, *ctx.saved_tensors, ctx.ignore_index, ctx.label_smoothing)
    return dx, dweight, None if ctx.saved_tensors[2] is None else dbias, None, None, None, None


linear_cross_entropy.gradient(_backward, _setup)


class FusedLinearCrossEntropy(nn.Module):
    """``CrossEntropyLoss`` of ``Linear``, which never holds all logits.

    Rows are taken in chunks whose logits are no larger than the input (64 rows at least). Forward keeps one number for
    each row; backward computes the chunks' logits again, and adds up the weight's gradient in float32. Backends of
    ``torch.compile`` call it as it is, since taking it apart would bring the logits back.

    Args:
        in_features: features of the input.
        num_classes: classes.
        bias: whether the linear layer has one.
        weight: a weight for each class, ``(num_classes)``.
        reduction: ``mean``, ``sum`` or ``none``.
        ignore_index: the target of rows that do not count.
        label_smoothing: share of the uniform distribution in the target, 0 to 1.

    Shape: input ``(*, in_features)``; target ``(*)``, class indices. The result is a scalar, or of the target's shape
    if ``reduction="none"``, in the input's dtype.

    Attributes:
        linear: the layer; its ``weight`` may be set to that of an embedding, to tie them.

    Raises:
        IndexError: a target outside ``0 … num_classes - 1`` that is not ``ignore_index``.

    >>> loss = FusedLinearCrossEntropy(64, 32000)(torch.randn(2, 128, 64), torch.randint(32000, (2, 128)))
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        bias: bool = False,
        device: Any = None,
        dtype: torch.dtype | None = None,
        weight: Tensor | None = None,
        reduction: str = "mean",
        ignore_index: int = -100,
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__()
        if weight is not None and weight.shape != (num_classes,):
            raise ValueError(f"weight has shape {list(weight.shape)}, not [{num_classes}]")
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f"reduction is {reduction!r}: use 'mean', 'sum' or 'none'")
        if not 0 <= label_smoothing <= 1:
            raise ValueError(f"label_smoothing is {label_smoothing}, not between 0 and 1")
        self.linear = nn.Linear(in_features, num_classes, bias, device, dtype)
        self.register_buffer("weight", weight)
        self.reduction = reduction
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        if input.shape[:-1] != target.shape:
            raise RuntimeError(f"target of shape {list(target.shape)} does not fit input of shape {list(input.shape)}")
        rows, flat = input.reshape(math.prod(target.shape), input.shape[-1]), target.flatten().long()
        narrow = autocast_dtype(input)
        weight, bias = self.linear.weight, self.linear.bias
        if narrow:
            rows, weight, bias = rows.to(narrow), weight.to(narrow), None if bias is None else bias.to(narrow)
        with torch.autocast(input.device.type, enabled=False):
            losses, _ = linear_cross_entropy(
                rows, weight, bias, flat, self.weight, self.ignore_index, self.label_smoothing
            )
        loss = reduced(losses, flat, self.weight, self.ignore_index, self.reduction).view(
            shape_of(target, self.reduction)
        )
        return loss if narrow else loss.to(input.dtype)

    def extra_repr(self) -> str:
        """Settings of the loss."""
        smoothing = f"label_smoothing={self.label_smoothing}"
        return f"reduction={self.reduction}, ignore_index={self.ignore_index}, {smoothing}"
