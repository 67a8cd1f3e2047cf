"""Tests of two reasons that chapter 12 gives: `make ablations`.

Why does a model without a padding mask lose dates? It is trained on batches
of both kinds, sorted in buckets and not, and writes validation dates from
batches of both kinds and from batches without any PAD. Why are tables of
standard deviation 1 so bad? What is too small beside them, and what is too
large, is put right, one at a time and both.

All else is as in benchmarks/ablations.py.
"""

import itertools
import json
from pathlib import Path

import torch
from torch import nn

from benchmarks import ablations
from benchmarks.ablations import SEEDS, SIZE, STEPS, Change, Task, commit
from benchmarks.timing import circumstances
from kit.dates import batches, characters, collate, generate, splits
from lib.heads import MultiHeadAttention
from lib.runtime import setup
from lib.training import Batch, Recipe, Trainer, train
from lib.transformer import Transformer

RESULT = Path(__file__).parent / "results" / "reasons.json"
TIMES = 8  # sqrt(d_model), and 1 over the usual deviation of the tables
PAIR = "plain recipe", "no padding mask"


class Louder(nn.Module):
    """Adds the positions TIMES as large."""

    def __init__(self, positions: nn.Module):
        super().__init__()
        self.positions = positions

    def forward(self, x, offset=0):
        return x + TIMES * (self.positions(x, offset) - x)


class Cooler(MultiHeadAttention):
    """Its scores are those of inputs 1 / TIMES as large."""

    def project(self, query, key, value):
        q, k, v = super().project(query, key, value)
        return q / TIMES**2, k, v


def louder(model: Transformer) -> None:
    ablations.with_unit_tables(model)
    model.positions = Louder(model.positions)


def cooler(model: Transformer) -> None:
    """Of the attentions that read the tables: not of cross-attention."""
    ablations.with_unit_tables(model)
    model.encoder.blocks[0].attention.__class__ = Cooler
    model.decoder.blocks[0].self_attention.__class__ = Cooler


def both(model: Transformer) -> None:
    louder(model)
    cooler(model)


TABLES: dict[str, Change] = {
    "tables of std 1": ablations.with_unit_tables,
    "positions 8 times as large": louder,
    "scores 64 times as small": cooler,
    "both": both,
}


def validation(held: int = 1_000, steps: int = STEPS) -> dict:
    """The same dates in batches with much PAD, with less and with none."""
    days = splits()
    seen = generate(days["train"], steps * SIZE)
    vocabularies = [
        characters([getattr(e, field) for e in seen])
        for field in ("text", "iso")
    ]
    unseen = generate(days["validation"][:held])

    def length(example):
        return len(example.text)

    groups = itertools.groupby(sorted(unseen, key=length), key=length)
    return {
        "unsorted": batches(unseen, *vocabularies, 250),
        "buckets": batches(unseen, *vocabularies, SIZE, ablations.BUCKET),
        "no PAD": [collate(list(some), *vocabularies) for _, some in groups],
    }


def share_of_pad(data: list[Batch]) -> float:
    """The share of the source that is PAD."""
    ids = torch.cat([batch.source.flatten() for batch in data])
    return round((ids == 0).double().mean().item(), 4)


def padding(seed: int, task: Task, unseen: dict) -> dict:
    """Exact match by variant, order of training and order of validation."""
    orders = {"buckets": task.training, "unsorted": task.unsorted}
    found = {name: {} for name in PAIR}
    for name, (order, data) in itertools.product(PAIR, orders.items()):
        trained = ablations.trainer(name, seed, task)
        train(trained, data, STEPS)
        found[name][order] = {
            kind: ablations.written(trained.average, some)
            for kind, some in unseen.items()
        }
    return found


def tables(seed: int, task: Task) -> dict:
    """Exact match of each cure, and of none."""
    found = {}
    for name, change in TABLES.items():
        model = ablations.trainer("plain recipe", seed, task).model
        change(model)
        trained = Trainer(model, Recipe(ablations.rate))
        train(trained, task.training, STEPS)
        found[name] = ablations.written(trained.average, task.validation)
    return found


def main() -> None:
    torch.set_num_threads(1)
    setup()
    task, unseen = Task(STEPS), validation(steps=STEPS)
    record = circumstances() | {"commit": commit(), "steps": STEPS}
    record |= {"PAD": {k: share_of_pad(some) for k, some in unseen.items()}}
    record |= {"padding": [], "tables": []}
    for seed in range(SEEDS):
        record["padding"].append(padding(seed, task, unseen))
        record["tables"].append(tables(seed, task))
        print(record["padding"][-1], record["tables"][-1], flush=True)
    RESULT.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
