"""A backend that captures with Fuseline's layer and runs the graphs by PyTorch's own kernels, node by node."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from fuseline import _decompose, _partition, _random
from torch import Tensor, fx
from torch._dynamo.backends.common import aot_autograd


@dataclass
class Options:
    """As the backend's options, of which the capture layer reads one."""

    rng: str = "fused"


@dataclass
class Captured:
    """The graphs of one compiled function, in the order they were compiled."""

    options: Options = field(default_factory=Options)
    forward: list[fx.GraphModule] = field(default_factory=list)
    backward: list[fx.GraphModule] = field(default_factory=list)
    inference: list[fx.GraphModule] = field(default_factory=list)

    def compile(self, f: Callable[..., Any], **keywords: Any) -> Callable[..., Any]:
        """`torch.compile` of `f` through this backend, whole graph unless told otherwise."""
        return torch.compile(f, backend=self._backend(), **{"fullgraph": True} | keywords)

    def saved(self) -> list[Tensor]:
        """The fake tensors that the last backward graph gets from its forward, beside inputs of the forward."""
        primals = {node.name for node in self.forward[-1].graph.find_nodes(op="placeholder")}
        nodes = self.backward[-1].graph.find_nodes(op="placeholder")
        return [
            node.meta["val"]
            for node in nodes
            if node.name not in primals
            and not node.name.startswith("tangents")
            and isinstance(node.meta["val"], Tensor)
        ]

    def targets(self, graphs: list[fx.GraphModule]) -> set[str]:
        """The operators in `graphs`."""
        return {str(node.target) for graph in graphs for node in graph.graph.nodes if node.op == "call_function"}

    def _backend(self) -> Callable[..., Any]:
        return aot_autograd(
            fw_compiler=self._into(self.forward),
            bw_compiler=self._into(self.backward),
            inference_compiler=self._inference,
            decompositions=_decompose.table(),
            partition_fn=_partition.partition_fn(self.options),
            keep_inference_input_mutations=True,
        )

    def _into(self, graphs: list[fx.GraphModule]) -> Callable[..., Any]:
        def compiler(module: fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
            graphs.append(module)
            return _boxed(module)

        return compiler

    def _inference(self, module: fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        if self.options.rng != "eager":
            _random.rewrite(module)
        self.inference.append(module)
        return _boxed(module)


def _boxed(module: fx.GraphModule) -> Callable[[list[Any]], Any]:
    def run(arguments: list[Any]) -> Any:
        return fx.Interpreter(module).run(*arguments)

    run._boxed_call = True  # type: ignore[attr-defined]
    return run
