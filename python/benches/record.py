"""Results of benchmarks as JSON under `benches/results/`."""

from __future__ import annotations

import datetime
import json
import os
import platform
from pathlib import Path
from typing import Any

import torch

RESULTS = Path(__file__).resolve().parents[2] / "benches" / "results"


def cpu_name() -> str:
    """Model of the processor, as the system tells it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def save(name: str, rows: list[dict[str, Any]], **facts: Any) -> None:
    """Writes `benches/results/NAME.json`: date, device, versions, and rows."""
    document = {
        "date": datetime.date.today().isoformat(),
        "device": {"cpu": cpu_name(), "cores": os.cpu_count()},
        "versions": {"torch": torch.__version__},
        **facts,
        "rows": rows,
    }
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(document, indent=1) + "\n")
    print(f"wrote {path.relative_to(RESULTS.parents[1])}")
