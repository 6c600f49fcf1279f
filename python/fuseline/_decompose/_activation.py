"""Activations and their backward by the formulas of eager's kernels, term by term."""

import math

import torch
from torch import Tensor

from ._opmath import fma, rounds_once

aten = torch.ops.aten

_ERF_SCALE = math.sqrt(0.5)
_TANH_SCALE = math.sqrt(2 / math.pi)
_TANH_CUBIC = 0.044715


@rounds_once
def silu(x: Tensor) -> Tensor:
    """x / (1 + e⁻ˣ)."""
    return x / (1 + (-x).exp())


@rounds_once
def silu_backward(grad: Tensor, x: Tensor) -> Tensor:
    """g · s · (1 + x·(1 − s)) with s = 1 / (1 + e⁻ˣ)."""
    s = 1 / (1 + (-x).exp())
    return grad * s * fma(x, 1 - s, 1.0)


def _sigmoid_slope(grad: Tensor, y: Tensor) -> Tensor:
    return grad * (1 - y) * y


def sigmoid_backward(grad: Tensor, y: Tensor) -> Tensor:
    """g · (1 − y) · y; each step rounds in float16."""
    return _sigmoid_slope(grad, y) if grad.dtype == torch.float16 else rounds_once(_sigmoid_slope)(grad, y)


@rounds_once
def tanh_backward(grad: Tensor, y: Tensor) -> Tensor:
    """g · (1 − y²)."""
    return grad * fma(y, y, 1.0, sign=-1)


def _tanh_inner(x: Tensor) -> Tensor:
    cube = x * x * x
    return _TANH_SCALE * fma(cube, torch.full((), _TANH_CUBIC, dtype=x.dtype, device=x.device), x)


@rounds_once
def gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    """x/2 · (1 + erf(x/√2)), or its tanh approximation."""
    if approximate == "tanh":
        return 0.5 * x * (1 + _tanh_inner(x).tanh())
    return x * 0.5 * (1 + (x * _ERF_SCALE).erf())


@rounds_once
def gelu_backward(grad: Tensor, x: Tensor, *, approximate: str = "none") -> Tensor:
    """g times the derivative of `gelu` at x."""
    if approximate == "tanh":
        return grad * _gelu_tanh_slope(x)
    cdf = 0.5 * (1 + (x * _ERF_SCALE).erf())
    pdf = (x * x * -0.5).exp() * (0.5 * _TANH_SCALE)
    return grad * fma(x, pdf, cdf)


def _gelu_tanh_slope(x: Tensor) -> Tensor:
    t = _tanh_inner(x).tanh()
    left = 0.5 * x
    three_cubics = torch.full((), 3 * _TANH_CUBIC, dtype=x.dtype, device=x.device)
    inner_slope = _TANH_SCALE * fma(x * x, three_cubics, 1.0)
    return fma(left * fma(t, t, 1.0, sign=-1), inner_slope, 0.5 * (1 + t))


def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """elu of x/alpha, times alpha."""
    return aten.elu(x, alpha, 1.0, 1.0 / alpha) if alpha else NotImplemented


@rounds_once
def elu_backward(grad: Tensor, alpha: float, scale: float, input_scale: float, is_result: bool, y: Tensor) -> Tensor:
    """g times the derivative of scale · (x > 0 ? x : alpha·(e^(x·input_scale) − 1)), from x or from the result."""
    bound = torch.full((), alpha, dtype=grad.dtype, device=grad.device) * scale
    if is_result:
        below = grad * input_scale * (y + bound)
    else:
        below = grad * input_scale * bound * (y * input_scale).exp()
    return torch.where(y > 0, grad * scale, below)


@rounds_once
def hardsigmoid_backward(grad: Tensor, x: Tensor) -> Tensor:
    """g/6 strictly between −3 and 3, else 0; eager's sixth is a float32 for every dtype."""
    sixth = torch.full((), 1 / 6, dtype=torch.float32, device=x.device).to(x.dtype)
    return torch.where((x > -3) & (x < 3), grad * sixth, 0.0)


@rounds_once
def hardswish_backward(grad: Tensor, x: Tensor) -> Tensor:
    """g · (x/3 + 1/2) strictly between −3 and 3, else 0 or g; NaN at NaN."""
    return torch.where(x <= -3, 0.0, torch.where(x >= 3, grad, grad * (x / 3 + 0.5)))


def hardtanh_backward(grad: Tensor, x: Tensor, min_val: float, max_val: float) -> Tensor:
    """g strictly between the bounds, else 0, as at NaN."""
    return torch.where((x > min_val) & (x < max_val), grad, 0.0)


@rounds_once
def _gate_slope(gate: Tensor, value: Tensor, grad: Tensor) -> Tensor:
    return (1 - gate) * gate * value * grad


def glu_backward(grad: Tensor, x: Tensor, dim: int) -> Tensor:
    """Gradient of a · sigmoid(b) for x = (a, b) along `dim`; the sigmoid is rounded to x's dtype."""
    value, gated = x.chunk(2, dim)
    gate = gated.sigmoid()
    return torch.cat([gate * grad, _gate_slope(gate, value, grad)], dim)


@rounds_once
def lerp(start: Tensor, end: Tensor, weight: Tensor | float) -> Tensor:
    """start + w·(end − start), from the nearer end."""
    difference = end - start
    w = weight if isinstance(weight, Tensor) else torch.full((), weight, dtype=start.dtype, device=start.device)
    near = w.abs() < 0.5
    return fma(torch.where(near, w, w - 1), difference, torch.where(near, start, end))


TABLE = {
    aten.silu.default: silu,
    aten.silu_backward.default: silu_backward,
    aten.sigmoid_backward.default: sigmoid_backward,
    aten.tanh_backward.default: tanh_backward,
    aten.gelu.default: gelu,
    aten.gelu_backward.default: gelu_backward,
    aten.celu.default: celu,
    aten.elu_backward.default: elu_backward,
    aten.hardsigmoid_backward.default: hardsigmoid_backward,
    aten.hardswish_backward.default: hardswish_backward,
    aten.hardtanh_backward.default: hardtanh_backward,
    aten.glu_backward.default: glu_backward,
    aten.lerp.Scalar: lerp,
    aten.lerp.Tensor: lerp,
}
