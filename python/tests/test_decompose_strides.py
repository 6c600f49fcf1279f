"""Decompositions give results of eager's strides, whatever the strides of their operands."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from backend import compiled
from comparing import strides_differ
from fuseline import _decompose
from fuseline._decompose import _order
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_leaves

aten = torch.ops.aten
SHAPE = (3, 4, 5, 6)

LAYOUTS: dict[str, Callable[[], Tensor]] = {
    "contiguous": lambda: torch.rand(SHAPE),
    "transposed": lambda: torch.rand(SHAPE[::-1]).permute(3, 2, 1, 0),
    "channels_last": lambda: torch.rand(SHAPE).to(memory_format=torch.channels_last),
    "expanded": lambda: torch.rand(1, *SHAPE[1:]).expand(SHAPE),
    "stepped": lambda: torch.rand(3, 4, 5, 12)[..., ::2],
}


def laid_out(x: Tensor) -> Tensor:
    """`x` as group norm's kernel takes it: contiguous or channels last."""
    return x if x.is_contiguous(memory_format=torch.channels_last) else x.contiguous()


STATISTICS = (torch.rand(4), torch.rand(4) + 0.5)
INDEX = torch.tensor([0, 2])
PIXELS = torch.randint(4, (3, 5, 6))

CALLS: dict[str, tuple[object, Callable[[Tensor], tuple]]] = {
    "softmax": (aten._softmax.default, lambda x: (x, 1, False)),
    "log_softmax": (aten._log_softmax.default, lambda x: (x, -1, False)),
    "softmax_backward": (aten._softmax_backward_data.default, lambda x: (x, x, 1, x.dtype)),
    "log_softmax_backward": (aten._log_softmax_backward_data.default, lambda x: (x, x, 1, x.dtype)),
    "layer_norm": (aten.native_layer_norm.default, lambda x: (x, [6], torch.rand(6), torch.rand(6), 1e-5)),
    "group_norm": (
        aten.native_group_norm.default,
        lambda x: (laid_out(x), torch.rand(4), torch.rand(4), 3, 4, 30, 2, 1e-5),
    ),
    "batch_norm": (
        aten._native_batch_norm_legit_no_training.default,
        lambda x: (x, torch.rand(4), torch.rand(4), *STATISTICS, 0.1, 1e-5),
    ),
    "batch_norm_backward": (
        aten.native_batch_norm_backward.default,
        lambda x: (torch.rand(SHAPE), x, torch.rand(4), *STATISTICS, *STATISTICS, True, 1e-5, [True] * 3),
    ),
    "silu": (aten.silu.default, lambda x: (x,)),
    "silu_backward": (aten.silu_backward.default, lambda x: (x, x)),
    "gelu": (aten.gelu.default, lambda x: (x,)),
    "gelu_backward": (aten.gelu_backward.default, lambda x: (x, x)),
    "sigmoid_backward": (aten.sigmoid_backward.default, lambda x: (x, x)),
    "tanh_backward": (aten.tanh_backward.default, lambda x: (x, x)),
    "lerp": (aten.lerp.Scalar, lambda x: (x, x, 0.3)),
    "mse_loss": (aten.mse_loss.default, lambda x: (x, x, 0)),
    "mse_loss_backward": (aten.mse_loss_backward.default, lambda x: (torch.rand(()), x, x, 1)),
    "smooth_l1_loss": (aten.smooth_l1_loss.default, lambda x: (x, x, 0, 1.0)),
    "smooth_l1_loss_backward": (aten.smooth_l1_loss_backward.default, lambda x: (torch.rand(()), x, x, 1, 1.0)),
    "nll_loss2d_backward": (
        aten.nll_loss2d_backward.default,
        lambda x: (torch.rand(()), x.contiguous(), PIXELS, None, 1, -100, torch.tensor(90.0)),
    ),
    "log_sigmoid": (aten.log_sigmoid_forward.default, lambda x: (x,)),
    "softplus": (aten.softplus.default, lambda x: (x,)),
    "channel_shuffle": (aten.channel_shuffle.default, lambda x: (x, 2)),
    "max_unpool": (
        aten.max_unpool2d.default,
        lambda x: (x, torch.arange(30).view(5, 6).expand(SHAPE).contiguous(), [5, 6]),
    ),
    "roll": (aten.roll.default, lambda x: (x, [1], [2])),
    "roll_twice": (aten.roll.default, lambda x: (x, [1, 3], [2, 1])),
    "roll_all": (aten.roll.default, lambda x: (x, [7])),
    "glu": (aten.glu.default, lambda x: (x, 1)),
    "glu_backward": (aten.glu_backward.default, lambda x: (x[:, :2], x, 1)),
    "index_fill": (aten.index_fill.int_Scalar, lambda x: (x, 2, INDEX, 7)),
    "masked_fill": (aten.masked_fill.Scalar, lambda x: (x, x > 0.5, 7)),
    "dropout_backward": (aten.native_dropout_backward.default, lambda x: (x, x > 0.5, 2.0)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", CALLS)
def test_strides_of_eager(name: str, layout: str) -> None:
    """The operator and its decomposition lay their results out alike."""
    op, arguments = CALLS[name]
    given = arguments(LAYOUTS[layout]())
    eager, ours = tree_leaves(op(*given)), tree_leaves(_decompose.table()[op](*given))
    for e, o in zip(eager, ours, strict=True):
        assert o.shape == e.shape
        assert not strides_differ(o, e), f"ours {o.stride()}, eager {e.stride()}"


MIXTURES = {
    "half": (torch.bfloat16, torch.bfloat16),
    "mixed": (torch.bool, torch.float32),
    "integers": (torch.uint8, torch.int64),
    "alike": (torch.float32, torch.float32),
}

Layout = tuple[tuple[int, ...], tuple[int, ...]]

TRANSPOSED: Layout = ((5, 3), (1, 5))

ORDERS: dict[str, tuple[Layout, Layout]] = {
    "expanded": (((5, 3), (0, 0)), TRANSPOSED),
    "expanded second": (TRANSPOSED, ((5, 3), (0, 0))),
    "expanded column": (((5, 3), (1, 0)), TRANSPOSED),
    "expanded of lower rank": (((3,), (0,)), TRANSPOSED),
    "expanded beside channels last": (((2, 3, 4, 5), (0, 0, 0, 0)), ((2, 3, 4, 5), (60, 1, 15, 3))),
    "expanded both": (((5, 3), (0, 0)), ((5, 3), (0, 0))),
    "contiguous": (((5, 3), (3, 1)), TRANSPOSED),
    "contiguous second": (TRANSPOSED, ((5, 3), (3, 1))),
    "stepped": (((5, 3), (8, 2)), TRANSPOSED),
    "lower rank": (((3,), (1,)), TRANSPOSED),
    "scalar": (((), ()), TRANSPOSED),
    "row": (((1, 3), (3, 1)), TRANSPOSED),
}


def operands(op: torch._ops.OpOverload, first: Tensor, second: Tensor) -> list[object]:
    """Arguments of a pointwise operator: `first`, then `second` for every other tensor, and scalars."""
    given: list[object] = [first]
    for argument in op._schema.arguments[1:]:
        if str(argument.type) in ("Tensor", "Optional[Tensor]"):
            given.append(second)
        elif not argument.kwarg_only and not argument.has_default_value():
            given.append(0.5)
    return given


def traced(call: Callable[..., Tensor], given: list[object]) -> Tensor:
    """The fake tensor that tracing `call` with our decompositions gives."""
    graph = make_fx(call, _decompose.table(), tracing_mode="fake")(*given).graph
    (result,) = (node.args[0].meta["val"] for node in graph.find_nodes(op="output"))
    return result


@pytest.mark.parametrize("mixture", MIXTURES)
@pytest.mark.parametrize("op", _order.OPERATORS, ids=str)
def test_order_of_pointwise_results(op: torch._ops.OpOverload, mixture: str) -> None:
    """Strides that are traced for pointwise operators of operands in several orders are those of eager's kernels."""
    first, second = MIXTURES[mixture]
    if "backward" in str(op) and first != second:
        pytest.skip("autograd gives gradients of the type of the operand")
    keywords = {"rounding_mode": "floor"} if op is aten.div.Tensor_mode else {}
    wrong = []
    for order, (one, other) in ORDERS.items():
        tensors = (torch.ones(200, dtype=first).as_strided(*one), torch.ones(200, dtype=second).as_strided(*other))
        given = operands(op, *tensors)
        try:
            eager = op(*given, **keywords)
        except (RuntimeError, NotImplementedError) as error:
            pytest.skip(f"eager: {error}")
        ours = traced(lambda *xs: op(*xs, **keywords), given)
        assert ours.shape == eager.shape
        if strides_differ(ours, eager):
            wrong.append(f"{order}: traced {ours.stride()}, eager {eager.stride()}")
    assert not wrong, "\n".join(wrong)


def test_order_with_sizes_that_vary() -> None:
    """Formulas of operands in two orders give eager's strides for symbols too, in one graph for all sizes."""

    def formulas(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.copysign(a, b.t()), torch.lerp(a.t(), b, b), torch.xlogy(a, b.t())

    graph = compiled(formulas, dynamic=True)
    for rows, columns in ((4, 6), (5, 9), (7, 3)):
        a, b = torch.rand(rows, columns), torch.rand(columns, rows)
        for ours, eager in zip(graph(a, b), formulas(a, b), strict=True):
            torch.testing.assert_close(ours, eager)
            assert ours.stride() == eager.stride()
