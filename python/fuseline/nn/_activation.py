"""Gated linear units, and the MLPs that they are part of."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from .._library import Operator, operator
from .._wide import wide

INVERSE_SQRT_2 = math.sqrt(0.5)
INVERSE_SQRT_2PI = math.sqrt(0.5 / math.pi)
TANH_SCALE = math.sqrt(2 / math.pi)
TANH_CUBIC = 0.044715

Function = Callable[[Tensor], tuple[Tensor, Tensor]]
"""From x to an activation of it and its derivative there."""


def silu(x: Tensor) -> tuple[Tensor, Tensor]:
    """x · sigmoid(x)."""
    s = torch.sigmoid(x)
    return x * s, s * (x * (1 - s) + 1)


def gelu(x: Tensor) -> tuple[Tensor, Tensor]:
    """x · Φ(x), Φ the normal distribution's."""
    below = (torch.erf(x * INVERSE_SQRT_2) + 1) * 0.5
    return x * below, below + x * torch.exp(x * x * -0.5) * INVERSE_SQRT_2PI


def gelu_tanh(x: Tensor) -> tuple[Tensor, Tensor]:
    """The approximation of gelu by tanh."""
    square = x * x
    t = torch.tanh((square * TANH_CUBIC + 1) * x * TANH_SCALE)
    slope = (square * (3 * TANH_CUBIC) + 1) * TANH_SCALE
    return (t + 1) * 0.5 * x, (t + 1) * 0.5 + x * 0.5 * (1 - t * t) * slope


def gated(name: str, activation: Function) -> Operator:
    """The operator activation(gate) · up of tensors [N], with its derivative."""

    @operator(f"{name}_v1(Tensor gate, Tensor up) -> Tensor", ("N", "N"))
    def forward(gate: Tensor, up: Tensor) -> Tensor:
        return (activation(wide(gate))[0] * wide(up)).to(gate.dtype)

    @operator(f"{name}_backward_v1(Tensor dy, Tensor gate, Tensor up) -> (Tensor, Tensor)", ("N", "N", "N"))
    def backward(dy: Tensor, gate: Tensor, up: Tensor) -> tuple[Tensor, Tensor]:
        value, slope = activation(wide(gate))
        return (wide(dy) * wide(up) * slope).to(gate.dtype), (wide(dy) * value).to(up.dtype)

    def setup(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    forward.gradient(lambda ctx, dy: backward(dy, *ctx.saved_tensors), setup)
    return forward


swiglu = gated("swiglu", silu)
geglu = gated("geglu", gelu)
geglu_tanh = gated("geglu_tanh", gelu_tanh)


class _GatedMLP(nn.Module):
    def __init__(
        self,
        hidden_size: int,
        intermediate_size: int,
        bias: bool = False,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.intermediate_size = intermediate_size
        self.gate_proj = nn.Linear(hidden_size, intermediate_size, bias, device, dtype)
        self.up_proj = nn.Linear(hidden_size, intermediate_size, bias, device, dtype)
        self.down_proj = nn.Linear(intermediate_size, hidden_size, bias, device, dtype)

    def _gated(self, x: Tensor, gate_by: Operator) -> Tensor:
        gate = functional.linear(x, self.gate_proj.weight, self.gate_proj.bias)
        up = functional.linear(x, self.up_proj.weight, self.up_proj.bias)
        hidden = gate_by(gate.flatten(), up.flatten()).view(gate.shape)
        return functional.linear(hidden, self.down_proj.weight, self.down_proj.bias)


class SwiGLUMLP(_GatedMLP):
    """``down_proj(silu(gate_proj(x)) * up_proj(x))``, with the parameter names of Llama's MLP in transformers.

    The gate's activation and product are one kernel forward and one backward, which keep nothing but their inputs.

    Args:
        hidden_size: features of x and of the result.
        intermediate_size: features between the projections.
        bias: whether the projections have one.

    Shape: ``(*, hidden_size)`` to ``(*, hidden_size)``.

    >>> y = SwiGLUMLP(64, 172)(torch.randn(2, 5, 64))
    """

    def forward(self, x: Tensor) -> Tensor:
        """The transformed x."""
        return self._gated(x, swiglu)


class GEGLUMLP(_GatedMLP):
    """``down_proj(gelu(gate_proj(x)) * up_proj(x))``, with the parameter names of Gemma's MLP in transformers.

    The gate's activation and product are one kernel forward and one backward, which keep nothing but their inputs.

    Args:
        hidden_size: features of x and of the result.
        intermediate_size: features between the projections.
        bias: whether the projections have one.
        approximate: ``none`` or ``tanh``, as ``torch.nn.GELU`` takes it; Gemma uses ``tanh``.

    Shape: ``(*, hidden_size)`` to ``(*, hidden_size)``.

    >>> y = GEGLUMLP(64, 172, approximate="tanh")(torch.randn(2, 5, 64))
    """

    def __init__(
        self,
        hidden_size: int,
        intermediate_size: int,
        bias: bool = False,
        approximate: str = "none",
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(hidden_size, intermediate_size, bias, device, dtype)
        if approximate not in ("none", "tanh"):
            raise ValueError(f"approximate is {approximate!r}: use 'none' or 'tanh'")
        self.approximate = approximate

    def forward(self, x: Tensor) -> Tensor:
        """The transformed x."""
        return self._gated(x, geglu if self.approximate == "none" else geglu_tanh)
