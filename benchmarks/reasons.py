"""Tests of two reasons that chapter 12 gives: `make ablations`.

Why does a model without a padding mask lose dates? It is trained on batches
of both kinds, sorted in buckets and not, and writes validation dates from
batches of both kinds and from batches without any PAD. Why are tables of
standard deviation 1 so bad? What is too small beside them, and what is too
large, is put right, one at a time and both.

All else is as in benchmarks/ablations.py.
"""

import itertools

from benchmarks import ablations
from benchmarks.ablations import (
    Variant,
    exchange,
    scaled,
    trained,
    with_unit_tables,
    written,
)
from benchmarks.date_model import BUCKET, SIZE, Task, each_seed
from kit.dates import collate
from lib.training import Batch
from lib.transformer import Transformer

TIMES = 8  # sqrt(d_model), and 1 over the usual deviation of the tables


def louder(model: Transformer) -> None:
    with_unit_tables(model)
    model.positions.table = TIMES * model.positions.table


def cooler(model: Transformer) -> None:
    """Of the attentions that read the tables: not of cross-attention.

    Their scores become those of inputs 1 / TIMES as large.
    """
    with_unit_tables(model)
    exchange(model, scaled(TIMES**-2), "cross")


def both(model: Transformer) -> None:
    louder(model)
    cooler(model)


TABLES = {
    "tables of std 1": Variant(with_unit_tables),
    "positions 8 times as large": Variant(louder),
    "scores 64 times as small": Variant(cooler),
    "both": Variant(both),
}


def validation(task: Task) -> dict[str, list[Batch]]:
    """The same dates in batches with much PAD, with less and with none."""
    words = task.source, task.target

    def length(example):
        return len(example.text)

    groups = itertools.groupby(sorted(task.validation, key=length), key=length)
    return {
        "unsorted": task.batches(task.validation),
        "buckets": task.batches(task.validation, SIZE, BUCKET),
        "no PAD": [collate(list(some), *words) for _, some in groups],
    }


def padding(seed: int, task: Task) -> dict:
    """Exact match by variant, order of training and order of validation."""
    unseen, scores = validation(task), {}
    for name in ("plain recipe", "no padding mask"):
        scores[name] = {}
        for order, bucketed in (("buckets", True), ("unsorted", False)):
            variant = ablations.VARIANTS[name]._replace(bucketed=bucketed)
            model = trained(variant, seed, task).average
            scores[name][order] = {
                kind: written(model, data) for kind, data in unseen.items()
            }
    return scores


def tables(seed: int, task: Task) -> dict:
    """Exact match of each cure, and of none."""
    unseen = task.batches(task.validation)
    return {
        name: written(trained(variant, seed, task).average, unseen)
        for name, variant in TABLES.items()
    }


def record() -> dict:
    task = Task(ablations.STEPS, ablations.HELD)
    return {
        "steps": ablations.STEPS,
        "padding": each_seed(lambda seed: padding(seed, task)),
        "tables": each_seed(lambda seed: tables(seed, task)),
    }
