"""Public bugs of fusing compilers, widened: integers, NaN, infinities, signed zeros, softmax. Eager is the rule."""

from __future__ import annotations

import math
import operator

import pytest
import torch
import torch.nn.functional as F
from backend import compiled
from comparing import accurately, accurately_each, compare, equal_bits, widened
from outcomes import Case, assert_as_eager, cases
from torch.utils._pytree import tree_leaves

Tensor = torch.Tensor
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
LENGTH = 37
"""Elements of a test vector: full vectors of every width, and lanes left over."""


def extremes(dtype: torch.dtype) -> Tensor:
    """The smallest and the largest numbers, and small ones, over LENGTH elements."""
    info = torch.iinfo(dtype)
    some = [info.min, info.min + 1, 0, 1, 2, 3, 7, info.max - 1, info.max] + ([-1, -2, -7] if info.min else [5, 9, 11])
    return torch.tensor((some * 4)[:LENGTH], dtype=dtype)


def divisors(dtype: torch.dtype) -> Tensor:
    """Numbers without zero; -1 where the dtype has it."""
    some = [1, 2, 3, 7, 100] + ([-1, -2, -3] if torch.iinfo(dtype).min else [5])
    return torch.tensor((some * 8)[:LENGTH], dtype=dtype)


WRAPPING = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": lambda a, b: -a,
    "abs": lambda a, b: a.abs(),
    "square_twice": lambda a, b: (a * a) * (a * a),
    "power": lambda a, b: a**3,
    "power_then_cos": lambda a, b: (a**2).to(torch.int32),
    "shift_left": lambda a, b: a << 3,
    "shift_right": lambda a, b: a >> 2,
    "bits": lambda a, b: (a & b, a | b, a ^ b, ~a),
    "sum": lambda a, b: (a.sum(), a.sum(dtype=a.dtype), a.prod(), a.cumsum(0), a.cumsum(0, dtype=a.dtype)),
    "compare": lambda a, b: (a < b, a <= b, a == b, a != b, a > b, a >= b),
    "min_max": lambda a, b: (torch.minimum(a, b), torch.maximum(a, b), a.min(), a.max(), a.argmax(), a.argmin()),
    "clamp": lambda a, b: (a.clamp(1, 5), a.clamp(min=2), a.clamp(max=3)),
    "add_wide_scalar": lambda a, b: a + 100,
    "float_and_back": lambda a, b: (a.to(torch.float64) / 2).to(torch.int64),
    "sign": lambda a, b: a.sign(),
    "to_smaller": lambda a, b: (a.to(torch.int8), a.to(torch.uint8), a.to(torch.int16), a.to(torch.bool)),
    "dot_like": lambda a, b: (a * b).sum(),
    "multiply_add": lambda a, b: a * b + a,
}

DIVIDING = {
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "fmod": torch.fmod,
    "floor": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "true": operator.truediv,
    "scalar": lambda a, b: (a // 3, a % 3, a / 3, torch.fmod(a, 3)),
    "divide_then_multiply": lambda a, b: (a // b) * b + a % b,
}


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("name", WRAPPING)
def test_integers_wrap(name: str, dtype: torch.dtype) -> None:
    """98149 and the rest of its class: arithmetic wraps at the width of the dtype."""
    assert_as_eager(Case(name, WRAPPING[name], lambda: (extremes(dtype), divisors(dtype))))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("name", DIVIDING)
def test_integer_division(name: str, dtype: torch.dtype) -> None:
    """184406: division, also of the smallest number by other numbers, with lanes left over that divide nothing."""
    left = extremes(dtype)
    right = divisors(dtype)
    if dtype.is_signed:
        left = torch.where((left == torch.iinfo(dtype).min) & (right == -1), torch.ones_like(left), left)
    assert_as_eager(Case(name, DIVIDING[name], lambda: (left.clone(), right.clone())))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64], ids=str)
def test_smallest_by_minus_one(dtype: torch.dtype) -> None:
    """184406: the smallest number divided by -1, and its remainder."""
    smallest = torch.full((LENGTH,), torch.iinfo(dtype).min, dtype=dtype)
    minus_one = torch.full((LENGTH,), -1, dtype=dtype)
    assert_as_eager(Case("divide", lambda a, b: (a // b, a % b, torch.fmod(a, b)), lambda: (smallest, minus_one)))


@pytest.mark.parametrize("fn", [operator.floordiv, operator.mod, torch.fmod], ids=["floordiv", "mod", "fmod"])
def test_integer_division_by_zero_raises(fn: object) -> None:
    """178013: by zero raises as in eager, wherever the zero stands."""
    for at in (0, LENGTH - 1):
        divisor = torch.ones(LENGTH, dtype=torch.int64)
        divisor[at] = 0
        torch._dynamo.reset()
        case = Case("zero", lambda a, b: fn(a + 0, b), lambda d=divisor: (torch.arange(LENGTH), d))
        with pytest.raises(RuntimeError):
            case.fn(*case.make())
        with pytest.raises(RuntimeError, match="ZeroDivision"):
            assert_ours(case)


def assert_ours(case: Case) -> None:
    """Runs the compiled case alone."""
    from backend import compiled

    compiled(case.fn, fullgraph=True)(*case.make())


SPECIAL = [math.nan, -math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-45, -1e-45]
SPECIAL += [1e-38, 3e38, -3e38, 3.0, -3.0, 65504.0, 1e-8]


def pairs(dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Every pair of special values."""
    values = torch.tensor(SPECIAL, dtype=torch.float64).to(dtype)
    return values.repeat_interleave(len(SPECIAL)), values.repeat(len(SPECIAL))


SELECTING = {
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "fmax": torch.fmax,
    "fmin": torch.fmin,
    "clamp_min": lambda a, b: (torch.clamp_min(a, b), a.clamp(min=0.0), a.clamp(min=math.nan)),
    "clamp_max": lambda a, b: (torch.clamp_max(a, b), a.clamp(max=-0.0), a.clamp(max=math.nan)),
    "clamp_both": lambda a, b: (torch.clamp(a, -b.abs(), b), a.clamp(1.0, -1.0), a.clamp(-0.0, 0.0)),
    "relu": lambda a, b: (F.relu(a), F.relu6(a), F.hardtanh(a), F.leaky_relu(a), F.threshold(a, 0.0, -1.0)),
    "hard": lambda a, b: (F.hardswish(a), F.hardsigmoid(a), F.hardshrink(a), F.softshrink(a)),
    "rounding": lambda a, b: (a.floor(), a.ceil(), a.round(), a.trunc(), a.frac()),
    "signs": lambda a, b: (a.sign(), a.signbit(), a.neg(), a.abs(), torch.copysign(a, b), a.sgn()),
    "compare": lambda a, b: (a < b, a <= b, a == b, a != b, a.isnan(), a.isinf(), a.isfinite(), torch.isclose(a, b)),
    "arithmetic": lambda a, b: (a + b, a - b, a * b, a / b, 1 / a, a.reciprocal(), a.square()),
    "zero_plus": lambda a, b: (a + 0.0, a - 0.0, 0.0 - a, a * 0.0, a * 1.0, a / 1.0, a * -1.0),
    "remainder": lambda a, b: (a % b, torch.fmod(a, b), a // b, torch.div(a, b, rounding_mode="trunc")),
    "where": lambda a, b: (torch.where(a > b, a, b), torch.where(a.isnan(), b, a)),
    "heaviside": lambda a, b: (torch.heaviside(a, b), torch.nan_to_num(a), torch.nan_to_num(a, 1.0, 2.0, 3.0)),
    "logical": lambda a, b: (a.logical_and(b), a.logical_or(b), a.logical_xor(b), a.logical_not(), a.bool()),
    "reductions": lambda a, b: (a.max(), a.amin(), a.argmax(), a.view(22, 22).max(1), a.view(22, 22).amin(0)),
    "ordering": lambda a, b: (a.view(22, 22).sort(1), a.topk(9), a.cummax(0), a.view(22, 22).cummin(1)),
    "nextafter": torch.nextafter,
    "any_all": lambda a, b: (a.any(), a.all(), a.view(22, 22).any(0), a.count_nonzero()),
    "max_pool": lambda a, b: F.max_pool1d(a.view(1, 1, -1), 3, 2),
}

NOT_ELEMENTWISE = {"reductions", "ordering", "any_all", "max_pool"}


def assert_as_either(case: Case) -> None:
    """Every element is what eager's vector code gives for it, or what its scalar code gives.

    They differ by zeros' signs (max(0, -0)), NaN (1 % 1e-45) and underflow (gelu), and it depends on the length and
    the position which of them computes an element.
    """
    arguments = case.make()
    count = len(arguments[0])
    vector = [leaf[:count] for leaf in tree_leaves(case.fn(*(t.repeat(2) for t in arguments)))]
    singles = [tree_leaves(case.fn(*(t[i : i + 1] for t in arguments))) for i in range(count)]
    scalar = [torch.cat(parts) for parts in zip(*singles, strict=True)]
    ours = tree_leaves(compiled(case.fn, fullgraph=True)(*arguments))
    eager = [torch.where(equal_bits(o, s), s, v) for o, v, s in zip(ours, vector, scalar, strict=True)]
    exact = tree_leaves(case.fn(*widened(arguments)))
    problems = list(compare(ours, eager, exact, case.values))
    assert not problems, "\n".join(map(str, problems))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", SELECTING)
def test_special_values(name: str, dtype: torch.dtype) -> None:
    """93784, 194347, 185610, 183606: NaN goes through from both sides, and zeros keep their sign."""
    if name == "nextafter" and dtype == torch.float16:
        pytest.skip("eager has no nextafter in float16")
    case = Case(name, SELECTING[name], lambda: pairs(dtype))
    (assert_as_eager if name in NOT_ELEMENTWISE else assert_as_either)(case)


def test_minimum_and_maximum_of_negative_zeros() -> None:
    """194347: two negative zeros give one."""
    zeros = torch.full((LENGTH,), -0.0)
    case = Case(
        "zeros", lambda a, b: (torch.maximum(a, b), torch.minimum(a, b), a.amax(), a.amin()), lambda: (zeros, zeros)
    )
    assert_as_eager(case)


APPROXIMATED = {
    "exponential": lambda a, b: (a.exp(), a.expm1(), a.exp2(), a.sigmoid(), a.tanh()),
    "logarithm": lambda a, b: (a.log(), a.log1p(), a.log2(), a.log10(), F.logsigmoid(a), F.softplus(a)),
    "trigonometry": lambda a, b: (a.sin(), a.cos(), a.tan(), a.atan(), torch.atan2(a, b), a.asin(), a.acos()),
    "power": lambda a, b: (a**b, a**2, a**3, a**-1, a**0.5, a**0, 2**a, a**-0.5),
    "roots": lambda a, b: (a.sqrt(), a.rsqrt(), torch.hypot(a, b), torch.logaddexp(a, b)),
    "activations": lambda a, b: (F.gelu(a), F.gelu(a, approximate="tanh"), F.silu(a), F.mish(a), F.elu(a), F.selu(a)),
    "error": lambda a, b: (a.erf(), a.erfc(), a.lgamma(), a.digamma(), torch.xlogy(a, b)),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", APPROXIMATED)
def test_special_values_of_approximations(name: str, dtype: torch.dtype) -> None:
    """Transcendental functions have eager's NaN, infinities, zeros and signs at special values."""
    assert_as_either(Case(name, APPROXIMATED[name], lambda: pairs(dtype), accurately_each))


def test_sign_of_underflowing_gelu() -> None:
    """189804: the sign of gelu where it nearly underflows."""
    points = torch.tensor([-5.53, -5.4, -5.6, -6.0, -8.0, -13.0, -14.5, -40.0])
    assert_as_either(Case("gelu", lambda x: (F.gelu(x).sign(), F.gelu(x).signbit()), lambda: (points,)))


SCALES = (0.0, 1.0, -1.0, 1e4, -1e4, 1e30, -1e30, 3e38, math.inf, -math.inf, math.nan)
ROWS = torch.tensor(
    [
        [0.0, 1.0, 2.0, -3.0, 4.0],
        [-math.inf] * 5,
        [math.inf, 0.0, 1.0, 2.0, 3.0],
        [math.nan, 0.0, 1.0, 2.0, 3.0],
        [-math.inf, 0.0, -math.inf, 1.0, -1.0],
        [3e38, 3e38, -3e38, 0.0, 1.0],
        [-0.0, 0.0, 0.0, -0.0, 0.0],
    ]
)


@pytest.mark.parametrize("scale", SCALES)
def test_softmax_of_scaled_rows(scale: float) -> None:
    """161150, 163932, 100775: no scale is pulled out of the subtraction of the maximum."""

    def fn(x: Tensor, s: Tensor) -> tuple[Tensor, ...]:
        y = x * s
        return torch.softmax(y, 1), torch.log_softmax(x * scale, 1), torch.logsumexp(x / s, 1), torch.softmax(y, 0)

    assert_as_eager(Case("softmax", fn, lambda: (ROWS.clone(), torch.tensor(scale)), accurately))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_gradients_at_special_values(dtype: torch.dtype) -> None:
    """As eager's vector loops have them, which take NaN another way than the loop over the last few elements does."""
    some = [math.nan, math.inf, -math.inf, 0.0, -0.0, 3.0, -3.0, 6.0, 1.0, -1.0, 0.5, -20.0, 20.0, 2.999, 1e-20, -1e-20]
    x = torch.tensor(some * 4, dtype=dtype, requires_grad=True)

    def fn(x: Tensor) -> tuple[Tensor, ...]:
        return (
            F.elu(x),
            F.selu(x),
            F.celu(x, 0.7),
            F.hardswish(x),
            F.hardtanh(x),
            F.relu6(x),
            F.hardsigmoid(x),
            x.relu(),
        )

    for number in range(len(fn(x))):
        (eager,) = torch.autograd.grad(fn(x)[number].sum(), x)
        (ours,) = torch.autograd.grad(compiled(lambda x, n=number: fn(x)[n])(x).sum(), x)
        assert accurately_each(ours, eager, None) is None, number


def test_elu_of_zero_with_an_infinite_slope() -> None:
    x = torch.tensor([0.0, -0.0, 1.0, -1.0] * 4)
    for alpha in (math.inf, math.nan):
        fn = lambda x, a=alpha: (F.elu(x, a), F.celu(x, a))  # noqa: E731
        for ours, eager in zip(compiled(fn)(x), fn(x), strict=True):
            assert equal_bits(ours, eager).all()


EMPTY_AND_SINGLE = cases(
    accurately,
    mean_of_nothing=(lambda x: (x.mean(), x.sum(), x.prod(), x.var(), x.std()), lambda: (torch.empty(0),)),
    rows_of_nothing=(lambda x: (x.sum(1), x.mean(1), x.softmax(1), x.logsumexp(1)), lambda: (torch.empty(3, 0),)),
    no_rows=(lambda x: (x.sum(1), x.amax(1), x.softmax(1) * 2, x.cumsum(0)), lambda: (torch.empty(0, 3),)),
    variance_of_one=(lambda x: (x.var(1), x.std(1), x.var(1, correction=0)), lambda: (torch.ones(4, 1),)),
    variance_of_constant=(lambda x: (x.var(1), F.layer_norm(x, (5,))), lambda: (torch.full((3, 5), 1e4),)),
    norm_of_large=(lambda x: (F.layer_norm(x, (5,)), F.rms_norm(x, (5,))), lambda: (ROWS[5:6] / 1e20,)),
    all_of_nothing=(lambda x: (x.all(), x.any(), x.count_nonzero()), lambda: (torch.empty(0),)),
    concat_with_nothing=(lambda x, y: torch.cat((x, y, x)) + 1, lambda: (torch.empty(0), torch.ones(3))),
    float_to_int=(lambda x: (x.int(), x.long(), x.short()), lambda: (torch.tensor([-1.9, 1.9, -0.5, 2.5, 1e4]),)),
    negative_to_unsigned=(lambda x: x.to(torch.uint8), lambda: (torch.tensor([-1.0, -3.7, 255.0, 256.0, 300.0]),)),
    bool_of_nan=(lambda x: (x.bool(), x != 0, ~x.bool()), lambda: (ROWS.clone(),)),
)


@pytest.mark.parametrize("case", EMPTY_AND_SINGLE)
def test_empty_and_single(case: Case) -> None:
    """Reductions over nothing or one element, and casts out of range."""
    assert_as_eager(case)


def test_index_reduce_gradient() -> None:
    """168358: amax over an infinite start has a gradient without NaN."""
    at = torch.tensor([0, 1, 1])

    def fn(source: Tensor) -> Tensor:
        start = torch.full((2,), -math.inf)
        return start.index_reduce(0, at, source, "amax")

    assert_as_eager(Case("amax", fn, lambda: (torch.tensor([1.0, 2.0, 3.0], requires_grad=True),)))
