"""Turns random operators of a traced graph into pure draws from one seed per call.

`rewrite` puts one `fuseline::seed` at the head of the graph and gives every random node static streams of its own, so
that a mask is recomputed from the seed wherever it is needed, a checkpointed region sees the numbers of its first run,
and no two nodes are merged. Operators with an explicit generator, inside bodies of higher-order operators, or without a
rule here stay as they are: eager's kernels run them.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx
from torch._ops import OpOverload
from torch._prims_common import compute_elementwise_output_logical_to_physical_perm

from . import _random_ops
from ._emit import Emitter
from ._schema import named_arguments

aten = torch.ops.aten

_DIGITS = {torch.float16: 11, torch.bfloat16: 8}
"""Random bits of a uniform number, as eager: a half type never rounds up to 1."""


@dataclass
class _Draws:
    """Draws of the size `size`, which stand in memory order, for one random node."""

    emit: Emitter
    seed: fx.Node
    streams: Iterator[int]
    size: list[Any]

    def _draw(self, op: OpOverload) -> fx.Node:
        return self.emit(op, self.size, self.seed, next(self.streams))

    def bits(self) -> fx.Node:
        """int64 in [0, 2³²)."""
        return self._draw(_random_ops.RAND_BITS)

    def long_bits(self) -> fx.Node:
        """int64 in [0, 2⁶³)."""
        high = self.emit(aten.bitwise_left_shift.Tensor_Scalar, self.bits(), 31)
        low = self.emit(aten.bitwise_right_shift.Tensor_Scalar, self.bits(), 1)
        return self.emit(aten.bitwise_or.Tensor, high, low)

    def uniform(self, dtype: torch.dtype) -> fx.Node:
        """[0, 1) with the digits of `dtype`; float64 for float64, else float32."""
        emit = self.emit
        if dtype == torch.float64:
            digits = emit(aten.bitwise_right_shift.Tensor_Scalar, self.long_bits(), 10)
            return emit(aten.mul.Tensor, emit(aten._to_copy.default, digits, dtype=dtype), 2.0**-53)
        u = self._draw(_random_ops.RAND_UNIFORM)
        if dtype not in _DIGITS:
            return u
        steps = 2.0 ** _DIGITS[dtype]
        return emit(aten.mul.Tensor, emit(aten.floor.default, emit(aten.mul.Tensor, u, steps)), 1 / steps)

    def normal(self, dtype: torch.dtype) -> fx.Node:
        """Standard normal; float64 for float64, else float32."""
        if dtype != torch.float64:
            return self._draw(_random_ops.RAND_NORMAL)
        emit = self.emit
        log = emit(aten.log1p.default, emit(aten.neg.default, self.uniform(dtype)))
        radius = emit(aten.sqrt.default, emit(aten.mul.Tensor, log, -2.0))
        angle = emit(aten.mul.Tensor, self.uniform(dtype), math.tau)
        return emit(aten.mul.Tensor, radius, emit(aten.cos.default, angle))


def _scaled(draws: _Draws, x: fx.Node, factor: float, offset: float) -> fx.Node:
    if factor != 1:
        x = draws.emit(aten.mul.Tensor, x, factor)
    return draws.emit(aten.add.Tensor, x, offset) if offset != 0 else x


def _rand(draws: _Draws, dtype: torch.dtype) -> fx.Node:
    return draws.uniform(dtype)


def _randn(draws: _Draws, dtype: torch.dtype) -> fx.Node:
    return draws.normal(dtype)


def _uniform(draws: _Draws, dtype: torch.dtype, low: float = 0.0, high: float = 1.0) -> fx.Node:
    return _scaled(draws, draws.uniform(dtype), high - low, low)


def _normal(draws: _Draws, dtype: torch.dtype, mean: float = 0.0, std: float = 1.0) -> fx.Node:
    return _scaled(draws, draws.normal(dtype), std, mean)


def _exponential(draws: _Draws, dtype: torch.dtype, rate: float = 1.0) -> fx.Node:
    u = draws.uniform(torch.float64 if dtype == torch.float64 else torch.float32)
    positive = draws.emit(aten.neg.default, draws.emit(aten.log1p.default, draws.emit(aten.neg.default, u)))
    smallest = torch.finfo(torch.float64 if dtype == torch.float64 else torch.float32).eps / 2
    positive = draws.emit(aten.clamp_min.default, positive, smallest)
    return draws.emit(aten.div.Tensor, positive, rate) if rate != 1 else positive


def _bernoulli(draws: _Draws, dtype: torch.dtype, p: float = 0.5) -> fx.Node:
    return draws.emit(aten.lt.Scalar, draws.uniform(torch.float32), p)


def _randint(draws: _Draws, dtype: torch.dtype, *, low: int = 0, high: int) -> fx.Node:
    bits = draws.bits() if high - low <= 2**32 else draws.long_bits()
    return _scaled(draws, draws.emit(aten.remainder.Scalar, bits, high - low), 1, low)


@dataclass(frozen=True)
class _Rule:
    """How to draw the value of one operator: `draw(draws, dtype, **parameters)`.

    The size is that of the argument `self`, or the argument `size`; `parameters` maps names of the schema to names of
    `draw`, all of which are numbers.
    """

    draw: Callable[..., fx.Node]
    parameters: dict[str, str] = field(default_factory=dict)


_RULES: dict[OpOverload, _Rule] = {
    aten.rand.default: _Rule(_rand),
    aten.rand_like.default: _Rule(_rand),
    aten.randn.default: _Rule(_randn),
    aten.randn_like.default: _Rule(_randn),
    aten.uniform.default: _Rule(_uniform, {"from": "low", "to": "high"}),
    aten.normal_functional.default: _Rule(_normal, {"mean": "mean", "std": "std"}),
    aten.normal.float_float: _Rule(_normal, {"mean": "mean", "std": "std"}),
    aten.exponential.default: _Rule(_exponential, {"lambd": "rate"}),
    aten.bernoulli.p: _Rule(_bernoulli, {"p": "p"}),
    aten.randint.default: _Rule(_randint, {"high": "high"}),
    aten.randint.low: _Rule(_randint, {"low": "low", "high": "high"}),
    aten.randint_like.default: _Rule(_randint, {"high": "high"}),
    aten.randint_like.low_dtype: _Rule(_randint, {"low": "low", "high": "high"}),
}


def _drawable(node: fx.Node) -> bool:
    """Whether a rule covers the node: a known operator on the CPU, no generator, and parameters that are numbers."""
    rule = _RULES.get(node.target) if isinstance(node.target, OpOverload) else None
    if rule is None or node.meta["val"].device.type != "cpu":
        return False
    arguments = named_arguments(node)
    numbers = all(isinstance(arguments[name], (int, float)) for name in rule.parameters)
    return numbers and arguments.get("generator") is None and _range(arguments) < 2**63


def _range(arguments: dict[str, Any]) -> int:
    return arguments.get("high", 1) - arguments.get("low", 0)


def _draw(node: fx.Node, seed: fx.Node, streams: Iterator[int]) -> None:
    """Replaces one random node by its draw, with the node's dtype and strides."""
    emit, value = Emitter(node), node.meta["val"]
    assert isinstance(node.target, OpOverload)
    rule, arguments = _RULES[node.target], named_arguments(node)
    size = emit.sizes(arguments.get("self"), arguments.get("size") or ())
    memory_order = list(range(len(size))) if value.is_contiguous() else _memory_order(value)
    draws = _Draws(emit, seed, streams, [size[d] for d in memory_order])
    x = rule.draw(draws, value.dtype, **{to: arguments[name] for name, to in rule.parameters.items()})
    if x.meta["val"].dtype != value.dtype:
        x = emit(aten._to_copy.default, x, dtype=value.dtype)
    if memory_order != sorted(memory_order):
        x = emit(aten.permute.default, x, [memory_order.index(d) for d in range(len(size))])
    emit.replace_by(x)


def _memory_order(value: torch.Tensor) -> list[int]:
    """The dims from the outermost in memory to the innermost."""
    return list(compute_elementwise_output_logical_to_physical_perm(value)[0])


def _emit_seed(first: fx.Node) -> fx.Node:
    """The call's seed, before every other operation and outside any checkpointed region."""
    emit = Emitter(first)
    seed = emit(_random_ops.SEED)
    seed.meta = {"val": seed.meta["val"]}
    return seed


def rewrite(module: fx.GraphModule) -> list[fx.Node]:
    """Replaces the random nodes of a traced ATen graph in place; returns the draws, none if nothing was random."""
    graph = module.graph
    random_nodes = [node for node in graph.nodes if node.op == "call_function" and _drawable(node)]
    if not random_nodes:
        return []
    seed, streams = _emit_seed(random_nodes[0]), itertools.count()
    for node in random_nodes:
        _draw(node, seed, streams)
    module.recompile()
    return [user for user in seed.users]
