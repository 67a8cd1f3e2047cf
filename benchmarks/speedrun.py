"""A race: CPU-seconds until 99.5% of the validation days are right.

`make speedrun` races the recipe below and keeps its numbers, `make speedrun
RACER=mine.py` the function `recipe` of a file. The rules and the record stand
in benchmarks/SPEEDRUN.md.
"""

import json
import math
import runpy
import statistics
import sys
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

import torch

from benchmarks.records import save
from benchmarks.timing import seconds
from kit.dates import batches, characters, generate, splits
from lib.runtime import setup
from lib.text import Vocabulary
from lib.training import (
    Batch,
    Recipe,
    Trainer,
    cosine_rate,
    exact_match,
    train,
    warmup_rate,
)
from lib.transformer import Transformer, TransformerConfig

GOAL, SEEDS, EVERY = 0.995, 5, 50


class Entry(NamedTuple):
    """What a racer brings to the start: nothing of it is trained."""

    trainer: Trainer
    batches: Sequence[Batch]  # step k takes batch (k - 1) mod their number
    steps: int  # at most so many
    source: Vocabulary
    target: Vocabulary


# --- The recipe that is raced: copy this function into a file, and change it.
def recipe(days: Sequence[date], seed: int) -> Entry:
    """The book's own, with which `make model` trains.

    Args:
        days: the training days.
        seed: of the first weights.
    """
    steps, size = 950, 64
    examples = generate(days, steps * size)
    source = characters([e.text for e in examples])
    target = characters([e.iso for e in examples])
    data = batches(examples, source, target, size, bucket=4)
    config = TransformerConfig(
        len(source), len(target), d_model=64, heads=4, d_ff=128,
        encoder_layers=1, decoder_layers=1, dropout=0.0, tied="none",
        max_length=64,
    )  # fmt: skip
    torch.manual_seed(seed)
    rules = Recipe(lambda step: cosine_rate(step, 6e-3, 100, steps))
    trainer = Trainer(Transformer(config), rules)
    return Entry(trainer, data, steps, source, target)


# --- The end of the recipe.


def yardstick(days: Sequence[date]) -> Entry:
    """The schedule of 2017: one step of it is the unit of the second score."""
    examples = generate(days, 64 * 64)
    source = characters([e.text for e in examples])
    target = characters([e.iso for e in examples])
    config = TransformerConfig(
        len(source), len(target), 64, 4, 128, 1, 1, dropout=0.0, max_length=64
    )
    torch.manual_seed(0)
    rules = Recipe(lambda step: 0.7 * warmup_rate(step, 64, 200))
    trainer = Trainer(Transformer(config), rules)
    data = batches(examples, source, target)
    return Entry(trainer, data, 1_400, source, target)


def clocked(entry: Entry, until: int) -> float:
    """CPU time to train until so many steps are done."""
    return seconds(lambda: train(entry.trainer, entry.batches, until))


def race(entry: Entry, beside: Entry, days: Sequence[date]) -> dict:
    """Train until the goal is reached; evaluation does not count.

    The yardstick takes a tenth of the steps in turn, so that whatever else
    the machine does slows both.

    Returns:
        Steps, CPU seconds and exact match at the end, whether the goal was
        reached, and the seconds in steps of the yardstick.
    """
    unseen = batches(generate(days), entry.source, entry.target, 250)
    took, unit, done, reached = 0.0, [], 0, 0.0
    while done < entry.steps and reached < GOAL:
        done = min(done + EVERY, entry.steps)
        took += clocked(entry, done)
        more = max(1, EVERY // 10)
        start = len(beside.trainer.losses)
        unit.append(clocked(beside, start + more) / more)
        reached = exact_match(entry.trainer.average, unseen)
    return {
        "steps": done,
        "CPU s": round(took, 1),
        "exact match": reached,
        "reached": reached >= GOAL,
        "yardsticks": round(took / statistics.mean(unit)),
    }


def score(runs: list[dict], name: str) -> float | None:
    """The median; a seed that did not arrive is slower than all others."""
    middle = statistics.median(
        run[name] if run["reached"] else math.inf for run in runs
    )
    return None if middle == math.inf else middle


def main() -> None:
    torch.set_num_threads(1)
    setup()
    days = splits()
    racer = recipe
    if len(sys.argv) > 1:
        racer = runpy.run_path(sys.argv[1])["recipe"]
    beside, runs = yardstick(days["train"]), []
    for seed in range(SEEDS):
        entry = racer(days["train"], seed)
        runs.append(race(entry, beside, days["validation"]))
        print(json.dumps({"seed": seed} | runs[-1]), flush=True)
    medians = {n: score(runs, n) for n in ("CPU s", "yardsticks")}
    print(
        f"median: {medians['CPU s']} CPU s to {GOAL:.1%}, as long as "
        f"{medians['yardsticks']} steps of the yardstick"
    )
    if racer is recipe:
        save("speedrun", {"median": medians, "runs": runs})


if __name__ == "__main__":
    main()
