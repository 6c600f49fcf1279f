"""Times the convolutions of `benches/cuda/15_*` in PyTorch, with cuDNN's own search, on the GPU at hand: what those rows are held against.

Medians of rounds by the device's clock, with the second-level cache displaced before each, as `xtask bench cuda` does:
    python benches/torch_convolutions.py [ROUNDS]
"""

import statistics
import sys

import torch

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 15
HALF, BRAIN, FULL = torch.float16, torch.bfloat16, torch.float32

# Name of the row, pass, dtype, batch, channels in, extent, channels out, taps, stride, groups, channels last.
ROWS = [
    row
    for last, layout in [(False, "nchw"), (True, "nhwc")]
    for row in [
        (f"3x3_{layout}", "forward", HALF, 32, 64, 56, 64, 3, 1, 1, last),
        (f"3x3_{layout}_data", "data", HALF, 32, 64, 56, 64, 3, 1, 1, last),
        (f"3x3_{layout}_weights", "weights", HALF, 32, 64, 56, 64, 3, 1, 1, last),
        (f"3x3_stride_{layout}", "forward", BRAIN, 32, 128, 56, 128, 3, 2, 1, last),
        (f"3x3_stride_{layout}_data", "data", BRAIN, 32, 128, 56, 128, 3, 2, 1, last),
        (f"1x1_{layout}", "forward", HALF, 32, 64, 56, 256, 1, 1, 1, last),
        (f"depthwise_{layout}", "forward", HALF, 32, 144, 56, 144, 3, 1, 144, last),
    ]
] + [
    ("1x1_stride_nchw", "forward", HALF, 32, 256, 56, 512, 1, 2, 1, False),
    ("3x3_f32", "forward", FULL, 32, 64, 56, 64, 3, 1, 1, False),
    ("7x7_stem", "forward", HALF, 32, 3, 224, 64, 7, 2, 1, False),
]


def operation(kind, dtype, n, c, h, k, taps, stride, groups, last):
    """The pass as a function without arguments."""
    layout = torch.channels_last if last else torch.contiguous_format
    random = lambda *shape: torch.randn(shape, device="cuda", dtype=dtype).to(memory_format=layout)
    x, w, pad = random(n, c, h, h), random(k, c // groups, taps, taps), taps // 2
    if kind == "forward":
        return lambda: torch.nn.functional.conv2d(x, w, None, stride, pad, 1, groups)
    out = (h + 2 * pad - taps) // stride + 1
    dy, wanted = random(n, k, out, out), [kind == "data", kind == "weights", False]
    grad = torch.ops.aten.convolution_backward
    return lambda: grad(dy, x, w, None, [stride] * 2, [pad] * 2, [1, 1], False, [0, 0], groups, wanted)


def milliseconds(run, flush):
    """Median time of a run."""
    for _ in range(3):
        run()
    times = []
    for _ in range(ROUNDS):
        flush.zero_()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times)


def replayed(run):
    """The run as a recorded graph."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def main():
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    flush = torch.empty(100 << 20, dtype=torch.uint8, device="cuda")
    print(f"{torch.cuda.get_device_name()}, cuDNN {torch.backends.cudnn.version()}, ms: called, replayed")
    for name, *sizes in ROWS:
        run = operation(*sizes)
        print(f"{name:28} {milliseconds(run, flush):8.4f} {milliseconds(replayed(run), flush):8.4f}", flush=True)


if __name__ == "__main__":
    main()
