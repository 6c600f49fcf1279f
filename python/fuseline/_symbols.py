"""Tracing with a symbol for every size: what is traced once serves all sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.value_ranges import ValueRanges

FIRST_EXAMPLE = 1009
"""Sizes that tracing decides by where it has to; all differ, so that no two symbols are taken for one."""


Extents = Sequence[str | int]
"""The size of each axis: a number, or a letter for any."""


def trace(
    function: Callable[[list[torch.Tensor]], list[Any]], tensors: Sequence[tuple[Extents, torch.dtype]]
) -> GraphModule:
    """The ATen graph of a function of contiguous CPU tensors of these extents and dtypes.

    The graph's inputs are the sizes, in the order in which letters first occur, and then the tensors. It holds for
    every size: the function must not choose by sizes.
    """
    env = ShapeEnv(specialize_zero_one=False)
    letters = dict.fromkeys(letter for shape, _ in tensors for letter in shape if isinstance(letter, str))
    sizes = {letter: _symbol(env, letter, FIRST_EXAMPLE + i) for i, letter in enumerate(letters)}
    with FakeTensorMode(shape_env=env):
        fakes = [torch.empty([sizes.get(size, size) for size in shape], dtype=dtype) for shape, dtype in tensors]
        traced = make_fx(lambda _, given: function(given), tracing_mode="real")(list(sizes.values()), fakes)
    for size in sizes.values():
        env.var_to_range[size.node.expr] = ValueRanges(0, int_oo)
    return traced


def _symbol(env: ShapeEnv, name: str, example: int) -> torch.SymInt:
    source = ConstantSource(name)
    symbol = env.create_symbol(example, source, dynamic_dim=DimDynamic.DYNAMIC, constraint_dim=None)
    return env.create_symintnode(symbol, hint=example, source=source)
