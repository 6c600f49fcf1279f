#!/usr/bin/env python3
"""Runs ONNX Runtime on seeded inputs for every model of models.toml, as references for tests.

Stores .models/cases/<model>/<case>/{input_k.npy,output_k.npy}, k being the position in the model's signature.
Packages go to .models/venv; run fetch.py first. Optimisations of ONNX Runtime are off: the file as it is written.
"""

import subprocess
import sys
import venv
from pathlib import Path

MODELS = Path(__file__).resolve().parent.parent.parent / ".models"
PACKAGES = ["onnxruntime==1.32.0", "numpy==2.4.6"]
SEED = 20261129

# Per model: the input generator and the shapes of its first input, the small ones first.
CASES = {
    "minilm-int8": ("tokens", [(1, 16), (2, 9), (1, 128)]),
    "magika": ("bytes", [(1, 2048), (3, 2048)]),
    "ppocr-det": ("image", [(1, 3, 32, 64), (1, 3, 96, 64), (1, 3, 320, 320)]),
    "ppocr-rec": ("image", [(1, 3, 48, 32), (2, 3, 48, 80), (1, 3, 48, 320)]),
    "ppocr-cls": ("image", [(1, 3, 48, 64), (2, 3, 48, 192)]),
    "mtcnn-pnet": ("image", [(1, 12, 12, 3), (2, 31, 40, 3)]),
    "mtcnn-rnet": ("image", [(1, 24, 24, 3), (3, 24, 24, 3)]),
    "mtcnn-onet": ("image", [(1, 48, 48, 3), (2, 48, 48, 3)]),
}


def inside_venv() -> None:
    """Re-runs this script with the pinned packages."""
    python = MODELS / "venv" / "bin" / "python"
    if Path(sys.prefix) == MODELS / "venv":
        return
    if not python.exists():
        venv.create(MODELS / "venv", with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    sys.exit(subprocess.run([python, __file__], check=False).returncode)


def tokens(rng, shape):
    """Token ids of BERT's vocabulary; a mask whose last rows end in padding; segment ids."""
    import numpy as np

    mask = np.ones(shape, np.int64)
    mask[-1, shape[1] - shape[1] // 4 :] = 0
    return [rng.integers(0, 30522, shape), mask, rng.integers(0, 2, shape)]


def file_bytes(rng, shape):
    """Byte values, where 256 means padding."""
    return [rng.integers(0, 257, shape).astype("int32")]


def image(rng, shape):
    """Normalised pixels."""
    return [rng.uniform(-1, 1, shape).astype("float32")]


GENERATORS = {"tokens": tokens, "bytes": file_bytes, "image": image}


def main() -> None:
    import numpy as np
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    for model, (kind, shapes) in CASES.items():
        session = ort.InferenceSession(str(MODELS / f"{model}.onnx"), options, providers=["CPUExecutionProvider"])
        names = [i.name for i in session.get_inputs()]
        for shape in shapes:
            inputs = GENERATORS[kind](np.random.default_rng(SEED), shape)
            outputs = session.run(None, dict(zip(names, inputs, strict=True)))
            folder = MODELS / "cases" / model / "x".join(map(str, shape))
            folder.mkdir(parents=True, exist_ok=True)
            for what, arrays in (("input", inputs), ("output", outputs)):
                for k, array in enumerate(arrays):
                    np.save(folder / f"{what}_{k}.npy", np.ascontiguousarray(array))
            print(f"{model} {folder.name}: " + ", ".join(str(list(o.shape)) for o in outputs))


if __name__ == "__main__":
    inside_venv()
    main()
