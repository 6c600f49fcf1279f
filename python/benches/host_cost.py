"""Host cost of a call: what the runner adds over Dynamo's guards and AOTAutograd, by tensors in and out.

The floor is a backend that returns results made beforehand. Kernels work on 8 floats, on one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import record
import torch
from torch._dynamo.backends.common import aot_autograd

ROUNDS, CALLS = 7, 3000


def microseconds(call: Callable[..., Any], arguments: list[torch.Tensor]) -> float:
    """Microseconds of a call, the least of several rounds."""
    for _ in range(100):
        call(*arguments)
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(CALLS):
            call(*arguments)
        best = min(best, (time.perf_counter() - start) / CALLS)
    return best * 1e6


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


def main() -> None:
    """All rows."""
    torch.set_num_threads(1)
    rows = []
    floor = aot_autograd(fw_compiler=ready_made)
    backends: dict[str, Any] = {"floor": floor, "fuseline": "fuseline", "inductor": "inductor"}
    for inputs, outputs in ((1, 1), (1, 10), (10, 1), (20, 1), (50, 1)):
        arguments = [torch.randn(8) for _ in range(inputs)]
        times = {}
        for name, backend in backends.items():
            torch._dynamo.reset()
            with torch.no_grad():
                times[name] = microseconds(torch.compile(function(outputs), backend=backend), arguments)
        over = {name: times[name] - times["floor"] for name in ("fuseline", "inductor")}
        aim = 5 + 0.15 * inputs + 1.0 * outputs
        rows.append({"inputs": inputs, "outputs": outputs, "microseconds": times, "over_floor": over, "aim": aim})
        print(rows[-1], flush=True)
    record.save("torch-host-cost", rows)


if __name__ == "__main__":
    main()
