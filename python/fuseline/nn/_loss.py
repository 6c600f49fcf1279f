"""Cross entropy that keeps one number for each row."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from .._library import operator
from .._wide import autocast_dtype, wide

REDUCTIONS = ("mean", "sum", "none")


@operator(
    "cross_entropy_v1(Tensor logits, Tensor target, Tensor? weight, int ignore_index, float label_smoothing)"
    " -> (Tensor, Tensor)",
    ("RC", "R", "C"),
)
def cross_entropy(
    logits: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, label_smoothing: float
) -> tuple[Tensor, Tensor]:
    """Loss and log of the sum of exponentials of every row, [R], in at least float32; ignored rows lose nothing."""
    x = wide(logits)
    most = x.amax(1, keepdim=True)
    total = (x - most).exp().sum(1, keepdim=True).log() + most
    kept = target != ignore_index
    index = torch.where(kept, target, 0)
    loss = total.squeeze(1) - x.gather(1, index.unsqueeze(1)).squeeze(1)
    if weight is not None:
        loss = loss * wide(weight).gather(0, index)
    if label_smoothing:
        each = total - x if weight is None else (total - x) * wide(weight).unsqueeze(0)
        loss = loss * (1 - label_smoothing) + each.mean(1) * label_smoothing
    return torch.where(kept, loss, 0.0), total.squeeze(1)


@operator(
    "cross_entropy_backward_v1(Tensor dloss, Tensor logits, Tensor target, Tensor total, Tensor? weight,"
    " int ignore_index, float label_smoothing) -> Tensor",
    ("R", "RC", "R", "R", "C"),
)
def cross_entropy_backward(
    dloss: Tensor,
    logits: Tensor,
    target: Tensor,
    total: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    label_smoothing: float,
) -> Tensor:
    """Gradient of the logits, [R, C], from that of the rows' losses, [R]."""
    kept = target != ignore_index
    index = torch.where(kept, target, 0)
    share = (wide(logits) - total.unsqueeze(1)).exp()
    classes = torch.arange(0, logits.shape[1], 1, device=logits.device)
    hit = (classes.unsqueeze(0) == index.unsqueeze(1)).to(share.dtype)
    grad = share - hit
    if weight is not None:
        grad = grad * wide(weight).gather(0, index).unsqueeze(1)
    if label_smoothing:
        smooth = share - share.new_ones(()) / logits.shape[1] if weight is None else _smooth(share, wide(weight))
        grad = grad * (1 - label_smoothing) + smooth * label_smoothing
    grad = grad * torch.where(kept, dloss, 0.0).unsqueeze(1)
    return grad.to(logits.dtype)


def _smooth(share: Tensor, weight: Tensor) -> Tensor:
    """Gradient of the mean over classes of the weighted losses."""
    return share * weight.mean() - weight.unsqueeze(0) / weight.shape[0]


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    logits, target, weight, ctx.ignore_index, ctx.label_smoothing = inputs
    ctx.save_for_backward(logits, target, output[1], weight)


def _backward(ctx: Any, dloss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
    dlogits = cross_entropy_backward(dloss, *ctx.saved_tensors, ctx.ignore_index, ctx.label_smoothing)
    return dlogits, None, None, None, None


cross_entropy.gradient(_backward, _setup)


def reduced(rows: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str) -> Tensor:
    """Sum of the rows' losses, their mean weighted by their targets' weights, or the losses themselves."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"reduction is {reduction!r}: use 'mean', 'sum' or 'none'")
    if reduction == "none":
        return rows
    if reduction == "sum":
        return rows.sum()
    kept = target != ignore_index
    if weight is None:
        return rows.sum() / kept.sum()
    return rows.sum() / torch.where(kept, wide(weight)[torch.where(kept, target, 0)], 0.0).sum()


class CrossEntropyLoss(nn.CrossEntropyLoss):
    """``torch.nn.CrossEntropyLoss`` in one pass over the logits, in float32 inside, that saves one number for each row.

    Args: as torch's; class weights in the buffer ``weight``.

    Shape: logits ``(C)``, ``(N, C)`` or ``(N, C, d1, …)``; target ``()``, ``(N)`` or ``(N, d1, …)``, class indices.
    A target of class probabilities, of the logits' shape, is computed by torch. The result is a scalar, or of the
    target's shape if ``reduction="none"``, in the logits' dtype.

    Raises:
        IndexError: a target outside ``0 … C - 1`` that is not ``ignore_index``.

    >>> loss = CrossEntropyLoss(ignore_index=0)(torch.randn(4, 10), torch.tensor([1, 2, 0, 9]))
    """

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        if target.is_floating_point():
            return super().forward(logits, target)
        rows, flat = class_last(logits, target)
        losses, _ = cross_entropy(rows, flat, self.weight, self.ignore_index, self.label_smoothing)
        loss = reduced(losses, flat, self.weight, self.ignore_index, self.reduction).view(
            shape_of(target, self.reduction)
        )
        return loss if autocast_dtype(logits) else loss.to(logits.dtype)


def shape_of(target: Tensor, reduction: str) -> torch.Size:
    """The shape of a loss."""
    return target.shape if reduction == "none" else torch.Size()


def class_last(logits: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Logits as [rows, classes] and targets as [rows].

    Raises:
        RuntimeError: shapes that do not fit.
    """
    axis = 0 if logits.dim() == 1 else 1
    if logits.dim() == 0 or target.shape != logits.shape[:axis] + logits.shape[axis + 1 :]:
        raise RuntimeError(f"target of shape {list(target.shape)} does not fit logits of shape {list(logits.shape)}")
    flat = target.flatten()
    return logits.movedim(axis, -1).reshape(flat.numel(), logits.shape[axis]), flat.long()
