"""Our optimizer against torch's: values, state, schedules without recompiling, launches."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from comparing import inaccuracy, is_float
from fuseline import optim
from torch import Tensor, nn

DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64)

SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "all": {"lr": 0.02, "betas": (0.8, 0.95), "eps": 1e-4, "weight_decay": 0.1},
    "amsgrad": {"lr": 0.02, "amsgrad": True},
    "maximize": {"lr": 0.02, "maximize": True, "weight_decay": 0.0},
    "tensor-lr": {"lr": torch.tensor(0.02, dtype=torch.float64)},
}


def parameters(dtype: torch.dtype) -> list[nn.Parameter]:
    """Of every rank, empty, channels last, and a part of a larger tensor."""
    values = [torch.randn(shape) for shape in ((5, 7), (11,), (), (0, 3), (130, 3))]
    values.append(torch.randn(2, 4, 5, 3).to(memory_format=torch.channels_last))
    values.append(torch.randn(6, 8)[:, 1:5])
    return [nn.Parameter(value.to(dtype)) for value in values]


def twins(params: list[nn.Parameter], dtype: torch.dtype) -> list[nn.Parameter]:
    """Parameters of the same values and strides."""
    return [nn.Parameter(copy.deepcopy(p.detach()).to(dtype)) for p in params]


def give_gradients(seed: int, *lists: list[nn.Parameter]) -> None:
    """The same random gradients for each list; that of the first parameter lies transposed."""
    generator = torch.Generator().manual_seed(seed)
    for same in zip(*lists, strict=True):
        grad = torch.randn(same[0].shape, generator=generator).to(same[0].dtype)
        for param in same:
            param.grad = grad.to(param.dtype)
    for params in lists:
        grad = params[0].grad
        assert grad is not None
        params[0].grad = grad.t().contiguous().t()


def tensors(optimizer: torch.optim.Optimizer, params: list[nn.Parameter]) -> list[Tensor]:
    """Parameters and state."""
    state = [value for p in params for _, value in sorted(optimizer.state[p].items())]
    return [*(p.detach() for p in params), *state]


def problems(ours: list[Tensor], eager: list[Tensor], exact: list[Tensor]) -> list[str]:
    """Where ours are further from float64 than twice eager's distance and a floor."""
    found = []
    for i, (a, b, x) in enumerate(zip(ours, eager, exact, strict=True)):
        if a.dtype != b.dtype or a.shape != b.shape or a.stride() != b.stride():
            found.append(f"{i}: {a.dtype} {a.shape} {a.stride()}, torch {b.dtype} {b.shape} {b.stride()}")
        elif is_float(b) and (text := inaccuracy(a, b, x, least_scale=1.0)):
            found.append(f"{i}: {text}")
    return found


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: str(d).removeprefix("torch."))
@pytest.mark.parametrize("name", SETTINGS)
def test_as_torch(name: str, dtype: torch.dtype) -> None:
    """Five steps leave parameters and state as accurate as torch's, at their addresses."""
    params = parameters(dtype)
    others, exact = twins(params, dtype), twins(params, torch.float64)
    kwargs = SETTINGS[name]
    if dtype == torch.float16:
        # Torch's square roots vanish in float16, and it divides by epsilon alone.
        kwargs = {"eps": 1e-4, **kwargs}
    ours = optim.AdamW(params, **kwargs)
    eager, reference = torch.optim.AdamW(others, foreach=False, **kwargs), torch.optim.AdamW(exact, **kwargs)
    addresses = [p.data_ptr() for p in params]
    for seed in range(5):
        give_gradients(seed, params, others, exact)
        for optimizer in (ours, eager, reference):
            optimizer.step()
    assert not problems(tensors(ours, params), tensors(eager, others), tensors(reference, exact))
    assert addresses == [p.data_ptr() for p in params]


def test_groups_and_missing_gradients() -> None:
    """Groups with their own settings; a parameter without a gradient stays, and later has its own step count."""
    params = parameters(torch.float32)
    others = twins(params, torch.float32)
    pair = []
    for kind, own in ((optim.AdamW, params), (torch.optim.AdamW, others)):
        groups = [{"params": own[:3], "weight_decay": 0.0}, {"params": own[3:], "lr": 0.1, "amsgrad": True}]
        pair.append(kind(groups, lr=0.01))
    for seed in range(4):
        give_gradients(seed, params, others)
        if seed < 2:
            params[1].grad = others[1].grad = None
        for optimizer in pair:
            optimizer.step()
    torch.testing.assert_close(tensors(pair[0], params), tensors(pair[1], others))
    assert float(pair[0].state[params[1]]["step"]) == 2


def test_state_both_ways() -> None:
    """Torch continues from our state, and we from torch's."""
    for first, second in ((optim.AdamW, torch.optim.AdamW), (torch.optim.AdamW, optim.AdamW)):
        params = parameters(torch.float32)
        one = first(params, lr=0.01, amsgrad=True)
        for seed in range(3):
            give_gradients(seed, params)
            one.step()
        others = twins(params, torch.float32)
        two = second(others, lr=0.5, amsgrad=True)
        two.load_state_dict(copy.deepcopy(one.state_dict()))
        for seed in range(3, 6):
            give_gradients(seed, params, others)
            one.step()
            two.step()
        torch.testing.assert_close(tensors(two, others), tensors(one, params))
        assert one.state_dict()["param_groups"][0].keys() == two.state_dict()["param_groups"][0].keys()


def test_schedule_and_sizes_compile_nothing() -> None:
    """Another learning rate, decay, beta or size is no other kernel."""
    before = None
    for size in range(1, 21):
        params = [nn.Parameter(torch.randn(size, 3)), nn.Parameter(torch.randn(2 * size))]
        others = twins(params, torch.float32)
        ours, eager = optim.AdamW(params, lr=0.1 / size), torch.optim.AdamW(others, lr=0.1 / size)
        schedules = [torch.optim.lr_scheduler.ExponentialLR(o, 0.9) for o in (ours, eager)]
        for seed in range(3):
            give_gradients(seed, params, others)
            for optimizer, schedule in zip((ours, eager), schedules, strict=True):
                optimizer.param_groups[0]["weight_decay"] = 0.01 * seed
                optimizer.step()
                schedule.step()
        torch.testing.assert_close(tensors(ours, params), tensors(eager, others))
        before = len(optim._runners) if before is None else before
    assert len(optim._runners) == before


def test_groups_whose_scalars_meet_compile_nothing() -> None:
    """A warm-up from zero gives two groups one learning rate at first."""
    params = [nn.Parameter(torch.randn(4)) for _ in range(4)]
    optimizer = optim.AdamW([{"params": params[:2]}, {"params": params[2:]}])
    optim._runners.clear()
    for step in range(3):
        give_gradients(step, params, twins(params, torch.float32))
        for number, group in enumerate(optimizer.param_groups):
            group["lr"] = step * 10.0**-number
        optimizer.step()
    assert len(optim._runners) == 1


@pytest.mark.parametrize("count", [1, 30, 300])
def test_launches(count: int) -> None:
    """A step is at most two launches, whatever the number of parameters, and torch computes none of it."""
    params = [nn.Parameter(torch.randn(1 + i % 5, 3)) for i in range(count)]
    others = twins(params, torch.float32)
    ours, eager = optim.AdamW(params), torch.optim.AdamW(others)
    optim._runners.clear()
    for seed in range(2):
        give_gradients(seed, params, others)
        ours.step()
        eager.step()
    torch.testing.assert_close(tensors(ours, params), tensors(eager, others))
    (runner,) = optim._runners.values()
    assert not runner.remarks()
    assert sum(map(len, runner.kernels())) <= 2, runner.kernels()


def test_bad_input() -> None:
    """Sparse gradients and complex parameters are refused as what they are."""
    param = nn.Parameter(torch.randn(3, 2))
    param.grad = torch.ones(3, 2).to_sparse()
    with pytest.raises(RuntimeError, match="sparse"):
        optim.AdamW([param]).step()
    param = nn.Parameter(torch.randn(3, dtype=torch.complex64))
    param.grad = torch.ones_like(param)
    with pytest.raises(RuntimeError, match="complex64"):
        optim.AdamW([param]).step()
