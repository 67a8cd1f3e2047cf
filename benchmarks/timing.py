"""Side-by-side timing: candidates take turns, so that load hits all alike."""

import datetime
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch


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
    on_gpu = torch.cuda.is_available()
    return {
        "machine": torch.cuda.get_device_name() if on_gpu else processor(),
        "date": datetime.date.today().isoformat(),
        "torch": torch.__version__.split("+")[0],
        "threads": torch.get_num_threads(),
    }


def seconds(run: Callable[[], object], repeats: int) -> float:
    """Time of `repeats` runs: CPU time, or the time until the GPU is done."""
    clock = time.process_time
    if torch.cuda.is_available():
        torch.cuda.synchronize()
        clock = time.perf_counter
    start = clock()
    for _ in range(repeats):
        run()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return clock() - start


def side_by_side(
    candidates: dict[str, Callable[[], object]],
    repeats: int = 1,
    rounds: int = 7,
) -> dict[str, list[float]]:
    """Seconds of each candidate in each round; every other round backwards."""
    for run in candidates.values():
        run()
    found = {name: [] for name in candidates}
    for turn in range(rounds):
        for name in list(candidates)[:: -1 if turn % 2 else 1]:
            found[name].append(seconds(candidates[name], repeats))
    return found


def ratio(times: dict[str, list[float]], name: str, base: str) -> float:
    """Median over the rounds of the time of `name` by that of `base`."""
    pairs = zip(times[name], times[base], strict=True)
    return round(statistics.median(a / b for a, b in pairs), 3)


def geometric_mean(values: list[float]) -> float:
    """The mean of ratios."""
    return statistics.geometric_mean(values)
