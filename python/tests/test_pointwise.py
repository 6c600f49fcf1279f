"""Lowerings at the edges of their dtypes: nothing runs in torch, and bits, dtype and strides are eager's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from fuseline import _backend
from fuseline._options import Options
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

aten = torch.ops.aten
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
INF, NAN = float("inf"), float("nan")
Results = Sequence[Tensor]


def check(f: Callable[..., Results], *tensors: Tensor, tolerance: float | None = None) -> None:
    """Compiles `f` alone and holds it against eager: bit for bit, or within a relative and absolute tolerance."""
    graph = make_fx(lambda *t: list(f(*t)), tracing_mode="fake")(*tensors)
    run: Any = _backend.compile_graph(graph, Options(), "lowering")
    assert run.runner.remarks() == []
    for i, (got, want) in enumerate(zip(run(list(tensors)), f(*tensors), strict=True)):
        assert (got.dtype, got.shape, got.stride()) == (want.dtype, want.shape, want.stride()), f"result {i}"
        if tolerance is None:
            torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)
            if got.dtype.is_floating_point:
                assert torch.equal(got.signbit() | got.isnan(), want.signbit() | want.isnan()), f"signs of result {i}"
        else:
            torch.testing.assert_close(got, want, rtol=tolerance, atol=tolerance, equal_nan=True)


def edges(dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Every pair of values that rounding, signs, NaN and infinity make special; zeros of one sign only."""
    values = [0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -3.0, 6.0, INF, -INF, NAN, 1e-3, 300.0, -300.0]
    x = torch.tensor(values, dtype=dtype)
    return x.repeat_interleave(len(values)), x.repeat(len(values))


@pytest.mark.parametrize("dtype", FLOATS)
def test_one_float(dtype: torch.dtype) -> None:
    def f(x: Tensor) -> Results:
        rounded = (aten.floor(x), aten.ceil(x), aten.trunc(x), aten.round(x))
        signs = (aten.sign(x), aten.sgn(x), aten.signbit(x), aten.neg(x), aten.abs(x))
        tests = (aten.isnan(x), aten.isinf(x), aten.logical_not(x))
        bounds = (aten.relu(x), aten.hardtanh(x), aten.clamp(x, 0.1, None), aten.clamp(x, 3, 1), aten.clamp(x, NAN, 1))
        powers = (x**2, x**3, x**-2, x**-1, x**1, x**0)
        return *rounded, *signs, *tests, *bounds, *powers, aten.leaky_relu(x, 0.1), aten.round(x, decimals=2)

    check(f, torch.cat([edges(dtype)[0], torch.tensor([-0.0], dtype=dtype)]))


@pytest.mark.parametrize("dtype", FLOATS)
def test_two_floats(dtype: torch.dtype) -> None:
    def f(x: Tensor, y: Tensor) -> Results:
        arithmetic = (x + y, x - y, x * y, x / y, x.fmod(y), x.remainder(y), aten.div(x, y, rounding_mode="trunc"))
        scaled = (aten.add(x, y, alpha=2), aten.sub(x, y, alpha=-0.5), aten.rsub(x, y, alpha=4))
        extrema = (x.maximum(y), x.minimum(y), x.fmax(y), x.fmin(y), aten.clamp(x, y), torch.where(x > y, x, y))
        truth = (x == y, x < y, x >= y, x != y, x.logical_and(y), x.logical_xor(y))
        return *arithmetic, *scaled, *extrema, *truth, x.copysign(y)

    check(f, *edges(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("number", [0.1, 3, -7.5, 0])
def test_numbers_round_as_in_eager(dtype: torch.dtype, number: float) -> None:
    """Products and quotients of half types read a number in f32, sums and remainders round it first."""

    def f(x: Tensor, tensor: Tensor) -> Results:
        whole = (aten.div(x, number, rounding_mode="floor"), aten.div(x, number, rounding_mode="trunc"))
        remainders = (x.fmod(number), x.remainder(number))
        plain = (x + number, x - number, number - x, x * number, x / number, x > number, x == number)
        of_tensor = (x * tensor, x / tensor, x + tensor, tensor * x, tensor / x, x < tensor)
        return *whole, *remainders, *plain, *of_tensor

    check(f, edges(dtype)[0], torch.tensor(number, dtype=torch.float32))


@pytest.mark.parametrize("dtype", FLOATS)
def test_sums_of_products_are_fused(dtype: torch.dtype) -> None:
    x, y, z = torch.randn(3, 400, generator=torch.Generator().manual_seed(0)).to(dtype)

    def f(x: Tensor, y: Tensor, z: Tensor) -> Results:
        products = (aten.addcmul(x, y, z, value=0.3), aten.addcmul(x, y, z), aten.addcmul(x, y, z, value=-1))
        return *products, aten.addcdiv(x, y, z, value=0.3), aten.addcdiv(x, y, z)

    check(f, x, y, z)


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_beyond_integers_convert_as_on_x86(dtype: torch.dtype) -> None:
    beyond = [3e9, -3e9, NAN, INF, 1e20, -1e20, 300.0, -5.0, -300.5, 7e4, -4e4, 2.0**31, 2.0**63, -0.9, 254.9]
    check(lambda x: [x.to(to) for to in (*INTEGERS, torch.bool)], torch.tensor(beyond, dtype=dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randint(-128, 128, (2, 300), generator=generator).to(dtype)
    shift = torch.randint(-3, 12, (300,), generator=generator).to(dtype)

    def f(x: Tensor, y: Tensor, shift: Tensor) -> Results:
        arithmetic = (x + y, x - y, x * y, x / y.clamp(min=1), x.abs(), -x, x.sign(), aten.add(x, y, alpha=3))
        bits = (x & y, x | y, x ^ y, ~x, aten.bitwise_left_shift(x, shift), aten.bitwise_right_shift(x, shift))
        quotients = (x.remainder(7), x.fmod(7), x // 5, aten.div(x, 3, rounding_mode="trunc"))
        powers = (x**3, x**5, x ** shift.abs())
        tests = (x > y, x == 3, x < 0.5, x.isnan(), x.isinf(), x.signbit())
        return *arithmetic, *bits, *quotients, *powers, *tests, x * 2.5, x.clamp(3, 90)

    check(f, x, y, shift)


def test_truth_values() -> None:
    a, b = torch.tensor([True, True, False, False]), torch.tensor([True, False, True, False])

    def f(a: Tensor, b: Tensor) -> Results:
        bits = (a + b, a * b, a | b, a & b, a ^ b, ~a, a < b)
        return *bits, a.maximum(b), a.sign(), a * 2, a + 0.5, torch.where(a, b, False)

    check(f, a, b)


def test_unsafe_division_stays_in_torch() -> None:
    """An integer divisor that may be zero raises, as in eager."""
    x, y = torch.tensor([1, 2]), torch.tensor([1, 0])
    graph = make_fx(lambda x, y: [x // y], tracing_mode="fake")(x, y)
    run: Any = _backend.compile_graph(graph, Options(), "division")
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        run([x, y])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_products(dtype: torch.dtype) -> None:
    a = torch.randint(-128, 128, (2, 20, 15), generator=torch.Generator().manual_seed(0)).to(dtype)

    def f(a: Tensor, b: Tensor) -> Results:
        added = aten.addmm(a[0, :, :1], a[0], b[0], beta=2, alpha=3)
        return a[0] @ b[0], a @ b, added, a[0] @ b[0, :, 0], a[0, 0].dot(b[0, :, 0])

    check(f, a, a.transpose(1, 2).contiguous())


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-4), (torch.float64, 1e-12), (torch.bfloat16, 0.1)])
def test_products(dtype: torch.dtype, tolerance: float) -> None:
    generator = torch.Generator().manual_seed(0)
    a, b = torch.randn(3, 8, 16, generator=generator).to(dtype), torch.randn(3, 16, 5, generator=generator).to(dtype)

    def f(a: Tensor, b: Tensor, c: Tensor) -> Results:
        batched = (aten.bmm(a, b), aten.baddbmm(c.expand(3, 8, 5), a, b, beta=0.5, alpha=2), aten.addbmm(c, a, b))
        ignored = aten.addmm(c * NAN, a[0], b[0], beta=0)
        vectors = (aten.mv(a[0], b[0, :, 0]), aten.addmv(c[:1], a[0], b[0, :, 0]), aten.dot(a[0, 0], b[0, :, 0]))
        return *batched, ignored, *vectors, aten.mm(a[0][:, :0], b[0][:0])

    check(f, a, b, torch.randn(5, generator=generator).to(dtype), tolerance=tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_greatest_of_windows(dtype: torch.dtype) -> None:
    """Ties give the first place, NaN the last, padding none."""
    x = torch.randint(-4, 5, (2, 3, 12, 12), generator=torch.Generator().manual_seed(0)).to(dtype)
    x.view(-1)[[3, 4, 77]] = NAN
    x[1, 1] = -INF

    def f(x: Tensor) -> Results:
        padded = aten.max_pool2d_with_indices(x, [3, 2], [2, 2], [1, 1])
        return *padded, *aten.max_pool2d_with_indices(x, 3, 1, 1, 2), *aten.max_pool2d_with_indices(x, 2)

    check(f, x)


def test_upsampling_repeats() -> None:
    x = torch.randn(2, 3, 5, 4)
    check(lambda x: [aten.upsample_nearest2d(x, None, [2.0, 3.0]), aten.upsample_nearest2d(x, [10, 20])], x)


def test_means_of_windows_and_convolutions() -> None:
    generator = torch.Generator().manual_seed(0)
    x, w = torch.randn(2, 4, 12, 12, generator=generator), torch.randn(6, 4, 3, 3, generator=generator)

    def f(x: Tensor, w: Tensor) -> Results:
        windows = (aten.avg_pool2d(x, [3, 2], [2, 2], [1, 0], True), aten.avg_pool2d(x, 3, 2, 1, True, False))
        blocks = (aten._adaptive_avg_pool2d(x, [3, 4]), aten._adaptive_avg_pool2d_backward(x[:, :, :3, :4], x))
        plain = aten.convolution(x, w, w[:, 0, 0, 0], [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
        deep = aten.convolution(x, w[:, :1].reshape(6, 1, 3, 3)[:4], None, [2, 2], [1, 1], [1, 1], False, [0, 0], 4)
        return *windows, *blocks, plain, deep

    check(f, x, w, tolerance=1e-4)
