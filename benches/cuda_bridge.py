"""Compiled Fuseline programs on tensors of torch, through the C interface of crates/bridge."""

import ctypes
import json
import math
import pathlib

import torch

DTYPES = {
    "bool": torch.bool,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "u8": torch.uint8,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
}

# Name, result, arguments.
FUNCTIONS = [
    ("error", ctypes.c_char_p, []),
    ("open", ctypes.c_void_p, [ctypes.c_char_p] * 3),
    ("close", None, [ctypes.c_void_p]),
    ("describe", ctypes.c_char_p, [ctypes.c_void_p]),
    ("weight", ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t]),
    ("stream", ctypes.c_size_t, [ctypes.c_void_p]),
    ("synchronize", ctypes.c_int, [ctypes.c_void_p]),
    ("bind", ctypes.c_void_p, [ctypes.c_void_p] + [ctypes.POINTER(ctypes.c_size_t)] * 2),
    ("unbind", None, [ctypes.c_void_p]),
    ("run", ctypes.c_int, [ctypes.c_void_p]),
    ("record", ctypes.c_int, [ctypes.c_void_p]),
    ("replay", ctypes.c_int, [ctypes.c_void_p]),
]


class Library:
    """The loaded functions."""

    def __init__(self, path):
        library = ctypes.CDLL(str(pathlib.Path(path).resolve()))
        for name, result, arguments in FUNCTIONS:
            function = getattr(library, f"fuseline_{name}")
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def check(self, failed):
        if failed:
            raise RuntimeError(self.error().decode())


class Type:
    """Name, dtype and shape of an input or output."""

    def __init__(self, told):
        self.name, self.dtype, self.shape = told["name"], DTYPES[told["dtype"]], tuple(told["shape"])

    def bytes(self):
        return math.prod(self.shape) * self.dtype.itemsize


class Program:
    """A compiled program: the text of a graph, or `zoo:NAME`."""

    def __init__(self, library, source, numerics, device="cuda:0"):
        self.library = library
        self.handle = library.open(source.encode(), device.encode(), numerics.encode())
        library.check(not self.handle)
        told = json.loads(library.describe(self.handle))
        self.inputs, self.outputs = [Type(t) for t in told["inputs"]], [Type(t) for t in told["outputs"]]
        self.kernels, self._weights = told["kernels"], told["weights"]

    def __del__(self):
        if getattr(self, "handle", None):
            self.library.close(self.handle)

    def stream(self):
        """The device's stream, for torch to work on too."""
        return torch.cuda.ExternalStream(self.library.stream(self.handle))

    def synchronize(self):
        self.library.check(self.library.synchronize(self.handle))

    def weights(self):
        """Frozen inputs by name, on the host."""
        return {told["name"]: self._weight(told["slot"], Type(told)) for told in self._weights}

    def _weight(self, slot, of):
        data = ctypes.string_at(self.library.weight(self.handle, slot), of.bytes())
        return torch.frombuffer(bytearray(data), dtype=of.dtype).reshape(of.shape)

    def bind(self, inputs, outputs):
        return Call(self, inputs, outputs)


class Call:
    """A program on tensors; an output that is an input's memory overwrites it."""

    def __init__(self, program, inputs, outputs):
        for tensor, of in zip([*inputs, *outputs], [*program.inputs, *program.outputs], strict=True):
            if (tensor.dtype, tuple(tensor.shape)) != (of.dtype, of.shape) or not tensor.is_contiguous():
                raise ValueError(f"{of.name} is a dense {of.dtype}{list(of.shape)}, got {tensor.dtype}{list(tensor.shape)}")
        addresses = [(ctypes.c_size_t * len(ts))(*[t.data_ptr() for t in ts]) for ts in (inputs, outputs)]
        self.program, self.library, self.kept = program, program.library, (inputs, outputs)
        self.handle = self.library.bind(program.handle, *addresses)
        self.library.check(not self.handle)

    def __del__(self):
        if getattr(self, "handle", None):
            self.library.unbind(self.handle)

    def run(self):
        self.library.check(self.library.run(self.handle))

    def record(self):
        self.library.check(self.library.record(self.handle))

    def replay(self):
        self.library.check(self.library.replay(self.handle))
