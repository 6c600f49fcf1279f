"""Cold compile of a training step: time of the first call above Dynamo and AOTAutograd, ours and Inductor's.

Every measurement is a process of its own with empty caches. The floor is a backend that runs AOTAutograd with our
decompositions and compiles nothing. `python python/benches/compile_time.py [MODEL…]`; `chain:N` is a chain of N add and
multiply pairs.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import record
import torch
from subjects import NAMES, find, training_step
from torch._dynamo.backends.common import aot_autograd

CHAINS = [f"chain:{n}" for n in (2, 4, 6, 8, 64, 512)]
SLOWEST_CHAIN = 8
"""Longest chain that is given to Inductor, whose time doubles with each pair or worse."""


def chain(pairs: int) -> tuple[torch.nn.Module, dict[str, Any]]:
    """x ← (x + x·k) · x, `pairs` times over."""

    class Chain(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for k in range(pairs):
                x = (x + x * (0.5 + k)) * x
            return x

    return Chain(), {"x": torch.full((256,), 0.1, requires_grad=True)}


def subject(name: str) -> tuple[torch.nn.Module, dict[str, Any]]:
    """Module and inputs."""
    if name.startswith("chain:"):
        return chain(int(name.removeprefix("chain:")))
    model = find(name)
    return model.build().train(), model.inputs()


def floor_backend() -> Callable[..., Any]:
    """Dynamo and AOTAutograd alone: the graph is run as it is."""
    from fuseline import _decompose, _partition
    from fuseline._options import Options

    def keep(graph: torch.fx.GraphModule, _: Any) -> Callable[..., Any]:
        return graph.forward

    return aot_autograd(
        fw_compiler=keep, decompositions=_decompose.table(), partition_fn=_partition.partition_fn(Options())
    )


def first_call(name: str, backend: str) -> tuple[float, float]:
    """Seconds of the first training step, and those of them that are spent in our own compiler."""
    torch.manual_seed(0)
    module, inputs = subject(name)
    step = training_step(module, inputs)
    step(module)
    compiled = torch.compile(module, backend=floor_backend() if backend == "floor" else backend)
    with own_time() as own:
        start = time.perf_counter()
        step(compiled)
        return time.perf_counter() - start, sum(own)


@contextlib.contextmanager
def own_time() -> Iterator[list[float]]:
    """Seconds of each of our compilations: from the FX graph to kernels that are ready to be sized."""
    from fuseline import _backend

    seconds: list[float] = []
    compile_graph = _backend.compile_graph

    def timed(*arguments: Any) -> Any:
        start = time.perf_counter()
        result = compile_graph(*arguments)
        seconds.append(time.perf_counter() - start)
        return result

    _backend.compile_graph = timed
    try:
        yield seconds
    finally:
        _backend.compile_graph = compile_graph


def measure(name: str, backend: str) -> tuple[float, float] | None:
    """`first_call` in a process of its own; `None` if it fails."""
    with tempfile.TemporaryDirectory() as caches:
        settings = {"TORCHINDUCTOR_CACHE_DIR": caches, "FUSELINE_CACHE": caches}
        settings["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
        command = [sys.executable, __file__, "--one", name, backend]
        result = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True)
    if result.returncode:
        print(f"{name} with {backend} failed: {result.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    first, own = json.loads(result.stdout.strip().splitlines()[-1])
    return first, own


def row(name: str) -> dict[str, Any]:
    """All backends on one model."""
    long = name.startswith("chain:") and int(name.removeprefix("chain:")) > SLOWEST_CHAIN
    found = {b: measure(name, b) for b in ("floor", "fuseline", *([] if long else ["inductor"]))}
    row: dict[str, Any] = {"model": name, "first_step_seconds": {b: t and t[0] for b, t in found.items()}}
    if found["fuseline"]:
        row["fuseline_compiler_seconds"] = found["fuseline"][1]
    if found.get("inductor") and found["floor"] and found["fuseline"]:
        row["inductor_above_floor_seconds"] = found["inductor"][0] - found["floor"][0]
        row["fuseline_over_inductor"] = found["fuseline"][1] / row["inductor_above_floor_seconds"]
    return row


def main(names: list[str]) -> None:
    """All rows, each printed as it comes."""
    rows = []
    for name in names:
        rows.append(row(name))
        print(json.dumps(rows[-1]), flush=True)
    record.save("torch-compile-time", rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(first_call(sys.argv[2], sys.argv[3])))
    else:
        main(sys.argv[1:] or [*NAMES, *CHAINS])
