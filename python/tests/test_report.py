"""Reports: kernels, torch's calls, graph breaks, recompiles, sizes, and ranges in the profiler."""

from __future__ import annotations

import json

import fuseline
import pytest
import torch
from fuseline._dynamo import fix

N = 8


def gelu_norm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """One matrix product with pointwise work and a reduction around it."""
    return torch.softmax(torch.relu(x @ w) + 1.0, -1)


def test_graph_holds_kernels_with_the_users_ops_and_lines() -> None:
    found = fuseline.explain(gelu_norm, torch.randn(N, N), torch.randn(N, N))
    (graph,) = found.graphs
    assert graph.origin.kind == "inference"
    assert graph.native["calls"] == 1
    ops = [op for k in graph.kernels for op in k["ops"]]
    assert any(op.startswith("relu (test_report.py:") for op in ops), ops
    (segment,) = graph.segments
    assert segment["report"]["before"]["launches"] > segment["report"]["after"]["launches"] >= 1
    assert segment["output_bytes"] == N * N * 4
    assert "relu (test_report.py:" in str(found)


def test_training_has_a_forward_and_a_backward_graph() -> None:
    w = torch.randn(N, N, requires_grad=True)
    compiled = torch.compile(gelu_norm, backend=fuseline.backend)
    compiled(torch.randn(N, N), w).sum().backward()
    kinds = [(g.origin.kind, g.native["calls"]) for g in fuseline.report().graphs[-2:]]
    assert kinds == [("forward", 1), ("backward", 1)]


def test_torch_calls_are_counted_and_timed() -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(torch.mm(x, x))

    compiled = torch.compile(fn, backend=fuseline.backend, options={"torch_ops": ["aten.mm.default"]})
    for _ in range(3):
        compiled(torch.randn(N, N))
    *_, graph = fuseline.report().graphs
    (call,) = graph.externs
    assert call["target"] == "aten.mm.default" and call["calls"] == 3
    assert 0 < call["seconds"] < 1
    assert call["source"].startswith("test_report.py:") and call["reason"]
    assert "aten.mm.default (test_report.py:" in str(graph)


def test_a_graph_that_nothing_can_call_leaves_the_report() -> None:
    torch.compile(gelu_norm, backend=fuseline.backend)(torch.randn(N, N), torch.randn(N, N))
    *_, graph = fuseline.report().graphs
    torch._dynamo.reset()
    assert graph.name not in [g.name for g in fuseline.report().graphs]


def test_graph_break_has_line_reason_and_hint() -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2

    found = fuseline.explain(fn, torch.randn(N))
    (cut,) = found.breaks
    first = fn.__code__.co_firstlineno
    assert cut.source == f"test_report.py:{first + 2}" and not cut.skipped
    assert "torch._dynamo.graph_break()" in cut.reason and cut.hint
    assert len(found.graphs) == 2
    assert cut.source in str(found)


def test_skipped_function_is_named() -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        for _ in range(2):
            torch._dynamo.graph_break()
        return x + 1

    found = fuseline.explain(fn, torch.randn(N))
    assert [b.skipped for b in found.breaks] == [True]
    assert "runs in eager mode" in str(found)


def test_recompile_has_guard_and_fix() -> None:
    def fn(x: torch.Tensor, n: int) -> torch.Tensor:
        return x * n

    before = len(fuseline.report().recompiles)
    compiled = torch.compile(fn, backend=fuseline.backend)
    compiled(torch.randn(N), 2)
    compiled(torch.randn(N + 1), 2)
    compiled(torch.randn(N, dtype=torch.float64), 2)
    size, dtype = fuseline.report().recompiles[before:]
    assert size.function == "fn" and "size mismatch at index 0" in size.guard
    assert size.fix.startswith("torch._dynamo.mark_dynamic(x, 0)")
    assert "dtype mismatch" in dtype.guard and "x" in dtype.fix


@pytest.mark.parametrize(
    ("guard", "text"),
    [
        ("tensor 'x' requires_grad mismatch. expected requires_grad=0", "gradients of x"),
        ("n == 2", "n is a constant"),
        ("GLOBAL_STATE changed: grad_mode", "same grad"),
        ("x.size()[0] == 7", "branches on a size"),
        ("something new", ""),
    ],
)
def test_fix_of_a_guard(guard: str, text: str) -> None:
    assert text in fix(guard) and bool(text) == bool(fix(guard))


def test_sizes_have_ranges_and_specialisations_have_lines() -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] == 7:
            x = x * 3
        return x + 1 if x.shape[1] > 4 else x - 1

    compiled = torch.compile(fn, backend=fuseline.backend, dynamic=True)
    compiled(torch.randn(7, 6))
    *_, graph = fuseline.report().graphs
    (special,) = graph.origin.specialisations
    assert special.name == "x.size()[0]" and special.value == "7"
    assert special.source.startswith(f"test_report.py:{fn.__code__.co_firstlineno + 1}")
    (size,) = graph.origin.sizes
    assert size.names == ("x.size()[1]",) and size.low == 5 and size.high is None


def test_explain_leaves_other_compiled_functions_and_random_state() -> None:
    compiled = torch.compile(gelu_norm, backend=fuseline.backend)
    arguments = torch.randn(N, N), torch.randn(N, N)
    compiled(*arguments)
    *_, graph = fuseline.report().graphs
    state, count = torch.get_rng_state(), len(fuseline.report().recompiles)
    found = fuseline.explain(lambda x, w: torch.nn.functional.dropout(gelu_norm(x, w)), *arguments)
    assert len(found.graphs) == 1
    assert torch.equal(torch.get_rng_state(), state)
    compiled(*arguments)
    assert len(fuseline.report().recompiles) == count
    assert {g.name: g.native["calls"] for g in fuseline.report().graphs}[graph.name] == 2


def test_explain_takes_modules_and_compiled_modules() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(N, N), torch.nn.ReLU())
    for one in (model, torch.compile(model, backend=fuseline.backend)):
        found = fuseline.explain(one, torch.randn(2, N))
        assert {g.origin.kind: g.native["calls"] for g in found.graphs} == {"forward": 1, "backward": 1}
        assert all(p.grad is None for p in model.parameters())
        assert not found.breaks


def test_explain_differentiates_up_to_its_arguments() -> None:
    leaf = torch.randn(N, N, requires_grad=True)
    x = leaf * leaf
    assert len(fuseline.explain(gelu_norm, x, leaf).graphs) == 2
    x.sum().backward()
    torch.testing.assert_close(leaf.grad, 2 * leaf.detach())


def test_json_has_its_fields_and_version() -> None:
    data = json.loads(fuseline.explain(gelu_norm, torch.randn(N, N), torch.randn(N, N)).to_json())
    assert data["version"] == 1 and data["torch"] == torch.__version__
    assert set(data) == {"version", "fuseline", "torch", "graphs", "breaks", "recompiles"}
    (graph,) = data["graphs"]
    assert set(graph) == {
        "name", "kind", "calls", "compile_seconds", "steps", "sizes", "specialisations", "extra_memory_bytes",
    }  # fmt: skip


def test_profiler_shows_kernels_with_flops_and_bytes(tmp_path: object) -> None:
    compiled = torch.compile(gelu_norm, backend=fuseline.backend)
    arguments = torch.randn(N, N), torch.randn(N, N)
    compiled(*arguments)
    with torch.profiler.profile(record_shapes=True) as profiler:
        compiled(*arguments)
    *_, graph = fuseline.report().graphs
    names = [e.name for e in profiler.events() if e.name.startswith("fuseline::")]
    kernels = [f"fuseline::{graph.name}/k{n}_{k['name']}" for n, k in enumerate(graph.kernels)]
    assert names[0] == f"fuseline::{graph.name}" and set(names[1:]) == set(kernels)
    path = f"{tmp_path}/trace.json"
    profiler.export_chrome_trace(path)
    with open(path) as file:
        events = {e["name"]: e.get("args", {}) for e in json.load(file)["traceEvents"] if "name" in e}
    flops = sum(float(events[k]["flops"]) for k in kernels)
    assert flops >= 2 * N**3
    assert all(float(events[k]["bytes"]) > 0 for k in kernels)


def test_memory_of_intermediates_is_told_and_given_back() -> None:
    fn = torch.compile(lambda x: (x + 1).sum(0) @ x.T, backend="fuseline", options={"fuse": False})
    fn(torch.randn(64, 64))
    before = fuseline.memory_stats()
    assert 0 <= before["allocated"] <= before["peak"] <= before["reserved"]
    fuseline.empty_cache()
    after = fuseline.memory_stats()
    assert after["allocated"] == after["peak"] == before["allocated"]
    assert after["reserved"] <= before["reserved"]
