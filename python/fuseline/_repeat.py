"""One graph of many copies of traced functions: a foreach without tracing each of its steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

Form = dict[str, Any]
Key = tuple[Any, int]
"""Which node of which copy; the shared input of number r is ``("shared", r)``."""


def repeated(name: str, parts: Sequence[tuple[Form, int]]) -> Form:
    """The native form of a graph with a copy of each part's form.

    A form is what ``_graph.form`` gives for a function without results. Its first tensor is shared: all copies with the
    same number have the same one. Inputs of the whole are the shared tensors by number, and then each copy's own sizes
    and tensors, in order.
    """
    copies = [_Copy(form, shared, number) for number, (form, shared) in enumerate(parts)]
    owners = {copy.shared: copy for copy in reversed(copies)}
    order: list[tuple[_Copy, int]] = [(owners[number], owners[number].shared_node) for number in sorted(owners)]
    for kind in ("input", "call"):
        order += [(copy, n) for copy in copies for n in copy.nodes(kind)]
    order.append((copies[0], len(copies[0].form["nodes"]) - 1))
    numbers = {copy.key(node): number for number, (copy, node) in enumerate(order)}
    storages: dict[Key, int] = {}

    def storage(key: Key) -> int:
        return storages.setdefault(key, len(storages))

    symbols = {copy.renamed(symbol): bounds for copy in copies for symbol, bounds in copy.form["symbols"].items()}
    nodes = [copy.node(node, numbers.__getitem__, storage) for copy, node in order]
    return {"version": copies[0].form["version"], "name": name, "symbols": symbols, "nodes": nodes}


class _Copy:
    """A form whose nodes, symbols and storages get names of their own."""

    def __init__(self, form: Form, shared: int, number: int) -> None:
        self.form = form
        self.shared = shared
        self.number = number
        self.shared_node = next(n for n in self._of_kind("input") if "tensor" in form["nodes"][n]["value"])
        self.shared_storage = form["nodes"][self.shared_node]["value"]["tensor"]["storage"]
        self.symbol = re.compile(r"\b(" + "|".join(map(re.escape, form["symbols"])) + r")\b")

    def _of_kind(self, kind: str) -> list[int]:
        return [n for n, node in enumerate(self.form["nodes"]) if node["kind"] == kind]

    def nodes(self, kind: str) -> list[int]:
        """Numbers of the nodes of a kind, without the shared input."""
        return [n for n in self._of_kind(kind) if n != self.shared_node]

    def key(self, node: int) -> Key:
        return ("shared", self.shared) if node == self.shared_node else (self.number, node)

    def renamed(self, text: str) -> str:
        """An expression over this copy's symbols."""
        return self.symbol.sub(rf"\1_{self.number}", text)

    def node(self, number: int, place: Callable[[Key], int], storage: Callable[[Key], int]) -> Form:
        """A node with its operands at their places in the whole."""
        node = self.form["nodes"][number]

        def at(old: int) -> int:
            return place(self.key(old))

        return node | {
            "name": f"{node['name']}_{self.number}",
            "args": {name: _argument(value, at) for name, value in node["args"].items()},
            "operands": [at(old) for old in node["operands"]],
            "value": self._value(node["value"], storage),
        }

    def _value(self, value: Any, storage: Callable[[Key], int]) -> Any:
        if not isinstance(value, dict):
            return value
        if "int" in value:
            return {"int": self.renamed(value["int"])}
        if "list" in value:
            return {"list": [self._value(one, storage) for one in value["list"]]}
        if "tensor" not in value:
            return value
        tensor = value["tensor"]
        shared = tensor["storage"] == self.shared_storage
        return {
            "tensor": tensor
            | {
                "shape": [self.renamed(size) for size in tensor["shape"]],
                "strides": [self.renamed(stride) for stride in tensor["strides"]],
                "offset": self.renamed(tensor["offset"]),
                "storage": storage(("shared", self.shared) if shared else (self.number, tensor["storage"])),
            }
        }


def _argument(value: Any, at: Callable[[int], int]) -> Any:
    if not isinstance(value, dict):
        return value
    if "node" in value:
        return {"node": at(value["node"])}
    if "list" in value:
        return {"list": [_argument(one, at) for one in value["list"]]}
    return value
