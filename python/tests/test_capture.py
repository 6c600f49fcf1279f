"""What capture saves for backward, and how random numbers behave. Graphs run node by node on PyTorch's kernels."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from fuseline import _random
from reference_backend import Captured, Options
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.checkpoint import checkpoint

ROWS, COLUMNS = 64, 100


def leaf(*size: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """A random tensor that wants a gradient."""
    return torch.randn(size).to(dtype).requires_grad_()


def gradients(f: Callable[..., Tensor], *inputs: Tensor) -> list[Tensor]:
    """Gradients of the sum of `f(*inputs)`."""
    floats = [x for x in inputs if x.requires_grad]
    return list(torch.autograd.grad(f(*inputs).sum(), floats))


def trained(captured: Captured, f: Callable[..., Tensor], *inputs: Tensor) -> list[Tensor]:
    """Gradients through the captured graphs."""
    return gradients(captured.compile(f), *inputs)


# What is saved for backward


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy_saves_rows(dtype: torch.dtype, smoothing: float) -> None:
    target = torch.randint(0, COLUMNS, (ROWS,))
    target[::5] = -100

    def loss(x: Tensor) -> Tensor:
        return F.cross_entropy(x, target, label_smoothing=smoothing)

    captured, x = Captured(), leaf(ROWS, COLUMNS, dtype=dtype)
    (grad,) = trained(captured, loss, x)
    assert captured.saved() and all(t.numel() <= ROWS for t in captured.saved())
    torch.testing.assert_close(grad, *gradients(loss, x))


def test_cross_entropy_of_computed_logits_saves_only_them() -> None:
    target = torch.randint(0, COLUMNS, (ROWS,))
    captured = Captured()
    trained(captured, lambda x, w: F.cross_entropy(x @ w, target), leaf(ROWS, 8), leaf(8, COLUMNS))
    large = [t.shape for t in captured.saved() if t.numel() >= ROWS * COLUMNS]
    assert large == [(ROWS, COLUMNS)]


@pytest.mark.parametrize("f", [torch.softmax, torch.log_softmax])
def test_softmax_of_halves_saves_no_wide_copy(f: Callable[..., Tensor]) -> None:
    captured = Captured()
    trained(captured, lambda x: f(x * 2, -1).sin(), leaf(ROWS, COLUMNS, dtype=torch.bfloat16))
    wide = [t.shape for t in captured.saved() if t.dtype == torch.float32]
    assert all(shape[-1] == 1 for shape in wide)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_norms_save_row_statistics(dtype: torch.dtype) -> None:
    w, b = leaf(COLUMNS, dtype=dtype), leaf(COLUMNS, dtype=dtype)
    for f in (
        lambda x: F.layer_norm(x, (COLUMNS,), w, b).sin(),
        lambda x: F.rms_norm(x, (COLUMNS,), w).sin(),
        lambda x: F.group_norm(x.view(ROWS, 4, 25), 2).sin(),
        lambda x: F.instance_norm(x.view(ROWS, 4, 25)).sin(),
    ):
        captured = Captured()
        trained(captured, f, leaf(ROWS, COLUMNS, dtype=dtype))
        assert captured.saved() and all(t.numel() <= 4 * ROWS for t in captured.saved())


def test_batch_norm_saves_channels_and_updates_running_statistics() -> None:
    ours, eager = torch.nn.BatchNorm2d(6), torch.nn.BatchNorm2d(6)
    x = leaf(4, 6, 5, 5)
    captured = Captured()
    (grad,) = trained(captured, lambda x: ours(x).sin(), x)
    torch.testing.assert_close(grad, *gradients(lambda x: eager(x).sin(), x))
    torch.testing.assert_close(ours.running_mean, eager.running_mean)
    torch.testing.assert_close(ours.running_var, eager.running_var)
    assert all(t.numel() <= 6 for t in captured.saved())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_dropout_saves_the_seed_alone(dtype: torch.dtype) -> None:
    captured = Captured()
    trained(captured, lambda x: F.dropout(F.dropout(x.sin(), 0.3).cos(), 0.5), leaf(ROWS, COLUMNS, dtype=dtype))
    assert [(t.shape, t.dtype) for t in captured.saved()] == [((), torch.int64)]
    assert "fuseline.rand_uniform.default" in captured.targets(captured.backward)


def test_no_seed_without_random_operators() -> None:
    captured = Captured()
    trained(captured, lambda x: F.dropout(x.sin(), 0.5, training=False), leaf(ROWS))
    assert "fuseline.seed.default" not in captured.targets(captured.forward)


# Random numbers


def dropout(x: Tensor) -> Tensor:
    """Half of x, doubled."""
    return F.dropout(x, 0.5)


def test_manual_seed_repeats() -> None:
    f = Captured().compile(dropout)
    x = torch.ones(1000)
    torch.manual_seed(1)
    first, second = f(x), f(x)
    torch.manual_seed(1)
    assert torch.equal(f(x), first)
    assert not torch.equal(first, second)


def test_generator_state_repeats() -> None:
    f = Captured().compile(dropout)
    x = torch.ones(1000)
    state = torch.get_rng_state()
    first = f(x)
    torch.set_rng_state(state)
    assert torch.equal(f(x), first)
    with torch.random.fork_rng():
        f(x)
    after = torch.get_rng_state()
    torch.set_rng_state(state)
    f(x)
    assert torch.equal(torch.get_rng_state(), after)


def test_gradient_has_the_mask_of_the_output() -> None:
    x = torch.ones(1000, requires_grad=True)
    y = Captured().compile(dropout)(x)
    y.sum().backward()
    assert torch.equal(y, x.grad)


def test_equal_dropouts_differ_and_are_independent() -> None:
    captured = Captured()
    a, b = captured.compile(lambda x: (F.dropout(x, 0.5), F.dropout(x, 0.5)))(torch.ones(100_000))
    assert abs((a * b).mean() - 1) < 0.05
    (graph,) = captured.inference
    assert sum(str(n.target) == "fuseline.seed.default" for n in graph.graph.nodes) == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("p", [0.0, 0.1, 0.3, 1.0])
def test_dropout_scale_and_rate(dtype: torch.dtype, p: float) -> None:
    x = torch.full((100_000,), 1.5, dtype=dtype)
    y = Captured().compile(lambda x: F.dropout(x, p))(x)
    kept = F.dropout(x, p).max()
    assert y.dtype == dtype and set(y.unique().tolist()) <= {0.0, kept.item()}
    assert abs((y == 0).double().mean() - p) < 0.005


def test_dropped_infinity_is_nan_as_in_eager() -> None:
    x = torch.full((1000,), torch.inf)
    for y in (dropout(x), Captured().compile(dropout)(x)):
        assert y.isnan().any() and (y.isnan() | y.isinf()).all()


@pytest.mark.parametrize("preserve", [True, False])
def test_checkpoint_changes_no_gradient(preserve: bool) -> None:
    w = torch.randn(32, 32)

    def block(x: Tensor) -> Tensor:
        return F.dropout(torch.relu(F.dropout(x @ w, 0.2)) @ w, 0.5).sin()

    def checkpointed(x: Tensor) -> Tensor:
        return checkpoint(block, x, use_reentrant=False, preserve_rng_state=preserve)

    x = leaf(16, 32)
    torch.manual_seed(3)
    (plain,) = trained(Captured(), lambda x: block(block(x)), x)
    torch.manual_seed(3)
    captured = Captured()
    (recomputed,) = trained(captured, lambda x: checkpointed(checkpointed(x)), x)
    assert torch.equal(plain, recomputed)
    assert sum(t.numel() >= x.numel() for t in captured.saved()) <= 2  # weights, and the boundary of the regions
    assert "aten.mm.default" in captured.targets(captured.backward)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_eager_random_numbers_on_request(dtype: torch.dtype) -> None:
    captured, x = Captured(Options(rng="eager")), leaf(ROWS, COLUMNS, dtype=dtype)

    def f(x: Tensor) -> Tensor:
        return F.dropout(x.sin(), 0.3).cos() + torch.randn_like(x)

    torch.manual_seed(5)
    expected = gradients(f, x)
    torch.manual_seed(5)
    assert torch.equal(*expected, *trained(captured, f, x))
    assert [t.dtype for t in captured.saved() if t.numel() > 1] == [torch.bool]


@pytest.mark.parametrize("order", [(1, 0, 2, 3), (3, 2, 1, 0), (0, 2, 3, 1)])
def test_eager_masks_lie_in_memory_order(order: tuple[int, ...]) -> None:
    x = torch.rand(2, 3, 4, 5).permute(order)
    compiled = torch.compile(lambda x: F.dropout(x, 0.4), backend="fuseline", options={"rng": "eager"})
    torch.manual_seed(7)
    expected = F.dropout(x, 0.4)
    torch.manual_seed(7)
    assert torch.equal(compiled(x), expected)


DRAWS: list[tuple[str, Callable[[Tensor], Tensor], float, float]] = [
    ("rand_like", torch.rand_like, 0.5, 12**-0.5),
    ("rand", lambda x: torch.rand(x.shape, dtype=x.dtype), 0.5, 12**-0.5),
    ("randn_like", torch.randn_like, 0.0, 1.0),
    ("randn", lambda x: torch.randn(x.shape, dtype=x.dtype), 0.0, 1.0),
    ("uniform_", lambda x: torch.empty_like(x).uniform_(-2, 4), 1.0, 3**0.5),
    ("normal_", lambda x: torch.empty_like(x).normal_(1, 3), 1.0, 3.0),
    ("exponential_", lambda x: torch.empty_like(x).exponential_(0.5), 2.0, 2.0),
    ("bernoulli_", lambda x: torch.empty_like(x).bernoulli_(0.2), 0.2, 0.4),
    ("randint", lambda x: torch.randint(-5, 6, x.shape).to(x.dtype), 0.0, 10**0.5),
    ("randint_like", lambda x: torch.randint_like(x, 11), 5.0, 10**0.5),
    ("long randint", lambda x: torch.randint(0, 2**40, x.shape).to(x.dtype) / 2**39, 1.0, 3**-0.5),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("name", "f", "mean", "deviation"), DRAWS, ids=[d[0] for d in DRAWS])
def test_distributions(
    name: str, f: Callable[[Tensor], Tensor], mean: float, deviation: float, dtype: torch.dtype
) -> None:
    if name == "long randint" and dtype == torch.float16:
        pytest.skip("2⁴⁰ is no float16")
    captured = Captured()
    x = torch.zeros(500, 400, dtype=dtype).t()
    y = captured.compile(f)(x)
    expected = torch.compile(f, backend="aot_eager")(x)
    assert (y.dtype, y.stride()) == (expected.dtype, expected.stride())
    assert abs(y.double().mean() - mean) < 0.02 * max(deviation, 0.5)
    assert abs(y.double().std() - deviation) < 0.02 * deviation
    assert "fuseline.seed.default" in captured.targets(captured.inference)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_uniform_halves_stay_below_one(dtype: torch.dtype) -> None:
    y = Captured().compile(lambda: torch.rand(1_000_000, dtype=dtype))()
    assert y.max() < 1 and y.min() == 0


def test_explicit_generator_is_left_to_eager() -> None:
    graph = make_fx(lambda x: torch.ops.aten.bernoulli.p(x, 0.5), tracing_mode="fake")(torch.ones(8))
    argument, draw = list(graph.graph.nodes)[:2]
    draw.kwargs = {"generator": argument}  # a stand-in: PyTorch 2.11 has no generator in a graph
    assert _random.rewrite(graph) == []
    draw.kwargs = {}
    assert len(_random.rewrite(graph)) == 1


def test_dynamic_sizes_compile_once() -> None:
    captured = Captured()

    def loss(x: Tensor, t: Tensor) -> Tensor:
        return F.cross_entropy(F.layer_norm(F.dropout(x, 0.1), (x.shape[1],)), t)

    f = captured.compile(loss, dynamic=True)
    for rows, columns in ((8, 16), (24, 40), (7, 33)):
        x = leaf(rows, columns)
        f(x, torch.randint(0, columns, (rows,))).backward()
        assert x.grad is not None and x.grad.isfinite().all()
    assert len(captured.forward) == len(captured.backward) == 1
