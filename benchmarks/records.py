"""What is kept of a benchmark, and where and when it was measured."""

import datetime
import json
import platform
from pathlib import Path

import torch

RESULTS = Path(__file__).parent / "results"


def processor() -> str:
    """The name of the processor, as short as the system knows it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":")[1].split("@")[0].strip()
    return platform.processor() or platform.machine()


def circumstances() -> dict:
    """Where and when a measurement was taken."""
    return {
        "machine": processor(),
        "date": datetime.date.today().isoformat(),
        "torch": torch.__version__.split("+")[0],
        "threads": torch.get_num_threads(),
    }


def save(name: str, record: dict) -> Path:
    """Write results/<name>.json, beginning with the circumstances."""
    return write(RESULTS / f"{name}.json", circumstances() | record)


def write(path: Path, record: dict) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    return path
