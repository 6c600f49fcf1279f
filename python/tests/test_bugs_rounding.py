"""Public bugs of fusing compilers, widened: rounding of low precision and type promotion. Eager is the rule."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from comparing import accurately
from outcomes import Case, assert_as_eager, cases

Tensor = torch.Tensor
HALVES = (torch.float16, torch.bfloat16)


def spread(dtype: torch.dtype, count: int = 224) -> Tensor:
    """Random numbers of many magnitudes."""
    generator = torch.Generator().manual_seed(5)
    return (torch.randn(count, generator=generator) * torch.logspace(-3, 3, count)).to(dtype)


def rotate_half(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """182225: rotary embedding rounds after every op."""
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


HALF_CHAINS = {
    "multiply_add": lambda x: x * x + x,
    "add_chain": lambda x: x + 0.1 + 0.2 + 0.3 - 0.6,
    "scale_back": lambda x: x * 3 / 3,
    "square_root_of_square": lambda x: (x * x).sqrt(),
    "overflow_to_float": lambda x: (x * 5000).float() / 5000,
    "sum_of_products": lambda x: (x * x).sum(),
    "mean_then_subtract": lambda x: x - x.mean(),
    "cast_up_and_down": lambda x: (x.float() * 1.0001).to(x.dtype).float(),
    "round_trip_other_half": lambda x: x.to(torch.bfloat16).to(torch.float16).to(torch.float32),
    "residual_then_relu": lambda x: F.relu(x + x * 0.3) - x,
    "addcmul": lambda x: torch.addcmul(x, x, x, value=0.3),
    "addcdiv": lambda x: torch.addcdiv(x, x, x + 3),
    "lerp": lambda x: torch.lerp(x, x * 2, 0.3),
    "add_alpha": lambda x: torch.add(x, x, alpha=0.3),
    "rsub": lambda x: torch.rsub(x, 1.1, alpha=0.7),
    "hardswish": lambda x: F.hardswish(x),
    "hardsigmoid": lambda x: F.hardsigmoid(x),
    "leaky_relu": lambda x: F.leaky_relu(x, 0.3),
    "threshold_scalar": lambda x: F.threshold(x, 0.1, 0.3),
    "clamp_scalar": lambda x: x.clamp(-0.1, 0.3),
    "compare_scalar": lambda x: (x == 0.1, x > 0.1, x <= 0.3),
    "divide_scalar": lambda x: x / 3.3,
    "reciprocal": lambda x: 1 / x,
    "floor_divide": lambda x: x // 0.3,
    "remainder": lambda x: x % 0.3,
    "fmod": lambda x: torch.fmod(x, 0.3),
    "where_scalar": lambda x: torch.where(x > 0, x, 0.3),
    "average_pool": lambda x: F.avg_pool1d(x.reshape(1, 1, -1), 3, 1),
    "cumulative_sum": lambda x: x.cumsum(0),
}


@pytest.mark.parametrize("dtype", HALVES, ids=["f16", "bf16"])
@pytest.mark.parametrize("name", HALF_CHAINS)
def test_rounds_where_eager_rounds(name: str, dtype: torch.dtype) -> None:
    """Arithmetic in f16 and bf16 rounds after every op."""
    values = {"sum_of_products": accurately, "mean_then_subtract": accurately, "average_pool": accurately}
    case = Case(name, HALF_CHAINS[name], lambda: (spread(dtype),))
    assert_as_eager(Case(name, case.fn, case.make, values.get(name, case.values)))


@pytest.mark.parametrize("dtype", HALVES, ids=["f16", "bf16"])
def test_rotary_embedding(dtype: torch.dtype) -> None:
    """182225, 159239."""
    angle = torch.linspace(0, 30, 224)

    def make() -> tuple[Tensor, ...]:
        return spread(dtype).reshape(1, 224), angle.cos().to(dtype), angle.sin().to(dtype)

    assert_as_eager(Case("rope", rotate_half, make))


def test_product_that_overflows_half_is_infinite() -> None:
    """183607: 5000 · 5000 in f16 is infinite also if it goes on in f32."""
    case = Case("overflow", lambda x: (x * x).float(), lambda: (torch.full((9,), 5000.0, dtype=torch.float16),))
    assert_as_eager(case)
    assert torch.isinf(case.fn(*case.make())).all()


def test_round_trip_loses_bits() -> None:
    """185337, 176565: f32 to f16 or bf16 and back rounds."""
    for dtype in HALVES:
        case = Case("trip", lambda x, d=dtype: x.to(d).to(torch.float32), lambda: (spread(torch.float32),))
        assert_as_eager(case)
        assert not torch.equal(case.fn(*case.make()), case.make()[0])


OPERANDS = {
    "bool": torch.tensor([True, False, True]),
    "u8": torch.tensor([0, 7, 255], dtype=torch.uint8),
    "i8": torch.tensor([-128, 3, 127], dtype=torch.int8),
    "i16": torch.tensor([-300, 3, 300], dtype=torch.int16),
    "i32": torch.tensor([-70000, 3, 2**31 - 1], dtype=torch.int32),
    "i64": torch.tensor([-5, 3, 2**53 + 1]),
    "f16": torch.tensor([-0.1, 3.0, 6e4], dtype=torch.float16),
    "bf16": torch.tensor([-0.1, 3.0, 1e30], dtype=torch.bfloat16),
    "f32": torch.tensor([-0.1, 3.0, 1e30]),
    "f64": torch.tensor([-0.1, 3.0, 1e300], dtype=torch.float64),
}

SCALARS = {
    "true": True,
    "int": 3,
    "float": 0.1,
    "zero_dim_f64": torch.tensor(0.1, dtype=torch.float64),
    "zero_dim_i64": torch.tensor(3),
    "zero_dim_f16": torch.tensor(0.1, dtype=torch.float16),
}


def pair_results(a: Tensor, b: Tensor | float) -> list[Tensor]:
    """Arithmetic and comparisons of a pair, where eager has them."""
    found = [a * b, a + b, a == b, a < b, a / b, torch.where(torch.as_tensor(a == b), a, b)]
    if isinstance(b, Tensor):
        found += [torch.maximum(a, b), torch.minimum(a, b), torch.stack((a.to(b.dtype), b.expand(3)))]
    return found


@pytest.mark.parametrize("left", OPERANDS)
def test_promotion_of_tensors(left: str) -> None:
    """Every pair of dtypes."""
    for right in OPERANDS:
        torch._dynamo.reset()
        assert_as_eager(Case(f"{left} {right}", pair_results, lambda r=right: (OPERANDS[left], OPERANDS[r])))


@pytest.mark.parametrize("left", OPERANDS)
def test_promotion_of_scalars(left: str) -> None:
    """Python numbers and 0-d tensors do not widen a tensor of their own category."""
    for right, scalar in SCALARS.items():
        torch._dynamo.reset()
        assert_as_eager(Case(f"{left} {right}", lambda a, s=scalar: pair_results(a, s), lambda: (OPERANDS[left],)))


MIXED = cases(
    ldexp_bool_half=(torch.ldexp, lambda: (OPERANDS["bool"], OPERANDS["f16"])),
    ldexp_half_float=(torch.ldexp, lambda: (OPERANDS["f16"], torch.tensor([1.0, 2.0, 3.0]))),
    ldexp_int_int=(torch.ldexp, lambda: (OPERANDS["i32"], torch.tensor([1, 2, 3]))),
    sum_of_bool=(lambda x: (x.sum(), x.cumsum(0), x.prod()), lambda: (OPERANDS["bool"],)),
    sum_of_u8=(lambda x: (x.sum(), x.cumsum(0), x.prod(), x.sum(dtype=torch.uint8)), lambda: (OPERANDS["u8"],)),
    mean_dtype=(lambda x: x.mean(dtype=torch.float32), lambda: (OPERANDS["i64"],)),
    sum_dtype_half=(lambda x: x.sum(dtype=torch.float32), lambda: (OPERANDS["f16"],)),
    cat_mixed=(lambda *x: torch.cat(x), lambda: (OPERANDS["f16"], OPERANDS["i64"], OPERANDS["bf16"])),
    root_of_int=(lambda x: x.square().float().reciprocal() + x.float() / 7, lambda: (OPERANDS["i16"],)),
    clamp_int_by_float=(lambda x: x.clamp(0.5, 2.5), lambda: (OPERANDS["i32"],)),
    in_place_keeps_dtype=(lambda x, y: x.add_(y), lambda: (OPERANDS["f16"].clone(), OPERANDS["f32"])),
    int_in_place=(lambda x: x.mul_(3).add_(True), lambda: (OPERANDS["i8"].clone(),)),
    large_int_times_float=(lambda x: x * 1.0, lambda: (OPERANDS["i64"],)),
    large_int_to_float=(lambda x: (x.float(), x.double(), x.half(), x.bfloat16()), lambda: (OPERANDS["i64"],)),
    double_to_half=(lambda x: x.half(), lambda: (torch.tensor([1.00048828125 + 2**-40], dtype=torch.float64),)),
    bool_minus_int=(lambda x: x * 1 - 2, lambda: (OPERANDS["bool"],)),
    float_power_of_int=(lambda x: 2**x, lambda: (torch.tensor([0, 1, 5]),)),
)


@pytest.mark.parametrize("case", MIXED)
def test_mixed(case: Case) -> None:
    """197091 and its relatives."""
    assert_as_eager(case)
