"""``python -m fuseline doctor``."""

from __future__ import annotations

import argparse
import sys

from . import doctor


def main() -> int:
    """Runs a command; 1 if it found a problem."""
    parser = argparse.ArgumentParser(prog="python -m fuseline")
    parser.add_argument("command", choices=["doctor"], help="doctor: what this installation has, and what it lacks")
    parser.parse_args()
    diagnosis = doctor()
    print(diagnosis)
    return 0 if diagnosis.ok else 1


if __name__ == "__main__":
    sys.exit(main())
