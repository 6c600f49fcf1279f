"""`fuseline.doctor()`: with torch, without it, and without the compiled half."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import fuseline
import pytest
from fuseline import _doctor

PACKAGE = Path(fuseline.__file__).parents[1]


def run(code: str) -> str:
    """Output of a fresh interpreter."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    return done.stdout


def test_says_what_is_there() -> None:
    facts = fuseline.doctor().facts
    assert {"python", "fuseline", "processor", "dtypes", "torch", "threads", "backend", "environment"} <= set(facts)
    assert "bf16" in facts["dtypes"].split()
    assert "within the tested versions" in facts["torch"]


def test_works_without_torch() -> None:
    text = run("import sys; sys.modules['torch'] = None; import fuseline; print(fuseline.doctor())")
    assert "problem: torch cannot be imported" in text and "pip install 'torch>=2.11'" in text
    assert "kernels for" in text


def test_works_without_the_compiled_half() -> None:
    hidden = "import sys; sys.modules['torch'] = sys.modules['fuseline._native'] = None; import fuseline"
    assert "problem: the compiled half is missing" in run(f"{hidden}; print(fuseline.doctor())")


@pytest.mark.parametrize(("version", "old"), [("2.10.1+cpu", True), ("2.11.0", False), ("2.16.0a0+git12", False)])
def test_old_torch_is_a_problem_and_a_new_one_is_said(version: str, old: bool) -> None:
    torch = type("Torch", (), {"__version__": version, "get_num_threads": staticmethod(lambda: 1)})
    problems: list[tuple[str, str]] = []
    facts = _doctor._about_torch(torch, problems)  # type: ignore[arg-type]
    assert bool(problems) == old
    assert ("within" in facts["torch"]) == (version == "2.11.0")


def test_command_exits_with_the_diagnosis() -> None:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run([sys.executable, "-m", "fuseline", "doctor"], capture_output=True, text=True, env=environment)
    assert done.returncode == (0 if fuseline.doctor().ok else 1)
    assert done.stdout.startswith("python")
