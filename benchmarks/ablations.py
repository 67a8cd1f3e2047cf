"""What each ingredient of training is worth: `make ablations`.

Every variant is trained for the same number of steps from five seeds, on the
date task of chapter 11, and differs from the plain recipe in one thing. The
plain recipe is that of `make model`, but shorter: where all dates are right,
no ingredient can be missed. What
is measured: the share of validation dates that greedy writing gets right to
the last character, and the cross-entropy per character.
"""

import json
import math
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

from benchmarks.timing import circumstances
from kit.dates import batches, characters, generate, splits
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
from lib.transformer import Transformer, TransformerConfig

RESULT = Path(__file__).parent / "results" / "ablations.json"
STEPS, SIZE, BUCKET, SEEDS, FIRST = 400, 64, 4, 5, 30
PEAK, WARMUP = 6e-3, 100
Change = Callable[[Transformer], object]


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


class Unscaled(MultiHeadAttention):
    """Attention without the division by sqrt(d_head)."""

    def project(self, query, key, value):
        q, k, v = super().project(query, key, value)
        return q * math.sqrt(q.shape[-1]), k, v


class NoPositions(nn.Module):
    """In place of the positional encoding."""

    def forward(self, x, offset=0):
        return x


def everything(ids):
    """A mask that hides nothing."""
    return torch.ones(1, 1, 1, 1, dtype=torch.bool, device=ids.device)


def without_scale(model: Transformer) -> None:
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            module.__class__ = Unscaled


def without_factor(model: Transformer) -> None:
    for embedding in (model.tables.source, model.tables.target):
        embedding.scale = 1.0


def with_unit_tables(model: Transformer) -> None:
    for embedding in (model.tables.source, model.tables.target):
        nn.init.normal_(embedding.table.weight)


def nothing(model: Transformer) -> None:
    """The plain recipe."""


# name: (change of the model, of its configuration, of the recipe)
VARIANTS: dict[str, tuple[Change, dict, dict]] = {
    "plain recipe": (nothing, {}, {}),
    "no causal mask": (
        lambda m: setattr(m, "target_mask", everything),
        {},
        {},
    ),
    "no padding mask": (
        lambda m: setattr(m, "source_mask", everything),
        {},
        {},
    ),
    "no positions": (lambda m: setattr(m, "positions", NoPositions()), {}, {}),
    "no scale": (without_scale, {}, {}),
    "no sqrt(d_model)": (without_factor, {}, {}),
    "tables of std 1": (with_unit_tables, {}, {}),
    "tied tables of std 1": (with_unit_tables, {"tied": "target"}, {}),
    "no warm-up": (nothing, {}, {"rate": no_warmup}),
    "no fall to zero": (nothing, {}, {"rate": no_fall}),
    "schedule of 2017": (nothing, {}, {"rate": schedule_of_2017}),
    "no clipping": (nothing, {}, {"clip": math.inf}),
    "dropout 0.1": (nothing, {"dropout": 0.1}, {}),
    "no label smoothing": (nothing, {}, {"smoothing": 0.0}),
    "tied tables": (nothing, {"tied": "target"}, {}),
    "no buckets": (nothing, {}, {}),
    "pre-norm": (nothing, {"norm_first": True}, {}),
    "3 + 3 layers": (nothing, {"encoder_layers": 3, "decoder_layers": 3}, {}),
    "3 + 3, no warm-up": (
        nothing,
        {"encoder_layers": 3, "decoder_layers": 3},
        {"rate": no_warmup},
    ),
    "3 + 3, pre-norm": (
        nothing,
        {"encoder_layers": 3, "decoder_layers": 3, "norm_first": True},
        {},
    ),
    "3 + 3, pre-norm, no warm-up": (
        nothing,
        {"encoder_layers": 3, "decoder_layers": 3, "norm_first": True},
        {"rate": no_warmup},
    ),
}


class Task:
    """Training batches, validation batches, the sizes of the model."""

    def __init__(self, steps: int = STEPS, held: int = 1_000):
        days = splits()
        examples = generate(days["train"], steps * SIZE)
        source = characters([e.text for e in examples])
        target = characters([e.iso for e in examples])
        self.training, self.unsorted = (
            batches(examples, source, target, SIZE, bucket)
            for bucket in (BUCKET, 1)
        )
        unseen = generate(days["validation"], held)
        self.validation = batches(unseen, source, target, 250)
        self.config = TransformerConfig(
            len(source), len(target), 64, 4, 128, 1, 1, 0.0, tied="none"
        )

    def data(self, name: str) -> list[Batch]:
        """The training batches of a variant."""
        return self.unsorted if name == "no buckets" else self.training


def trainer(name: str, seed: int, task: Task) -> Trainer:
    """A variant at its beginning."""
    change, config, recipe = VARIANTS[name]
    torch.manual_seed(seed)
    model = Transformer(replace(task.config, **config))
    change(model)
    return Trainer(model, replace(Recipe(rate), **recipe))


def written(model: Transformer, data: list[Batch]) -> float:
    """The share of dates that greedy writing gets right."""
    right, total = 0, 0
    for batch in data:
        ids = greedy(model, batch.source, limit=11, cached=False)
        right += sum(
            a == b[: len(a)] and not any(b[len(a) :])
            for a, b in zip(ids.tolist(), batch.target.tolist(), strict=True)
        )
        total += len(ids)
    return right / total


def loss(model: Transformer, data: list[Batch]) -> float:
    """The mean cross-entropy of a character, in nats."""
    with evaluation(model):
        losses = [
            label_smoothed_loss(
                model(b.source, b.decoder_input), b.target, 0.0
            )
            for b in data
        ]
    return torch.stack(losses).mean().item()


def run(name: str, seed: int, task: Task) -> dict:
    """Train one variant from one seed."""
    trained, start = trainer(name, seed, task), time.process_time()
    losses = train(trained, task.data(name), STEPS)
    took = round(time.process_time() - start, 1)
    return {
        "CPU s": took,
        "exact match": written(trained.average, task.validation),
        "without averaging": written(trained.model, task.validation),
        "loss": round(loss(trained.average, task.validation), 4),
        "first losses": [round(value, 4) for value in losses[:FIRST]],
    }


def commit() -> str:
    """The commit that was measured."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=Path(__file__).parent,
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout.strip()


def main() -> None:
    torch.set_num_threads(1)
    setup()
    task, runs = Task(), {}
    about = circumstances() | {"commit": commit(), "steps": STEPS}
    about |= {"peak": PEAK, "warmup": WARMUP, "bucket": BUCKET, "seeds": SEEDS}
    for name in VARIANTS:
        runs[name] = [run(name, seed, task) for seed in range(SEEDS)]
        shares = " ".join(f"{r['exact match']:.1%}" for r in runs[name])
        print(f"{name:28} {shares}", flush=True)
        record = json.dumps(about | {"runs": runs}, indent=1)
        RESULT.write_text(record + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
