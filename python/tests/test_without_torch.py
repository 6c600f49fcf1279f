"""Without torch, or with one too old, the package says what it needs."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("fuseline") is None, reason="fuseline is not installed: run `pip install .`"
)

ABSENT = "import sys; sys.modules['torch'] = None\n"
TOO_OLD = (
    "import sys, types; torch = types.ModuleType('torch'); torch.__version__ = '2.3.1'; sys.modules['torch'] = torch\n"
)
USE = "import fuseline; fuseline.backend(None, [])"


def output_of(code: str) -> str:
    """What Python prints when it runs the code, with a failing exit status."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("setup", [ABSENT, TOO_OLD], ids=["absent", "too_old"])
def test_says_which_torch_it_needs(setup: str) -> None:
    """Use of the backend is an ImportError that names the oldest torch it takes."""
    message = output_of(setup + USE)
    assert message.startswith("ImportError") and "torch" in message and "2.11" in message


def test_import_alone_works() -> None:
    """The package imports without torch, so that its documentation and doctor can be reached."""
    done = subprocess.run(
        [sys.executable, "-c", ABSENT + "import fuseline"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
