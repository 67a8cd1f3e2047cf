"""The date model of chapter 11 beside `nn.Transformer` of the same size.

Both begin with the weights that `nn.Transformer` gives itself and see the
same batches in the same order. Noted is how many of the validation dates
each gets right.
"""

import torch

from benchmarks.date_model import SEEDS, STEPS, Task, rate
from benchmarks.torchs import pair
from lib.runtime import setup
from lib.training import Recipe, Trainer, exact_match, train


def race(seed: int, task: Task) -> dict:
    """Exact match of both models from one seed."""
    torch.manual_seed(seed)
    found, unseen = {}, task.batches(task.validation)
    for name, model in zip(("ours", "theirs"), pair(task.config), strict=True):
        trainer = Trainer(model, Recipe(rate))
        train(trainer, task.training, STEPS)
        found[name] = exact_match(trainer.average, unseen)
    return found


def record() -> dict:
    setup()
    task, runs = Task(STEPS), []
    for seed in range(SEEDS):
        runs.append({"seed": seed, "exact match": race(seed, task)})
        print(runs[-1], flush=True)
    return {"steps": STEPS, "runs": runs}
