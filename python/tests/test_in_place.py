"""Arguments that change while others read them: what is stored over an argument must wait for its last reader."""

from __future__ import annotations

from collections.abc import Callable

import fuseline
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


def intermediates(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Values that end where another begins, are needed once more, or are read elsewhere than the next is written."""
    a = x + y
    b = a * 2
    c = b.abs()
    turned = (c - 1).flip(0) + c
    return (a * b).relu(), turned - turned.amax(), (b + c.roll(1, 0)) * y


def scattered(x: Tensor, y: Tensor) -> Tensor:
    """A buffer that is written in part lies in the memory of the result."""
    at = torch.arange(x.shape[0]) // 2
    return torch.zeros_like(x).index_add(0, at, y) + x * 2


def returned(x: Tensor, y: Tensor) -> Tensor:
    """The argument itself is the result."""
    return x.mul_(y).sub_(y)


def returned_with_view(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """A view taken before the update shows what comes after it, a copy does not."""
    before, view = x * 1.5, x[:1]
    x.add_(y)
    return x, view, before


FUNCTIONS = [
    old_value_after_update,
    both_ways,
    chain,
    used_by_two,
    reversed_read,
    intermediates,
    scattered,
    returned,
    returned_with_view,
]


@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("size", [1, 7, 1000, 100003])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_eager(function: Callable[..., Tensor], size: int, fuse: bool) -> None:
    """Results and arguments afterwards are eager's, bit for bit, with one kernel per op too."""
    eager = [torch.randn(size), torch.randn(size)]
    ours = [x.clone() for x in eager]
    want, have = function(*eager), compiled(function, options={"fuse": fuse})(*ours)
    for a, b in zip([*_listed(have), *ours], [*_listed(want), *eager], strict=True):
        assert same_bits(a, b)


def _listed(value: Tensor | tuple[Tensor, ...]) -> list[Tensor]:
    return [value] if isinstance(value, Tensor) else list(value)


def test_a_returned_update_is_the_argument() -> None:
    """No torch call copies it, and the result is the argument's memory."""
    x, y = torch.randn(100), torch.randn(100)
    result = compiled(returned)(x, y)
    assert result.data_ptr() == x.data_ptr()
    assert not any(graph.externs for graph in fuseline.explain(returned, x, y).graphs)
