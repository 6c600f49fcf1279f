"""Data parallel and fully sharded training on two processes: the losses of eager."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from backend import compiled
from torch import nn

pytestmark = pytest.mark.skipif(not dist.is_available(), reason="this torch has no torch.distributed")

STEPS = 3
WORLD = 2
FIRST_BUCKET_BYTES = 2000

Wrap = Callable[[nn.Module], nn.Module]


def network() -> nn.Module:
    """A few layers, the same on every process."""
    torch.manual_seed(15)
    layers = [nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 4)]
    return nn.Sequential(*layers)


def replicated(module: nn.Module) -> nn.Module:
    """DDP with buckets so small that the graph is split at each."""
    dist._DEFAULT_FIRST_BUCKET_BYTES = FIRST_BUCKET_BYTES
    return nn.parallel.DistributedDataParallel(module, bucket_cap_mb=2 * FIRST_BUCKET_BYTES / 2**20)


def sharded(module: nn.Module) -> nn.Module:
    """FSDP2 over every linear layer and the whole: parameters are resized around their use."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (WORLD,))
    for layer in module:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    return fully_shard(module, mesh=mesh)


def losses(wrap: Wrap, compile_it: bool, rank: int) -> list[float]:
    """Losses of the steps on this process's part of the data."""
    model = wrap(network())
    call = compiled(model) if compile_it else model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(16 + rank)
    found = []
    for _ in range(STEPS):
        x, y = torch.randn(8, 16, generator=generator), torch.randn(8, 4, generator=generator)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(call(x), y)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def scaled_sum(rank: int) -> float:
    """A collective inside a graph, whose operand dies right after it was handed over."""
    from torch.distributed._functional_collectives import all_reduce

    def fn(x: torch.Tensor) -> torch.Tensor:
        total = all_reduce(x * 2 + 1, "sum", list(range(WORLD)))
        other = (x * 3).exp().sin()
        return (total + other * 0).sum()

    return float(compiled(fn, fullgraph=True)(torch.full((1000,), float(rank))))


def process(rank: int, folder: str, wrap: Wrap) -> None:
    """One of the two processes: leaves its results in a file."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=WORLD)
    try:
        found = {"eager": losses(wrap, False, rank), "ours": losses(wrap, True, rank), "sum": scaled_sum(rank)}
        torch.save(found, os.path.join(folder, f"{rank}.pt"))
    finally:
        dist.destroy_process_group()


@pytest.mark.parametrize("wrap", [replicated, sharded])
def test_losses_of_eager(wrap: Wrap, tmp_path: Path) -> None:
    """Three steps on two processes, and a collective whose operand is a temporary."""
    mp.start_processes(process, args=(str(tmp_path), wrap), nprocs=WORLD, start_method="spawn")
    for rank in range(WORLD):
        found = torch.load(tmp_path / f"{rank}.pt")
        assert found["ours"] == pytest.approx(found["eager"], rel=1e-5)
        assert found["eager"][0] != found["eager"][-1]
        assert found["sum"] == 1000 * (1 + 3)
