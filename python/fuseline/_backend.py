"""The Dynamo backend: AOTAutograd around the native compiler."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from . import _decompose, _graph, _native, _operators, _partition, _random, _report
from ._options import Options

_counter = itertools.count()


class Externs:
    """Gives the native half the callables of the nodes that torch runs."""

    def __init__(self, module: GraphModule) -> None:
        self.module = module
        self.nodes = list(module.graph.nodes)

    def attribute(self, name: str) -> Any:
        """A constant of the module."""
        value: Any = self.module
        for part in name.split("."):
            value = getattr(value, part)
        return value

    def function(self, number: int, operands: Sequence[int]) -> Callable[..., Any]:
        """A function of the values of a node's operands."""
        node = self.nodes[number]
        keys = [self.nodes[o] for o in operands]
        target = self._target(node)

        def call(*values: Any) -> Any:
            known = dict(zip(keys, values))
            args, kwargs = map_arg((node.args, node.kwargs), known.__getitem__)
            return target(*args, **kwargs)

        return call

    def _target(self, node: Node) -> Callable[..., Any]:
        if node.op == "call_module":
            return self.module.get_submodule(str(node.target))
        if node.op == "call_method":
            return lambda first, *rest, **named: getattr(first, str(node.target))(*rest, **named)
        return node.target


class Alone:
    """Stands for the callables of a graph that must consist of generated kernels."""

    def function(self, number: int, operands: Sequence[int]) -> Callable[..., Any]:
        """Raises: RuntimeError: always; the node has no kernel."""
        raise RuntimeError(f"node {number} of a generated graph has no kernel for operands {list(operands)}")


def compile_graph(
    module: GraphModule, options: Options, name: str, kind: str = "operator"
) -> Callable[[list[Any]], list[Any]]:
    """Compiles one ATen graph; the result takes one list of arguments and empties it."""
    return compile_form(_graph.form(module, name), options, Externs(module), kind)


def compile_form(
    form: dict[str, Any], options: Options, externs: Externs | Alone, kind: str = "operator"
) -> Callable[[list[Any]], list[Any]]:
    """Compiles a graph in the native form; ``externs`` gives the callables of nodes that torch runs."""
    settings = {
        "numerics": options.numerics,
        "threads": torch.get_num_threads(),
        "fuse": options.fuse,
        "refused": sorted(options.torch_ops),
        "verify": options.verify,
        "verify_tolerance": options.verify_tolerance,
    }
    runner = _native.compile(json.dumps(form), json.dumps(settings), externs)
    runner._boxed_call = True
    _report.record(runner, kind)
    return runner


def backend(
    module: GraphModule,
    example_inputs: Sequence[Any],
    *,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    **_: Any,
) -> Callable[..., Any]:
    """What ``torch.compile(model, backend="fuseline")`` calls for each graph that Dynamo captures."""
    chosen = Options.of(mode, options)
    number = next(_counter)

    def compiler(kind: str) -> Callable[..., Any]:
        def compile_(graph: GraphModule, inputs: Sequence[Any]) -> Callable[[list[Any]], list[Any]]:
            if kind == "inference" and chosen.rng != "eager":
                _random.rewrite(graph)
            return compile_graph(graph, chosen, f"{kind}{number}", kind)

        return compile_

    return aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        partition_fn=_partition.partition_fn(chosen),
        decompositions={**_decompose.table(), **_operators.TABLE},
        keep_inference_input_mutations=True,
    )(module, example_inputs)
