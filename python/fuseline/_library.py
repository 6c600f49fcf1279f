"""Operators of our own: what registers them with torch, and what compiles kernels for them.

An operator is one reference function in terms of ATen. It serves as the fake implementation, as the decomposition under
our own backend, as the implementation on devices without kernels, and as what the CPU kernels are compiled from: once
for each combination of dtypes and constants, for all sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule

from . import _operators, _symbols
from ._backend import compile_graph
from ._options import Options

NAMESPACE = "fuseline"

Reference = Callable[..., Any]
Runner = Callable[[list[Any]], list[Any]]


class Kernels:
    """Compiled forms of a function of tensors and constants.

    ``shapes`` has a text for each tensor that comes before the constants, with a letter for each axis: equal letters
    are equal sizes. The function sees contiguous tensors.
    """

    def __init__(self, name: str, reference: Reference, shapes: Sequence[str]) -> None:
        self.name = name
        self.reference = reference
        self.shapes = tuple(shapes)
        self.runners: dict[Any, Runner] = {}

    def __call__(self, *args: Any) -> list[Any]:
        """Results of the function, computed by generated kernels.

        Raises:
            RuntimeError: sizes or ranks that differ from ``shapes``; the message names the tensor and both sizes.
        """
        tensors, constants = args[: len(self.shapes)], args[len(self.shapes) :]
        dtypes = tuple(None if tensor is None else tensor.dtype for tensor in tensors)
        sizes = self._sizes(tensors)
        runner = self.runner(dtypes, constants)
        dense = [tensor.contiguous() for tensor in tensors if tensor is not None]
        return runner([*sizes.values(), *dense])

    def runner(self, dtypes: tuple[torch.dtype | None, ...], constants: tuple[Any, ...]) -> Runner:
        """The compiled form for these dtypes and constants; it takes the sizes by letter and then the tensors."""
        key = (dtypes, constants, torch.get_num_threads())
        if key not in self.runners:
            self.runners[key] = compile_graph(self.graph(dtypes, constants), Options(), self.name)
        return self.runners[key]

    def graph(self, dtypes: tuple[torch.dtype | None, ...], constants: tuple[Any, ...]) -> GraphModule:
        """The ATen graph for these dtypes and constants, with a symbol for each letter."""
        given = [(shape, dtype) for shape, dtype in zip(self.shapes, dtypes, strict=True) if dtype is not None]

        def function(tensors: list[torch.Tensor]) -> list[Any]:
            found = iter(tensors)
            args = [None if dtype is None else next(found) for dtype in dtypes]
            return _listed(self.reference(*args, *constants))

        graph = _symbols.trace(function, given)
        for node in graph.graph.nodes:
            node.meta["original_aten"] = self.name
        return graph

    def _sizes(self, tensors: Sequence[torch.Tensor | None]) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for number, (tensor, letters) in enumerate(zip(tensors, self.shapes, strict=True)):
            if tensor is None:
                continue
            if tensor.dim() != len(letters):
                raise RuntimeError(f"{self.name}: tensor {number} has {tensor.dim()} dimensions, not {len(letters)}")
            for letter, size in zip(letters, tensor.shape, strict=True):
                if sizes.setdefault(letter, size) != size:
                    shape = list(tensor.shape)
                    raise RuntimeError(
                        f"{self.name}: tensor {number} has shape {shape}, and {letter} is {sizes[letter]}"
                    )
        return sizes


def operator(schema: str, shapes: Sequence[str], *, kernels: bool = True) -> Callable[[Reference], Operator]:
    """Registers a function as ``fuseline::…`` with a schema; see :class:`Kernels` for ``shapes``.

    Without ``kernels`` the function itself is the implementation on every device and is not taken apart.
    """
    return lambda reference: Operator(schema, reference, shapes, kernels)


class Operator:
    """An operator that torch knows; calling it goes through torch's dispatcher."""

    def __init__(self, schema: str, reference: Reference, shapes: Sequence[str], kernels: bool) -> None:
        self.name = schema.partition("(")[0]
        self.qualified = f"{NAMESPACE}::{self.name}"
        self.reference = reference
        self.several = "->" in schema and schema.rpartition("->")[2].strip().startswith("(")
        torch.library.define(self.qualified, schema.removeprefix(self.name), tags=(torch.Tag.pt2_compliant_tag,))
        self.overload = getattr(getattr(torch.ops, NAMESPACE), self.name).default
        torch.library.impl(self.qualified, "default", self._on_dense)
        if kernels:
            self.kernels = Kernels(self.name, reference, shapes)
            torch.library.impl(self.qualified, "CPU", self._on_cpu)
            torch.library.register_fake(self.qualified, self._on_dense)
            _operators.TABLE[self.overload] = self._on_dense

    def __call__(self, *args: Any) -> Any:
        return self.overload(*args)

    def gradient(self, backward: Callable[..., Any], setup_context: Callable[..., None]) -> None:
        """Registers the derivative; both functions are as ``torch.library.register_autograd`` wants them."""
        torch.library.register_autograd(self.qualified, backward, setup_context=setup_context)

    def fake(self, function: Reference) -> None:
        """Registers what gives the results' types, for an operator without kernels."""
        torch.library.register_fake(self.qualified, function)

    def _on_cpu(self, *args: Any) -> Any:
        return self._returned(self.kernels(*args), args[0])

    def _on_dense(self, *args: Any) -> Any:
        dense = [arg.contiguous() if isinstance(arg, torch.Tensor) else arg for arg in args]
        return self._returned(_listed(self.reference(*dense)), args[0])

    def _returned(self, results: list[torch.Tensor | None], like: torch.Tensor) -> Any:
        """What torch gets: a schema has no optional results, so what is absent becomes an empty tensor."""
        there = tuple(like.new_empty(0) if result is None else result for result in results)
        return there if self.several else there[0]


def _listed(results: Any) -> list[Any]:
    return list(results) if isinstance(results, tuple) else [results]
