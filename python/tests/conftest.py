"""Settings of the PyTorch backend's tests: which backend, how much of the sweep, a fresh Dynamo for every test."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

HAS_TORCH = importlib.util.find_spec("torch") is not None
NEEDS_NO_TORCH = {"test_without_torch.py", "test_doctor.py"}


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leaves out the files that need torch where it is not installed."""
    needs_torch = collection_path.suffix == ".py" and collection_path.name not in NEEDS_NO_TORCH
    return True if needs_torch and not HAS_TORCH else None


def pytest_addoption(parser: pytest.Parser) -> None:
    """Registers `--full`."""
    parser.addoption("--full", action="store_true", help="every sample and every model, not the selection for CI")
    parser.addoption("--samples", type=int, help="with --full, only so many samples of an op, spread evenly")


def pytest_configure(config: pytest.Config) -> None:
    """Registers the mark of tests that run only with `--full`."""
    config.addinivalue_line("markers", "full: runs only with --full")


def pytest_report_header() -> str:
    """Says which backend and torch are tested, or that nothing is."""
    if not HAS_TORCH:
        runs = ", ".join(sorted(NEEDS_NO_TORCH))
        return f"fuseline: torch is not installed: only {runs} runs, the other files are skipped"
    import torch
    from backend import NAME

    return f"fuseline: backend {NAME}, torch {torch.__version__}"


def known_failures() -> dict[str, str]:
    """Tests that fail today, with the reason: lines `FILE::TEST  # reason` of `known_failures.txt`."""
    lines = (Path(__file__).parent / "known_failures.txt").read_text().splitlines()
    pairs = (line.partition("  # ") for line in lines if line and not line.startswith("#"))
    return {test.strip(): reason for test, _, reason in pairs}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks known failures, and skips what is marked `full` unless the command line asks for it."""
    known = known_failures()
    for item in items:
        reason = known.get(f"{item.path.name}::{item.name}")
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=False))
    if config.getoption("--full"):
        return
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker(pytest.mark.skip(reason="runs with --full"))


@pytest.fixture
def full(pytestconfig: pytest.Config) -> bool:
    """Whether the whole sweep was asked for."""
    return bool(pytestconfig.getoption("--full"))


@pytest.fixture
def most(pytestconfig: pytest.Config) -> int | None:
    """Number of samples of an op that are enough for the whole sweep; all if there is none."""
    return pytestconfig.getoption("--samples")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """One thread, a known seed, and no compiled code or limit left from another test."""
    if not HAS_TORCH:
        yield
        return
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()
