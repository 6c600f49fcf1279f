"""What is measured: the models of the tests, and how one step of them is made."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import models  # noqa: E402

NAMES = (
    "gpt2 llama qwen3 mixtral gemma2 bert mamba vit resnet50 convnext_tiny mobilenetv3_small_100 efficientnet_b0 "
    "swin_tiny_patch4_window7_224"
).split()
"""The models of the compile-time and speed tables, as named by the tests."""


def find(name: str) -> models.Model:
    """The model of that name."""
    return next(m for m in models.MODELS if m.name == name)


def loss_of(result: Any) -> torch.Tensor:
    """A scalar to differentiate."""
    if isinstance(result, torch.Tensor):
        return result.float().pow(2).mean()
    return result.loss if getattr(result, "loss", None) is not None else loss_of(next(iter(result.values())))


def training_step(module: torch.nn.Module, inputs: dict[str, Any]) -> Callable[[Callable[..., Any]], None]:
    """Forward and backward of `module` through a callable that stands for it."""

    def step(call: Callable[..., Any]) -> None:
        for parameter in module.parameters():
            parameter.grad = None
        loss_of(call(**inputs)).backward()

    return step


def inference_step(inputs: dict[str, Any]) -> Callable[[Callable[..., Any]], None]:
    """Forward without gradients."""

    def step(call: Callable[..., Any]) -> None:
        with torch.no_grad():
            call(**inputs)

    return step
