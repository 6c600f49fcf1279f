"""Our modules against torch's: values and gradients, shapes without recompiling, what is saved, peak memory."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fuseline
import pytest
import torch
from backend import NAME, compiled
from comparing import accurately, is_float, widened
from fuseline import _operators
from fuseline.nn import _activation, _loss, _norm
from torch import Tensor, nn
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile

DTYPES = (torch.float32, torch.bfloat16, torch.float16)


class Pre(nn.Module):
    """Torch's form of a norm with a residual."""

    def __init__(self, norm: nn.Module) -> None:
        super().__init__()
        self.norm = norm

    def forward(self, x: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:
        """The normalised sum, and the sum."""
        total = x + residual
        return self.norm(total), total


class GatedMLP(nn.Module):
    """The MLP as transformers writes it."""

    def __init__(self, ours: nn.Module, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.gate_proj, self.up_proj, self.down_proj = (
            copy.deepcopy(layer) for layer in (ours.gate_proj, ours.up_proj, ours.down_proj)
        )
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        """The transformed x."""
        return self.down_proj(self.activation(self.gate_proj(x)) * self.up_proj(x))


class LinearLoss(nn.Module):
    """A linear layer and torch's loss of its results."""

    def __init__(self, ours: nn.Module) -> None:
        super().__init__()
        self.linear = copy.deepcopy(ours.linear)
        self.loss = nn.CrossEntropyLoss(
            ours.weight, reduction=ours.reduction, ignore_index=ours.ignore_index, label_smoothing=ours.label_smoothing
        )

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        logits = self.linear(x).flatten(0, -2)
        loss = self.loss(logits, target.flatten())
        return loss.view(target.shape) if self.loss.reduction == "none" else loss


def randomized(module: nn.Module) -> nn.Module:
    """The module with random parameters."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.3)
    return module


def loaded(ours: nn.Module, theirs: nn.Module) -> nn.Module:
    """Torch's module with our state."""
    theirs.load_state_dict(ours.state_dict())
    return theirs


def targets(classes: int, *shape: int) -> Tensor:
    """Random targets of which the second is ignored."""
    target = torch.randint(classes, shape)
    target.flatten()[1] = -100
    return target


Case = tuple[nn.Module, nn.Module, tuple[Tensor, ...]]


def norm_case(ours: nn.Module, theirs: nn.Module, shape: tuple[int, ...], residual: bool) -> Case:
    """A norm with torch's norm."""
    randomized(ours)
    inputs = tuple(torch.randn(shape) for _ in range(1 + residual))
    return ours, Pre(loaded(ours, theirs)) if residual else loaded(ours, theirs), inputs


def mlp_case(ours: nn.Module, activation: Callable[[Tensor], Tensor]) -> Case:
    """An MLP with its form in transformers."""
    return ours, GatedMLP(ours, activation), (torch.randn(3, 5, 24),)


def loss_case(kwargs: dict[str, Any], shape: tuple[int, ...], target: Tensor) -> Case:
    """A loss with torch's."""
    return fuseline.nn.CrossEntropyLoss(**kwargs), nn.CrossEntropyLoss(**kwargs), (torch.randn(shape) * 3, target)


def linear_loss_case(kwargs: dict[str, Any]) -> Case:
    """A linear layer and loss with torch's; several chunks."""
    ours = fuseline.nn.FusedLinearCrossEntropy(16, 50, **kwargs)
    return ours, LinearLoss(ours), (torch.randn(7, 31, 16), targets(50, 7, 31))


def smoothing(classes: int) -> dict[str, Any]:
    """Settings that all have an effect."""
    return {"weight": torch.rand(classes) + 0.5, "label_smoothing": 0.2}


CASES: dict[str, Callable[[], Case]] = {
    "rms": lambda: norm_case(fuseline.nn.RMSNorm(33), nn.RMSNorm(33), (4, 5, 33), False),
    "rms-residual": lambda: norm_case(fuseline.nn.RMSNorm(33, 1e-4), nn.RMSNorm(33, 1e-4), (4, 5, 33), True),
    "rms-plain": lambda: norm_case(
        fuseline.nn.RMSNorm((3, 8), elementwise_affine=False),
        nn.RMSNorm((3, 8), elementwise_affine=False),
        (5, 3, 8),
        False,
    ),
    "layer": lambda: norm_case(fuseline.nn.LayerNorm(40), nn.LayerNorm(40), (2, 9, 40), False),
    "layer-residual": lambda: norm_case(fuseline.nn.LayerNorm(40), nn.LayerNorm(40), (2, 9, 40), True),
    "layer-no-bias": lambda: norm_case(
        fuseline.nn.LayerNorm((4, 6), bias=False), nn.LayerNorm((4, 6), bias=False), (7, 4, 6), True
    ),
    "layer-plain": lambda: norm_case(
        fuseline.nn.LayerNorm(8, elementwise_affine=False), nn.LayerNorm(8, elementwise_affine=False), (8,), False
    ),
    "swiglu": lambda: mlp_case(fuseline.nn.SwiGLUMLP(24, 56), functional.silu),
    "geglu": lambda: mlp_case(fuseline.nn.GEGLUMLP(24, 56, bias=True), functional.gelu),
    "geglu-tanh": lambda: mlp_case(
        fuseline.nn.GEGLUMLP(24, 56, approximate="tanh"), lambda x: functional.gelu(x, approximate="tanh")
    ),
    "loss": lambda: loss_case({}, (9, 21), targets(21, 9)),
    "loss-sum": lambda: loss_case({"reduction": "sum", "ignore_index": 3}, (9, 21), torch.randint(21, (9,))),
    "loss-none-all": lambda: loss_case({"reduction": "none", **smoothing(5)}, (4, 5, 2, 3), targets(5, 4, 2, 3)),
    "loss-mean-all": lambda: loss_case(smoothing(21), (9, 21), targets(21, 9)),
    "loss-smooth": lambda: loss_case({"label_smoothing": 0.1}, (9, 21), targets(21, 9)),
    "loss-vector": lambda: loss_case({}, (21,), torch.tensor(4)),
    "loss-probabilities": lambda: loss_case({}, (9, 21), torch.rand(9, 21)),
    "linear-loss": lambda: linear_loss_case({}),
    "linear-loss-sum": lambda: linear_loss_case({"reduction": "sum", "bias": True}),
    "linear-loss-none-all": lambda: linear_loss_case({"reduction": "none", "bias": True, **smoothing(50)}),
    "linear-loss-mean-all": lambda: linear_loss_case(smoothing(50)),
}


def as_dtype(case: Case, dtype: torch.dtype) -> Case:
    """The same case in a dtype."""
    ours, theirs, inputs = case
    return ours.to(dtype), theirs.to(dtype), tuple(x.to(dtype) if is_float(x) else x for x in inputs)


def outcome(module: nn.Module, inputs: tuple[Tensor, ...], backend: str | None = None) -> list[Tensor]:
    """Results, and gradients of inputs and parameters for one random gradient of each result."""
    module, generator = copy.deepcopy(module), torch.Generator().manual_seed(5)
    leaves = [x.detach().clone().requires_grad_(is_float(x)) for x in inputs]
    results = (compiled(module, backend) if backend else module)(*leaves)
    results = results if isinstance(results, tuple) else (results,)
    gradients = [torch.randn(r.shape, generator=generator, dtype=torch.float64).to(r.dtype) for r in results]
    torch.autograd.backward(results, gradients)
    grads = [leaf.grad for leaf in (*leaves, *module.parameters()) if leaf.requires_grad]
    return [*(r.detach() for r in results), *grads]


def problems(case: Case, backend: str | None = None) -> list[str]:
    """Where our module is further from float64 than twice eager's distance and a floor."""
    ours, theirs, inputs = case
    exact = outcome(copy.deepcopy(theirs).double(), widened(inputs))
    have, eager = outcome(ours, inputs, backend), outcome(theirs, inputs)
    found = []
    for i, (a, b, x) in enumerate(zip(have, eager, exact, strict=True)):
        if a.dtype != b.dtype or a.shape != b.shape:
            found.append(f"{i}: {a.dtype} {list(a.shape)}, torch {b.dtype} {list(b.shape)}")
        elif text := accurately(a, b, x):
            found.append(f"{i}: {text}")
    return found


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: str(d).removeprefix("torch."))
@pytest.mark.parametrize("name", CASES)
def test_as_torch(name: str, dtype: torch.dtype) -> None:
    """Results and gradients, as accurate as eager's."""
    assert not problems(as_dtype(CASES[name](), dtype))


@pytest.mark.parametrize("name", ["rms-residual", "layer", "geglu", "loss-mean-all", "linear-loss"])
@pytest.mark.parametrize("backend", ["aot_eager", "inductor", NAME])
def test_compiled(name: str, backend: str) -> None:
    """Inductor, AOT and our own backend give the same."""
    assert not problems(CASES[name](), backend)


@pytest.mark.parametrize("name", ["rms", "layer", "swiglu", "loss-mean-all", "linear-loss"])
def test_autocast(name: str) -> None:
    """Under autocast, dtypes of results and gradients are torch's, and values as near as bfloat16 allows."""
    ours, theirs, inputs = CASES[name]()
    with torch.autocast("cpu", torch.bfloat16):
        have, eager = outcome(ours, inputs), outcome(theirs, inputs)
    for a, b in zip(have, eager, strict=True):
        torch.testing.assert_close(a, b, atol=0.05, rtol=0.05)


def forms() -> int:
    """How often kernels were compiled for our operators."""
    operators = (_norm.rms_norm, _norm.rms_norm_backward, _loss.cross_entropy, _loss.cross_entropy_backward)
    return sum(len(operator.kernels.runners) for operator in (*operators, _activation.swiglu))


def test_one_form_for_all_sizes() -> None:
    """Twenty shapes, extents 0 and 1 among them, and one compilation."""
    generator = torch.Generator().manual_seed(9)
    sizes = [(0, 5), (1, 5), (5, 1), (1, 1)]
    sizes += [tuple(torch.randint(2, 300, (2,), generator=generator).tolist()) for _ in range(16)]
    before = None
    for rows, columns in sizes:
        norm, theirs = fuseline.nn.RMSNorm(columns), nn.RMSNorm(columns)
        x = torch.randn(rows, columns)
        ours, eager = outcome(norm, (x,)), outcome(theirs, (x,))
        target = torch.randint(columns, (rows,))
        kwargs = {"reduction": "sum"}
        ours += outcome(fuseline.nn.CrossEntropyLoss(**kwargs), (x, target))
        eager += outcome(nn.CrossEntropyLoss(**kwargs), (x, target))
        for a, b in zip(ours, eager, strict=True):
            torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)
        before = forms() if before is None else before
        assert forms() == before, f"{rows}×{columns} was compiled again"


@pytest.mark.parametrize("name", ["rms-residual", "layer-residual", "swiglu", "geglu-tanh", "loss"])
def test_one_launch(name: str) -> None:
    """Each direction of an operator is one launch, and torch computes none of it."""
    ours, _, inputs = as_dtype(CASES[name](), torch.bfloat16)
    outcome(ours, inputs)
    modules = {"rms": _norm, "lay": _norm, "swi": _activation, "geg": _activation, "los": _loss}
    for value in vars(modules[name[:3]]).values():
        for artifact in getattr(getattr(value, "kernels", None), "runners", {}).values():
            runner = artifact.runner
            kernels = runner.kernels()
            assert not runner.remarks(), runner.remarks()
            # The backward of a weighted loss sums the weights of the classes in a kernel of its own.
            most = 2 if name == "loss" else 1
            assert len(kernels) == 1 and len(kernels[0]) <= most, kernels


def test_only_row_statistics_are_saved() -> None:
    """Beside inputs and parameters, backward keeps one or two numbers for each row."""
    x, target = torch.randn(64, 32, requires_grad=True), torch.randint(32, (64,))
    for run, most in (
        (lambda: fuseline.nn.RMSNorm(32)(x), 64),
        (lambda: fuseline.nn.LayerNorm(32)(x), 2 * 64),
        (lambda: fuseline.nn.CrossEntropyLoss(reduction="sum")(x, target), 64),
    ):
        saved: dict[int, int] = {}

        def pack(tensor: Tensor, saved: dict[int, int] = saved) -> Tensor:
            known = tensor.data_ptr() in (x.data_ptr(), target.data_ptr()) or isinstance(tensor, nn.Parameter)
            if not known and not (tensor._base is not None and isinstance(tensor._base, nn.Parameter)):
                saved[tensor.data_ptr()] = tensor.numel()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            run()
        assert sum(saved.values()) <= most, saved


def peak_bytes(run: Callable[[], None]) -> int:
    """Most memory that torch's allocator held during a call, above what it held before."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        run()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    changes = [e for e in events if e.get("name") == "[memory]"]
    held = most = 0
    for event in sorted(changes, key=lambda e: e["ts"]):
        held += event["args"]["Bytes"]
        most = max(most, held)
    return most


def test_logits_never_exist() -> None:
    """The linear loss holds a fraction of the logits; torch's layer and loss hold them."""
    rows, features, classes = 2048, 32, 2000
    logits = rows * classes * 4
    ours = fuseline.nn.FusedLinearCrossEntropy(features, classes)
    theirs = LinearLoss(ours)
    x, target = torch.randn(rows, features, requires_grad=True), torch.randint(classes, (rows,))
    ours(x, target).backward()
    assert peak_bytes(lambda: ours(x, target).backward()) < logits / 4
    assert peak_bytes(lambda: theirs(x, target).backward()) > logits


def test_bad_input() -> None:
    """Errors that name what is wrong."""
    with pytest.raises(IndexError):
        fuseline.nn.CrossEntropyLoss()(torch.randn(2, 3), torch.tensor([1, 3]))
    with pytest.raises(RuntimeError, match=r"target of shape \[3\] does not fit"):
        fuseline.nn.CrossEntropyLoss()(torch.randn(2, 3), torch.tensor([1, 2, 0]))
    with pytest.raises(RuntimeError, match="normalized_shape"):
        fuseline.nn.RMSNorm(4)(torch.randn(2, 3))
    with pytest.raises(RuntimeError, match="residual"):
        fuseline.nn.LayerNorm(3)(torch.randn(2, 3), torch.randn(3))
    with pytest.raises(ValueError, match="approximate"):
        fuseline.nn.GEGLUMLP(4, 8, approximate="sigmoid")
    with pytest.raises(ValueError, match="reduction"):
        fuseline.nn.CrossEntropyLoss(reduction="average")(torch.randn(2, 3), torch.tensor([1, 2]))


def test_state_dict_both_ways() -> None:
    """Each norm loads the state of torch's."""
    for name in ("RMSNorm", "LayerNorm"):
        ours, theirs = getattr(fuseline.nn, name)(6), getattr(nn, name)(6)
        ours.load_state_dict(randomized(theirs).state_dict())
        theirs.load_state_dict(ours.state_dict())


def test_operators() -> None:
    """Torch's own checks of an operator: schema, fake implementation, autograd registration."""
    x, weight = torch.randn(4, 6, requires_grad=True), torch.randn(6, requires_grad=True)
    samples = {
        "rms_norm_v1": (x, None, weight, 1e-5),
        "layer_norm_v1": (x, x.detach().clone(), weight, None, 1e-5),
        "swiglu_v1": (weight, weight.detach().clone()),
        "cross_entropy_v1": (x, torch.tensor([0, 5, 2, -100]), None, -100, 0.1),
        "linear_cross_entropy_v1": (x, torch.randn(9, 6), None, torch.tensor([0, 8, 2, 1]), None, -100, 0.0),
    }
    for name, args in samples.items():
        torch.library.opcheck(getattr(torch.ops.fuseline, name).default, args)
    assert all(str(overload).startswith("fuseline.") for overload in _operators.TABLE)
