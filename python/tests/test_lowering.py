"""Lowered operators: nothing of these functions runs in torch, and every result is eager's, with its dtype and strides.

Data movement, integer work and sums in a given order are equal bit for bit; float reductions up to their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import fuseline
import pytest
import torch
from fuseline import _backend
from torch import Tensor

Results = Sequence[Tensor]


@pytest.fixture
def in_torch(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What runs in torch of everything that is compiled during the test, with the reason."""
    found: list[str] = []
    compile_graph = _backend.compile_graph

    def recording(*arguments: Any) -> Any:
        run = compile_graph(*arguments)
        found.extend(str(remark) for remark in run.runner.remarks())
        return run

    monkeypatch.setattr(_backend, "compile_graph", recording)
    return found


def views(x: Tensor) -> Results:
    """x is [4, 6, 6]."""
    return (
        x[1:, ::2, -3:] + 1,
        x[-1, :, 2] + 1,
        x.unfold(1, 3, 2) + 1,
        x.diagonal(1, 1, 2) + 1,
        x.diagonal(-2, 2, 1) + 1,
        x.flip(0, 2) + 1,
        x.permute(2, 0, 1).reshape(6, -1) + 1,
        x.expand(2, 4, 6, 6).transpose(0, -1) + 1,
        x.squeeze(0).unsqueeze(-1) + 1,
        *(part + 1 for part in x.unbind(0)),
        *(part + 1 for part in x.split([1, 3, 2], 1)),
        *(part + 1 for part in x.chunk(3, 2)),
    )


def joins(x: Tensor) -> Results:
    """x is [4, 6, 6]."""
    return (
        torch.cat([x, x[:, 1:] * 2, x.new_ones(4, 1, 6)], 1),
        torch.stack([x, -x], 1),
        x.repeat(2, 1, 1, 3),
        x.repeat_interleave(2, 1),
        x.roll((1, -2), (0, 2)),
        x.tril(1),
        x.triu(-1),
        torch.nn.functional.pad(x, (1, -2, 0, 3), value=2.5),
        torch.nn.functional.pad(x, (2, 1), mode="reflect"),
        torch.nn.functional.pad(x, (2, 1), mode="replicate"),
        torch.slice_scatter(x, x[:, :2] * 3, 1, 1, 5, 2),
        torch.select_scatter(x, x[:, 0] * 3, 2, -2),
        torch.diagonal_scatter(x, x[:, :, 0][:, :5] * 3, 1, 1, 2),
        x.clone(memory_format=torch.contiguous_format).view(torch.int32 if x.dtype == torch.float32 else torch.int16),
    )


def replaced_in_place(x: Tensor) -> Results:
    """x is [4, 6, 6]."""
    y = x.clone()
    y[:, 1:4] += 2
    y[..., -1] = 7
    y.diagonal(0, 1, 2).mul_(2)
    y[1].copy_(x[0].t())
    return (y,)


def creations(x: Tensor) -> Results:
    """x is [4, 6, 6]."""
    n = x.shape[1]
    return (
        torch.arange(n) + x[0],
        torch.arange(3, 2 * n + 3, 2, dtype=torch.int32),
        torch.arange(1, 4, 0.5, dtype=torch.float64),
        torch.arange(9, 0, -1, dtype=torch.float32) * n,
        torch.full((2, n), 0.1, dtype=x.dtype),
        torch.zeros_like(x),
        x.new_ones(3, n, dtype=torch.bool),
        torch.eye(5),
    )


def reductions(x: Tensor) -> Results:
    """x is [4, 6, 6]."""
    return (
        x.sum(),
        x.sum((0, 2), keepdim=True),
        (x > 0).sum(1),
        x.mean(-1),
        x.prod(2),
        x.amax((0, 1)),
        x.amin(2, keepdim=True),
        x.max(),
        *x.max(1),
        *x.min(-1, keepdim=True),
        x.argmax(),
        x.argmin(1, keepdim=True),
        (x > 1).any(1),
        (x > -2).all(),
        x.var(1),
        x.std((0, 2), correction=0),
        x.logsumexp(1),
        x.norm(dim=1),
        torch.count_nonzero(x > 0),
    )


def scans(x: Tensor) -> Results:
    """x is [4, 6, 6]."""
    return x.cumsum(1), (x > 0).cumsum(0), x.cumprod(-1), *x.cummax(2), *x.cummin(0)


def gathers(x: Tensor, i: Tensor) -> Results:
    """x is [4, 6, 6], i an i64 [3, 4] of 0 to 3."""
    return (
        torch.nn.functional.embedding(i, x[0]),
        x.index_select(1, i[0]),
        x.gather(1, i[:, :, None].expand(3, 4, 6)),
        torch.take_along_dim(x[0, :, :4], i, 0),
        x[i],
        x[:, i],
        x[i, :, -1 - i],
        x[:, i[0], i[1] - 4],
        x.flatten()[i * 3],
        x.take(i * 3 - 7),
        x.take(i[0, 0]),
    )


def scatters(x: Tensor, i: Tensor) -> Results:
    """x is [4, 6, 6], i an i64 [3, 4] of 0 to 3."""
    index = i[:, :, None].expand(3, 4, 6)
    unique = torch.arange(4)
    return (
        x.scatter(1, unique[None, :, None].expand(4, 4, 6), -x),
        x.scatter(1, index, 5),
        x.scatter_add(1, index, x * 2),
        *(x.scatter_reduce(1, index, x, how, include_self=own) for how in ("amax", "amin") for own in (False, True)),
        x.scatter_reduce(0, index, x, "sum", include_self=False),
        x.index_add(1, i[0], x[:, :4]),
        x.index_copy(1, unique, x[:, 2:] * 2),
        x.index_fill(2, i[1], 3),
        torch.index_put(x, (i,), x.new_ones(6), accumulate=True),
        torch.index_put(x, (x > 0,), x.new_zeros(())),
    )


CASES: dict[str, tuple[Callable[..., Results], int]] = {
    "views": (views, 0),
    "joins": (joins, 0),
    "in place": (replaced_in_place, 0),
    "creations": (creations, 0),
    "reductions": (reductions, 1),
    "scans": (scans, 0),
    "gathers": (gathers, 0),
    "scatters": (scatters, 1),
}
"""Functions, and whether they reduce floats in an order of their own."""


def inputs(f: Callable[..., Results], dtype: torch.dtype) -> list[Tensor]:
    """Arguments of a function; multiples of 1/4 with equal ones and both zeros among them."""
    x = torch.randint(-9, 10, (4, 6, 6)).to(dtype) / 4
    x[0, 0, :2] = torch.tensor([0.0, -0.0])
    return [x] if f.__code__.co_argcount == 1 else [x, torch.randint(0, 4, (3, 4))]


def same(have: Tensor, want: Tensor, tolerant: bool) -> None:
    """Asserts equal type, strides and values."""
    assert (have.dtype, have.shape, have.stride()) == (want.dtype, want.shape, want.stride())
    if tolerant and want.dtype.is_floating_point:
        torch.testing.assert_close(have, want, equal_nan=True)
    else:
        integer = {8: torch.int64, 4: torch.int32, 2: torch.int16, 1: torch.uint8}[want.element_size()]
        assert torch.equal(have.contiguous().view(integer), want.contiguous().view(integer)), (have, want)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("name", CASES)
def test_operators_are_lowered_and_equal_eager(
    name: str, dtype: torch.dtype, dynamic: bool, in_torch: list[str]
) -> None:
    f, tolerant = CASES[name]
    arguments = inputs(f, dtype)
    want = f(*arguments)
    have = torch.compile(f, backend=fuseline.backend, dynamic=dynamic, fullgraph=True)(*arguments)
    assert in_torch == [], "\n".join(in_torch)
    for i, (a, b) in enumerate(zip(have, want, strict=True)):
        try:
            same(a, b, bool(tolerant))
        except AssertionError as e:
            raise AssertionError(f"{name}, result {i}: {e}") from e


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.as_strided((6, 6, 4), (1, 6, 36)) + 1,
        lambda x: x.as_strided((3, 5), (7, 2), 11) + 1,
        lambda x: x.transpose(0, 2).as_strided((4, 2), (0, 3)) + 1,
        lambda x: x.as_strided_scatter(x[0, :, 0], (6,), (9,), 2),
        lambda x: x.as_strided_scatter(x.transpose(0, 1), (6, 4, 6), (24, 6, 1)),
    ],
    ids=["whole", "gaps", "repeated", "scattered", "replaced"],
)
def test_strided_views_of_fixed_sizes(view: Callable[[Tensor], Tensor]) -> None:
    x = torch.randn(4, 6, 6)
    same(torch.compile(view, backend=fuseline.backend, fullgraph=True, dynamic=False)(x), view(x), False)
    assert fuseline.report().graphs[-1].externs == []


def test_an_index_out_of_range_is_an_index_error() -> None:
    compiled = torch.compile(lambda x, i: x[i] + 1, backend=fuseline.backend)
    with pytest.raises(IndexError, match="out of range"):
        compiled(torch.ones(4), torch.tensor([1, 4]))


def test_draws_equal_their_eager_kernels(in_torch: list[str]) -> None:
    from fuseline import _random_ops

    def draws(seed: Tensor) -> Results:
        kinds = (_random_ops.RAND_BITS, _random_ops.RAND_UNIFORM, _random_ops.RAND_NORMAL)
        return tuple(op([5, 7], seed, 3) for op in kinds)

    seed = torch.tensor(2**40 + 17)
    have = torch.compile(draws, backend=fuseline.backend, fullgraph=True)(seed)
    assert in_torch == [], "\n".join(in_torch)
    for a, b, tolerant in zip(have, draws(seed), (False, False, True), strict=True):
        same(a, b, tolerant)
