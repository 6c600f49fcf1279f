"""Generation with a static cache gives eager's tokens."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from backend import compiled

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
