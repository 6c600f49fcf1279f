"""The nodes of a graph that torch runs, and the constants it reads, as data that can be stored."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_aggregate, map_arg

MOST_CONSTANT_BYTES = 64 << 20
"""Constants of one graph above this size are not stored."""


class NotStorable(Exception):
    """Something that another process could not read back; the message says what."""


@dataclasses.dataclass(frozen=True)
class Operand:
    """Stands for a run-time value: the operand of this number."""

    number: int


def reference(target: object) -> tuple[str, ...]:
    """The name under which `resolve` finds a callable again.

    Raises:
        NotStorable: it has none, e.g. a closure or a module.
    """
    if isinstance(target, torch._ops.OpOverload):
        return ("operator", *target._schema.name.split("::"), target._overloadname)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return ("operator", "higher_order", target.name())
    if isinstance(target, Method):
        return ("method", target.name)
    module, name = getattr(target, "__module__", None), getattr(target, "__qualname__", None)
    if module and name:
        found = ("function", module, name)
        try:
            if resolve(found) is target:
                return found
        except (ImportError, AttributeError):
            pass
    raise NotStorable(f"{name or target} has no importable name")


def resolve(found: Sequence[str]) -> Callable[..., Any]:
    """The callable of a `reference`.

    Raises:
        ImportError, AttributeError: it does not exist here.
    """
    kind, *names = found
    if kind == "operator":
        return functools.reduce(getattr, names, torch.ops)
    if kind == "method":
        return Method(names[0])
    return functools.reduce(getattr, names[1].split("."), importlib.import_module(names[0]))


@dataclasses.dataclass(frozen=True)
class Method:
    """Calls the method of this name of its first argument."""

    name: str

    def __call__(self, first: Any, *rest: Any, **named: Any) -> Any:
        return getattr(first, self.name)(*rest, **named)


class Call:
    """One call of torch: a function of the values of a node's operands."""

    def __init__(self, target: Callable[..., Any], args: Any, kwargs: Any) -> None:
        self.target, self.args, self.kwargs = target, args, kwargs

    def __call__(self, *values: Any) -> Any:
        def value(leaf: Any) -> Any:
            return values[leaf.number] if type(leaf) is Operand else leaf

        return self.target(*map_aggregate(self.args, value), **map_aggregate(self.kwargs, value))

    def __reduce__(self) -> tuple[Any, ...]:
        def stored(leaf: Any) -> Any:
            return _Named(reference(leaf)) if isinstance(leaf, torch._ops.OperatorBase) else leaf

        return _call, (reference(self.target), map_aggregate(self.args, stored), map_aggregate(self.kwargs, stored))


@dataclasses.dataclass(frozen=True)
class _Named:
    """Stands for an operator among stored arguments."""

    reference: tuple[str, ...]


def _call(target: Sequence[str], args: Any, kwargs: Any) -> Call:
    def read(leaf: Any) -> Any:
        return resolve(leaf.reference) if type(leaf) is _Named else leaf

    return Call(resolve(target), map_aggregate(args, read), map_aggregate(kwargs, read))


class Externs:
    """Gives the native half the callables of the nodes that torch runs, and constants; what it gave can be pickled.

    An unpickled one knows what its original gave, and nothing else.
    """

    def __init__(self, module: GraphModule) -> None:
        self._module: GraphModule | None = module
        self._nodes = list(module.graph.nodes)
        self._calls: dict[int, Call] = {}
        self._attributes: dict[str, Any] = {}

    def attribute(self, name: str) -> Any:
        """A constant of the module."""
        if name not in self._attributes:
            self._attributes[name] = functools.reduce(getattr, name.split("."), self._module)
        return self._attributes[name]

    def function(self, number: int, operands: Sequence[int]) -> Callable[..., Any]:
        """A function of the values of a node's operands."""
        if number not in self._calls:
            node = self._nodes[number]
            places = {self._nodes[o]: Operand(i) for i, o in enumerate(operands)}
            args, kwargs = map_arg((node.args, node.kwargs), places.__getitem__)
            self._calls[number] = Call(self._target(node), args, kwargs)
        return self._calls[number]

    def _target(self, node: Node) -> Callable[..., Any]:
        if node.op == "call_module" and self._module is not None:
            return self._module.get_submodule(str(node.target))
        return Method(str(node.target)) if node.op == "call_method" else node.target

    def check_storable(self) -> None:
        """Raises `NotStorable` unless another process could unpickle it."""
        size = 0
        for name, value in self._attributes.items():
            if type(value) not in (torch.Tensor, torch.nn.Parameter) or value.device.type != "cpu":
                raise NotStorable(f"constant {name} is a {type(value).__name__}, not a plain tensor on the CPU")
            size += value.untyped_storage().nbytes()
        if size > MOST_CONSTANT_BYTES:
            raise NotStorable(f"constants of {size >> 20} MiB, limit {MOST_CONSTANT_BYTES >> 20}")
        for call in self._calls.values():
            try:
                pickle.dumps(call)
            except (pickle.PicklingError, TypeError, AttributeError, RuntimeError) as error:
                name = getattr(call.target, "__name__", str(call.target))
                raise NotStorable(f"an argument of {name} cannot be stored: {error}") from error

    def __getstate__(self) -> dict[str, Any]:
        return {"_calls": self._calls, "_attributes": self._attributes, "_module": None, "_nodes": []}
