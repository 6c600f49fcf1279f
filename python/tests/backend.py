"""The backend under test, and the one it is measured against."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch

NAME = os.environ.get("FUSELINE_TEST_BACKEND", "fuseline")
BASELINE = "aot_eager"
EAGER_OPTIONS = {"numerics": "eager", "rng": "eager"}


def compiled(fn: Callable[..., Any], name: str = NAME, **settings: Any) -> Callable[..., Any]:
    """`fn` compiled by the backend `name`, with eager's rounding and eager's random numbers unless `options` says else.

    Other settings are those of `torch.compile`. Options are dropped for a backend that is not ours.
    """
    options = {**EAGER_OPTIONS, **settings.pop("options", {})}
    if name == "fuseline":
        settings["options"] = options
    return torch.compile(fn, backend=name, **settings)
