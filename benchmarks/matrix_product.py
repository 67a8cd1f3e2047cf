"""How long an n x n matrix product takes: data for a figure of chapter 2."""

import statistics
import time

import torch

SIZES = [64, 128, 256, 512, 1024, 2048]
ROUNDS = 9


def seconds(n: int) -> float:
    """One product of float32 matrices, the mean over a few repeats."""
    a, b = torch.randn(2, n, n)
    repeats = max(1, 512**3 // n**3)
    start = time.perf_counter()
    for _ in range(repeats):
        a @ b
    return (time.perf_counter() - start) / repeats


def record() -> dict:
    torch.manual_seed(0)
    rounds = [[seconds(n) for n in SIZES] for _ in range(ROUNDS)]
    columns = zip(*rounds, strict=True)
    return {"n": SIZES, "seconds": [statistics.median(c) for c in columns]}
