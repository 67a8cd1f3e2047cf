"""Side-by-side timing: candidates take turns, so that load hits all alike."""

import statistics
import time
from collections.abc import Callable, Iterable, Iterator


def seconds(run: Callable[[], object], repeats: int = 1) -> float:
    """CPU time of a run, the mean of `repeats`."""
    start = time.process_time()
    for _ in range(repeats):
        run()
    return (time.process_time() - start) / repeats


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
