"""FX graphs as plain data: what the native half reads."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import sympy
import torch
from torch.fx import GraphModule, Node
from torch.utils._sympy import functions as symbolic

from . import _native
from ._schema import named_arguments

DTYPES = {
    torch.bool: "bool",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.int16: "i16",
    torch.uint16: "u16",
    torch.int32: "i32",
    torch.uint32: "u32",
    torch.int64: "i64",
    torch.uint64: "u64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
}


class Inexpressible(Exception):
    """A size expression outside the native grammar."""


def expression(value: int | torch.SymInt | sympy.Basic) -> str:
    """Text of a symbolic integer in the native grammar: ``+ - *``, ``//``, ``%``, ``min``, ``max``."""
    if isinstance(value, torch.SymInt):
        value = value.node.expr
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (sympy.Integer, sympy.Symbol)):
        return str(value)
    if isinstance(value, sympy.Add):
        return "(" + " + ".join(map(expression, value.args)) + ")"
    if isinstance(value, sympy.Mul):
        return "(" + " * ".join(map(expression, value.args)) + ")"
    if isinstance(value, sympy.Pow) and value.exp.is_Integer and value.exp > 0:
        return "(" + " * ".join([expression(value.base)] * int(value.exp)) + ")"
    name = type(value).__name__
    if name in ("FloorDiv", "CleanDiv"):
        return "({} // {})".format(*map(expression, value.args))
    if name in ("Mod", "PythonMod"):
        return "({} % {})".format(*map(expression, value.args))
    if name == "ModularIndexing":
        base, divisor, modulus = map(expression, value.args)
        return f"(({base} // {divisor}) % {modulus})"
    if isinstance(value, (symbolic.Min, symbolic.Max, sympy.Min, sympy.Max)):
        combine = "min" if isinstance(value, (symbolic.Min, sympy.Min)) else "max"
        first, *rest = map(expression, value.args)
        for one in rest:
            first = f"{combine}({first}, {one})"
        return first
    raise Inexpressible(str(value))


class Storages:
    """Numbers of storages."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._held: list[Any] = []

    def number(self, tensor: torch.Tensor) -> int:
        storage = tensor.untyped_storage()
        if storage._cdata not in self._numbers:
            self._numbers[storage._cdata] = len(self._numbers)
            self._held.append(storage)
        return self._numbers[storage._cdata]

    def fresh(self) -> int:
        number = -1 - len(self._held)
        self._held.append(None)
        return 2**32 - number


def is_plain(tensor: torch.Tensor) -> bool:
    """Whether generated kernels can read it: dense strided memory on the CPU, of a dtype there is a loop for."""
    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter, torch._subclasses.FakeTensor)
        and tensor.layout is torch.strided
        and tensor.device.type == "cpu"
        and tensor.dtype in DTYPES
        and not tensor.is_quantized
        and not (tensor.dtype.is_complex and tensor.is_conj())
        and not tensor.is_neg()
    )


def tensor_data(tensor: torch.Tensor, storages: Storages) -> dict[str, Any]:
    """Type, layout and storage of a traced tensor."""
    dtype = DTYPES.get(tensor.dtype, str(tensor.dtype).removeprefix("torch."))
    data: dict[str, Any] = {"dtype": dtype, "shape": [], "strides": [], "offset": "0", "storage": storages.fresh()}
    if not is_plain(tensor):
        return data | {"plain": False}
    try:
        data["shape"] = [expression(n) for n in tensor.shape]
        data["strides"] = [expression(n) for n in tensor.stride()]
        data["offset"] = expression(tensor.storage_offset())
    except Inexpressible:
        return data | {"plain": False}
    return data | {"storage": storages.number(tensor), "plain": True}


def value_data(value: object, storages: Storages) -> Any:
    """What a node gives."""
    if value is None:
        return "none"
    if isinstance(value, torch.Tensor):
        return {"tensor": tensor_data(value, storages)}
    if isinstance(value, torch.SymInt) and value.node.is_nested_int():
        return {"other": "length of a jagged dimension"}
    if isinstance(value, (int, torch.SymInt)) and not isinstance(value, bool):
        try:
            return {"int": expression(value)}
        except Inexpressible:
            return {"other": str(value)}
    if isinstance(value, (list, tuple)):
        return {"list": [value_data(v, storages) for v in value]}
    return {"other": type(value).__name__}


def argument(value: object, number: Callable[[Node], int]) -> Any:
    """An argument of a node."""
    if value is None:
        return "none"
    if isinstance(value, Node):
        return {"node": number(value)}
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        return {"int": value} if -(2**63) <= value < 2**63 else {"other": str(value)}
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, str):
        return {"str": value}
    if isinstance(value, (list, tuple)):
        return {"list": [argument(v, number) for v in value]}
    if isinstance(value, torch.dtype):
        return {"dtype": DTYPES.get(value, str(value))}
    return {"other": str(value)}


def target_name(target: object) -> str:
    """``aten.add.Tensor``, ``operator.getitem``."""
    if isinstance(target, str):
        return target
    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    module = getattr(target, "__module__", None) or ""
    name = getattr(target, "__name__", None) or str(target)
    return f"{module.lstrip('_')}.{name}" if module else name


def arguments(node: Node, number: Callable[[Node], int]) -> dict[str, Any]:
    """Every argument by its name in the schema, defaults included."""
    if node.op == "output":
        return {"results": argument(list(node.args[0]), number)}
    if node.target is operator.getitem:
        return {"self": argument(node.args[0], number), "index": argument(node.args[1], number)}
    if not isinstance(node.target, torch._ops.OpOverload):
        return {}
    return {name: argument(value, number) for name, value in named_arguments(node).items()}


def is_random(node: Node) -> bool:
    """Whether it draws from torch's generator; with dropout of zero, attention does not."""
    if torch.Tag.nondeterministic_seeded not in node.target.tags:
        return False
    return named_arguments(node).get("dropout_p") != 0


def has_effect(node: Node) -> bool:
    """Whether its order among other such nodes matters."""
    if node.op != "call_function":
        return False
    if isinstance(node.target, torch._ops.OpOverload):
        return node.target._schema.is_mutable or is_random(node) or node.is_impure(impure_random=False)
    if isinstance(node.target, torch._ops.HigherOrderOperator):
        return True
    return node.is_impure()


LIBRARIES = (os.path.dirname(torch.__file__), os.path.dirname(__file__))
"""Folders whose frames are not the user's."""


def user_line(stack: str) -> str:
    """File and line of the innermost frame of the user's, ``model.py:12``; empty if there is none."""
    for frame in reversed(stack.split('File "')[1:]):
        path, _, rest = frame.partition('", line ')
        if not path.startswith(LIBRARIES):
            return f"{os.path.basename(path)}:{rest.split(',')[0].strip()}"
    return ""


def module_path(node: Node) -> str:
    """The module that the node was traced in, ``layers.0.norm``; empty if there is none."""
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack") or {}
    paths = [str(path) for path, _ in stack.values()]
    return re.sub(r"^L\['\w+'\]\.?", "", paths[-1]) if paths else ""


def origin(node: Node) -> tuple[str, str]:
    """The user's op, and where the user wrote it: file and line, or the module's path."""
    op = node.meta.get("original_aten") or node.target
    stack = node.meta.get("stack_trace")
    source = (user_line(stack) if isinstance(stack, str) else "") or module_path(node)
    name = target_name(op)
    parts = name.split(".")
    return (parts[1] if len(parts) > 1 and parts[0] in ("aten", "prims", "fuseline") else name), source


VAGUE = {"aten._embedding_bag.default", "aten._embedding_bag_forward_only.default"}
"""Operators whose results after the first have other shapes than tracing says, by mode and dtype."""


def is_vague(node: Node) -> bool:
    """Whether it picks a result whose traced type does not hold."""
    picks = node.target is operator.getitem and isinstance(node.args[0], Node)
    return picks and node.args[1] != 0 and target_name(node.args[0].target) in VAGUE


GUESSED = {"aten._unique.default"}
"""Operators that torch 2.11 traces with the sizes they give for zeros, which are no symbols."""


def guesses(nodes: Iterable[Node]) -> set[Node]:
    """Nodes whose traced types are guesses: those of such operators, and all that is computed from them."""
    found: set[Node] = set()
    for node in nodes:
        guessed = target_name(node.target) in GUESSED and not symbols(_leaves(node.meta.get("val")))
        if guessed or any(n in found for n in node.all_input_nodes):
            found.add(node)
    return found


def node_data(node: Node, value: object, storages: Storages, is_guess: bool) -> Any:
    """What a node gives, plain only where its traced type holds."""
    data = value_data(value, storages)
    results = data["list"] if "list" in data else [data]
    trusted = 0 if is_guess or is_vague(node) else 1 if target_name(node.target) in VAGUE else len(results)
    for one in results[trusted:]:
        if "tensor" in one:
            one["tensor"]["plain"] = False
    return data


class Unseen:
    """Stands for what a call gives where tracing did not record it."""


def traced(module: GraphModule, node: Node) -> Any:
    """What tracing saw a node give; of a call whose results are known by their picks alone, those."""
    value = node.meta.get("val")
    if value is not None:
        return value
    if node.op == "get_attr":
        return getattr(module, str(node.target), None)
    picks = {user.args[1]: user.meta.get("val") for user in node.users if user.target is operator.getitem}
    if picks:
        return [picks.get(i) for i in range(max(picks) + 1)]
    return Unseen() if node.op == "call_function" and node.users else None


KINDS = {"placeholder": "input", "get_attr": "attribute", "output": "output"}


def symbols(values: Iterable[Any]) -> dict[str, tuple[int | None, int | None]]:
    """Bounds of the symbols that the values' sizes use."""
    found: dict[str, tuple[int | None, int | None]] = {}
    for outer in values:
        for value in _leaves(outer):
            sizes = [*value.shape, *value.stride()] if isinstance(value, torch.Tensor) and is_plain(value) else [value]
            for size in sizes:
                if isinstance(size, torch.SymInt):
                    env = size.node.shape_env
                    for symbol in size.node.expr.free_symbols - {sympy.Symbol(name) for name in found}:
                        bounds = env.bound_sympy(symbol) if env is not None else None
                        found[str(symbol)] = (_finite(bounds.lower), _finite(bounds.upper)) if bounds else (None, None)
    return found


def _finite(bound: sympy.Basic) -> int | None:
    small = bound.is_Integer and abs(int(bound)) < 2**31
    return int(bound) if small else None


def _leaves(value: object) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from _leaves(one)
    else:
        yield value


def form(module: GraphModule, name: str) -> dict[str, Any]:
    """The graph in the native form."""
    nodes = list(module.graph.nodes)
    numbers = {node: i for i, node in enumerate(nodes)}
    guessed = guesses(nodes)
    storages = Storages()

    def data(node: Node) -> dict[str, Any]:
        op, source = origin(node)
        return {
            "name": node.name,
            "kind": KINDS.get(node.op, "call"),
            "target": target_name(node.target),
            "args": arguments(node, numbers.__getitem__),
            "operands": [numbers[n] for n in node.all_input_nodes],
            "value": node_data(node, traced(module, node), storages, node in guessed),
            "effect": has_effect(node),
            "op": op,
            "source": source,
        }

    sizes = symbols(n.meta.get("val") for n in nodes)
    return {"version": _native.FORM, "name": name, "symbols": sizes, "nodes": [data(n) for n in nodes]}
