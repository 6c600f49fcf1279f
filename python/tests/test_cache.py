"""What is compiled again and what is not: in a second process, and when something that matters changes.

`torch._dynamo.reset()` forgets all that a new process would not know; two tests start real ones.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fuseline
import pytest
import torch
from backend import compiled
from fuseline import _artifact, _compat, _externs, _state
from fuseline._options import Options
from torch import Tensor
from torch._dynamo.utils import counters
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

pytestmark = pytest.mark.skipif(not _compat.CACHES, reason="this torch has no AOTAutograd cache that others may use")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Empty caches."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "torch"))
    monkeypatch.setenv("FUSELINE_CACHE", str(tmp_path / "fuseline"))
    _artifact.counts.clear()
    _artifact.unstored.clear()
    counters.clear()
    return tmp_path


def again(fn: Callable[..., Any], *args: Any, **settings: Any) -> dict[str, int]:
    """Compiles as a new process would and compares with eager; what happened."""
    torch._dynamo.reset()
    _artifact.counts.clear()
    counters.clear()
    torch.testing.assert_close(compiled(fn, **settings)(*args), fn(*args))
    return dict(_artifact.counts)


def mlp(x: Tensor, w: Tensor) -> Tensor:
    return functional.gelu(x @ w).sum(-1)


X, W = torch.randn(4, 8), torch.randn(8, 8)


def test_inference_is_loaded() -> None:
    assert again(mlp, X, W) == {"compiled": 1}
    assert again(mlp, X, W) == {"loaded": 1}
    assert counters["aot_autograd"]["autograd_cache_hit"] == 1


def test_training_is_loaded_forward_and_backward() -> None:
    def step() -> tuple[Tensor, Tensor]:
        torch._dynamo.reset()
        _artifact.counts.clear()
        w = W.clone().requires_grad_()
        loss = compiled(lambda x, w: functional.dropout(mlp(x, w), 0.5).sum(), options={"rng": "fused"})(X, w)
        loss.backward()
        return loss.detach(), w.grad

    torch.manual_seed(1)
    first = step()
    assert _artifact.counts == {"compiled": 2}
    torch.manual_seed(1)
    torch.testing.assert_close(step(), first, rtol=0, atol=0)
    assert _artifact.counts == {"loaded": 2}


def test_torch_calls_and_constants_are_loaded() -> None:
    def fn(x: Tensor) -> tuple[Tensor, Tensor]:
        return torch.linalg.solve(x @ x.T + torch.eye(4), torch.tensor([1.0, 2.0, 3.0, 4.0])), x.exp()

    assert again(fn, X) == {"compiled": 1}
    assert again(fn, X) == {"loaded": 1}


def test_dynamic_sizes_are_loaded_and_still_dynamic() -> None:
    assert again(mlp, X, W, dynamic=True) == {"compiled": 1}
    torch._dynamo.reset()
    _artifact.counts.clear()
    fn = compiled(mlp, dynamic=True)
    for rows in (4, 7, 5):
        x = torch.randn(rows, 8)
        torch.testing.assert_close(fn(x, W), mlp(x, W))
    assert _artifact.counts == {"loaded": 1}


def test_what_torch_refuses_to_store_is_compiled_and_said() -> None:
    def fn(x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))

    for _ in range(2):
        assert again(fn, X) == {"compiled": 1}
        assert "torch's own rules" in _artifact.unstored.pop()[1]


def test_too_many_constants_are_compiled_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fn(x: Tensor) -> Tensor:
        return torch.linalg.det(x @ x.T)

    monkeypatch.setattr(_externs, "MOST_CONSTANT_BYTES", -1)
    for _ in range(2):
        assert again(fn, X) == {"compiled": 1}
        assert "constants of 0 MiB" in _artifact.unstored.pop()[1]


def test_a_damaged_entry_is_compiled_again(folder: Path) -> None:
    again(mlp, X, W)
    entries = [p for p in (folder / "torch" / "aotautograd").rglob("*") if p.is_file()]
    assert entries
    for entry in entries:
        entry.write_bytes(entry.read_bytes()[:100])
    assert again(mlp, X, W) == {"compiled": 1}


PROGRAM = """
import json, torch
import fuseline
from fuseline import _artifact
from torch._dynamo.utils import counters
torch.set_num_threads(1)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.LayerNorm(16))
x = torch.randn(3, 8)
torch.compile(model, backend="fuseline")(x).sum().backward()
grad = model[0].weight.grad.sum().item()
steps = [step for graph in fuseline.report().to_dict()["graphs"] for step in graph["steps"]]
plans = [step["plan"] for step in steps if step["kind"] == "segment"]
print(json.dumps({"counts": _artifact.counts, "aot": counters["aot_autograd"], "grad": grad, "plans": plans}))
"""


def process() -> dict[str, Any]:
    """Compiles and trains one step in a new process."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_second_process_neither_traces_nor_compiles() -> None:
    first, second = process(), process()
    assert first["counts"] == {"compiled": 2} and first["aot"]["autograd_cache_saved"] == 1
    assert second["counts"] == {"loaded": 2} and second["aot"]["autograd_cache_hit"] == 1
    assert second["grad"] == first["grad"]
    assert set(first["plans"]) == {"stored"} and set(second["plans"]) == {"loaded"}


def test_without_aotautograds_cache_plans_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_AUTOGRAD_CACHE", "0")
    first, second = process(), process()
    assert first["counts"] == second["counts"] == {"compiled": 2}
    assert set(first["plans"]) == {"stored"} and set(second["plans"]) == {"loaded"}


def test_a_plan_cache_that_cannot_be_used_is_said(folder: Path) -> None:
    (folder / "fuseline").write_text("not a folder")
    again(mlp, X, W)
    assert "plan not stored: " in str(fuseline.report())
    assert "cannot be used" in fuseline.doctor().facts["plan cache"]


@contextlib.contextmanager
def changed(set_to: Callable[[Any], None], value: Any, before: Any) -> Iterator[None]:
    """Sets a setting of the process and restores it."""
    set_to(value)
    try:
        yield
    finally:
        set_to(before)


def _reduced(value: bool) -> None:
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = value


def _filled(value: bool) -> None:
    torch.utils.deterministic.fill_uninitialized_memory = value


STATES: dict[str, Callable[[], contextlib.AbstractContextManager[Any]]] = {
    "float32_matmul": lambda: changed(torch.set_float32_matmul_precision, "medium", "highest"),
    "reduced_precision": lambda: changed(_reduced, False, True),
    "deterministic": lambda: changed(torch.use_deterministic_algorithms, True, False),
    "filled_memory": lambda: changed(_filled, False, True),
    "attention": lambda: sdpa_kernel(SDPBackend.MATH),
    "default_dtype": lambda: changed(torch.set_default_dtype, torch.float64, torch.float32),
    "threads": lambda: changed(torch.set_num_threads, 2, 1),
    "mkldnn": lambda: torch.backends.mkldnn.flags(enabled=False),
}


@pytest.mark.parametrize("name", STATES)
def test_state_is_part_of_the_key(name: str) -> None:
    with STATES[name]():  # Some settings have a first value that they never have again.
        pass
    again(mlp, X, W)
    with STATES[name]():
        assert again(mlp, X, W) == {"compiled": 1}
        assert again(mlp, X, W) == {"loaded": 1}
    assert again(mlp, X, W) == {"loaded": 1}


@pytest.mark.parametrize("field", ["torch", "fuseline"])
def test_versions_are_part_of_the_key(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    again(mlp, X, W)
    if field == "torch":
        monkeypatch.setattr(torch, "__version__", "99.0")
    else:
        monkeypatch.setattr(_state, "_fingerprint", lambda: "other code")
    assert again(mlp, X, W) == {"compiled": 1}


OPTIONS = [{"numerics": "wide"}, {"rng": "fused"}, {"fuse": False}, {"torch_ops": ["aten.mm.default"]}]


@pytest.mark.parametrize("options", OPTIONS)
def test_options_are_part_of_the_key(options: dict[str, Any]) -> None:
    again(mlp, X, W)
    assert again(mlp, X, W, options=options) == {"compiled": 1}


def test_strides_are_part_of_the_key() -> None:
    again(mlp, X, W)
    assert again(mlp, X, W.T) == {"compiled": 1}


def test_a_loaded_graph_takes_unaligned_memory() -> None:
    again(mlp, X, W)
    data = torch.zeros(X.numel() * 4 + 1, dtype=torch.uint8).numpy()
    unaligned = torch.frombuffer(data, dtype=torch.float32, offset=1, count=X.numel()).view(X.shape).copy_(X)
    assert unaligned.data_ptr() % 4 == 1
    again(mlp, unaligned, W)
    assert again(mlp, unaligned, W) == {"loaded": 1}


def test_literal_constants_are_part_of_the_key() -> None:
    assert again(lambda x: x + torch.tensor([1.0, 2.0]), torch.ones(2)) == {"compiled": 1}
    assert again(lambda x: x + torch.tensor([1.0, 3.0]), torch.ones(2)) == {"compiled": 1}


def test_attributes_are_part_of_the_key_by_content() -> None:
    def key(value: float) -> str:
        module = torch.fx.symbolic_trace(torch.nn.Identity())
        module.constant = torch.full((2,), value)
        return _state.key(Options(), _state.State.now(), module, [])

    assert key(1.0) == key(1.0) != key(2.0)


def test_ranges_of_symbols_are_part_of_the_key() -> None:
    def run(top: int | None) -> dict[str, int]:
        torch._dynamo.reset()
        _artifact.counts.clear()
        x = torch.randn(6, 8)
        torch._dynamo.mark_dynamic(x, 0, min=2, max=top)
        torch.testing.assert_close(compiled(mlp)(x, W), mlp(x, W))
        return dict(_artifact.counts)

    assert run(64) == {"compiled": 1}
    assert run(64) == {"loaded": 1}
    assert run(32) == {"compiled": 1}


def attend(q: Tensor) -> Tensor:
    return functional.scaled_dot_product_attention(q, q, q).exp()


SWITCHED = {
    "attention": (attend, torch.randn(1, 2, 4, 8), lambda: sdpa_kernel(SDPBackend.MATH)),
    "default_dtype": (lambda x: x + torch.ones(4, 8).to(x.dtype), X, STATES["default_dtype"]),
    "threads": (lambda x: x.exp(), X, STATES["threads"]),
}


@pytest.mark.parametrize("name", SWITCHED)
def test_a_change_between_calls_compiles_again(name: str) -> None:
    fn, x, state = SWITCHED[name]
    both = compiled(fn)
    both(x)
    assert _artifact.counts == {"compiled": 1}
    with state():
        torch.testing.assert_close(both(x), fn(x))
        assert _artifact.counts == {"compiled": 2}
        both(x)
    both(x)
    assert _artifact.counts == {"compiled": 2}


def test_memory_is_filled_as_torch_is_told() -> None:
    fn = compiled(lambda x: x.new_empty(4) * 1)
    with STATES["deterministic"]():
        assert fn(X).isnan().all()
        with STATES["filled_memory"]():
            fn(X)
            assert _artifact.counts == {"compiled": 2}
        assert fn(X).isnan().all()
