"""One clock and one way to be measured for everything that runs on a GPU, whoever made it.

All work goes to the stream that is current, which is Fuseline's own. Before each sample the second-level cache is displaced, and the
stream is kept busy until the host has queued what is timed, so that the device's clock sees no gaps of the host's making.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

# Least time for which the stream is kept busy, and most, in milliseconds.
BUSY = 0.3, 60.0


@dataclass
class Candidate:
    """One way to compute a row, ready to be timed."""

    name: str
    # Launches; the host waits for nothing.
    call: Callable
    # Launches the same as one recorded graph.
    replay: Callable | None = None
    # What the device's clock measures in place of the replay or the call.
    timed: Callable | None = None
    outputs: list = field(default_factory=list)
    compile_s: float | None = None
    note: str | None = None


class Clock:
    def __init__(self):
        properties = torch.cuda.get_device_properties(0)
        self.displaced = torch.empty(2 * properties.L2_cache_size, dtype=torch.uint8, device="cuda")
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        self.cycles = self._cycles()

    def _cycles(self):
        """Cycles of the device's clock in a millisecond."""
        count = 10_000_000
        torch.cuda._sleep(count)
        return count / self._elapsed(lambda: torch.cuda._sleep(count))

    def _elapsed(self, f):
        start, end = self.events
        start.record()
        f()
        end.record()
        end.synchronize()
        return start.elapsed_time(end)

    def device(self, f, busy=BUSY[0]):
        """Milliseconds of the device."""
        self.displaced.zero_()
        torch.cuda._sleep(int(self.cycles * busy))
        return self._elapsed(f)

    def wall(self, f):
        """Milliseconds of the host, until the results are there."""
        self.displaced.zero_()
        torch.cuda.synchronize()
        start = time.perf_counter()
        f()
        torch.cuda.current_stream().synchronize()
        return (time.perf_counter() - start) * 1e3

    def busy(self, f):
        """How long to keep the stream busy while the host queues `f`."""
        torch.cuda.synchronize()
        start = time.perf_counter()
        f()
        queued = (time.perf_counter() - start) * 1e3
        torch.cuda.synchronize()
        return min(max(2 * queued, BUSY[0]), BUSY[1])

    def rounds(self, candidates, count):
        """Medians of so many interleaved rounds, after one that does not count, of (device, wall, wall of a replay)."""
        timed = [c.timed or c.replay or c.call for c in candidates]
        busy = [self.busy(f) for f in timed]
        samples = [([], [], []) for _ in candidates]
        for number in range(count + 1):
            for c, f, wait, (device, wall, replay) in zip(candidates, timed, busy, samples):
                found = self.device(f, wait), self.wall(c.call), self.wall(c.replay) if c.replay else None
                if number:
                    for values, value in zip((device, wall, replay), found):
                        values.append(value)
        return [tuple(median(values) for values in each) for each in samples]


def median(values):
    return None if None in values else sorted(values)[len(values) // 2]


def recorded(f):
    """`f` as a CUDA graph of torch: how to replay it, and its results."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        f()
        side.synchronize()
        graph = torch.cuda.CUDAGraph()
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            results = f()
        finally:
            graph.capture_end()
    torch.cuda.current_stream().wait_stream(side)
    return graph.replay, results


def distance(got, want, piece=1 << 27):
    """How far a result is from the right one: by norms, and the worst element over the largest; not a number if it has one."""
    squares = [0.0, 0.0]
    extremes = [0.0, 0.0]
    got, want = got.reshape(-1), want.reshape(-1)
    for g, w in zip(got.split(piece), want.split(piece)):
        w = w.double()
        for k, x in enumerate((g.double() - w, w)):
            squares[k] += x.square().sum().item()
            extremes[k] = max(x.abs().max().item(), extremes[k])
    return (squares[0] / max(squares[1], 1e-300)) ** 0.5, extremes[0] / max(extremes[1], 1e-300)
