"""What users get wrong: eager's error or a clear one of ours, and what eager can run still runs."""

from __future__ import annotations

import warnings

import pytest
import torch
import torch.nn.functional as F
from backend import NAME, compiled
from outcomes import Case, assert_as_eager, assert_refused
from torch.utils.checkpoint import checkpoint

Tensor = torch.Tensor
ours_only = pytest.mark.skipif(NAME != "fuseline", reason="options of our backend alone")


def test_mixed_devices() -> None:
    """A meta tensor and a CPU tensor do not mix, as in eager."""
    fn = lambda x, y: x + y  # noqa: E731
    arguments = (torch.ones(3), torch.ones(3, device="meta"))
    with pytest.raises(Exception):  # noqa: B017
        fn(*arguments)
    with pytest.raises(Exception, match=r"(?i)device"):
        compiled(fn)(*arguments)


def test_zero_dim_of_another_device_is_eagers_business() -> None:
    """Tensors of the meta device alone run as in eager: shapes without values."""
    result = compiled(lambda x: x * 2 + 1)(torch.ones(3, 4, device="meta"))
    assert result.device.type == "meta" and result.shape == (3, 4)


def test_write_to_overlapping_elements() -> None:
    """In-place writes to an expanded tensor are refused, if tracing leaves a backend the chance to."""
    fn = lambda x: x.expand(3, 4).add_(1)  # noqa: E731
    with pytest.raises(RuntimeError):
        fn(torch.ones(4))
    assert_refused(fn, lambda: (torch.ones(4),), RuntimeError)


def test_write_to_overlapping_argument() -> None:
    """The same where the expanded tensor is an argument."""
    fn = lambda x: x.add_(1)  # noqa: E731
    with pytest.raises(RuntimeError):
        fn(torch.ones(1).expand(4))
    with pytest.raises(RuntimeError):
        compiled(fn)(torch.ones(1).expand(4))


def test_out_of_memory_inside_the_graph() -> None:
    """An allocation that cannot be made is torch's error, and the next call works."""
    fn = compiled(lambda x, n: x.sum() + torch.arange(n), dynamic=True)
    small = fn(torch.ones(3), 5)
    with pytest.raises((RuntimeError, MemoryError)):
        fn(torch.ones(3), 2**50)
    assert torch.equal(fn(torch.ones(3), 5), small)


def test_exception_in_gradient_hook() -> None:
    """A hook's exception arrives at `backward`, and the next backward works."""
    fn = compiled(lambda x: (x * x).sin().sum())
    x = torch.ones(5, requires_grad=True)

    def hook(gradient: Tensor) -> None:
        raise ValueError("from the hook")

    handle = x.register_hook(hook)
    with pytest.raises(ValueError, match="from the hook"):
        fn(x).backward()
    handle.remove()
    fn(x).backward()
    assert torch.allclose(x.grad, 2 * torch.cos(torch.ones(5)))


def test_exception_in_forward_hook() -> None:
    """A module's hook may raise; without it the compiled module works."""
    module = torch.nn.Linear(3, 3)

    def hook(module: torch.nn.Module, inputs: tuple[Tensor, ...]) -> None:
        if inputs[0].shape[0] == 2:
            raise ValueError("from the hook")

    module.register_forward_pre_hook(hook)
    call = compiled(module)
    with pytest.raises(ValueError, match="from the hook"):
        call(torch.ones(2, 3))
    assert torch.allclose(call(torch.ones(4, 3)), module(torch.ones(4, 3)))


def test_exception_of_a_called_op() -> None:
    """An op of torch that raises at run time leaves its own error, and the function works again."""
    fn = lambda x: torch.linalg.cholesky(x * 1.0) + 1  # noqa: E731
    assert_refused(fn, lambda: (-torch.eye(3),), torch.linalg.LinAlgError)
    assert torch.allclose(compiled(fn)(torch.eye(3)), torch.eye(3) + 1)


FOREIGN = {
    "complex": (lambda x: (x * x).real + 1, lambda: (torch.complex(torch.ones(3), torch.arange(3.0)),)),
    "sparse": (lambda x: torch.sparse.mm(x, torch.ones(3, 2)) * 2, lambda: (torch.eye(3).to_sparse(),)),
    "float8": (lambda x: x.float() * 2, lambda: (torch.ones(3).to(torch.float8_e4m3fn),)),
    "strings": (lambda x, how: x + len(how), lambda: (torch.ones(3), "four")),
    "nothing": (lambda x, y: x if y is None else x + y, lambda: (torch.ones(3), None)),
    "zero_dim": (lambda x: x + 1, lambda: (torch.tensor(2.0),)),
    "no_elements": (lambda x: (x + 1, x.sum()), lambda: (torch.ones(0, 4),)),
    "many_dims": (lambda x: (x + 1).sum((1, 3, 5)), lambda: (torch.ones([1, 2] * 5),)),
    "nested_results": (lambda x: {"a": [x + 1, (x, None)], "b": 3}, lambda: (torch.ones(2),)),
    "no_tensor": (lambda n: torch.arange(4) + n, lambda: (3,)),
    "negative_view": (lambda x: torch._neg_view(x) * 2, lambda: (torch.ones(3),)),
    "inference_tensor": (lambda x: x * 2, lambda: (torch.inference_mode()(torch.ones)(3),)),
    "unsigned": (lambda x: x.to(torch.int64) + 1, lambda: (torch.ones(3).to(torch.uint16),)),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_runs_as_eager(name: str) -> None:
    """Kinds of tensors and arguments that no kernel of ours takes still run."""
    fn, make = FOREIGN[name]
    eager, ours = fn(*make()), compiled(fn)(*make())
    torch.testing.assert_close(ours, eager, rtol=0, atol=0, equal_nan=True)


def test_tensor_subclass() -> None:
    """A subclass keeps its type."""

    class Tagged(torch.Tensor):
        pass

    x = torch.ones(3).as_subclass(Tagged)
    result = compiled(lambda x: x * 2 + 1)(x)
    assert type(result) is Tagged and torch.equal(result.as_subclass(Tensor), torch.full((3,), 3.0))


def test_jagged() -> None:
    """Nested tensors with a jagged dimension: no kernel needs the number that its length has not."""
    x = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=torch.jagged)
    result = compiled(lambda x: (x * 2 - 1).relu())(x)
    assert torch.equal(result.values(), torch.ones(6, 3)) and torch.equal(result.offsets(), x.offsets())


def test_checkpoint_with_eagers_random_numbers() -> None:
    """A checkpointed region that is computed again draws the numbers of its first run, here eager's."""
    fn = lambda x: checkpoint(lambda y: F.dropout(y.sin(), 0.5), x, use_reentrant=False).sum()  # noqa: E731
    gradients = []
    for call in (fn, compiled(fn)):
        torch.manual_seed(5)
        x = torch.ones(64, requires_grad=True)
        gradients += torch.autograd.grad(call(x), x)
    torch.testing.assert_close(*gradients)


def test_quantised() -> None:
    """A quantised tensor is dequantised by torch."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = torch.quantize_per_tensor(torch.arange(4.0), 0.5, 0, torch.quint8)
        result = compiled(lambda x: x.dequantize() * 2)(x)
    assert torch.equal(result, torch.arange(4.0) * 2)


def test_double_backward_is_refused_or_right() -> None:
    """A second derivative is not silently wrong."""
    fn = compiled(lambda x: (x**3).sum())
    x = torch.ones(3, requires_grad=True)
    try:
        (first,) = torch.autograd.grad(fn(x), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x)
    except RuntimeError as error:
        assert "double backward" in str(error) or "does not require grad" in str(error)
    else:
        assert torch.allclose(second, torch.full((3,), 6.0))


def test_backward_twice() -> None:
    """`retain_graph` allows another backward, whether or not the first one asked for it; without it there is none."""
    fn = compiled(lambda x: (x.sin() * x.softmax(0)).sum())
    x = torch.arange(9.0, requires_grad=True)
    fn(x).backward()
    once = x.grad.clone()
    result = fn(x)
    result.backward(retain_graph=True)
    result.backward()
    torch.testing.assert_close(x.grad, 3 * once)
    with pytest.raises(RuntimeError, match="second time"):
        result.backward()


def test_called_from_many_threads() -> None:
    """Calls of one function at the same time do not share what they compute in."""
    from concurrent.futures import ThreadPoolExecutor

    fn = compiled(lambda x: ((x * 2).relu() + x.sin()).softmax(-1))
    inputs = [torch.randn(64, 64) for _ in range(16)]
    expected = [fn(x) for x in inputs]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            for a, b in zip(pool.map(fn, inputs), expected, strict=True):
                assert torch.equal(a, b)


def test_called_inside_a_hook_of_itself() -> None:
    """The compiled function may be called while it runs: in the hook of its own backward."""
    fn = compiled(lambda x: (x * x).sum())
    x, y = torch.ones(3, requires_grad=True), torch.full((3,), 2.0, requires_grad=True)
    seen = []

    def hook(gradient: Tensor) -> None:
        with torch.enable_grad():
            seen.append(torch.autograd.grad(fn(y), y)[0])

    x.register_hook(hook)
    fn(x).backward()
    assert torch.equal(seen[0], torch.full((3,), 4.0)) and torch.equal(x.grad, torch.full((3,), 2.0))


@ours_only
def test_unknown_option() -> None:
    """An unknown option is an error that lists the known ones."""
    with pytest.raises(Exception, match=r"(?s)fusion_level.*numerics"):
        compiled(lambda x: x + 1, options={"fusion_level": 3})(torch.ones(3))


@ours_only
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fuse", None),
        ("verify", -1),
        ("verify", True),
        ("verify_tolerance", -0.1),
        ("torch_ops", "aten.mm.default"),
        ("torch_ops", ["mm"]),
        ("torch_ops", ["aten.nonsense.default"]),
        ("torch_ops", 5),
    ],
)
def test_wrong_value_of_an_option(name: str, value: object) -> None:
    """A value that an option does not take is an error that names the option."""
    with pytest.raises(Exception, match=name):
        compiled(lambda x: x + 1, options={name: value})(torch.ones(3))


@ours_only
def test_operators_of_torch_by_name_or_as_they_are() -> None:
    for ops in (["aten.sin.default"], (torch.ops.aten.sin.default,)):
        torch._dynamo.reset()
        assert torch.equal(compiled(torch.sin, options={"torch_ops": ops})(torch.ones(3)), torch.ones(3).sin())


@ours_only
@pytest.mark.parametrize("mode", ["default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"])
def test_inductors_modes(mode: str) -> None:
    """Names of Inductor's modes are accepted, as `mode` and as an option."""
    fn = lambda x: x * 2  # noqa: E731
    assert torch.equal(torch.compile(fn, backend=NAME, mode=mode)(torch.ones(3)), torch.full((3,), 2.0))
    torch._dynamo.reset()
    assert torch.equal(compiled(fn, options={"mode": mode})(torch.ones(3)), torch.full((3,), 2.0))


def test_many_shapes() -> None:
    """More shapes than Dynamo's limit: every call is right."""
    case = [Case(str(n), lambda x: (x + 1).sum(0) * x.shape[0], lambda n=n: (torch.ones(n, 3),)) for n in range(1, 14)]
    for one in case:
        assert_as_eager(one)
