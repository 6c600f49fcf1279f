"""Public bugs of fusing compilers, widened: views, aliases and the order of mutations. Eager is the rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from backend import compiled
from outcomes import Case, assert_as_eager, cases

Tensor = torch.Tensor


def numbers(*shape: int) -> Tensor:
    """0, 1, 2, … in a shape."""
    return torch.arange(float(torch.Size(shape).numel())).reshape(shape)


def put_then_flip(x: Tensor) -> Tensor:
    """198270: reads of x at other positions come before the write."""
    x.index_put_((torch.tensor([1, 3]),), torch.tensor([10.0, 30.0]))
    x += x.flip(0)
    return x * 1


def add_own_flip(x: Tensor) -> Tensor:
    return x.add_(x.flip(0))


def add_own_roll(x: Tensor) -> Tensor:
    x += x.roll(1, 0) * 2
    return x.sum(1)


def add_own_transpose(x: Tensor) -> Tensor:
    return x.add_(x.t().clone())


def foreach_flip(x: Tensor, y: Tensor) -> Tensor:
    torch._foreach_add_([x, y], [x.flip(0), y.flip(0)])
    return x + y


def read_before_write(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x * 2
    x.add_(1)
    return y, x * 2


def bits_before_write(x: Tensor) -> Tensor:
    """198101: a dtype view of x is read before x changes."""
    y = x.view(torch.int32) + 0
    x.mul_(2)
    return y


def bits_after_write(x: Tensor) -> Tensor:
    y = x.view(torch.int32)
    x.mul_(2)
    return y + 0


def write_through_bits(x: Tensor) -> Tensor:
    x.view(torch.int32).bitwise_xor_(-(2**31))
    return x + 1


def bytes_of_half(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x.view(torch.uint8).clone()
    x.zero_()
    return y, x


def dropout_is_identity(x: Tensor) -> Tensor:
    """195422: dropout in evaluation returns x itself."""
    y = torch.nn.functional.dropout(x, 0.5, training=False)
    y += y
    return y + 1


def write_view(x: Tensor) -> Tensor:
    x[1:].mul_(2)
    return x + 1


def shift_left(x: Tensor) -> Tensor:
    x[:-1] = x[1:].clone()
    return x


def shift_with_sum(x: Tensor) -> Tensor:
    x[1:] = x[1:] + x[:-1]
    return x * 3


def write_diagonal(x: Tensor) -> Tensor:
    x.diagonal().add_(x.sum())
    return x.t() * 2


def write_two_views(x: Tensor) -> Tensor:
    a, b = x[:3], x[2:]
    a.add_(1)
    b.mul_(a.sum())
    return a + 1


def write_strided(x: Tensor) -> Tensor:
    x.as_strided((2, 3), (1, 2), 1).add_(100)
    return x.clone()


def write_transposed_view(x: Tensor) -> Tensor:
    x.t()[0].copy_(x[0, : x.shape[0]])
    return x - 1


def swap_halves(x: Tensor) -> Tensor:
    half = x.shape[0] // 2
    a, b = x[:half].clone(), x[half:].clone()
    x[:half], x[half:] = b, a
    return x


def write_expanded_source(x: Tensor) -> Tensor:
    wide = x.expand(3, -1)
    x[-1] = 50
    return wide + 0


def write_after_view_returned(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x[1:]
    x.add_(5)
    return y, y * 2


def copy_then_read(x: Tensor, y: Tensor) -> Tensor:
    """94693: what reads after copy_ sees the new values."""
    x.copy_(y * 2)
    z = x + 1
    x.copy_(z * 3)
    return x - z


def three_versions(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    a = x + 1
    x.relu_()
    b = x + 1
    x.zero_()
    return a, b, x + 1


def in_place_chain(x: Tensor) -> Tensor:
    return x.add_(1).mul_(2).relu_().sub_(3).neg_().clamp_(-20, 4)


def aliased_arguments(x: Tensor, y: Tensor) -> Tensor:
    x.mul_(2)
    return y + 1


def overlapping_arguments(x: Tensor, y: Tensor) -> Tensor:
    y.add_(10)
    return x * 1


def accumulate_duplicates(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    at = torch.tensor([0, 0, 2, 2, 2])
    source = torch.arange(5.0) + 1
    return x.index_add(0, at, source), x.scatter_add(0, at, source), x.index_put((at,), source, accumulate=True)


def multiply_duplicates(x: Tensor) -> Tensor:
    x[torch.tensor([1, 1, 3])] *= 2
    return x


def masked_write(x: Tensor) -> Tensor:
    x[x > 4] = -1
    x.masked_fill_(x < 0, 7)
    return x.cumsum(0)


def lerp_then_read(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """183575: a state that is updated in place is read later."""
    x.lerp_(y, 0.25)
    z = (x * x).sum()
    y.add_(z)
    return x / (z + 1), y


def detached_write(x: Tensor) -> Tensor:
    y = x * 2
    y.detach().add_(1)
    return y * 3


def split_write(x: Tensor) -> Tensor:
    a, b, c = x.chunk(3)
    b.copy_(a + c)
    a.fill_(9)
    return x.flip(0)


def window_sum(x: Tensor) -> Tensor:
    return x.unfold(0, 3, 1).sum(-1) + x.as_strided((x.numel() - 2,), (1,), 2)


def loop_of_shifts(x: Tensor) -> Tensor:
    for _ in range(4):
        x[1:] += x[:-1].clone()
    return x


def cache_write(cache: Tensor, new: Tensor) -> Tensor:
    cache[:, 2:4] = new
    return (cache * 2).sum(1)


def conditional_write(x: Tensor) -> Tensor:
    y = torch.where(x > 3, x, -x)
    x.copy_(y)
    return y.add_(x)


def view_of_view(x: Tensor) -> Tensor:
    x.view(2, 3, 2).transpose(0, 2)[1].select(1, 0).mul_(-1)
    return x.reshape(-1)


def old_value(read: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Reads an argument, in a way that simplifies to the argument itself, before it is overwritten."""

    def run(x: Tensor) -> Tensor:
        y = read(x)
        x.add_(1)
        return y

    return run


def swapped(x: Tensor, y: Tensor) -> Tensor:
    old = x * 1
    x.copy_(y)
    y.copy_(old)
    return old


def nothing_written(x: Tensor, at: Tensor) -> tuple[Tensor, ...]:
    x[at] = 1.0
    return (
        x,
        x.index_fill(1, at, 2.0),
        torch.ops.aten.index_put(x, [None, at], x.new_ones(())),
        x.index_copy(0, at, x[:0]),
    )


def whole_written(x: Tensor) -> tuple[Tensor, Tensor]:
    """A slice with a step covers all of one element: what is written and the whole are one memory."""
    v = x.unsqueeze(-1)
    y = torch.slice_scatter(v, v[::2].neg(), 0, 0, None, 2)
    return y, y.squeeze(-1).clone()


def statistics(x: Tensor) -> tuple[Tensor, ...]:
    """Reductions that are read under the conditions of concatenations and pads, over as many elements as those have."""
    part = x.amax(1, keepdim=True)
    padded = F.pad(x.sum(1, keepdim=True) * 2, (0, x.shape[1] - 1))
    shifted = torch.cat((x[:, 1:] - part, part - x[:, :1]), 1)
    return torch.stack([x[0].sum(), x[0].amax(), x[0].amin()]), padded.sum(1), padded, shifted


def many_parts(x: Tensor) -> tuple[Tensor, ...]:
    rows = x.unbind(0)
    return torch.stack(rows[::-1]), torch.cat([r * n for n, r in enumerate(rows)]), torch.stack(rows, 1) + 1


def rotated_half(x: Tensor) -> Tensor:
    y = x - x.sum(-1, keepdim=True)
    half = x.shape[-1] // 2
    return y + torch.cat((-y[..., half:], y[..., :half]), -1)


CASES = cases(
    old_product=(old_value(lambda x: x * 1), lambda: (numbers(6),)),
    old_parts=(old_value(lambda x: torch.cat((x[:2], x[2:]))), lambda: (numbers(6),)),
    old_choice=(old_value(lambda x: torch.where(x == x, x, x)), lambda: (numbers(6),)),
    old_selection=(old_value(lambda x: x.index_select(0, torch.arange(6))), lambda: (numbers(6),)),
    old_scatter=(old_value(lambda x: x.slice_scatter(x[:2], 0, 0, 2)), lambda: (numbers(6),)),
    swapped=(swapped, lambda: (numbers(6), numbers(6) * 3)),
    nothing_written=(nothing_written, lambda: (numbers(3, 2), torch.zeros(0, dtype=torch.int64))),
    whole_written=(whole_written, lambda: (numbers(1),)),
    many_parts=(many_parts, lambda: (numbers(300, 2),)),
    gradient_of_one_of_many=(lambda x: x.unbind(0)[3] * 2, lambda: (numbers(300, 2).requires_grad_(),)),
    statistics=(statistics, lambda: (numbers(3, 3),)),
    rotated_half=(rotated_half, lambda: (numbers(2, 3, 8),)),
    rotated_half_gradient=(lambda x: rotated_half(x) * x[..., :1], lambda: (numbers(2, 8).requires_grad_(),)),
    put_then_flip=(put_then_flip, lambda: (numbers(6),)),
    add_own_flip=(add_own_flip, lambda: (numbers(33),)),
    add_own_roll=(add_own_roll, lambda: (numbers(5, 3),)),
    add_own_transpose=(add_own_transpose, lambda: (numbers(9, 9),)),
    foreach_flip=(foreach_flip, lambda: (numbers(4), numbers(4) * 10)),
    read_before_write=(read_before_write, lambda: (numbers(17),)),
    bits_before_write=(bits_before_write, lambda: (numbers(8),)),
    bits_after_write=(bits_after_write, lambda: (numbers(8),)),
    write_through_bits=(write_through_bits, lambda: (numbers(8),)),
    bytes_of_half=(bytes_of_half, lambda: (numbers(4).half(),)),
    dropout_is_identity=(dropout_is_identity, lambda: (numbers(4),)),
    write_view=(write_view, lambda: (numbers(5),)),
    shift_left=(shift_left, lambda: (numbers(40),)),
    shift_with_sum=(shift_with_sum, lambda: (numbers(40),)),
    write_diagonal=(write_diagonal, lambda: (numbers(4, 4),)),
    write_two_views=(write_two_views, lambda: (numbers(6),)),
    write_strided=(write_strided, lambda: (numbers(12),)),
    write_transposed_view=(write_transposed_view, lambda: (numbers(3, 5),)),
    swap_halves=(swap_halves, lambda: (numbers(8),)),
    write_expanded_source=(write_expanded_source, lambda: (numbers(5),)),
    write_after_view_returned=(write_after_view_returned, lambda: (numbers(5),)),
    copy_then_read=(copy_then_read, lambda: (numbers(5), numbers(5) - 2)),
    three_versions=(three_versions, lambda: (numbers(9) - 4,)),
    in_place_chain=(in_place_chain, lambda: (numbers(20) - 9,)),
    accumulate_duplicates=(accumulate_duplicates, lambda: (numbers(4),)),
    multiply_duplicates=(multiply_duplicates, lambda: (numbers(4) + 1,)),
    masked_write=(masked_write, lambda: (numbers(9),)),
    lerp_then_read=(lerp_then_read, lambda: (numbers(4), numbers(4) * 4)),
    detached_write=(detached_write, lambda: (numbers(4).requires_grad_(),)),
    split_write=(split_write, lambda: (numbers(9),)),
    window_sum=(window_sum, lambda: (numbers(9),)),
    loop_of_shifts=(loop_of_shifts, lambda: (numbers(9),)),
    cache_write=(cache_write, lambda: (numbers(2, 6, 3), -numbers(2, 2, 3))),
    conditional_write=(conditional_write, lambda: (numbers(9),)),
    view_of_view=(view_of_view, lambda: (numbers(12),)),
    transposed_input=(in_place_chain, lambda: (numbers(4, 5).t(),)),
    offset_input=(shift_with_sum, lambda: (numbers(12)[3:],)),
    stepped_input=(shift_with_sum, lambda: (numbers(24)[1::3],)),
)


def same_tensor_twice() -> tuple[Any, ...]:
    x = numbers(4)
    return x, x


def whole_and_part() -> tuple[Any, ...]:
    x = numbers(8)
    return x, x[2:6]


def two_halves_that_overlap() -> tuple[Any, ...]:
    x = numbers(9)
    return x[:6], x[3:]


ALIASED = cases(
    same_tensor_twice=(aliased_arguments, same_tensor_twice),
    whole_and_part=(overlapping_arguments, whole_and_part),
    part_and_whole=(aliased_arguments, whole_and_part),
    two_halves_that_overlap=(overlapping_arguments, two_halves_that_overlap),
)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("case", CASES + ALIASED)
def test_as_eager(case: Case, dynamic: bool) -> None:
    """Values, arguments after the call and aliases are eager's."""
    assert_as_eager(case, dynamic=dynamic)


def test_strided_in_place_under_functional_grad() -> None:
    """136662: the gradient of a strided in-place addition."""

    def loss(x: Tensor) -> Tensor:
        y = x.clone()
        y[::2] += x[1::2] ** 2
        return (y * y).sum()

    case = Case("grad", torch.func.grad(loss), lambda: (numbers(6),))
    assert_as_eager(case)


STARTS = {
    "zeros": lambda x: torch.zeros(4),
    "ones_like": torch.ones_like,
    "arange": lambda x: torch.arange(4.0),
    "constant": lambda x: torch.tensor([1.0, 2.0, 3.0, 4.0]),
}

WRITES = {
    "index_add": lambda y, i, x: y.index_add(0, i, x),
    "scatter_add": lambda y, i, x: y.scatter_add(0, i, x),
    "index_put": lambda y, i, x: y.index_put((i,), x, accumulate=True),
    "scatter_max": lambda y, i, x: y.scatter_reduce(0, i, x, "amax"),
    "slice": lambda y, i, x: y[1:3].add_(x[1:3]).sum() + y,
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("start", STARTS)
def test_every_call_starts_anew(start: str, write: str) -> None:
    """A value without inputs that a call writes into is the same at the start of the next call."""

    def fn(x: Tensor, i: Tensor) -> Tensor:
        return WRITES[write](STARTS[start](x), i, x)

    x, i = numbers(4) - 1, torch.tensor([0, 0, 2, 3])
    ours, eager = compiled(fn), fn(x, i)
    for _ in range(3):
        assert torch.equal(ours(x, i), eager)


def test_slices_up_to_any_number() -> None:
    """One compiled function for bounds of either sign, inside the tensor and beyond it."""
    fn = lambda x, n: x[:n] * 2  # noqa: E731
    ours, x = compiled(fn, dynamic=True), numbers(5)
    for n in (3, 10, -1, -9, 0, 1, 2**40):
        assert torch.equal(ours(x, n), fn(x, n)), n


def test_alias_is_a_tensor_of_its_own() -> None:
    """A result and its alias share memory, not sizes."""
    with torch.no_grad():
        y, alias = compiled(lambda x: (lambda y: (y, y.detach()))(x * 2))(numbers(3))
    y.unsqueeze_(0)
    assert alias.shape == (3,) and alias.data_ptr() == y.data_ptr()


@torch._dynamo.config.patch(capture_scalar_outputs=True)
def test_integers_read_from_tensors() -> None:
    """Sizes, factors and parts that a tensor holds, in one graph."""

    def prefix(x: Tensor, n: Tensor) -> Tensor:
        k = int(n[0].item())
        torch._check(k >= 0)
        torch._check(k <= x.shape[0])
        return x[:k].sum() * (k + 1)

    def factors(x: Tensor, n: Tensor) -> Tensor:
        return torch.stack([x.sum() * k for k in n.tolist()])

    def parts(x: Tensor, n: Tensor) -> Tensor:
        return torch.split(x, n.tolist())[0] * 2

    for fn in (prefix, factors, parts):
        x, n = numbers(6, 2), torch.tensor([2, 4])
        assert torch.equal(compiled(fn, fullgraph=True)(x, n), fn(x, n)), fn.__name__
