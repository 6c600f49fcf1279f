"""Random numbers as pure functions of a seed: the operators `fuseline::seed` and `fuseline::rand_*`.

`seed()` is the only impure one: it draws a 0-d int64 from torch's default CPU generator, so that `manual_seed` and the
generator's state decide every number of a call. A draw is a function of (size, seed, stream): recomputing it gives the
same numbers, and draws with different stream ids are independent. The numbers are those of `graph::compose::random`.

| operator | result |
|---|---|
| `seed()` | 0-d int64 in [0, 2⁶³) |
| `rand_bits(size, seed, stream)` | int64 in [0, 2³²): word i of the stream for element i |
| `rand_uniform(size, seed, stream)` | float32 in [0, 1): the word's top 24 bits · 2⁻²⁴ |
| `rand_normal(size, seed, stream)` | float32, Box–Muller of words 2i and 2i + 1 |
"""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_U32 = 0xFFFFFFFF

_LIBRARY = torch.library.Library("fuseline", "FRAGMENT")


def philox(seed: Tensor, counter: Tensor, stream: int) -> Tensor:
    """Word `counter mod 4` of the Philox4x32-10 block (`counter div 4`, stream) under the key `seed`.

    `seed` is a 0-d int64, `counter` an int64 ≥ 0 of any shape; the result has the counter's shape, int64 in [0, 2³²).
    """
    key = [seed & _U32, (seed >> 32) & _U32]
    block = counter >> 2
    zero = torch.zeros_like(counter)
    words = [block & _U32, block >> 32, zero + stream, zero]
    for _ in range(10):
        left, right = words[0] * _MULTIPLIERS[0], words[2] * _MULTIPLIERS[1]
        words = [
            (right >> 32) & _U32 ^ words[1] ^ key[0],
            right & _U32,
            (left >> 32) & _U32 ^ words[3] ^ key[1],
            left & _U32,
        ]
        key = [(part + step) & _U32 for part, step in zip(key, _WEYL, strict=True)]
    word = counter & 3
    return torch.where(word < 2, torch.where(word == 0, words[0], words[1]), torch.where(word == 2, words[2], words[3]))


def _unit(seed: Tensor, counter: Tensor, stream: int) -> Tensor:
    return (philox(seed, counter, stream) >> 8).to(torch.float32) * 2.0**-24


def _counter(size: Sequence[int], seed: Tensor) -> Tensor:
    return torch.arange(math.prod(size), dtype=torch.int64, device=seed.device)


def _seed() -> Tensor:
    return torch.empty((), dtype=torch.int64, device="cpu").random_()


def _rand_bits(size: Sequence[int], seed: Tensor, stream: int) -> Tensor:
    return philox(seed, _counter(size, seed), stream).view(size)


def _rand_uniform(size: Sequence[int], seed: Tensor, stream: int) -> Tensor:
    return _unit(seed, _counter(size, seed), stream).view(size)


def _rand_normal(size: Sequence[int], seed: Tensor, stream: int) -> Tensor:
    counter = _counter(size, seed) * 2
    radius = ((1 - _unit(seed, counter, stream)).log() * -2).sqrt()
    angle = _unit(seed, counter + 1, stream) * math.tau
    return (radius * angle.cos()).view(size)


def _define(schema: str, run: Callable[..., Tensor], fake: Callable[..., Tensor], tags: tuple[torch.Tag, ...]) -> None:
    name = schema.split("(")[0]
    _LIBRARY.define(schema, tags=tags)
    _LIBRARY.impl(name, run, "CompositeExplicitAutograd")
    torch.library.register_fake(f"fuseline::{name}", fake, lib=_LIBRARY)


def _fake_draw(dtype: torch.dtype) -> Callable[..., Tensor]:
    def fake(size: Sequence[int], seed: Tensor, stream: int) -> Tensor:
        return torch.empty(size, dtype=dtype, device=seed.device)

    return fake


def _define_all() -> None:
    pure = (torch.Tag.pt2_compliant_tag,)
    seeded = (torch.Tag.pt2_compliant_tag, torch.Tag.nondeterministic_seeded)
    _define("seed() -> Tensor", _seed, lambda: torch.empty((), dtype=torch.int64, device="cpu"), seeded)
    for name, run, dtype in (
        ("rand_bits", _rand_bits, torch.int64),
        ("rand_uniform", _rand_uniform, torch.float32),
        ("rand_normal", _rand_normal, torch.float32),
    ):
        _define(f"{name}(SymInt[] size, Tensor seed, int stream) -> Tensor", run, _fake_draw(dtype), pure)


_define_all()

SEED = torch.ops.fuseline.seed.default
RAND_BITS = torch.ops.fuseline.rand_bits.default
RAND_UNIFORM = torch.ops.fuseline.rand_uniform.default
RAND_NORMAL = torch.ops.fuseline.rand_normal.default
