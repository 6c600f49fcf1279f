"""Single kernels: products of few rows, updates in place, and small pointwise work, beside eager (MKL) and Inductor.

`python python/benches/kernels.py [--threads N] [skinny|skinny_half|in_place|small]…`

The calls of a row run in alternating rounds in one process; each time is the least of all rounds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import record
import torch
from torch import Tensor

ROUNDS, SECONDS = 12, 4e-3
WEIGHTS = ((768, 768), (768, 3072), (4096, 4096), (768, 50257))
ROWS = (1, 2, 4, 8)
Case = tuple[dict[str, Any], Callable[..., Tensor], tuple[Tensor, Tensor]]
SMALL = (8, 64, 512, 4096, 32768, 262144)


def nn(x: Tensor, weight: Tensor) -> Tensor:
    """A product whose weight is rows of columns."""
    return x @ weight


def nt(x: Tensor, weight: Tensor) -> Tensor:
    """A product whose weight lies as `nn.Linear` keeps it."""
    return torch.nn.functional.linear(x, weight)


def added(x: Tensor, y: Tensor) -> Tensor:
    """An update by a tensor."""
    return x.add_(y)


def scaled(x: Tensor, _: Tensor) -> Tensor:
    """An update by a number."""
    return x.mul_(-1.0)


def summed(x: Tensor, y: Tensor) -> Tensor:
    """A new tensor."""
    return x + y


def products(dtype: torch.dtype, weights: Iterable[tuple[int, int]], rows: Iterable[int]) -> Iterator[Case]:
    """Rows by weights; `bytes` are those of the weight."""
    for k, n in weights:
        for product in (nn, nt):
            weight = torch.randn((k, n) if product is nn else (n, k)).to(dtype)
            for m in rows:
                facts = {"dtype": str(dtype).removeprefix("torch."), "rows": m, "k": k, "n": n, "bytes": weight.nbytes}
                yield {"call": product.__name__, **facts}, product, (torch.randn(m, k).to(dtype), weight)


def skinny() -> Iterator[Case]:
    """Few rows by weights of models."""
    yield from products(torch.float32, WEIGHTS, ROWS)


def skinny_half() -> Iterator[Case]:
    """Few rows by half-precision weights."""
    for dtype in (torch.bfloat16, torch.float16):
        yield from products(dtype, WEIGHTS[1:2], (1, 4))


def in_place() -> Iterator[Case]:
    """Updates of 4 MB."""
    for update in (added, scaled):
        yield {"call": update.__name__, "elements": 1 << 20}, update, (torch.ones(1 << 20), torch.zeros(1 << 20))


def small() -> Iterator[Case]:
    """Additions of few elements."""
    for count in SMALL:
        yield {"call": summed.__name__, "elements": count}, summed, (torch.randn(count), torch.randn(count))


SECTIONS = {"skinny": skinny, "skinny_half": skinny_half, "in_place": in_place, "small": small}


def least(calls: dict[str, Callable[..., Tensor]], arguments: tuple[Tensor, ...]) -> dict[str, float]:
    """Microseconds of each call, the least of rounds that alternate between them."""
    counts = {}
    for name, call in calls.items():
        call(*arguments)
        start = time.perf_counter()
        call(*arguments)
        counts[name] = max(1, int(SECONDS / (time.perf_counter() - start)))
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(counts[name]):
                call(*arguments)
            best[name] = min(best[name], (time.perf_counter() - start) / counts[name] * 1e6)
    return best


def main() -> None:
    """All rows, each printed as it comes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", default=list(SECTIONS))
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    for section in chosen.sections:
        rows = []
        for facts, function, arguments in SECTIONS[section]():
            torch._dynamo.reset()
            calls: dict[str, Callable[..., Tensor]] = {"eager": function}
            for backend in ("inductor", "fuseline"):
                calls[backend] = torch.compile(function, backend=backend, dynamic=False)
            with torch.no_grad():
                times = least(calls, arguments)
            over = {name: times[name] / times["fuseline"] for name in calls if name != "fuseline"}
            rows.append({**facts, "microseconds": times, "over": over})
            print(rows[-1], flush=True)
        record.save(f"torch-kernels-{section.replace('_', '-')}-{chosen.threads}", rows, threads=chosen.threads)


if __name__ == "__main__":
    main()
