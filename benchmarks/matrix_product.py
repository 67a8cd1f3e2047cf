"""How long an n x n matrix product takes: data for a figure of chapter 2."""

import statistics

import torch

from benchmarks.timing import seconds

SIZES, ROUNDS = [64, 128, 256, 512, 1024, 2048], 9


def record() -> dict:
    torch.manual_seed(0)
    times = {n: [] for n in SIZES}
    for n in ROUNDS * SIZES:
        a, b = torch.randn(2, n, n)
        repeats = max(1, 512**3 // n**3)
        times[n].append(seconds(lambda a=a, b=b: a @ b, repeats))
    return {"n": SIZES, "seconds": [*map(statistics.median, times.values())]}
