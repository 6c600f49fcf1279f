"""Arguments of operator nodes by the names of their schema."""

from __future__ import annotations

from typing import Any

from torch._ops import OpOverload
from torch.fx import Node


def named_arguments(node: Node) -> dict[str, Any]:
    """Every argument of an operator node by its name, defaults included; None where there is neither."""
    assert isinstance(node.target, OpOverload)
    schema = node.target._schema.arguments
    given = dict(zip((a.name for a in schema), node.args, strict=False)) | node.kwargs
    return {a.name: given.get(a.name, a.default_value) for a in schema}
