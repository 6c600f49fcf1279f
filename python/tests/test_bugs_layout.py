"""Public bugs of fusing compilers, widened: strides of outputs, gradients of windows and pads, errors, random order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from backend import compiled
from comparing import accurately
from outcomes import Case, assert_as_eager, assert_refused, cases

Tensor = torch.Tensor


def image(channels_last: bool = False) -> Tensor:
    """A small batch of images that wants a gradient."""
    generator = torch.Generator().manual_seed(6)
    x = torch.randn(2, 4, 6, 5, generator=generator)
    return (x.to(memory_format=torch.channels_last) if channels_last else x).requires_grad_()


def kernel() -> Tensor:
    """A convolution's weight that wants a gradient."""
    return torch.randn(3, 4, 3, 3, generator=torch.Generator().manual_seed(7)).requires_grad_()


def bilinear_chain(x: Tensor, w: Tensor) -> Tensor:
    """185509: gradients through interpolation, convolution, pooling and where."""
    y = F.interpolate(x, scale_factor=1.5, mode="bilinear", align_corners=False)
    y = F.max_pool2d(F.conv2d(y, w, padding=1), 2)
    return torch.where(y > 0, y, y * 0.1)


CASES = cases(
    permuted=(lambda x: x.permute(2, 0, 1) * 2, lambda: (torch.ones(2, 3, 4),)),
    permuted_plus_contiguous=(lambda x, y: x.permute(1, 0) + y, lambda: (torch.ones(3, 4), torch.ones(4, 3))),
    contiguous_plus_permuted=(lambda x, y: y + x.permute(1, 0), lambda: (torch.ones(3, 4), torch.ones(4, 3))),
    channels_last=(lambda x: x * 2 + 1, lambda: (image(True),)),
    channels_last_plus_bias=(lambda x, b: x + b, lambda: (image(True), torch.ones(4, 1, 1))),
    channels_last_reduced=(lambda x: x.amax((2, 3), keepdim=True) * x, lambda: (image(True),)),
    expanded=(lambda x: x.expand(5, 3) + 0, lambda: (torch.ones(1, 3),)),
    expanded_itself=(lambda x: x.expand(5, 3).clone(), lambda: (torch.ones(1, 3),)),
    stepped=(lambda x: x[::2] * 2, lambda: (torch.ones(7, 3),)),
    stepped_columns=(lambda x: x[:, ::2] * 2, lambda: (torch.ones(7, 9).t(),)),
    empty_like=(lambda x: torch.zeros_like(x), lambda: (torch.ones(3, 4).t(),)),
    empty_strided=(lambda x: torch.empty_strided((2, 3), (1, 2)).copy_(x), lambda: (torch.ones(2, 3),)),
    as_strided=(lambda x: x.as_strided((2, 4), (1, 2)) + 1, lambda: (torch.arange(12.0),)),
    as_strided_channels_last=(
        lambda x: x.as_strided((2, 3), (60, 7), 1) * 1,
        lambda: (image(True).detach(),),
    ),
    nearest_of_permuted=(
        lambda x: F.interpolate(x.permute(0, 3, 1, 2), scale_factor=2, mode="nearest"),
        lambda: (image(),),
    ),
    contiguous_then_bits=(
        lambda x: x.t().contiguous().view(torch.uint8),
        lambda: (torch.arange(6, dtype=torch.int16).reshape(2, 3),),
    ),
    clone_preserves=(lambda x: x.t().clone(), lambda: (torch.ones(3, 4),)),
    contiguous_of_transpose=(lambda x: x.t().contiguous(), lambda: (torch.ones(3, 4),)),
    to_channels_last=(lambda x: x.to(memory_format=torch.channels_last) + 1, lambda: (image(),)),
    cat_of_permuted=(lambda x: torch.cat((x.t(), x.t())), lambda: (torch.ones(3, 4),)),
    stack_of_channels_last=(lambda x: torch.cat((x, x * 2), 1), lambda: (image(True),)),
    sum_keeps_layout=(lambda x: x.permute(2, 0, 1).sum(1), lambda: (torch.ones(2, 3, 4),)),
    where_of_mixed=(lambda x, y: torch.where(x.t() > 0, y, x.t()), lambda: (torch.ones(3, 4), torch.ones(4, 3))),
    softmax_of_transpose=(lambda x: x.t().softmax(0), lambda: (torch.ones(3, 4),)),
    reshape_may_view=(lambda x: (x.reshape(12), x.t().reshape(12)), lambda: (torch.arange(12.0).reshape(3, 4),)),
    same_result_twice=(lambda x: (lambda y: (y, y))(x + 1), lambda: (torch.ones(3),)),
    result_and_its_view=(lambda x: (lambda y: (y, y.t(), y[0]))(x + 1), lambda: (torch.ones(3, 4),)),
    argument_returned=(lambda x: (x, x + 1, x.t()), lambda: (torch.ones(3, 4),)),
    writes_into_expanded=(
        lambda x, y: (
            torch.select_scatter(x.expand(3, 4, 5), y[0], 0, 1),
            torch.slice_scatter(x.expand(3, 4, 5), y[:1], 0, 2, 3),
            torch.diagonal_scatter(x.expand(3, 4, 5), y[:, 0].t(), 0, 0, 1),
        ),
        lambda: (torch.rand(1, 4, 5), torch.rand(3, 4, 5)),
    ),
    cumsum_of_transpose=(lambda x: x.t().cumsum(1), lambda: (torch.ones(3, 4),)),
    sort_of_transpose=(lambda x: x.t().sort(0), lambda: (torch.arange(12.0).reshape(3, 4),)),
    gather_of_transpose=(
        lambda x, i: (x.t().gather(0, i), x.t()[:, i[0]], x.t().index_select(1, i[0])),
        lambda: (torch.arange(12.0).reshape(3, 4), torch.tensor([[0, 2, 1]])),
    ),
)

ACCURATE = cases(
    accurately,
    matmul_of_transposes=(lambda x, y: x.t() @ y.t(), lambda: (torch.ones(3, 4), torch.ones(5, 3))),
    convolution=(lambda x, w: F.conv2d(x, w, padding=1), lambda: (image(), kernel())),
    convolution_channels_last=(lambda x, w: F.conv2d(x, w, padding=1).relu(), lambda: (image(True), kernel())),
    convolution_of_permuted=(
        lambda x, w: F.conv2d(x.permute(0, 1, 3, 2), w, stride=2) * 2,
        lambda: (image(), kernel()),
    ),
    bilinear_chain=(bilinear_chain, lambda: (image(), kernel())),
    reflect_pad=(lambda x: F.pad(x, (2, 1, 1, 2), mode="reflect") ** 2, lambda: (image(),)),
    negative_pad=(lambda x: F.pad(x, (-1, 2, 1, -2)) * x.sum(), lambda: (image(),)),
    replicate_pad=(lambda x: F.pad(x, (2, 0, 0, 2), mode="replicate").sin(), lambda: (image(),)),
    circular_pad=(lambda x: F.pad(x, (2, 1, 1, 0), mode="circular") ** 2, lambda: (image(),)),
    reflect_then_negative=(
        lambda x: F.pad(F.pad(x, (2, 2, 0, 1), mode="reflect"), (-3, -1)) ** 2,
        lambda: (image(),),
    ),
    pooling=(lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False) * 2, lambda: (image(True),)),
    overlapping_windows=(lambda x: x.unfold(3, 3, 1).pow(2).sum(-1), lambda: (image(),)),
    fold=(lambda x: F.fold(F.unfold(x, 3), (6, 5), 3), lambda: (image(),)),
    gather_with_duplicates=(
        lambda x: x.gather(3, torch.zeros(2, 4, 6, 5, dtype=torch.int64)) * x,
        lambda: (image(),),
    ),
    expand_gradient=(lambda x: x[:1].expand(3, 4, 6, 5) * x[:, :, :, :1].sum(0), lambda: (image(),)),
    group_norm=(lambda x: F.group_norm(x, 2), lambda: (image(True),)),
    fill_gradient=(
        lambda x, v: x.index_fill(-1, torch.tensor([3, 0, 3]), v) ** 2,
        lambda: (image(), torch.tensor(2.0, requires_grad=True)),
    ),
)


def nothing(*shape: int) -> Tensor:
    """A tensor without elements that wants a gradient."""
    return torch.randn(shape).requires_grad_()


EMPTY = cases(
    empty_copied_part=(lambda x: x[:, 1:].clone(), lambda: (nothing(0, 3),)),
    empty_overwritten_part=(lambda x, y: x[:, 1:].copy_(y), lambda: (torch.ones(0, 3), torch.ones(0, 2))),
    empty_circular_pad=(lambda x: F.pad(x, (1, 2), mode="circular"), lambda: (nothing(3, 0, 3),)),
    empty_circular_pad_of_images=(lambda x: F.pad(x, (1, 1, 2, 1), mode="circular"), lambda: (nothing(0, 2, 3, 3),)),
    empty_roll=(lambda x: x.roll(1, 1), lambda: (nothing(0, 3),)),
    empty_flip=(lambda x: x.flip(1), lambda: (nothing(0, 3),)),
    empty_chunks=(lambda x: torch.cat([c * 2 for c in x.chunk(2, 1)], 0), lambda: (nothing(0, 4),)),
    empty_select=(lambda x: x[:, 2] + x.select(1, -1), lambda: (nothing(0, 3),)),
    empty_diagonal=(lambda x: x.diagonal(1, 1, 2).contiguous(), lambda: (nothing(0, 3, 3),)),
    empty_unfold=(lambda x: x[:, 1:].unfold(1, 2, 1).contiguous(), lambda: (nothing(0, 5),)),
    empty_rows_normalised=(lambda x: F.layer_norm(x, (0,)) * 2, lambda: (nothing(3, 0),)),
    empty_turned_part=(lambda x: x[1:, :, 2:].permute(2, 0, 1).contiguous(), lambda: (nothing(2, 0, 4),)),
)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("case", CASES + ACCURATE + EMPTY)
def test_as_eager(case: Case, dynamic: bool) -> None:
    """Strides and aliases of results, and strides and values of gradients, are eager's."""
    assert_as_eager(case, dynamic=dynamic)


WRONG: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "index": (lambda x, i: x[i] + 1, (torch.ones(4), torch.tensor([4]))),
    "negative_index": (lambda x, i: x[i] + 1, (torch.ones(4), torch.tensor([-5]))),
    "index_write": (lambda x, i: x.index_put((i,), x[:1]) + 1, (torch.ones(4), torch.tensor([9]))),
    "gather": (lambda x, i: x.gather(0, i) + 1, (torch.ones(4), torch.tensor([4]))),
    "scatter": (lambda x, i: x.scatter(0, i, 1.0) + 1, (torch.ones(4), torch.tensor([4]))),
    "index_select": (lambda x, i: x.index_select(0, i) + 1, (torch.ones(4), torch.tensor([-1]))),
    "embedding": (lambda x, i: F.embedding(i, x) + 1, (torch.ones(4, 2), torch.tensor([4]))),
    "cross_entropy": (lambda x, i: F.cross_entropy(x, i), (torch.ones(2, 3), torch.tensor([0, 3]))),
    "one_hot": (lambda x, i: F.one_hot(i, 3) + 1, (torch.ones(4), torch.tensor([3]))),
    "max_of_nothing": (lambda x: x.max() + 1, (torch.empty(0),)),
    "min_of_nothing": (lambda x: x.min() + 1, (torch.empty(2, 0),)),
    "max_along_nothing": (lambda x: x.max(1), (torch.empty(2, 0),)),
    "take": (lambda x, i: x.take(i) + 1, (torch.ones(4), torch.tensor([4]))),
    "index_add": (lambda x, i: x.index_add(0, i, x[:1]) * 2, (torch.ones(4), torch.tensor([4]))),
    "multinomial": (lambda x, i: torch.multinomial(x - 2, 1), (torch.ones(4), torch.tensor([0]))),
}


@pytest.mark.parametrize("name", WRONG)
def test_error_class(name: str) -> None:
    """197554: what eager refuses at run time is refused, by an exception of the same class, and not computed."""
    fn, arguments = WRONG[name]
    with pytest.raises(Exception) as eager:  # noqa: PT011
        fn(*arguments)
    assert_refused(fn, lambda: arguments, eager.type)


SHAPES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "broadcast": (lambda x, y: x + y, (torch.ones(3), torch.ones(4))),
    "matmul": (lambda x, y: x @ y, (torch.ones(3, 4), torch.ones(3, 4))),
    "cat": (lambda x, y: torch.cat((x, y)), (torch.ones(3, 4), torch.ones(3, 3))),
    "view": (lambda x, y: x.view(5), (torch.ones(3, 4), torch.ones(1))),
    "matmul_dtype": (lambda x, y: x @ y, (torch.ones(3, 3), torch.ones(3, 3, dtype=torch.float64))),
    "int_sqrt_in_place": (lambda x, y: x.sqrt_(), (torch.ones(3, dtype=torch.int64), torch.ones(1))),
    "softmax_dim": (lambda x, y: x.softmax(3), (torch.ones(3), torch.ones(1))),
}


@pytest.mark.parametrize("name", SHAPES)
def test_wrong_shapes_raise(name: str) -> None:
    """What eager refuses when it sees shapes and dtypes is refused."""
    fn, arguments = SHAPES[name]
    with pytest.raises(Exception):  # noqa: B017, PT011
        fn(*arguments)
    with pytest.raises(Exception):  # noqa: B017, PT011
        compiled(fn)(*arguments)


RANDOM = cases(
    dropout=(lambda x: F.dropout(x, 0.3) + F.dropout(x, 0.6), lambda: (image(),)),
    order=(
        lambda x: (torch.rand_like(x), torch.randn_like(x), torch.rand(3), torch.randint(9, (4,))),
        lambda: (image(),),
    ),
    order_against_use=(lambda x: (lambda a, b: (b - a, a))(torch.rand(3), torch.rand(3)), lambda: (image(),)),
    bernoulli=(lambda x: (torch.bernoulli(x.sigmoid()), x.detach().clone().bernoulli_(0.3)), lambda: (image(),)),
    in_place=(lambda x: x.clone().uniform_(-1, 1).add_(torch.empty(5).normal_()), lambda: (image(),)),
    permutation=(lambda x: (torch.randperm(9), torch.rand(2)), lambda: (image(),)),
)


@pytest.mark.parametrize("case", RANDOM)
def test_random_numbers_of_eager(case: Case) -> None:
    """118735, 141645, 192635, 143431: with rng="eager" the numbers, their order and the state after are eager's."""
    assert_as_eager(case)
    torch.manual_seed(8)
    case.fn(*case.make())
    expected = torch.get_rng_state()
    torch.manual_seed(8)
    compiled(case.fn, fullgraph=True)(*case.make())
    assert torch.equal(torch.get_rng_state(), expected)


def test_own_random_numbers_obey_the_seed() -> None:
    """With our own generator: the same seed gives the same numbers, the next call others, and a mean as expected."""
    fn = compiled(lambda x: (F.dropout(x, 0.25), torch.rand(1000)), options={"rng": "fused"})
    x = torch.ones(4000)
    torch.manual_seed(9)
    first, second = fn(x), fn(x)
    torch.manual_seed(9)
    again = fn(x)
    assert torch.equal(first[0], again[0]) and torch.equal(first[1], again[1])
    assert not torch.equal(first[1], second[1])
    assert abs((first[0] == 0).float().mean() - 0.25) < 0.03
    assert abs(first[1].mean() - 0.5) < 0.05


def test_results_of_torch_that_are_absent() -> None:
    """A torch call may give nothing for some of its results: here the gradient of an input that needs none."""
    images, weight = torch.randn(2, 3, 8, 8), torch.randn(4, 3, 3, 3, requires_grad=True)
    bias = torch.randn(4, requires_grad=True)

    def loss(images: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.conv2d(images, weight, bias).sin().sum()

    ours = torch.autograd.grad(compiled(loss)(images, weight, bias), (weight, bias))
    eager = torch.autograd.grad(loss(images, weight, bias), (weight, bias))
    torch.testing.assert_close(ours, eager, rtol=1e-4, atol=1e-4)
