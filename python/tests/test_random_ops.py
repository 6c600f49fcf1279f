"""`fuseline::rand_*` against a plain Philox4x32-10, which is held against the vectors of Random123."""

from __future__ import annotations

import math

import pytest
import torch
from fuseline import _random_ops

U32 = 0xFFFFFFFF


def block(key: list[int], counter: list[int]) -> list[int]:
    """Four words of 32 bits."""
    for _ in range(10):
        a, b = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
        counter = [(b >> 32) ^ counter[1] ^ key[0], b & U32, (a >> 32) ^ counter[3] ^ key[1], a & U32]
        key = [(key[0] + 0x9E3779B9) & U32, (key[1] + 0xBB67AE85) & U32]
    return counter


def word(seed: int, i: int, stream: int) -> int:
    """Word `i` of a stream."""
    return block([seed & U32, seed >> 32], [i // 4 & U32, i // 4 >> 32, stream, 0])[i % 4]


def test_plain_philox_gives_random123_vectors() -> None:
    assert block([0, 0], [0] * 4) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert block([U32, U32], [U32] * 4) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


@pytest.mark.parametrize("seed", [0, 1, U32, 2**63 - 1, 0x1234_5678_9ABC_DEF0])
@pytest.mark.parametrize("stream", [0, 1, 7, U32])
def test_draws_are_words_of_the_stream(seed: int, stream: int) -> None:
    key, size = torch.tensor(seed), [3, 7]
    words = [word(seed, i, stream) for i in range(42)]
    assert torch.ops.fuseline.rand_bits(size, key, stream).flatten().tolist() == words[:21]
    uniform = torch.ops.fuseline.rand_uniform(size, key, stream)
    assert uniform.flatten().tolist() == [(w >> 8) / 2**24 for w in words[:21]]
    pairs = [((words[2 * i] >> 8) / 2**24, (words[2 * i + 1] >> 8) / 2**24) for i in range(21)]
    normal = torch.tensor([math.sqrt(-2 * math.log(1 - u)) * math.cos(math.tau * v) for u, v in pairs]).view(size)
    torch.testing.assert_close(torch.ops.fuseline.rand_normal(size, key, stream), normal, rtol=1e-5, atol=1e-6)


def test_counters_above_32_bits() -> None:
    counter = [2**34 - 1, 2**34, 2**34 + 5, 2**40 + 3]
    assert _random_ops.philox(torch.tensor(9), torch.tensor(counter), 2).tolist() == [word(9, i, 2) for i in counter]


def test_seed_comes_from_the_default_generator() -> None:
    torch.manual_seed(4)
    first, second = torch.ops.fuseline.seed(), torch.ops.fuseline.seed()
    torch.manual_seed(4)
    assert first == torch.ops.fuseline.seed() and first != second and first >= 0
    assert first.dtype == torch.int64 and first.shape == ()


def test_empty_draws() -> None:
    for op in (torch.ops.fuseline.rand_bits, torch.ops.fuseline.rand_uniform, torch.ops.fuseline.rand_normal):
        assert op([0, 3], torch.tensor(1), 0).shape == (0, 3)


@pytest.mark.parametrize("name", ["rand_bits", "rand_uniform", "rand_normal"])
def test_operators_are_well_formed(name: str) -> None:
    torch.library.opcheck(getattr(torch.ops.fuseline, name).default, ([2, 3], torch.tensor(1), 0))
