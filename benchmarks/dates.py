"""The date model of chapter 11 beside `nn.Transformer` of the same size.

Both begin with the weights that `nn.Transformer` gives itself and see the
same batches in the same order. Noted is how many of the validation dates
each gets right.
"""

import torch

from benchmarks.date_model import STEPS, Task, each_seed, rate
from benchmarks.torchs import pair
from lib.training import Recipe, Trainer, exact_match, train


def race(seed: int, task: Task) -> dict:
    """Exact match of both models from one seed."""
    torch.manual_seed(seed)
    scores, unseen = {}, task.batches(task.validation)
    for name, model in zip(("ours", "theirs"), pair(task.config), strict=True):
        trainer = Trainer(model, Recipe(rate))
        train(trainer, task.training, STEPS)
        scores[name] = exact_match(trainer.average, unseen)
    return {"seed": seed, "exact match": scores}


def record() -> dict:
    task = Task(STEPS)
    return {"steps": STEPS, "runs": each_seed(lambda s: race(s, task))}
