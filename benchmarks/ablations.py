"""What each ingredient of training is worth: `make ablations`.

Every variant is trained for the same number of steps from five seeds, on the
date task of chapter 11, and differs from the plain recipe in one thing. The
plain recipe is that of `make model`, but shorter: where all dates are right,
no ingredient can be missed. What is measured: the share of validation dates
that greedy writing gets right to the last character, and the cross-entropy
per character.
"""

import math
import statistics
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

from benchmarks.date_model import BUCKET, PEAK, SEEDS, WARMUP, Task
from lib.decoding import greedy
from lib.heads import MultiHeadAttention
from lib.runtime import evaluation, setup
from lib.training import (
    Batch,
    Recipe,
    Trainer,
    cosine_rate,
    label_smoothed_loss,
    train,
    warmup_rate,
)
from lib.transformer import Transformer

STEPS, HELD, FIRST = 400, 1_000, 30
ROOT = 4.0  # of d_head


def rate(step: int) -> float:
    """Up in a line, down along a cosine."""
    return cosine_rate(step, PEAK, WARMUP, STEPS)


def no_warmup(step: int) -> float:
    """The cosine from the first step on: the first steps are the largest."""
    return cosine_rate(step, PEAK, 0, STEPS)


def no_fall(step: int) -> float:
    """Up in a line, and then it stays."""
    return PEAK * min(1.0, step / WARMUP)


def schedule_of_2017(step: int) -> float:
    """With the same warm-up and peak it falls with the root of the step."""
    at_the_peak = warmup_rate(WARMUP, 64, WARMUP)
    return PEAK * warmup_rate(step, 64, WARMUP) / at_the_peak


def scaled(times: float) -> type:
    """Attention whose scores are so many times as large."""

    class Scaled(MultiHeadAttention):
        def project(self, query, key, value):
            q, k, v = super().project(query, key, value)
            return q * times, k, v

    return Scaled


def everything(ids):
    """A mask that hides nothing."""
    return torch.ones(1, 1, 1, 1, dtype=torch.bool, device=ids.device)


def exchange(model: Transformer, kind: type, but: str | None = None) -> None:
    """Attentions become those of a class, but for those of one name."""
    for name, module in model.named_modules():
        is_kept = but is not None and but in name
        if isinstance(module, MultiHeadAttention) and not is_kept:
            module.__class__ = kind


def put(name: str, part: object) -> Callable[[Transformer], None]:
    """What gives a model another part."""
    return lambda model: setattr(model, name, part)


def without_factor(model: Transformer) -> None:
    model.tables.source.scale = model.tables.target.scale = 1.0


def with_unit_tables(model: Transformer) -> None:
    for embedding in (model.tables.source, model.tables.target):
        nn.init.normal_(embedding.table.weight)


class Variant(NamedTuple):
    """What is other than in the plain recipe."""

    change: Callable[[Transformer], object] = lambda model: None
    config: dict = {}
    recipe: dict = {}
    bucketed: bool = True


DEEP = {"encoder_layers": 3, "decoder_layers": 3}
FIRST_NORMS = {"norm_first": True}
COLD = {"rate": no_warmup}
VARIANTS = {
    "plain recipe": Variant(),
    "no causal mask": Variant(put("target_mask", everything)),
    "no padding mask": Variant(put("source_mask", everything)),
    "no positions": Variant(lambda model: model.positions.table.zero_()),
    "no scale": Variant(lambda model: exchange(model, scaled(ROOT))),
    "no sqrt(d_model)": Variant(without_factor),
    "tables of std 1": Variant(with_unit_tables),
    "tied tables of std 1": Variant(with_unit_tables, {"tied": "target"}),
    "no warm-up": Variant(recipe=COLD),
    "no fall to zero": Variant(recipe={"rate": no_fall}),
    "schedule of 2017": Variant(recipe={"rate": schedule_of_2017}),
    "no clipping": Variant(recipe={"clip": math.inf}),
    "dropout 0.1": Variant(config={"dropout": 0.1}),
    "no label smoothing": Variant(recipe={"smoothing": 0.0}),
    "tied tables": Variant(config={"tied": "target"}),
    "no buckets": Variant(bucketed=False),
    "pre-norm": Variant(config=FIRST_NORMS),
    "3 + 3 layers": Variant(config=DEEP),
    "3 + 3, no warm-up": Variant(config=DEEP, recipe=COLD),
    "3 + 3, pre-norm": Variant(config=DEEP | FIRST_NORMS),
    "3 + 3, pre-norm, no warm-up": Variant(
        config=DEEP | FIRST_NORMS, recipe=COLD
    ),
}


def right(model: Transformer, batch: Batch) -> list[bool]:
    """Which dates greedy writing gets right."""
    ids = greedy(model, batch.source, limit=11, cached=False)
    ids = F.pad(ids, (0, batch.target.shape[1] - ids.shape[1]))
    return (ids == batch.target).all(dim=1).tolist()


def written(model: Transformer, data: list[Batch]) -> float:
    """The share of dates that greedy writing gets right."""
    each = [is_right for batch in data for is_right in right(model, batch)]
    return sum(each) / len(each)


def loss(model: Transformer, data: list[Batch]) -> float:
    """The mean cross-entropy of a character, in nats."""
    losses = []
    with evaluation(model):
        for ids, written, target in data:
            logits = model(ids, written)
            losses.append(label_smoothed_loss(logits, target, 0.0).item())
    return statistics.mean(losses)


def trained(variant: Variant, seed: int, task: Task) -> Trainer:
    """A variant after its training."""
    torch.manual_seed(seed)
    model = Transformer(replace(task.config, **variant.config))
    variant.change(model)
    made = Trainer(model, replace(Recipe(rate), **variant.recipe))
    data = task.training if variant.bucketed else task.unsorted
    train(made, data, task.steps)
    return made


def run(variant: Variant, seed: int, task: Task) -> dict:
    """Train one variant from one seed."""
    made, unseen = trained(variant, seed, task), task.batches(task.validation)
    return {
        "exact match": written(made.average, unseen),
        "without averaging": written(made.model, unseen),
        "loss": round(loss(made.average, unseen), 4),
        "first losses": [round(value, 4) for value in made.losses[:FIRST]],
    }


def compare(variants: dict[str, Variant]) -> dict:
    """Train each variant from all seeds."""
    setup()
    task, runs = Task(STEPS, HELD), {}
    for name, variant in variants.items():
        runs[name] = [run(variant, seed, task) for seed in range(SEEDS)]
        shares = " ".join(f"{r['exact match']:.1%}" for r in runs[name])
        print(f"{name:28} {shares}", flush=True)
    return {"steps": STEPS, "seeds": SEEDS, "runs": runs}


def record() -> dict:
    about = {"peak": PEAK, "warmup": WARMUP, "bucket": BUCKET}
    return about | compare(VARIANTS)
