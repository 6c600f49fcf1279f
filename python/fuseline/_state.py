"""What a compilation depends on beside its graph: read once per compilation, obeyed, and part of every key."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.fx import GraphModule

from . import _compat, _graph, _native
from ._options import Options


def attention_switches() -> tuple[bool, ...]:
    """Which implementations of scaled dot product attention are allowed: flash, memory-efficient, math, cuDNN."""
    c = torch._C
    return (
        c._get_flash_sdp_enabled(),
        c._get_mem_efficient_sdp_enabled(),
        c._get_math_sdp_enabled(),
        c._get_cudnn_sdp_enabled(),
    )


def fills_memory() -> bool:
    """Whether torch fills new memory with NaN or the largest integer."""
    return torch.are_deterministic_algorithms_enabled() and torch.utils.deterministic.fill_uninitialized_memory


@functools.cache
def _fingerprint() -> str:
    """Changes with the code of this package."""
    digest = hashlib.sha256()
    folder = Path(__file__).parent
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    native = Path(_native.__file__).stat()
    digest.update(f"{_native.FORM} {_native.TABLE} {native.st_size} {native.st_mtime_ns}".encode())
    return digest.hexdigest()


@dataclasses.dataclass(frozen=True)
class State:
    """Settings of the process.

    Dynamo itself guards ``deterministic`` (but not its filling of memory), ``default_dtype``, ``threads`` and
    ``reduced_precision``; `watch` adds the guards that are missing.
    """

    torch: str
    fuseline: str
    float32_matmul: str
    """``highest``, ``high`` or ``medium``: how inexact products may be. Ours never are, torch reads it at each call."""
    reduced_precision: tuple[Any, ...]
    """Whether f16 and bf16 products may be summed in their own precision. Ours never are."""
    deterministic: tuple[bool, bool, bool]
    """Deterministic algorithms; only warnings; new memory filled. Ours always are; filled memory is left to torch."""
    attention: tuple[bool, ...]
    """`attention_switches`: they decide what tracing gives."""
    mkldnn: bool
    default_dtype: str
    threads: int

    @staticmethod
    def now() -> State:
        """Reads the process's state."""
        matmul = torch.backends.cuda.matmul
        return State(
            torch=f"{torch.__version__} {torch.version.git_version}",
            fuseline=_fingerprint(),
            float32_matmul=torch.get_float32_matmul_precision(),
            reduced_precision=(
                matmul.allow_fp16_reduced_precision_reduction,
                matmul.allow_bf16_reduced_precision_reduction,
                torch._C._get_math_sdp_allow_fp16_bf16_reduction(),
            ),
            deterministic=(
                torch.are_deterministic_algorithms_enabled(),
                torch.is_deterministic_algorithms_warn_only_enabled(),
                torch.utils.deterministic.fill_uninitialized_memory,
            ),
            attention=attention_switches(),
            mkldnn=torch._C._get_mkldnn_enabled(),
            default_dtype=str(torch.get_default_dtype()),
            threads=torch.get_num_threads(),
        )

    def refused(self) -> set[str]:
        """Ops that torch must run in this state though they have a lowering."""
        makes_memory = {"aten.empty.memory_format", "aten.empty_strided.default", "aten.new_empty.default"}
        return makes_memory | {"aten.empty_like.default", "aten.new_empty_strided.default"} if fills_memory() else set()


def watch(module: GraphModule) -> None:
    """Adds the guards that Dynamo lacks, for the state that this graph depends on."""
    names = {getattr(node.target, "__name__", str(node.target)) for node in module.graph.nodes}
    if any("scaled_dot_product" in name for name in names):
        switches = attention_switches()
        _compat.guard(lambda: attention_switches() == switches, "switches of scaled dot product attention changed")
    if any("empty" in name for name in names):
        fills = fills_memory()
        _compat.guard(lambda: fills_memory() == fills, "torch.utils.deterministic.fill_uninitialized_memory changed")


def _constants(module: GraphModule) -> Iterator[tuple[str, bytes]]:
    """Tensors that the graph and its bodies hold, neither parameters nor buffers: those are arguments."""
    for prefix, part in module.named_modules():
        for name, value in vars(part).items():
            if isinstance(value, torch.Tensor):
                plain = _graph.is_plain(value) and not isinstance(value, torch._subclasses.FakeTensor)
                data = value.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes() if plain else b""
                yield f"{prefix}.{name} {value.dtype} {tuple(value.shape)} {value.stride()}", data


def key(options: Options, state: State, module: GraphModule, inputs: Sequence[Any]) -> str:
    """Content hash of all that AOTAutograd's own key leaves out.

    Graph, sizes and strides are in its key. Alignment is looked at in each call, compiled into nothing.
    """
    digest = hashlib.sha256()
    chosen = dataclasses.asdict(options) | {"torch_ops": sorted(options.torch_ops)}
    for part in (sorted(chosen.items()), dataclasses.astuple(state), sorted(_graph.symbols(inputs).items())):
        digest.update(repr(part).encode())
    for name, data in _constants(module):
        digest.update(name.encode() + len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()
