"""Times the rows of benches/cuda beside torch, torch.compile, Liger and XLA: in one process, on one stream, by one clock.

Every result is compared with the same computation in f64 first; one of Fuseline's that is wrong ends the run with code 1. Needs torch on
a machine with a GPU; Liger, JAX and transformers where they are there:
    cargo build --release -p fuseline-bridge && python benches/peers_cuda.py
"""

import argparse
import datetime
import gc
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import cuda_rows
import torch
from cuda_bridge import Library, Program
from cuda_clock import Candidate, Clock, distance, recorded

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ["torch", "inductor", "liger", "xla"]
OURS = ["wide", "eager"]
NOTE = (
    "medians of interleaved rounds in one process on one stream, the second-level cache displaced before each; `wide` is Fuseline and what "
    "ratios are over, `eager` its other numerics; kernel_ms by events, of replayed CUDA graphs but for XLA, whose streams are waited for, "
    "and for calls that note they were not recorded; error is ‖out − f64‖ / ‖f64‖"
)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=pathlib.Path, default=ROOT / "target/release/libfuseline_bridge.so")
    parser.add_argument("--files", type=pathlib.Path, default=ROOT / "benches/cuda", help="folder of the rows")
    parser.add_argument("--rows", default="", help="parts of file names, separated by commas; all without")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--slow", action="store_true", help="also peers that compile for a minute: AdamW by Inductor and XLA")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no row after this time")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "benches/results/peers-cuda.json")
    return parser.parse_args()


class Row:
    """A file: its name, and the source of its program."""

    def __init__(self, path):
        self.path, text = path, path.read_text()
        self.name = re.search(r"^# row (.*)", text, re.M)[1]
        model = re.search(r"^# model (\S+)", text, re.M)
        self.source = f"zoo:{model[1]}" if model else text
        below = re.search(r"^# below (\d+)", text, re.M)
        self.below = int(below[1]) if below else 1000

    def inputs(self, program):
        generator = torch.Generator("cuda").manual_seed(0)

        def one(of):
            if of.dtype.is_floating_point:
                return torch.randn(of.shape, device="cuda", generator=generator).to(of.dtype)
            return torch.randint(self.below, of.shape, dtype=of.dtype, device="cuda", generator=generator)

        return [one(of) for of in program.inputs]


def ours(program, name, work):
    """Fuseline; what it overwrites are copies."""
    taken = {i: work.inputs[i].clone() for i in work.overwrites.values()}
    inputs = [taken.get(i, x) for i, x in enumerate(work.inputs)]
    fresh = lambda of: torch.full(of.shape, float("nan") if of.dtype.is_floating_point else 77, dtype=of.dtype, device="cuda")
    outputs = [taken[work.overwrites[n]] if n in work.overwrites else fresh(of) for n, of in enumerate(program.outputs)]
    call = program.bind(inputs, outputs)
    call.run()
    program.synchronize()
    candidate = Candidate(name, call.run, outputs=[o.clone() for o in outputs])
    try:
        call.record()
        candidate.replay = call.replay
    except RuntimeError as error:
        candidate.note = f"not recorded: {first_line(error)}"
    return candidate


def of_torch(name, work):
    """Torch itself, Inductor or Liger."""
    start = time.perf_counter()
    if name in work.stateful:
        call, state = work.stateful[name]()
        call()
        outputs = [x.clone() for x in state]
    else:
        compiled = name == "inductor"
        core = torch.compile(work.core, dynamic=False) if compiled else work.core
        call = (lambda: work.liger(*work.inputs)) if name == "liger" else (lambda: work.drive(core, *work.inputs))
        outputs = [x.clone() for x in call()]
    torch.cuda.synchronize()
    candidate = Candidate(name, call, outputs=outputs, compile_s=time.perf_counter() - start)
    if name in work.waits:
        candidate.note = "not recorded: it waits for the device itself"
        return candidate
    try:
        candidate.replay, _ = recorded(call)
    except Exception as error:
        candidate.note = f"not recorded: {first_line(error)}"
        torch.cuda.synchronize()
    return candidate


def of_xla(name, work):
    """XLA on the same tensors. It has streams of its own: it waits for a token of ours, and we wait for its results."""
    import jax

    # Integers of 64 bits are an option of JAX that is off by default.
    dense = [x.int() if x.dtype == torch.int64 else x for x in work.inputs]
    arrays = [jax.dlpack.from_dlpack(x) for x in dense]
    mark = torch.zeros(1, device="cuda")
    stream = torch.cuda.current_stream().cuda_stream
    compiled = jax.jit(lambda _, *inputs: tuple(work.xla(*inputs)), keep_unused=True)
    token = jax.dlpack.from_dlpack(mark)
    start = time.perf_counter()
    results = jax.block_until_ready(compiled(token, *arrays))
    took = time.perf_counter() - start

    def timed():
        results = compiled(jax.dlpack.from_dlpack(mark), *arrays)
        for result in results:
            result.__dlpack__(stream=stream)
        return results

    outputs = [torch.from_dlpack(r).clone() for r in results]
    call = lambda: jax.block_until_ready(compiled(token, *arrays))
    return Candidate(name, call, timed=timed, outputs=outputs, compile_s=took)


def first_line(error):
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__


def peers(work, wanted):
    """Peers of a row, ready; and why others are not."""
    ready, refused = [], {}
    for name in wanted:
        if name in ("liger", "xla") and (getattr(work, name) is None or getattr(cuda_rows, {"xla": "jax"}.get(name, name)) is None):
            continue
        try:
            ready.append(of_xla(name, work) if name == "xla" else of_torch(name, work))
        except Exception as error:
            refused[name] = f"{type(error).__name__}: {first_line(error)}"
            torch.cuda.synchronize()
    return ready, refused


def errors(candidate, wanted):
    """The greatest distances of a candidate's outputs."""
    each = [distance(o, w) for o, w in zip(candidate.outputs, wanted, strict=True)]
    return [max(e) if all(x == x for x in e) else float("nan") for e in zip(*each)]


def limits(candidate, torch_errors):
    """Four times what torch gets, or the rounding of the coarsest output."""
    unit = max(max(torch.finfo(o.dtype).eps if o.is_floating_point() else 0.0, 2e-6) for o in candidate.outputs)
    return max(4 * torch_errors[0], unit), max(4 * torch_errors[1], 4 * unit)


def measure(library, row, clock, names, rounds, slow):
    """A row's figures, by candidate."""
    programs = {n: Program(library, row.source, n) for n in OURS}
    work = cuda_rows.workload(row.path, programs["wide"], row.inputs(programs["wide"]))
    wanted = work.wanted()
    own = [ours(programs[n], n, work) for n in OURS]
    others, refused = peers(work, [n for n in names if slow or n not in work.slow])
    found = {c.name: errors(c, wanted) for c in own + others}
    del wanted
    base = found.get("torch", (0.0, 0.0))
    for c in own + others:
        c.outputs, allowed = [], limits(c, base)
        right = all(e <= limit for e, limit in zip(found[c.name], allowed))
        if c in own and not right:
            raise AssertionError(f"WRONG: {row.name}, {c.name}: off by {found[c.name]}, allowed are {allowed}")
        if not right:
            c.note = f"{c.note + '; ' if c.note else ''}off by more than {allowed[0]:.1e}"
    times = clock.rounds(own + others, rounds)
    figures = {}
    for c, (device, wall, replay) in zip(own + others, times):
        figures[c.name] = {
            "kernel_ms": device,
            "wall_ms": wall,
            "replay_wall_ms": replay,
            "error": found[c.name][0],
            "worst": found[c.name][1],
            "compile_s": c.compile_s,
            "note": c.note,
        }
    for f in figures.values():
        f["kernel_over_ours"] = f["kernel_ms"] / figures["wide"]["kernel_ms"]
        f["wall_over_ours"] = f["wall_ms"] / figures["wide"]["wall_ms"]
    result = {"row": row.name, "file": row.path.name, "kernels": programs["wide"].kernels, "figures": figures}
    return result | ({"refused": refused} if refused else {})


HEAD = f"{'row':<46} {'who':<9} {'kernel ms':>10} {'÷ ours':>7} {'wall ms':>9} {'÷ ours':>7} {'replayed':>9} {'error':>8} {'compile s':>9}"


def show(result):
    number = lambda x, digits: "-" if x is None else f"{x:.{digits}f}"
    for name, f in result["figures"].items():
        times = f"{f['kernel_ms']:>10.4f} {f['kernel_over_ours']:>7.2f} {f['wall_ms']:>9.4f} {f['wall_over_ours']:>7.2f}"
        more = f"{number(f['replay_wall_ms'], 4):>9} {f['error']:>8.1e} {number(f['compile_s'], 1):>9} {f['note'] or ''}"
        print(f"{result['row']:<46} {name:<9} {times} {more}")
    for name, why in result.get("refused", {}).items():
        print(f"{result['row']:<46} {name:<9} {why}")
    sys.stdout.flush()


def summary(results):
    """Geometric means of the times over ours, and the rows in which a peer's kernels take less time."""
    means = {}
    for name in OURS + PEERS:
        each = [r["figures"][name] for r in results if name in r.get("figures", {})]
        if each:
            mean = lambda key: math.exp(sum(math.log(f[key]) for f in each) / len(each))
            means[name] = {"rows": len(each), "kernel_over_ours": mean("kernel_over_ours"), "wall_over_ours": mean("wall_over_ours")}
    beaten = [
        {"row": r["row"], "by": name, "kernel_over_ours": f["kernel_over_ours"]}
        for r in results
        for name, f in r.get("figures", {}).items()
        if name in PEERS and f["kernel_over_ours"] < 1
    ]
    return {"means": means, "beaten": sorted(beaten, key=lambda b: b["kernel_over_ours"])}


def floors(one, clock):
    """What the clock shows for a kernel of one element: launches, and for XLA waiting across streams."""
    work = cuda_rows.Workload([torch.ones(1, device="cuda")], core=lambda x: (-x,), xla=lambda x: (-x,))
    candidates = [ours(one, "wide", work), of_torch("torch", work)] + ([of_xla("xla", work)] if cuda_rows.jax else [])
    return {c.name: times[0] for c, times in zip(candidates, clock.rounds(candidates, 9))}


def versions():
    import triton

    found = {
        "torch": torch.__version__,
        "triton": triton.__version__,
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
    }
    asked = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True)
    found["driver"] = asked.stdout.strip().splitlines()[0] if asked.stdout.strip() else None
    if cuda_rows.jax:
        found["jax"] = cuda_rows.jax.__version__
    if cuda_rows.liger:
        from importlib import metadata

        found["liger"] = metadata.version("liger-kernel")
    return found


def main():
    given = options()
    begun = time.monotonic()
    library = Library(given.library)
    torch.cuda.init()
    one = Program(library, "func one(x: f32[1]) -> (y) {\n  %1 = neg %0 : f32[1]\n  return y = %1\n}\n", "wide")
    parts = given.rows.split(",")
    rows = [Row(f) for f in sorted(given.files.glob("*.t")) if any(p in f.name for p in parts)]
    results, wrong, left = [], 0, []
    print(HEAD)
    with torch.cuda.stream(one.stream()):
        clock = Clock()
        least = floors(one, clock)
        for row in rows:
            if time.monotonic() - begun > given.seconds:
                left.append(row.name)
                continue
            try:
                results.append(measure(library, row, clock, given.peers.split(","), given.rounds, given.slow))
                show(results[-1])
            except Exception as error:
                wrong += 1
                results.append({"row": row.name, "file": row.path.name, "failed": f"{type(error).__name__}: {first_line(error)}"})
                print(f"{row.name}: FAILED: {results[-1]['failed']}", flush=True)
            torch._dynamo.reset()
            gc.collect()
            torch.cuda.empty_cache()
    value = {
        "date": str(datetime.date.today()),
        "device": torch.cuda.get_device_name(0),
        "versions": versions(),
        "rounds": given.rounds,
        "one_element_ms": least,
        "note": NOTE,
        "summary": summary(results),
        "rows": results,
    }
    for name, mean in value["summary"]["means"].items():
        print(f"{name:<9} {mean['rows']:>3} rows: kernels {mean['kernel_over_ours']:.2f}, wall {mean['wall_over_ours']:.2f} of ours")
    for b in value["summary"]["beaten"]:
        print(f"{b['by']} takes {b['kernel_over_ours']:.2f} of our time in {b['row']}")
    print("one element, ms:", ", ".join(f"{name} {ms:.4f}" for name, ms in least.items()))
    if left:
        value["left_out"] = left
        print(f"left out for lack of time: {', '.join(left)}")
    given.out.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
