"""The date model of chapter 11 beside `nn.Transformer` of the same size.

Both begin with the weights that `nn.Transformer` gives itself, see the same
batches in the same order, and take turns, twenty steps at a time. Noted are
the tokens a second of each (PAD does not count) and how many of the
validation dates each gets right.
"""

import json
from functools import partial
from pathlib import Path

import torch

from benchmarks.ablations import Task
from benchmarks.date_model import STEPS, rate
from benchmarks.model import pair
from benchmarks.timing import circumstances, ratio, seconds
from lib.runtime import setup
from lib.training import Batch, Recipe, Trainer, exact_match

RESULT = Path(__file__).parent / "results" / "dates.json"
SEEDS, TURN = 5, 20


def steps(trainer: Trainer, data: list[Batch]) -> None:
    """One step for each batch."""
    trainer.model.train()
    for batch in data:
        trainer.step(batch)


def turns(trainers: dict[str, Trainer], data: list[Batch]) -> dict:
    """Train all of them; the seconds of each in each turn."""
    found = {name: [] for name in trainers}
    for first in range(0, len(data), TURN):
        part = data[first : first + TURN]
        for name in list(trainers)[:: -1 if first // TURN % 2 else 1]:
            run = partial(steps, trainers[name], part)
            found[name].append(seconds(run, 1))
    return found


def race(seed: int, task: Task) -> dict:
    """Both models from one seed."""
    torch.manual_seed(seed)
    models = dict(zip(("ours", "theirs"), pair(task.config), strict=True))
    trainers = {n: Trainer(m, Recipe(rate)) for n, m in models.items()}
    times = turns(trainers, task.training)
    tokens = sum(
        (batch.source != 0).sum().item() + (batch.target != 0).sum().item()
        for batch in task.training
    )
    return {
        "exact match": {
            name: exact_match(trainer.average, task.validation)
            for name, trainer in trainers.items()
        },
        "tokens a second": {
            name: round(tokens / sum(took)) for name, took in times.items()
        },
        "ours by theirs": ratio(times, "theirs", "ours"),
    }


def main() -> None:
    torch.set_num_threads(1)
    setup()
    task, runs = Task(STEPS, held=5_000), []
    for seed in range(SEEDS):
        runs.append({"seed": seed} | race(seed, task))
        print(runs[-1], flush=True)
    record = circumstances() | {"steps": STEPS, "runs": runs}
    RESULT.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
