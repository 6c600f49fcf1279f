"""Each decomposition of ours against the operator's own kernel, in every float dtype.

The decomposed graph runs node by node. Half types have to be equal in nearly every element, since one last-place
difference of a wide function may flip a rounding; sums over rows are excepted, which eager rounds on the way. Every
dtype has to be as near to a float64 run as eager is.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from fuseline import _decompose
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

aten = torch.ops.aten
DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.float64]
ROWS, COLUMNS = 48, 96

Arguments = Callable[[torch.dtype], tuple]


def normal(*size: int, scale: float = 1.0, shift: float = 0.0) -> Callable[[torch.dtype], Tensor]:
    """Makes a normal tensor of a dtype."""
    return lambda dtype: (torch.randn(size) * scale + shift).to(dtype)


X, G, W, B = normal(ROWS, COLUMNS, scale=3), normal(ROWS, COLUMNS), normal(COLUMNS), normal(COLUMNS)
IMAGE, CHANNEL = normal(4, 12, 5, 6, scale=2, shift=1), normal(12)
TARGET = torch.arange(ROWS) % COLUMNS


def unit(dtype: torch.dtype) -> Tensor:
    """Values of a sigmoid."""
    return X(dtype).sigmoid()


def layer_norm_saved(dtype: torch.dtype) -> tuple:
    """Arguments of the layer norm backward."""
    x, w, b = X(dtype), W(dtype), B(dtype)
    _, mean, rstd = aten.native_layer_norm.default(x, [COLUMNS], w, b, 1e-5)
    return G(dtype), x, [COLUMNS], mean, rstd, w, b, [True, True, True]


def running(dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Running mean and variance of 12 channels."""
    return torch.randn(12).to(dtype), (torch.rand(12) + 0.5).to(dtype)


def batch_norm_saved(dtype: torch.dtype, strided: bool, training: bool = True) -> tuple:
    """Arguments of the batch norm backward, the input dense or every second column of a wider one."""
    x = normal(12, 12, 14, scale=2, shift=1)(dtype)
    x, mean, rstd = x[..., ::2] if strided else x[..., :7].contiguous(), CHANNEL(dtype), running(dtype)[1]
    return (normal(12, 12, 7)(dtype), x, CHANNEL(dtype), mean, rstd, mean, rstd, training, 1e-5, [True, True, True])


def nll(dtype: torch.dtype) -> Tensor:
    """Log probabilities."""
    return X(dtype).log_softmax(-1)


def ignoring(target: Tensor) -> Tensor:
    """`target` with every seventh class ignored."""
    return torch.where(torch.arange(len(target)) % 7 == 0, -100, target)


CASES: list[tuple[str, torch._ops.OpOverload, Arguments]] = [
    ("softmax", aten._softmax.default, lambda d: (X(d), -1, False)),
    ("softmax of columns", aten._softmax.default, lambda d: (normal(4, 32, 64)(d), 1, False)),
    ("log_softmax", aten._log_softmax.default, lambda d: (X(d), -1, False)),
    ("log_softmax of columns", aten._log_softmax.default, lambda d: (normal(4, 32, 64)(d), 1, False)),
    ("softmax backward", aten._softmax_backward_data.default, lambda d: (G(d), X(d).softmax(-1), -1, d)),
    ("log_softmax backward", aten._log_softmax_backward_data.default, lambda d: (G(d), nll(d), -1, d)),
    ("layer norm", aten.native_layer_norm.default, lambda d: (X(d), [COLUMNS], W(d), B(d), 1e-5)),
    ("layer norm of weight", aten.native_layer_norm.default, lambda d: (X(d), [COLUMNS], W(d), None, 1e-5)),
    ("layer norm bare", aten.native_layer_norm.default, lambda d: (X(d), [COLUMNS], None, None, 1e-5)),
    ("layer norm wide weight", aten.native_layer_norm.default, lambda d: (X(d), [COLUMNS], *wide(d), 1e-5)),
    ("layer norm backward", aten.native_layer_norm_backward.default, layer_norm_saved),
    ("group norm", aten.native_group_norm.default, lambda d: (IMAGE(d), CHANNEL(d), CHANNEL(d), 4, 12, 30, 3, 1e-5)),
    ("group norm bare", aten.native_group_norm.default, lambda d: (IMAGE(d), None, None, 4, 12, 30, 3, 1e-5)),
    (
        "batch norm training",
        aten._native_batch_norm_legit_functional.default,
        lambda d: (IMAGE(d), CHANNEL(d), CHANNEL(d), *running(d), True, 0.1, 1e-5),
    ),
    (
        "batch norm inference",
        aten._native_batch_norm_legit_no_training.default,
        lambda d: (IMAGE(d), CHANNEL(d), CHANNEL(d), *running(d), 0.1, 1e-5),
    ),
    ("batch norm backward", aten.native_batch_norm_backward.default, lambda d: batch_norm_saved(d, False)),
    ("batch norm backward strided", aten.native_batch_norm_backward.default, lambda d: batch_norm_saved(d, True)),
    (
        "batch norm backward inference",
        aten.native_batch_norm_backward.default,
        lambda d: batch_norm_saved(d, True, training=False),
    ),
    ("instance norm", aten._native_batch_norm_legit.no_stats, lambda d: (IMAGE(d), None, None, True, 0.1, 1e-5)),
    ("silu", aten.silu.default, lambda d: (X(d),)),
    ("silu backward", aten.silu_backward.default, lambda d: (G(d), X(d))),
    ("sigmoid backward", aten.sigmoid_backward.default, lambda d: (G(d), unit(d))),
    ("tanh backward", aten.tanh_backward.default, lambda d: (G(d), X(d).tanh())),
    ("gelu", aten.gelu.default, lambda d: (X(d),)),
    ("gelu backward", aten.gelu_backward.default, lambda d: (G(d), X(d))),
    ("elu backward", aten.elu_backward.default, lambda d: (G(d), 1.5, 1.1, 1.2, False, X(d))),
    ("elu backward of result", aten.elu_backward.default, lambda d: (G(d), 1.5, 1.1, 1.2, True, X(d))),
    ("hardsigmoid backward", aten.hardsigmoid_backward.default, lambda d: (G(d), X(d))),
    ("glu backward", aten.glu_backward.default, lambda d: (normal(ROWS, COLUMNS // 2)(d), X(d), 1)),
    ("lerp", aten.lerp.Scalar, lambda d: (X(d), G(d), 0.3)),
    ("lerp far", aten.lerp.Scalar, lambda d: (X(d), G(d), 0.8)),
    ("lerp tensor", aten.lerp.Tensor, lambda d: (X(d), G(d), unit(d))),
    ("smooth_l1 backward", aten.smooth_l1_loss_backward.default, lambda d: (G(d), X(d), G(d), 0, 0.7)),
    ("mse backward", aten.mse_loss_backward.default, lambda d: (G(d), X(d), G(d), 1)),
    ("nll", aten.nll_loss_forward.default, lambda d: (nll(d), ignoring(TARGET), None, 0, -100)),
    ("nll weighted", aten.nll_loss_forward.default, lambda d: (nll(d), ignoring(TARGET), W(d).abs(), 0, -100)),
    (
        "nll backward",
        aten.nll_loss_backward.default,
        lambda d: (G(d)[0, 0], nll(d), ignoring(TARGET), W(d).abs(), 1, -100, torch.tensor(40.0, dtype=d)),
    ),
    (
        "nll2d backward",
        aten.nll_loss2d_backward.default,
        lambda d: (
            normal(4, 5, 6)(d), IMAGE(d), torch.randint(0, 12, (4, 5, 6)), None, 0, -100, torch.tensor(0.0, dtype=d)
        ),
    ),
]  # fmt: skip
CASES += [
    (f"{name} {reduction}", op, lambda d, r=reduction: (X(d), G(d), r))
    for name, op in (
        ("mse", aten.mse_loss.default),
        ("smooth_l1", aten.smooth_l1_loss.default),
    )
    for reduction in range(3)
]


USES_ERF = {aten.gelu.default, aten.gelu_backward.default}
"""Their kernels' erf is not `torch.erf`, and 1 + erf magnifies the difference: near eager, not equal."""


def wide(dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Weight and bias in float32, or float64 beside a float64 input."""
    d = torch.float64 if dtype == torch.float64 else torch.float32
    return W(d), B(d)


def decomposed(op: torch._ops.OpOverload, arguments: tuple) -> list[Tensor]:
    """Results of the operator's decomposed graph; the operator itself is not in it."""
    tensors = [a for a in arguments if isinstance(a, Tensor)]

    def call(*given: Tensor) -> list[Tensor]:
        remaining = iter(given)
        return results(op(*(next(remaining) if isinstance(a, Tensor) else a for a in arguments)))

    graph = make_fx(call, decomposition_table=_decompose.table())(*tensors)
    assert op not in {node.target for node in graph.graph.nodes}
    return torch.fx.Interpreter(graph).run(*tensors)


def results(value: Tensor | tuple) -> list[Tensor]:
    """The tensors of an operator's result."""
    return [value] if isinstance(value, Tensor) else [v for v in value if v is not None]


def widened(arguments: tuple) -> tuple:
    """The arguments in float64."""

    def widen(argument: object) -> object:
        if isinstance(argument, Tensor) and argument.is_floating_point():
            return argument.double()
        return torch.float64 if isinstance(argument, torch.dtype) else argument

    return tuple(map(widen, arguments))


def assert_as_near_as_eager(ours: Tensor, eager: Tensor, exact: Tensor) -> None:
    """Error over the float64 result at most twice eager's, but for two units of the largest magnitude."""
    scale = exact.abs().max().item() if exact.numel() else 0.0
    floor = torch.finfo(ours.dtype).eps * (8 if ours.dtype == torch.float64 else 2)  # eager is the float64 reference
    error, allowed = ((t.double() - exact).abs().max().item() if t.numel() else 0.0 for t in (ours, eager))
    assert error <= 2 * allowed + floor * scale


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("op", "arguments"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_as_eager(op: torch._ops.OpOverload, arguments: Arguments, dtype: torch.dtype) -> None:
    given = arguments(dtype)
    eager, exact = results(op(*given)), results(op(*widened(given)))
    for mine, theirs, reference in zip(decomposed(op, given), eager, exact, strict=True):
        assert (mine.dtype, mine.shape, mine.stride()) == (theirs.dtype, theirs.shape, theirs.stride())
        assert_as_near_as_eager(mine, theirs, reference)
        if mine.dtype in (torch.float16, torch.bfloat16) and mine.dim() > 1 and op not in USES_ERF:
            assert (mine != theirs).double().sum() <= max(3, 0.001 * mine.numel())


POINTWISE = [
    ("sigmoid backward", aten.sigmoid_backward.default),
    ("tanh backward", aten.tanh_backward.default),
    ("hardsigmoid backward", aten.hardsigmoid_backward.default),
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("op", [c[1] for c in POINTWISE], ids=[c[0] for c in POINTWISE])
def test_arithmetic_is_equal_bit_for_bit(op: torch._ops.OpOverload, dtype: torch.dtype) -> None:
    given = G(dtype), X(dtype)
    assert torch.equal(*decomposed(op, given), op(*given))


SPECIAL = [0.0, -0.0, 1.0, -1.0, torch.inf, -torch.inf, torch.nan, 1e30, -1e30, 1e-40]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    "op",
    [aten.silu.default, aten.gelu.default, aten._softmax.default, aten._log_softmax.default],
    ids=str,
)
def test_special_values_as_eager(op: torch._ops.OpOverload, dtype: torch.dtype) -> None:
    rows = [SPECIAL, [-torch.inf] * 10, [torch.inf] * 10, [torch.nan] * 10, [0.0, -torch.inf] * 5, [1e30, -1e30] * 5]
    x = torch.tensor(rows).to(dtype)
    given = (x, -1, False) if "softmax" in str(op) else (x,)
    (mine,) = decomposed(op, given)
    eager, exact = op(*given), op(*widened(given)).to(dtype)
    # On some CPUs eager's erf of infinity in f32 is NaN.
    eager = torch.where(eager.isnan() & ~exact.isnan(), exact, eager)
    torch.testing.assert_close(mine, eager, equal_nan=True)
    assert torch.equal(mine.isnan(), eager.isnan())


@pytest.mark.parametrize("size", [(0, 3), (3, 0), ()], ids=str)
@pytest.mark.parametrize("op", [aten._softmax.default, aten._log_softmax.default], ids=str)
def test_empty_and_scalar_softmax(op: torch._ops.OpOverload, size: tuple[int, ...]) -> None:
    given = torch.ones(size), -1, False
    assert torch.equal(*decomposed(op, given), op(*given))


def convolution(kernel: int, groups: int = 1, stride: int = 1, dtype: torch.dtype = torch.float64) -> tuple:
    """Arguments of a gradient of a convolution from 12 channels to 8 without padding."""
    x = IMAGE(dtype)
    weight = normal(8, 12 // groups, kernel, kernel)(dtype)
    rest = [stride] * 2, [0, 0], [1, 1], False, [0, 0], groups
    grad = normal(*aten.convolution.default(x, weight, None, *rest).shape)(dtype)
    return grad, x, weight, [8], *rest, [True, True, True]


@pytest.mark.parametrize("mask", [[True, True, True], [True, False, False], [False, True, False]], ids=str)
def test_gradients_of_a_convolution_of_single_elements(mask: list[bool]) -> None:
    given = *convolution(1)[:-1], mask
    eager, ours = aten.convolution_backward.default(*given), decomposed(aten.convolution_backward.default, given)
    assert [e is None for e in eager] == [not m for m in mask]
    for mine, theirs in zip(ours, [e for e in eager if e is not None], strict=True):
        torch.testing.assert_close(mine, theirs)
        assert mine.stride() == theirs.stride()


@pytest.mark.parametrize(
    "given",
    [
        convolution(3),
        convolution(1, groups=4),
        convolution(1, stride=2),
        convolution(1, dtype=torch.bfloat16),
        (convolution(1)[0], IMAGE(torch.float64).to(memory_format=torch.channels_last), *convolution(1)[2:]),
    ],
    ids=["kernel", "groups", "stride", "half", "channels last"],
)
def test_gradients_of_other_convolutions_stay_one_operator(given: tuple) -> None:
    table, op = _decompose.table(), aten.convolution_backward.default
    graph = make_fx(lambda *tensors: op(*tensors, *given[3:]), decomposition_table=table)(*given[:3])
    assert op in [node.target for node in graph.graph.nodes]


def test_layouts_of_images_are_kept() -> None:
    image = IMAGE(torch.float32).to(memory_format=torch.channels_last)
    given = image, CHANNEL(torch.float32), None, 4, 12, 30, 3, 1e-5
    (ours, *_), (eager, *_) = decomposed(aten.native_group_norm.default, given), aten.native_group_norm.default(*given)
    assert ours.stride() == eager.stride()


@pytest.mark.parametrize(
    "name",
    [
        "_scaled_dot_product_flash_attention_for_cpu.default",
        "convolution.default",
        "mm.default",
        "addmm.default",
        "bmm.default",
        "baddbmm.default",
        "max_pool2d_with_indices.default",
        "embedding.default",
        "embedding_dense_backward.default",
        "bernoulli.p",
        "sort.default",
        "topk.default",
        "cumsum.default",
    ],
)
def test_stays_one_operator(name: str) -> None:
    packet, overload = name.split(".")
    assert getattr(getattr(aten, packet), overload) not in _decompose.table()


def test_operators_whose_order_is_checked_stay_one() -> None:
    """An operator that is in the table for the order of its result only is traced as itself."""
    graph = make_fx(torch.addcmul, decomposition_table=_decompose.table())(*(torch.rand(3, 4) for _ in range(3)))
    assert [node.target for node in graph.graph.nodes if node.op == "call_function"] == [aten.addcmul.default]
