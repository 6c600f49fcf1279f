"""How results of a compiled function are compared with eager's.

A comparison gives `Problem`s, not exceptions, so that those which another backend has too can be told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

FLOOR_ULPS = 4.0
"""Error that is always allowed, in units of the output type's epsilon times the scale of the reference."""

EAGER_FACTOR = 2.0
"""Error allowed as a multiple of the largest error that eager has over the same tensor."""

STAND_IN_FACTOR = 16.0
"""The same where float32's error stands for eager's float64 error: one draw of a rounding error, not a bound."""


@dataclass(frozen=True)
class Problem:
    """One way in which a result differs: `kind` is values, dtype, shape, strides, alias, structure or raises."""

    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def is_float(value: object) -> bool:
    """Whether `value` is a tensor of real floating-point numbers."""
    return isinstance(value, torch.Tensor) and value.dtype.is_floating_point


def converted(tree: Any, dtype: torch.dtype) -> Any:
    """The same tree with every float tensor, and every float dtype, in `dtype`; gradients are asked for as before."""

    def convert(leaf: Any) -> Any:
        if is_float(leaf):
            return leaf.detach().to(dtype).requires_grad_(leaf.requires_grad)
        if isinstance(leaf, torch.dtype) and leaf.is_floating_point:
            return dtype
        return leaf

    return tree_map(convert, tree)


def widened(tree: Any) -> Any:
    """The same tree in float64."""
    return converted(tree, torch.float64)


def copied(tree: Any) -> Any:
    """The same tree with every tensor in a storage of its own, at the same sizes, strides and offset."""

    def copy(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or leaf.layout != torch.strided:
            return leaf
        source = leaf.detach()
        storage = source.untyped_storage().clone()
        twin = torch.empty(0, dtype=source.dtype).set_(storage, source.storage_offset(), source.size(), source.stride())
        return twin.requires_grad_(leaf.requires_grad)

    return tree_map(copy, tree)


def equal_bits(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Element by element: equal values, NaN equal to NaN, zeros of the same sign."""
    if not is_float(a):
        return a == b
    return (a.isnan() & b.isnan()) | ((a == b) & (a.signbit() == b.signbit()))


def same_bits(ours: torch.Tensor, eager: torch.Tensor) -> bool:
    """Equal values: NaN equals NaN, and zeros have the same sign."""
    if not (is_float(ours) or ours.is_complex()):
        return torch.equal(ours, eager)
    if ours.is_complex():
        return same_bits(torch.view_as_real(ours.resolve_conj()), torch.view_as_real(eager.resolve_conj()))
    nan = torch.isnan(eager)
    equal = torch.equal(torch.isnan(ours), nan) and torch.equal(ours[~nan], eager[~nan])
    return equal and torch.equal(torch.signbit(ours)[~nan], torch.signbit(eager)[~nan])


def inaccuracy(
    ours: torch.Tensor,
    eager: torch.Tensor,
    exact: torch.Tensor | None,
    elementwise: bool = False,
    least_scale: float = 0.0,
) -> str | None:
    """Why `ours` is less accurate than it may be, or None.

    `exact` is the result in float64, or where eager's is that already, in float32: its distance from eager's, scaled
    down, stands for eager's error. NaN and infinities must lie where eager's lie. `elementwise` asks for the floor
    relative to each element; otherwise it is relative to the largest one, as befits sums. `least_scale` is the
    magnitude of what was subtracted to get the result, where that is known to be larger.
    """
    finite = torch.isfinite(eager)
    if not same_bits(ours[~finite], eager[~finite]) or not torch.equal(torch.isfinite(ours), finite):
        return f"NaN or infinity at other places: {summary(ours, eager)}"
    usable = exact is not None and exact.shape == eager.shape and is_float(exact)
    a, b, t = (x.detach()[finite].to(torch.float64) for x in (ours, eager, exact if usable else eager))
    if not a.numel():
        return None
    shrink = min(1.0, torch.finfo(eager.dtype).eps / torch.finfo(exact.dtype).eps) if usable else 1.0
    error = (b - t).abs().max() * shrink * (STAND_IN_FACTOR if shrink < 1.0 else EAGER_FACTOR)
    if shrink < 1.0 or not torch.isfinite(t).all():
        t = b
    scale = (t.abs() if elementwise else t.abs().max()).clamp(min=least_scale)
    floor = FLOOR_ULPS * torch.finfo(eager.dtype).eps * scale + torch.finfo(eager.dtype).tiny
    allowed = error.nan_to_num(0.0, 0.0) + floor
    excess = (a - t).abs() - allowed
    if (excess <= 0).all() or ((a - b).abs() <= floor).all():
        return None
    at = int(excess.argmax())
    return f"ours {a[at].item():.9g}, eager {b[at].item():.9g}, float64 {t[at].item():.9g} (of {a.numel()} elements)"


def summary(ours: torch.Tensor, eager: torch.Tensor) -> str:
    """The first element that differs, and how many do."""
    if ours.layout != torch.strided:
        return f"ours {ours}, eager {eager}"
    differ = ours.reshape(-1) != eager.reshape(-1)
    if is_float(ours):
        a, b = ours.reshape(-1), eager.reshape(-1)
        differ = (differ & ~(a.isnan() & b.isnan())) | ((a == b) & (a.signbit() != b.signbit()))
    places = differ.nonzero().flatten()
    if not places.numel():
        return "no element differs"
    at = int(places[0])
    first = f"ours {ours.reshape(-1)[at].item()!r}, eager {eager.reshape(-1)[at].item()!r}"
    return f"{places.numel()} of {differ.numel()} elements, first at {at}: {first}"


def strides_differ(ours: torch.Tensor, eager: torch.Tensor) -> bool:
    """Whether strides differ where they mean something: in dimensions of more than one element."""
    if ours.layout != torch.strided or not eager.numel():
        return False
    return any(n > 1 and a != b for n, a, b in zip(eager.shape, ours.stride(), eager.stride(), strict=True))


Values = Callable[[torch.Tensor, torch.Tensor, Any], str | None]


def exactly(ours: torch.Tensor, eager: torch.Tensor, exact: Any = None) -> str | None:
    """Bit for bit."""
    return None if same_bits(ours, eager) else summary(ours, eager)


def accurately(ours: torch.Tensor, eager: torch.Tensor, exact: Any = None) -> str | None:
    """As accurate as eager, over the whole tensor; integers bit for bit."""
    if not is_float(eager) or same_bits(ours, eager):
        return exactly(ours, eager)
    return inaccuracy(ours, eager, exact)


def accurately_each(ours: torch.Tensor, eager: torch.Tensor, exact: Any = None) -> str | None:
    """As accurate as eager, with a floor relative to each element; integers bit for bit."""
    if not is_float(eager) or same_bits(ours, eager):
        return exactly(ours, eager)
    return inaccuracy(ours, eager, exact, elementwise=True)


def metadata_only(ours: torch.Tensor, eager: torch.Tensor, exact: Any = None) -> str | None:
    """Values are not defined."""
    return None


def compare(ours: Any, eager: Any, exact: Any = None, values: Values = exactly, label: str = "") -> Iterator[Problem]:
    """What differs between two results: structure, dtype, shape, significant strides and values."""
    our_leaves, our_spec = tree_flatten(ours)
    leaves, spec = tree_flatten(eager)
    exact_leaves, _ = tree_flatten(exact)
    if our_spec != spec:
        yield Problem("structure", f"{label}ours {our_spec}, eager {spec}")
        return
    if len(exact_leaves) != len(leaves):
        exact_leaves = [None] * len(leaves)
    for i, (a, b, x) in enumerate(zip(our_leaves, leaves, exact_leaves, strict=True)):
        yield from compare_leaf(a, b, x, values, f"{label}result {i}: ")


def compare_leaf(ours: Any, eager: Any, exact: Any, values: Values, label: str) -> Iterator[Problem]:
    """What differs between two leaves of results."""
    if not isinstance(eager, torch.Tensor):
        if type(ours) is not type(eager) or not (ours == eager or (ours != ours and eager != eager)):
            yield Problem("values", f"{label}ours {ours!r}, eager {eager!r}")
        return
    if not isinstance(ours, torch.Tensor):
        yield Problem("structure", f"{label}ours {type(ours).__name__}, eager a tensor")
    elif ours.dtype != eager.dtype:
        yield Problem("dtype", f"{label}ours {ours.dtype}, eager {eager.dtype}")
    elif ours.shape != eager.shape:
        yield Problem("shape", f"{label}ours {tuple(ours.shape)}, eager {tuple(eager.shape)}")
    elif ours.layout != eager.layout:
        yield Problem("strides", f"{label}ours {ours.layout}, eager {eager.layout}")
    else:
        if strides_differ(ours, eager):
            yield Problem("strides", f"{label}ours {ours.stride()}, eager {eager.stride()} at {tuple(eager.shape)}")
        if eager.layout == torch.strided:
            text = values(ours.detach(), eager.detach(), exact)
        else:
            text = exactly(ours.detach().to_dense(), eager.detach().to_dense())
        if text:
            yield Problem("values", label + text)


def attempt(fn: Callable[[], list[Problem]]) -> list[Problem]:
    """The problems that `fn` finds, where an exception is one too."""
    try:
        return fn()
    except Exception as error:  # noqa: BLE001 - any exception of a backend is a finding
        text = " ".join(str(error).split())
        return [Problem("raises", f"{type(error).__name__}: {text[:300]}")]


def not_shared(ours: list[Problem], baseline: list[Problem]) -> list[Problem]:
    """Our problems of a kind that the baseline does not have. Where the baseline raises, it has every kind."""
    kinds = {problem.kind for problem in baseline}
    return [] if "raises" in kinds else [problem for problem in ours if problem.kind not in kinds]
