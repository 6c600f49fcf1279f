"""Times the op rows of `cargo xtask bench cpu` in PyTorch, eager and compiled by Inductor, in alternating rounds, and puts them
beside Fuseline's times of the same session.

Needs an environment with `torch`, a C++ compiler for Inductor, and a fresh `benches/results/cpu.json`:
    cargo xtask bench cpu && python benches/torch_ops.py
"""

import datetime
import json
import pathlib
import statistics
import time

import torch
import torch.nn.functional as F

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
SECONDS = 1.0
ROUNDS = 7


def rand(*shape):
    return torch.rand(shape) * 2 - 1


def pointwise(x, y):
    v = torch.clamp_max(torch.maximum((x + y) * 1.5 - 2.5, y), 4.5)
    return torch.minimum(torch.clamp_min((v + 5.5) * y - 7.5, 8.5), y)


def gelu(x, bias):
    return F.gelu(x + bias) * 0.5 + 0.1


def softmax(x):
    return F.softmax(x, -1)


def residual_norm(x, r, w, b):
    s = x + r
    return s, F.layer_norm(s, s.shape[-1:], w, b)


def linear_gelu(x, w, bias):
    return F.gelu(F.linear(x, w, bias))


def geglu_mlp(x, w, b, w_gate, b_gate, w_up, b_up, w_down, b_down):
    h = F.layer_norm(x, x.shape[-1:], w, b)
    return x + F.linear(F.gelu(F.linear(h, w_gate, b_gate)) * F.linear(h, w_up, b_up), w_down, b_down)


def attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


ROWS = {
    "pointwise_10 [4096,4096]": (pointwise, [(4096, 4096), (4096, 4096)]),
    "pointwise_10 [256,1024]": (pointwise, [(256, 1024), (256, 1024)]),
    "gelu [4096,4096]": (gelu, [(4096, 4096), (4096,)]),
    "gelu [256,1024]": (gelu, [(256, 1024), (1024,)]),
    "softmax [4096,1024]": (softmax, [(4096, 1024)]),
    "softmax [256,1024]": (softmax, [(256, 1024)]),
    "residual_norm [4096,1024]": (residual_norm, [(4096, 1024), (4096, 1024), (1024,), (1024,)]),
    "residual_norm [256,1024]": (residual_norm, [(256, 1024), (256, 1024), (1024,), (1024,)]),
    "linear_gelu 1024^3": (linear_gelu, [(1024, 1024), (1024, 1024), (1024,)]),
    "linear_gelu 128x768x3072": (linear_gelu, [(128, 768), (3072, 768), (3072,)]),
    "attention [1,12,128,64]": (attention, [(1, 12, 128, 64)] * 3),
    "attention [1,12,512,64]": (attention, [(1, 12, 512, 64)] * 3),
    "geglu-mlp": (geglu_mlp, [(256, 1024), (1024,), (1024,)] + [(4096, 1024), (4096,)] * 2 + [(1024, 4096), (1024,)]),
}


def seconds(call, runs):
    start = time.perf_counter()
    for _ in range(runs):
        call()
    return (time.perf_counter() - start) / runs


def row(name, threads, ours):
    torch.set_num_threads(threads)
    function, shapes = ROWS[name]
    arguments = [rand(*shape) for shape in shapes]
    torch._dynamo.reset()
    compiled = torch.compile(function)
    calls = {"eager": lambda: function(*arguments), "inductor": lambda: compiled(*arguments)}
    times = {}
    with torch.inference_mode():
        for call in calls.values():
            call()
        once = {key: min(seconds(call, 1) for _ in range(3)) for key, call in calls.items()}
        runs = {key: max(1, int(SECONDS / ROUNDS / once[key])) for key in calls}
        rounds = [{key: seconds(call, runs[key]) for key, call in calls.items()} for _ in range(ROUNDS)]
    times = {key: statistics.median(r[key] for r in rounds) * 1e3 for key in calls}
    result = {"name": name, "threads": threads, "torch_eager_ms": times["eager"], "inductor_ms": times["inductor"]}
    if ours:
        result["fuseline_ms"] = ours
        result["inductor_over_fuseline"] = times["inductor"] / ours
        result["torch_eager_over_fuseline"] = times["eager"] / ours
    print({key: round(value, 3) if isinstance(value, float) else value for key, value in result.items()}, flush=True)
    return result


def main():
    measured = json.loads((RESULTS / "cpu.json").read_text())["rows"]
    ours = {(r["name"], r["threads"]): r["fused_ms"] for r in measured}
    rows = [row(name, threads, ours.get((name, threads))) for threads in (1, 2) for name in ROWS]
    out = {"date": str(datetime.date.today()), "torch": torch.__version__, "rounds": ROUNDS, "rows": rows}
    (RESULTS / "torch.json").write_text(json.dumps(out, indent=2) + "\n")


if __name__ == "__main__":
    main()
