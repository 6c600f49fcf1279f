"""Host cost of a call: what the runner adds over Dynamo's guards and AOTAutograd, by tensors in and out.

Two measures: the time of a call less that of a floor, a backend that returns results made beforehand; and the time of
the compiled graph called alone, over and over. Kernels work on 8 floats, on one thread; rounds are interleaved.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import record
import torch
from fuseline._backend import compile_graph
from fuseline._options import Options
from torch._dynamo.backends.common import aot_autograd
from torch.fx.experimental.proxy_tensor import make_fx

ROUNDS, CALLS = 15, 1000

Call = Callable[..., Any]


def microseconds(calls: dict[str, Call], arguments: list[torch.Tensor]) -> dict[str, float]:
    """Microseconds of each call, the least of several interleaved rounds."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            for _ in range(100):
                call(*arguments)
            start = time.perf_counter()
            for _ in range(CALLS):
                call(*arguments)
            best[name] = min(best[name], (time.perf_counter() - start) / CALLS * 1e6)
    return best


def ready_made(graph: torch.fx.GraphModule, _: Any) -> Callable[..., Any]:
    """A compiler whose code returns the same tensors on every call."""
    count = len(graph.graph.output_node().args[0])
    results = [torch.empty(8) for _ in range(count)]

    def run(arguments: list[Any]) -> list[Any]:
        arguments.clear()
        return results

    run._boxed_call = True  # type: ignore[attr-defined]
    return run


def function(outputs: int) -> Callable[..., list[torch.Tensor]]:
    """Sums its arguments; `outputs` results."""

    def run(*tensors: torch.Tensor) -> list[torch.Tensor]:
        total = tensors[0] * 2
        for tensor in tensors[1:]:
            total = total + tensor
        return [total + n for n in range(outputs)]

    return run


def alone(inputs: int, outputs: int) -> Call:
    """Our compiled graph, without Dynamo and AOTAutograd."""
    graph = make_fx(function(outputs), tracing_mode="fake")(*(torch.empty(8) for _ in range(inputs)))
    compiled = compile_graph(graph, Options.of(None, None), "alone")
    return lambda *tensors: compiled(list(tensors))


def row(inputs: int, outputs: int) -> dict[str, Any]:
    """One number of tensors in and out."""
    backends = {"floor": aot_autograd(fw_compiler=ready_made), "fuseline": "fuseline", "inductor": "inductor"}
    calls = {name: torch.compile(function(outputs), backend=backend) for name, backend in backends.items()}
    calls["alone"] = alone(inputs, outputs)
    torch._dynamo.reset()
    with torch.no_grad():
        times = microseconds(calls, [torch.randn(8) for _ in range(inputs)])
    only = times.pop("alone")
    over = {name: times[name] - times["floor"] for name in ("fuseline", "inductor")}
    aim = 5 + 0.15 * inputs + 1.0 * outputs
    return {"inputs": inputs, "outputs": outputs, "microseconds": times, "over_floor": over, "alone": only, "aim": aim}


def main() -> None:
    """All rows."""
    torch.set_num_threads(1)
    rows = []
    for inputs, outputs in ((1, 1), (1, 10), (10, 1), (20, 1), (50, 1)):
        rows.append(row(inputs, outputs))
        print(rows[-1], flush=True)
    record.save("torch-host-cost", rows)


if __name__ == "__main__":
    main()
