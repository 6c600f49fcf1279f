"""Generation with a static cache gives eager's tokens."""

from __future__ import annotations

from typing import Any

import fuseline
import pytest
import torch
from backend import NAME, compiled

transformers = pytest.importorskip("transformers")

NEW_TOKENS = 12


def gpt2() -> Any:
    """A tiny GPT-2."""
    config = transformers.GPT2Config(vocab_size=211, n_positions=64, n_embd=64, n_layer=2, n_head=4)
    return transformers.GPT2LMHeadModel(config)


def llama() -> Any:
    """A tiny Llama with grouped queries."""
    config = transformers.LlamaConfig(
        vocab_size=211,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
    )
    return transformers.LlamaForCausalLM(config)


def tokens_of(model: Any, prompt: torch.Tensor, sampled: bool) -> torch.Tensor:
    """Prompt and new tokens."""
    torch.manual_seed(13)
    settings = {"do_sample": sampled, "max_new_tokens": NEW_TOKENS, "min_new_tokens": NEW_TOKENS}
    return model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        cache_implementation="static",
        disable_compile=True,
        pad_token_id=0,
        **settings,
    )


@pytest.mark.parametrize("sampled", [False, True], ids=["greedy", "sampled"])
@pytest.mark.parametrize("build", [gpt2, llama])
def test_same_tokens(build: Any, sampled: bool) -> None:
    """The compiled forward in `generate` gives eager's tokens, for two prompt lengths."""
    torch.manual_seed(14)
    model = build().eval()
    prompts = [torch.randint(1, 211, (2, length)) for length in (5, 9)]
    with torch.no_grad():
        eager = [tokens_of(model, prompt, sampled) for prompt in prompts]
        model.forward = compiled(model.forward)
        ours = [tokens_of(model, prompt, sampled) for prompt in prompts]
    for a, b in zip(ours, eager, strict=True):
        assert torch.equal(a, b)


def decode_bytes(length: int) -> float:
    """Bytes that the kernels of one decoding step read and write, with caches of `length` positions."""
    torch.manual_seed(15)
    torch._dynamo.reset()
    model = gpt2().eval()
    prompt = torch.randint(1, 211, (2, 5))
    cache = transformers.StaticCache(config=model.config, max_cache_len=length)
    with torch.no_grad():
        model(prompt, past_key_values=cache)
        compiled(model.forward, fullgraph=True)(prompt[:, :1], past_key_values=cache)
    graph = fuseline.report().graphs[-1]
    assert all("scaled_dot_product" in extern["target"] for extern in graph.externs)
    return sum(kernel["read_bytes"] + kernel["written_bytes"] for kernel in graph.kernels)


@pytest.mark.skipif(NAME != "fuseline", reason="counts our kernels' bytes")
def test_cache_write_costs_its_slice() -> None:
    """A longer cache costs its part of the mask, and no copy of keys or values, of 512 bytes a position each."""
    assert decode_bytes(56) - decode_bytes(8) < 48 * 32
