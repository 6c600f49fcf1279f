"""Adds nodes to a traced ATen graph in the place of another node, with the values (fake tensors) they have."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx
from torch._subclasses import FakeTensor

_OWN_KEYS = ("val", "tensor_meta", "original_aten", "eager_input_vals", "unbacked_bindings")


def _value(argument: Any) -> Any:
    return fx.node.map_arg(argument, lambda node: node.meta["val"])


class Emitter:
    """Emits nodes before `origin`; they carry its source lines, module stack, checkpoint and partitioner tags."""

    def __init__(self, origin: fx.Node) -> None:
        self.origin = origin
        self.value: FakeTensor = origin.meta["val"]

    def __call__(self, op: Callable[..., Any], *args: Any, **kwargs: Any) -> fx.Node:
        """The node `op(*args, **kwargs)`; nodes among the arguments need a `val`."""
        graph = self.origin.graph
        with graph.inserting_before(self.origin):
            node = graph.call_function(op, args, kwargs)
        node.meta = {key: value for key, value in self.origin.meta.items() if key not in _OWN_KEYS}
        with self.value.fake_mode:
            node.meta["val"] = op(*_value(args), **_value(kwargs))
        return node

    def sizes(self, like: fx.Node | None, given: Sequence[Any] = ()) -> list[Any]:
        """The sizes of tensor node `like` as ints and size nodes, or `given` without one."""
        if like is None:
            return list(given)
        shape = like.meta["val"].shape
        return [n if isinstance(n, int) else self(torch.ops.aten.sym_size.int, like, d) for d, n in enumerate(shape)]

    def replace_by(self, node: fx.Node) -> None:
        """`node` takes the place of the origin, which goes."""
        self.origin.replace_all_uses_with(node)
        self.origin.graph.erase_node(self.origin)
