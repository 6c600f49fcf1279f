"""Times the fetched models on ONNX Runtime and on Fuseline, in alternating rounds, and records the ratios.

Needs `.models` (tests/models/fetch.py and reference.py, whose environment has onnxruntime) and a release build:
    cargo build --release --bin fuseline && .models/venv/bin/python benches/peers.py
"""

import datetime
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = 5
RUNS = 10
CASES = {
    "magika": {"bytes": ("int32", (1, 2048), 256)},
    "minilm-int8": {
        "input_ids": ("int64", (1, 128), 30000),
        "attention_mask": ("int64", (1, 128), None),
        "token_type_ids": ("int64", (1, 128), 1),
    },
    "ppocr-det": {"x": ("float32", (1, 3, 320, 320), 0)},
    "ppocr-rec": {"x": ("float32", (1, 3, 48, 320), 0)},
    "mtcnn-pnet": {"input_1": ("float32", (1, 120, 160, 3), 0)},
    "mtcnn-rnet": {"input_2": ("float32", (16, 24, 24, 3), 0)},
    "mtcnn-onet": {"input_3": ("float32", (4, 48, 48, 3), 0)},
}


def arrays(session, spec):
    """Seeded inputs by position: names in the table are hints only."""
    rng = numpy.random.default_rng(0)
    made = {}
    for declared, (dtype, shape, top) in zip(session.get_inputs(), spec.values()):
        if dtype == "float32":
            made[declared.name] = rng.random(shape, dtype=numpy.float32)
        elif top is None:
            made[declared.name] = numpy.ones(shape, dtype)
        else:
            made[declared.name] = rng.integers(0, top, shape).astype(dtype)
    return made


def ort_seconds(session, feed):
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        session.run(None, feed)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def fuseline_seconds(binary, model, folder, feed, threads):
    command = [binary, "bench", str(model), "--runs", str(RUNS), "--threads", str(threads)]
    for name in feed:
        command += ["-i", f"{name}={folder / name.replace('/', '_').replace(':', '_')}.npy"]
    out = folder / "bench.json"
    subprocess.run(command + ["--export-json", str(out)], check=True, capture_output=True)
    return json.loads(out.read_text())


def row(binary, name, spec, threads):
    model = ROOT / ".models" / f"{name}.onnx"
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    feed = arrays(session, spec)
    session.run(None, feed)
    ort, fused, eager = [], [], []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for key, value in feed.items():
            numpy.save(folder / key.replace("/", "_").replace(":", "_"), value)
        for _ in range(ROUNDS):
            ort.append(ort_seconds(session, feed))
            result = fuseline_seconds(binary, model, folder, feed, threads)
            fused.append(result["fused"]["median_seconds"])
            eager.append(result["eager"]["median_seconds"])
    ort, fused, eager = map(statistics.median, (ort, fused, eager))
    print(f"{name:<12} {threads} threads: fuseline {fused * 1e3:.2f} ms, eager {eager * 1e3:.2f}, ORT {ort * 1e3:.2f}, ORT/fuseline {ort / fused:.2f}")
    return {
        "model": name,
        "threads": threads,
        "fuseline_ms": fused * 1e3,
        "eager_ms": eager * 1e3,
        "onnxruntime_ms": ort * 1e3,
        "eager_over_fused": eager / fused,
        "onnxruntime_over_fused": ort / fused,
    }


def main():
    binary = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/release/fuseline")
    rows = [row(binary, name, spec, threads) for threads in (1, 2) for name, spec in CASES.items()]
    result = {"date": str(datetime.date.today()), "onnxruntime": onnxruntime.__version__, "rounds": ROUNDS, "runs": RUNS, "rows": rows}
    (ROOT / "benches/results/onnxruntime.json").write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
