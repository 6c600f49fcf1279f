"""Steady state: eager, Inductor and Fuseline in alternating rounds; medians, and peak memory of a step.

Each model is measured in a process of its own.

`python python/benches/steady.py [--threads N] [--inference] [--host NAME] [MODEL…]`
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fuseline
import record
import torch
from subjects import NAMES, find, inference_step, training_step

ROUNDS = 7
M_MMAP_THRESHOLD = -3
"""What glibc calls the size from which a block is a mapping of its own."""


def seconds(step: Callable[[Callable[..., Any]], None], call: Callable[..., Any], least: float = 0.2) -> float:
    """Seconds of one step, the mean over at least `least` seconds."""
    count, start = 0, time.perf_counter()
    while count == 0 or time.perf_counter() - start < least:
        step(call)
        count += 1
    return (time.perf_counter() - start) / count


def resident(field: str) -> int:
    """`VmRSS` or its high-water mark `VmHWM` of this process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) * 1024


def peak_bytes(step: Callable[[Callable[..., Any]], None], call: Callable[..., Any]) -> int:
    """Most resident memory during a step beyond what the process had before it, whoever allocated it.

    Allocators give back what they keep for later, and torch's large tensors come from the system and go back to it, so
    that every page that a step needs counts.
    """
    libc = ctypes.CDLL(None)
    libc.mallopt(M_MMAP_THRESHOLD, 64 << 10)
    gc.collect()
    fuseline.empty_cache()
    libc.malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    step(call)
    return resident("VmHWM") - before


def row(name: str, inference: bool) -> dict[str, Any]:
    """One model."""
    torch.manual_seed(0)
    model = find(name)
    module, inputs = model.build().train(not inference), model.inputs()
    if inference:
        inputs.pop("labels", None)
    step = inference_step(inputs) if inference else training_step(module, inputs)
    calls: dict[str, Callable[..., Any]] = {"eager": module}
    for backend in ("inductor", "fuseline"):
        calls[backend] = torch.compile(module, backend=backend)
        step(calls[backend])
        step(calls[backend])
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name_, call in calls.items():
            times[name_].append(seconds(step, call))
    medians = {name_: statistics.median(list_) for name_, list_ in times.items()}
    peaks: dict[str, int] = {}
    for name_, call in calls.items():
        for parameter in module.parameters():
            parameter.grad = None
        peaks[name_] = peak_bytes(step, call)
    return {
        "model": name,
        "seconds": medians,
        "over_eager": medians["eager"] / medians["fuseline"],
        "over_inductor": medians["inductor"] / medians["fuseline"],
        "memory_over_inductor": peaks["fuseline"] / max(peaks["inductor"], 1),
        "peak_bytes": peaks,
    }


def geomean(values: list[float]) -> float:
    """Geometric mean."""
    return math.exp(statistics.fmean(map(math.log, values)))


def main() -> None:
    """All rows, each printed as it comes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=NAMES)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--inference", action="store_true")
    parser.add_argument("--host", help="part of the result's file name, where results of several machines are kept")
    parser.add_argument("--one", action="store_true", help="measure in this process and save nothing")
    chosen = parser.parse_args()
    if chosen.one:
        torch.set_num_threads(chosen.threads)
        print(json.dumps(row(chosen.models[0], chosen.inference)))
        return
    rows = []
    for name in chosen.models:
        options = ["--threads", str(chosen.threads), *(["--inference"] if chosen.inference else [])]
        result = subprocess.run([sys.executable, __file__, "--one", *options, name], capture_output=True, text=True)
        if result.returncode:
            sys.exit(f"{name} failed:\n{result.stderr}")
        rows.append(json.loads(result.stdout.strip().splitlines()[-1]))
        print(json.dumps(rows[-1]), flush=True)
    means = {key: geomean([r[key] for r in rows]) for key in ("over_eager", "over_inductor", "memory_over_inductor")}
    print(json.dumps(means))
    kind = "inference" if chosen.inference else "training"
    name = "-".join(["torch", kind, str(chosen.threads), *filter(None, [chosen.host])])
    record.save(name, rows, threads=chosen.threads, geomean=means)


if __name__ == "__main__":
    main()
