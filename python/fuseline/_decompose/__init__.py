"""The decomposition table that AOTAutograd traces with: the operators that reach the lowering.

Composites are taken apart before partitioning, so that forward and backward share row statistics and nothing larger,
with eager's formulas and roundings. An operator that is not in the table stays one node: contractions, convolutions,
attention, pooling with indices, embeddings, interpolation, sorting and scanning, and rare composites whose kernels
round where no graph of ours would. A decomposition may leave some arguments to the operator itself.
"""

from collections.abc import Callable
from typing import Any

from torch._ops import OpOverload

from . import _activation, _batch_norm, _conv, _core, _dropout, _index, _loss, _norm, _order, _softmax, _strides

VERSION = 8
"""Part of every cache key: raise it with any change of what the table gives."""


def table() -> dict[OpOverload, Callable[..., Any]]:
    """A new dictionary from overload to decomposition."""
    own = (_activation, _batch_norm, _conv, _dropout, _index, _loss, _norm, _softmax)
    result = _core.table()
    for module in own:
        result.update(module.TABLE)
    return _order.in_eager_order(_strides.with_eager_strides(result))
