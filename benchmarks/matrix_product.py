"""How long an n x n matrix product takes: data for a figure of chapter 2."""

import json
import statistics
import time
from pathlib import Path

import torch

from benchmarks.timing import circumstances

RESULT = Path(__file__).parent / "results" / "matrix_product.json"
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


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rounds = [[seconds(n) for n in SIZES] for _ in range(ROUNDS)]
    median = [
        statistics.median(column) for column in zip(*rounds, strict=True)
    ]
    record = circumstances() | {"n": SIZES, "seconds": median}
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(record, indent=1) + "\n")
    for n, value in zip(SIZES, median, strict=True):
        print(f"n = {n:5}  {1e3 * value:9.3f} ms")


if __name__ == "__main__":
    main()
