"""Measure what the pages draw: `python -m benchmarks`, or some by name.

A benchmark is a module with a function `record`. What that returns is written
to results/<name>.json; `git diff` shows what has changed since.
"""

import sys
from importlib import import_module

import torch

from benchmarks.records import save

BENCH = (
    *("matrix_product", "attention_layouts", "hops", "decoding", "dates"),
    *("costs", "depth"),
)


def main(names: list[str]) -> None:
    torch.set_num_threads(1)
    for name in names:
        benchmark = import_module(f"benchmarks.{name}")
        print(f"\n{name}: {benchmark.__doc__.splitlines()[0]}", flush=True)
        print(save(name, benchmark.record()))


if __name__ == "__main__":
    main(sys.argv[1:] or BENCH)
