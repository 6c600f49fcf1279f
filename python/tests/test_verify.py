"""`verify=N`: kernels checked against the unfused graph on live inputs."""

from __future__ import annotations

import fuseline
import pytest
import torch

N = 64


def normed(x: torch.Tensor) -> torch.Tensor:
    """Rounding depends on the order of the sum."""
    y = torch.exp(x) * 1.7
    return y / y.sum(-1, keepdim=True)


def compiled(**options: object) -> object:
    """`normed`, checked."""
    return torch.compile(normed, backend=fuseline.backend, options=options)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("numerics", ["eager", "wide"])
def test_right_kernels_pass_and_give_the_results(dtype: torch.dtype, numerics: str) -> None:
    x = torch.randn(N, 1000).to(dtype)
    got = compiled(verify=2, numerics=numerics)(x)
    torch.testing.assert_close(got, normed(x), rtol=2e-2 if dtype.itemsize == 2 else 1e-5, atol=1e-3)


def test_training_is_checked() -> None:
    layer = torch.nn.Sequential(torch.nn.Linear(N, N), torch.nn.LayerNorm(N), torch.nn.GELU())
    checked = torch.compile(layer, backend=fuseline.backend, options={"verify": 1})
    checked(torch.randn(4, N)).square().mean().backward()
    assert all(p.grad is not None for p in layer.parameters())


def test_deviation_names_kernel_op_and_line() -> None:
    checked = compiled(verify=1, verify_tolerance=0.0)
    with pytest.raises(fuseline.DeviationError) as caught:
        checked(torch.randn(N, 1000))
    text = str(caught.value)
    assert "inference" in text and "kernel " in text and "elements" in text
    first = normed.__code__.co_firstlineno
    assert any(f"test_verify.py:{first + line}" in text for line in (2, 3)), text


def test_only_the_first_calls_are_checked() -> None:
    checked = compiled(verify=1, verify_tolerance=0.0)
    x = torch.randn(N, 1000)
    with pytest.raises(fuseline.DeviationError):
        checked(x)
    torch.testing.assert_close(checked(x), normed(x))


def test_views_and_dynamic_sizes_are_checked_on_their_own_memory() -> None:
    checked = torch.compile(normed, backend=fuseline.backend, options={"verify": 3}, dynamic=True)
    for n in (3, 5, 9):
        x = torch.randn(40, n).t()[:, 1:]
        torch.testing.assert_close(checked(x), normed(x))
