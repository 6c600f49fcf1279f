"""Real models as accurate as eager against float64: inference, a training step, and loss curves."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import fuseline
import pytest
import torch
from backend import NAME, compiled
from comparing import is_float, widened
from models import MODELS, Inputs, Model
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

FLOOR = 32.0
"""Error that is always allowed, in units of epsilon times the root mean square of the reference."""

LIBRARY = {
    "aten._scaled_dot_product_flash_attention_for_cpu.default",
    "aten._scaled_dot_product_flash_attention_for_cpu_backward.default",
    "aten.convolution_backward.default",
    "aten.topk.default",
}
"""What torch may run: library calls outside the fusible core."""

CASES = [pytest.param(model, id=model.name, marks=[] if model.fast else [pytest.mark.full]) for model in MODELS]

Named = dict[str, Tensor]


def built(model: Model) -> nn.Module:
    """The model, the same one every time."""
    torch.manual_seed(12)
    return model.build()


def loss_of(results: Any) -> Tensor:
    """The model's own loss, or the mean square of all its float results."""
    loss = getattr(results, "loss", None)
    if loss is not None:
        return loss
    return sum((leaf.pow(2).mean() for leaf in tree_leaves(results) if is_float(leaf)), torch.zeros(()))


def inference(module: nn.Module, inputs: Inputs, run: bool) -> Named:
    """Float results of one call in evaluation."""
    module.eval()
    call = compiled(module, fullgraph=True) if run else module
    with torch.no_grad():
        results = call(**inputs)
    return {f"result {i}": leaf for i, leaf in enumerate(tree_leaves(results)) if is_float(leaf)}


def training(module: nn.Module, inputs: Inputs, run: bool) -> Named:
    """Loss, gradients and buffers after one step in training."""
    module.train()
    call = compiled(module, fullgraph=True) if run else module
    loss = loss_of(call(**inputs))
    loss.backward()
    gradients = {f"gradient of {name}": p.grad for name, p in module.named_parameters() if p.grad is not None}
    buffers = {f"buffer {name}": b for name, b in module.named_buffers() if is_float(b)}
    return {"loss": loss.detach(), **gradients, **buffers}


def nudged(inputs: Inputs) -> Inputs:
    """The inputs with every float one unit in the last place up or down."""
    torch.manual_seed(16)

    def nudge(x: Tensor) -> Tensor:
        return torch.nextafter(x, torch.where(torch.rand_like(x) < 0.5, torch.inf, -torch.inf).to(x.dtype))

    return {name: nudge(value) if is_float(value) else value for name, value in inputs.items()}


def excesses(ours: Named, eager: Sequence[Named], exact: Named) -> Iterator[str]:
    """Tensors whose error is above twice the largest of eager's plus the floor.

    The floor is relative to the tensor, but to no less than a hundredth of the largest tensor of its kind, so that
    gradients that are zero but for rounding are not asked to have the same rounding.
    """
    if ours.keys() != exact.keys():
        yield f"other tensors: {sorted(ours.keys() ^ exact.keys())}"
        return
    largest: dict[str, float] = {}
    for name, value in exact.items():
        kind = name.split()[0]
        largest[kind] = max(largest.get(kind, 0.0), rms(value))
    for name, value in ours.items():
        truth = exact[name]
        scale = max(rms(truth), 0.01 * largest[name.split()[0]])
        errors = [rms(run[name].double() - truth) for run in eager]
        allowed = 2 * max(errors) + FLOOR * torch.finfo(value.dtype).eps * scale
        error = rms(value.double() - truth)
        if not error <= allowed:
            yield f"{name}: error {error:.3g}, allowed {allowed:.3g}, size {rms(truth):.3g}"


def rms(x: Tensor) -> float:
    """Root mean square; infinities of masks count as equal."""
    return (
        float(torch.nan_to_num(x.detach().double(), posinf=0.0, neginf=0.0).pow(2).mean().sqrt()) if x.numel() else 0.0
    )


def run_by_torch() -> set[str]:
    """Operators that torch runs in the graphs compiled since Dynamo was reset."""
    graphs = fuseline.report().graphs
    assert graphs and all(graph.kernels for graph in graphs)
    return {extern["target"] for graph in graphs for extern in graph.externs}


@pytest.mark.parametrize("step", [inference, training])
@pytest.mark.parametrize("model", CASES)
def test_as_accurate_as_eager(model: Model, step: Any) -> None:
    """The whole model is one graph, torch runs library calls only, and the error is at most twice eager's."""
    module = built(model)
    starts = [model.inputs(), *([nudged(model.inputs())] if model.unsteady else [])]
    eager = [step(copy.deepcopy(module), inputs, False) for inputs in starts]
    exact = step(copy.deepcopy(module).double(), widened(model.inputs()), False)
    ours = step(module, model.inputs(), True)
    assert NAME != "fuseline" or run_by_torch() <= LIBRARY
    failures = list(excesses(ours, eager, exact))
    assert not failures, "\n".join(failures[:20])


def curve(module: nn.Module, inputs: Inputs, steps: int, run: bool) -> list[float]:
    """Losses of AdamW from the same start."""
    module = copy.deepcopy(module).train()
    call = compiled(module, fullgraph=True) if run else module
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-4)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(call(**inputs))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("name", ["gpt2", "vit", pytest.param("convnext_tiny", marks=pytest.mark.full)])
def test_loss_curve(name: str) -> None:
    """A hundred steps go down where eager goes down."""
    model = next(model for model in MODELS if model.name == name)
    module = built(model)
    eager = curve(module, model.inputs(), 100, False)
    ours = curve(module, model.inputs(), 100, True)
    assert eager[-1] < 0.5 * eager[0]
    worst = max(abs(a - b) / max(abs(b), 0.01 * eager[0]) for a, b in zip(ours, eager, strict=True))
    assert worst < 0.02, f"losses differ by {worst:.2%}"
