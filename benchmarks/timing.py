"""Side-by-side timing: candidates take turns, so that load hits all alike."""

import statistics
import time
from collections.abc import Callable, Iterable, Iterator

import torch


def seconds(run: Callable[[], object], repeats: int = 1) -> float:
    """The mean time of `repeats` runs: of the processor, or until a GPU ends.

    A GPU works on after a call has returned, so its end is waited for.
    """
    on_gpu = torch.cuda.is_available()
    clock = time.perf_counter if on_gpu else time.process_time
    wait = torch.cuda.synchronize if on_gpu else lambda: None
    wait()
    start = clock()
    for _ in range(repeats):
        run()
    wait()
    return (clock() - start) / repeats


def in_turns(names: Iterable[str], rounds: int) -> Iterator[tuple[int, str]]:
    """Each name once a round; every other round goes backwards."""
    for turn in range(rounds):
        for name in list(names)[:: -1 if turn % 2 else 1]:
            yield turn, name


def side_by_side(
    candidates: dict[str, Callable[[], object]], rounds: int = 7
) -> dict[str, list[float]]:
    """Seconds of each candidate in each round, after one run to warm up."""
    for run in candidates.values():
        run()
    times = {name: [] for name in candidates}
    for _, name in in_turns(candidates, rounds):
        times[name].append(seconds(candidates[name]))
    return times


def ratio(times: dict[str, list[float]], name: str, base: str) -> float:
    """Median over the rounds of the time of `name` by that of `base`."""
    pairs = zip(times[name], times[base], strict=True)
    return round(statistics.median(a / b for a, b in pairs), 3)
