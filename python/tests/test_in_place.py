"""Arguments that change while others read them: what is stored over an argument must wait for its last reader."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from backend import compiled
from comparing import same_bits
from torch import Tensor


def old_value_after_update(x: Tensor, y: Tensor) -> Tensor:
    """Reads what an argument was after it changed."""
    before = x.clone()
    x.mul_(2.0)
    return before * 3 + y


def both_ways(x: Tensor, y: Tensor) -> Tensor:
    """Each argument takes the other's value."""
    before = x.clone()
    x.copy_(y * 2)
    y.copy_(before * 3)
    return before


def chain(x: Tensor, y: Tensor) -> Tensor:
    """Updates that read each other."""
    x.add_(y)
    y.add_(x)
    return x * y


def used_by_two(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The old value gives the new one and two results."""
    first, second = x + y, x * y
    x.sub_(first)
    return first * 2, second + x


def reversed_read(x: Tensor, y: Tensor) -> Tensor:
    """Every element is read at another place than it is written."""
    x.add_(x.flip(0))
    return x + y


@pytest.mark.parametrize("size", [1, 7, 1000, 100003])
@pytest.mark.parametrize("function", [old_value_after_update, both_ways, chain, used_by_two, reversed_read])
def test_as_eager(function: Callable[..., Tensor], size: int) -> None:
    """Results and arguments afterwards are eager's, bit for bit."""
    eager = [torch.randn(size), torch.randn(size)]
    ours = [x.clone() for x in eager]
    want, have = function(*eager), compiled(function)(*ours)
    for a, b in zip([*_listed(have), *ours], [*_listed(want), *eager], strict=True):
        assert same_bits(a, b)


def _listed(value: Tensor | tuple[Tensor, ...]) -> list[Tensor]:
    return [value] if isinstance(value, Tensor) else list(value)
