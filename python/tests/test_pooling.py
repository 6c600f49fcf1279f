"""Pooling and its gradients: nothing runs in torch, and every result is as accurate as eager's, with its strides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fuseline
import pytest
import torch
import torch.nn.functional as F
from backend import NAME, compiled
from comparing import accurately, compare, exactly, widened
from torch import Tensor

Layout = Callable[[Tensor], Tensor]

SIZES = {1: (2, 3, 13), 2: (2, 3, 11, 8), 3: (2, 2, 7, 6, 5)}
"""Sizes that no stride divides."""

WINDOWS: dict[str, dict[str, Any]] = {
    "tiles": {"kernel_size": 2},
    "overlapping": {"kernel_size": 3, "stride": 2, "padding": 1},
    "dense": {"kernel_size": 4, "stride": 1, "padding": 2},
    "gaps": {"kernel_size": 2, "stride": 3},
    "ceil": {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
}
UNEVEN = {"kernel_size": (3, 2), "stride": (1, 3), "padding": (1, 0)}

AVERAGE: list[tuple[int, dict[str, Any]]] = [
    *((spatial, window) for spatial in SIZES for window in WINDOWS.values()),
    (2, UNEVEN),
    (2, WINDOWS["overlapping"] | {"count_include_pad": False}),
    (2, WINDOWS["ceil"] | {"count_include_pad": False}),
    (3, WINDOWS["ceil"] | {"count_include_pad": False}),
    (2, WINDOWS["ceil"] | {"divisor_override": 5}),
    (2, WINDOWS["tiles"] | {"divisor_override": 3}),
    (3, WINDOWS["overlapping"] | {"divisor_override": 7}),
]
GREATEST: list[tuple[int, dict[str, Any]]] = [
    *((spatial, window) for spatial in SIZES for name, window in WINDOWS.items() if name != "ceil"),
    (2, UNEVEN),
]
CASES = [
    pytest.param(
        f"{kind}_pool{spatial}d", spatial, window, id=f"{kind}{spatial}d-{'-'.join(map(str, window.values()))}"
    )
    for kind, windows in (("avg", AVERAGE), ("max", GREATEST))
    for spatial, window in windows
]


def pooled(pool: str, window: dict[str, Any], x: Tensor, weight: Tensor | None, run: bool) -> tuple[Tensor, Tensor]:
    """The pooled tensor and the gradient of its weighted sum, of x squared, by x."""
    x = x.detach().requires_grad_()
    call = lambda x: getattr(F, pool)(x * x, **window)  # noqa: E731
    y = (compiled(call, fullgraph=True, dynamic=False) if run else call)(x)
    y.backward(torch.ones_like(y) if weight is None else weight)
    assert x.grad is not None
    return y.detach(), x.grad


def check(pool: str, window: dict[str, Any], x: Tensor) -> None:
    """Asserts equal results, gradients and strides, and that torch ran nothing of a compiled call."""
    with torch.no_grad():
        weight = torch.randn_like(getattr(F, pool)(x, **window))
    eager = pooled(pool, window, x, weight, False)
    exact = pooled(pool, window, widened(x), widened(weight), False)
    ours = pooled(pool, window, x, weight, True)
    if NAME == "fuseline":
        graphs = fuseline.report().graphs
        assert graphs and not any(graph.externs for graph in graphs)
    problems = list(compare(ours[0], eager[0], exact[0], exactly if pool.startswith("max") else accurately, "forward "))
    problems += compare(ours[1], eager[1], exact[1], accurately, "gradient ")
    assert not problems, "\n".join(map(str, problems))


@pytest.mark.parametrize(("pool", "spatial", "window"), CASES)
def test_windows(pool: str, spatial: int, window: dict[str, Any]) -> None:
    """Every geometry in f32."""
    check(pool, window, torch.randn(SIZES[spatial]))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("window", ["tiles", "overlapping"])
@pytest.mark.parametrize("pool", ["avg_pool2d", "max_pool2d"])
def test_dtypes(pool: str, window: str, dtype: torch.dtype) -> None:
    """Other floats; halves round where eager's do."""
    check(pool, WINDOWS[window], torch.randn(SIZES[2]).to(dtype))


LAYOUTS: dict[str, Layout] = {
    "no batch": lambda x: x[0],
    "empty batch": lambda x: x[:0],
    "channels last": lambda x: x.contiguous(memory_format=torch.channels_last),
    "transposed": lambda x: x.transpose(2, 3),
    "gaps": lambda x: x[:, :, ::2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("pool", ["avg_pool2d", "max_pool2d"])
def test_layouts(pool: str, layout: str) -> None:
    """Operands of other ranks and strides, and with nothing in them."""
    check(pool, WINDOWS["overlapping"], LAYOUTS[layout](torch.randn(SIZES[2])))


@pytest.mark.parametrize("pool", ["avg_pool2d", "max_pool2d"])
def test_special_values(pool: str) -> None:
    """NaN, infinities, ties and zeros of both signs go where eager's go."""
    x = torch.randint(-2, 3, SIZES[2]).float()
    x[0, 0, 2, 2], x[0, 1, 4, 4], x[1, 2, 0, 0] = torch.nan, torch.inf, -0.0
    x.neg_()
    eager, ours = (pooled(pool, WINDOWS["overlapping"], x, None, run) for run in (False, True))
    problems = [p for a, b in zip(ours, eager, strict=True) for p in compare(a, b)]
    assert not problems, "\n".join(map(str, problems))


@pytest.mark.parametrize("pool", ["avg_pool2d", "max_pool2d"])
def test_dynamic_sizes(pool: str) -> None:
    """One executable for many heights and widths."""
    call = compiled(lambda x: getattr(F, pool)(x * 2, 3, 2, 1), fullgraph=True, dynamic=True)
    for height, width in ((9, 7), (8, 12), (21, 6)):
        a, b = (torch.randn(2, 3, height, width, generator=torch.Generator().manual_seed(3)) for _ in range(2))
        call(a.requires_grad_()).sum().backward()
        getattr(F, pool)(b.requires_grad_() * 2, 3, 2, 1).sum().backward()
        torch.testing.assert_close(a.grad, b.grad)
