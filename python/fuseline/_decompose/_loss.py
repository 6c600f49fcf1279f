"""Losses and their backward. An element's loss is rounded to the input's dtype before it is averaged, as in eager."""

import torch
from torch import Tensor

from ._opmath import rounds_once

aten = torch.ops.aten

_NONE, _MEAN, _SUM = 0, 1, 2


def _reduced(loss: Tensor, reduction: int) -> Tensor:
    if reduction == _MEAN:
        return loss.mean()
    return loss.sum() if reduction == _SUM else loss


def _norm(x: Tensor, reduction: int, factor: float) -> Tensor:
    """`factor`, per element where the loss was a mean, rounded to x's dtype."""
    return torch.full((), factor / x.numel() if reduction == _MEAN else factor, dtype=x.dtype, device=x.device)


def mse_loss(x: Tensor, target: Tensor, reduction: int = _MEAN) -> Tensor:
    """(x − target)²; each step rounds."""
    difference = x - target
    return _reduced(difference * difference, reduction)


def mse_loss_backward(grad: Tensor, x: Tensor, target: Tensor, reduction: int) -> Tensor:
    """2·(x − target)·g; each step rounds."""
    return _norm(x, reduction, 2.0) * (x - target) * grad


def _smooth_l1(x: Tensor, target: Tensor, beta: float) -> Tensor:
    z = (x - target).abs()
    b = torch.full((), beta, dtype=x.dtype, device=x.device)
    return torch.where(z < b, 0.5 * z * z / b, z - 0.5 * b)


def smooth_l1_loss(x: Tensor, target: Tensor, reduction: int = _MEAN, beta: float = 1.0) -> Tensor:
    """z²/(2·beta) for z = |x − target| < beta, else z − beta/2; each step rounds in float16."""
    elementwise = _smooth_l1 if x.dtype == torch.float16 else rounds_once(_smooth_l1)
    return _reduced(elementwise(x, target, beta), reduction)


@rounds_once
def smooth_l1_loss_backward(grad: Tensor, x: Tensor, target: Tensor, reduction: int, beta: float) -> Tensor:
    """g · clamp((x − target)/beta, −1, 1)."""
    norm = _norm(x, reduction, 1.0)
    z = x - target
    return torch.where(z <= -beta, -norm * grad, torch.where(z >= beta, norm * grad, norm * z * grad / beta))


def _valid_targets(target: Tensor, ignore_index: int) -> tuple[Tensor, Tensor]:
    valid = target != ignore_index
    return valid, torch.where(valid, target, 0)


def nll_loss(
    x: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """−x[target]·weight[target] over the class dim (1, or 0 of a vector), and the total weight.

    The total weight is 0 where nothing is reduced. Only the picked elements of `x` are read.
    """
    if x.dim() == 1:
        loss, total = nll_loss(x.unsqueeze(0), target.reshape(1), weight, reduction, ignore_index)
        return loss.reshape(()) if reduction == _NONE else loss, total
    valid, safe = _valid_targets(target, ignore_index)
    loss = -x.gather(1, safe.unsqueeze(1)).squeeze(1)
    weights = valid.to(x.dtype) if weight is None else torch.where(valid, weight[safe], 0)
    loss = torch.where(valid, loss if weight is None else loss * weights, 0)
    if reduction == _NONE:
        return loss, x.new_zeros(())
    total = weights.sum()
    return (loss.sum() / total if reduction == _MEAN else loss.sum()), total


def nll_loss_backward(
    grad: Tensor,
    x: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> Tensor:
    """−g·weight[target] (over the total weight for a mean) at each target's class, else 0: no scatter."""
    if x.dim() == 1:
        row = nll_loss_backward(
            grad.reshape(1) if reduction == _NONE else grad,
            x.unsqueeze(0), target.reshape(1), weight, reduction, ignore_index, total_weight,
        )  # fmt: skip
        return row.squeeze(0)
    valid, safe = _valid_targets(target, ignore_index)
    scaled = -(grad / total_weight if reduction == _MEAN else grad)
    scaled = scaled if weight is None else weight[safe] * scaled
    classes = torch.arange(x.shape[1], device=x.device).reshape(-1, *[1] * (x.dim() - 2))
    hit = (classes == safe.unsqueeze(1)) & valid.unsqueeze(1)
    return torch.where(hit, scaled.unsqueeze(1) if scaled.dim() > 0 else scaled, 0)


TABLE = {
    aten.mse_loss.default: mse_loss,
    aten.mse_loss_backward.default: mse_loss_backward,
    aten.smooth_l1_loss.default: smooth_l1_loss,
    aten.smooth_l1_loss_backward.default: smooth_l1_loss_backward,
    aten.nll_loss_forward.default: nll_loss,
    aten.nll_loss_backward.default: nll_loss_backward,
    aten.nll_loss2d_forward.default: nll_loss,
    aten.nll_loss2d_backward.default: nll_loss_backward,
}
