"""Splits a joint graph into forward and backward, with random masks recomputed from the call's seed."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import torch
from torch import fx
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.utils import _pytree as pytree
from torch.utils.checkpoint import CheckpointPolicy

from . import _random

Partition = Callable[..., tuple[fx.GraphModule, fx.GraphModule]]


class RandomOptions(Protocol):
    """What of the backend's options concerns partitioning."""

    rng: str
    """"eager" runs eager's random kernels and saves their results; "fused" draws from one seed per call."""


def _gradients(joint: fx.GraphModule, num_fwd_outputs: int) -> list[fx.Node]:
    outputs = pytree.arg_tree_leaves(*joint.graph.output_node().args)
    return [node for node in outputs[num_fwd_outputs:] if isinstance(node, fx.Node)]


def _ancestors(nodes: Iterable[fx.Node]) -> set[fx.Node]:
    """The nodes and all that they are computed from."""
    seen: set[fx.Node] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(node.all_input_nodes)
    return seen


def _prefer_recomputing(nodes: Iterable[fx.Node], gradients: list[fx.Node]) -> None:
    """Has the partitioner recompute nodes that gradients need, which it would take for costly."""
    needed = _ancestors(gradients)
    for node in nodes:
        if node in needed:
            node.meta["recompute"] = CheckpointPolicy.PREFER_RECOMPUTE


def _wide_gathers(joint: fx.GraphModule) -> list[fx.Node]:
    """Gathers from an argument that give more than it has: a product reads the argument itself through the indices."""

    def is_wide(node: fx.Node) -> bool:
        if node.target is not torch.ops.aten.index.Tensor or not isinstance(node.args[0], fx.Node):
            return False
        if node.args[0].op != "placeholder":
            return False
        source, value = node.args[0].meta.get("val"), node.meta.get("val")
        if not isinstance(source, torch.Tensor) or not isinstance(value, torch.Tensor):
            return False
        return bool(statically_known_true(value.numel() > source.numel()))

    return [node for node in joint.graph.nodes if is_wide(node)]


def partition_fn(options: RandomOptions) -> Partition:
    """The `partition_fn` of `aot_autograd`: random rewrite of the joint graph, then PyTorch's min-cut partitioner.

    Activation checkpointing tags are obeyed; a region's draws keep the streams of their first run.
    """

    def partition(
        joint: fx.GraphModule, inputs: Any, *, num_fwd_outputs: int, **rest: Any
    ) -> tuple[fx.GraphModule, fx.GraphModule]:
        draws = _random.rewrite(joint) if options.rng != "eager" else []
        _prefer_recomputing([*draws, *_wide_gathers(joint)], _gradients(joint, num_fwd_outputs))
        return min_cut_rematerialization_partition(joint, inputs, num_fwd_outputs=num_fwd_outputs, **rest)

    return partition
