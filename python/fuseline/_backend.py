"""The Dynamo backend: AOTAutograd around the native compiler."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from typing import Any

from torch._dynamo.backends.common import aot_autograd
from torch.fx import GraphModule

from . import _compat, _decompose, _graph, _native, _operators, _partition, _random, _report, _state
from ._artifact import Artifact, unstored
from ._externs import Externs
from ._options import Options
from ._state import State

_counter = itertools.count()


class Alone:
    """Stands for the callables of a graph that must consist of generated kernels."""

    def function(self, number: int, operands: Sequence[int]) -> Callable[..., Any]:
        """Raises: RuntimeError: always; the node has no kernel."""
        raise RuntimeError(f"node {number} of a generated graph has no kernel for operands {list(operands)}")


def _settings(options: Options, state: State) -> str:
    settings = {
        "numerics": options.numerics,
        "threads": state.threads,
        "fuse": options.fuse,
        "refused": sorted(options.torch_ops | state.refused()),
        "verify": options.verify,
        "verify_tolerance": options.verify_tolerance,
    }
    return json.dumps(settings)


def compile_graph(module: GraphModule, options: Options, name: str, kind: str = "operator") -> Artifact:
    """Compiles one ATen graph; the result takes one list of arguments and empties it."""
    form = json.dumps(_graph.form(module, name))
    return Artifact(name, kind, form, _settings(options, State.now()), Externs(module))


def compile_form(form: dict[str, Any], options: Options, externs: Alone) -> Callable[[list[Any]], list[Any]]:
    """Compiles a graph in the native form, all of whose nodes have kernels, as `compile_graph` does."""
    runner = _native.compile(json.dumps(form), _settings(options, State.now()), externs)
    _report.record(runner, "operator")
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
    _state.watch(module)
    number = next(_counter)

    def compiler(kind: str) -> Callable[..., Any]:
        def compile_(graph: GraphModule, inputs: Sequence[Any]) -> Artifact:
            if kind == "inference" and chosen.rng != "eager":
                _random.rewrite(graph)
            if kind == "backward":
                _compat.keep_saved_tensors()
            return compile_graph(graph, chosen, f"{kind}{number}", kind)

        return _compat.cacheable(Artifact, compile_)

    compile_module = aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        partition_fn=_partition.partition_fn(chosen),
        decompositions={**_decompose.table(), **_operators.TABLE},
        keep_inference_input_mutations=True,
    )
    refused, told = _compat.bypasses(), len(unstored)
    with _compat.aot_cache(_state.key(chosen, State.now(), module, example_inputs)):
        compiled = compile_module(module, example_inputs)
    if _compat.bypasses() > refused and len(unstored) == told:
        reason = "torch's own rules keep it out of AOTAutograd's cache; TORCH_LOGS=aot says why"
        unstored.append((f"graph {number}", reason))
    return compiled
