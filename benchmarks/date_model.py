"""The trained model of chapters 11 to 14: `make model`.

Trains from five seeds, keeps the one that is best on the validation dates,
and asks the test dates once. Written are the averaged weights and a card
that says where they come from. All that is trained on dates shares its task
and its recipe.
"""

import hashlib
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import torch
from safetensors.torch import save_file
from torch import nn

from benchmarks.records import circumstances, write
from benchmarks.timing import seconds
from kit.dates import (
    LANGUAGES,
    Batch,
    Example,
    batches,
    characters,
    generate,
    splits,
)
from lib.runtime import setup
from lib.training import Recipe, Trainer, cosine_rate, exact_match, train
from lib.transformer import Transformer, TransformerConfig

HERE = Path(__file__).parent
FOLDER = HERE.parent / "book" / "data"
STEPS, SIZE, BUCKET, SEEDS = 950, 64, 4, 5
PEAK, WARMUP = 6e-3, 100
T = TypeVar("T")


def rate(step: int) -> float:
    """Up in a line for a tenth of the way, then down along a cosine."""
    return cosine_rate(step, PEAK, WARMUP, STEPS)


class Task:
    """The dates of a training, and as many held out for each other part."""

    def __init__(self, steps: int, held: int = 5_000):
        self.steps, days = steps, splits()
        self.examples = generate(days["train"], steps * SIZE)
        self.validation, self.test = (
            generate(days[part][:held]) for part in ("validation", "test")
        )
        self.source = characters([e.text for e in self.examples])
        self.target = characters([e.iso for e in self.examples])
        # With 15 tokens to write, tying saves nothing and costs.
        self.config = TransformerConfig(
            *(len(self.source), len(self.target), 64, 4, 128, 1, 1),
            dropout=0.0,
            tied="none",
            max_length=64,
        )

    def batches(
        self, examples: Sequence[Example], size: int = 250, bucket: int = 1
    ) -> list[Batch]:
        """By default as large as is quick without gradients."""
        return batches(examples, self.source, self.target, size, bucket)

    @cached_property
    def training(self) -> list[Batch]:
        """A batch for each step."""
        return self.batches(self.examples, SIZE, BUCKET)

    @cached_property
    def unsorted(self) -> list[Batch]:
        """The same without buckets."""
        return self.batches(self.examples, SIZE)


def each_seed(measure: Callable[[int], T]) -> list[T]:
    """What is measured from each seed, printed as it comes."""
    setup()
    measures = []
    for seed in range(SEEDS):
        measures.append(measure(seed))
        print(measures[-1], flush=True)
    return measures


def keep(name: str, model: nn.Module, card: dict) -> None:
    """The weights of a model and its card, in book/data."""
    FOLDER.mkdir(exist_ok=True)
    weights = FOLDER / f"{name}.safetensors"
    save_file(model.state_dict(), weights)
    git = ["git", "-C", HERE, "describe", "--always", "--dirty"]
    about = circumstances() | {
        "commit": subprocess.check_output(git, text=True).strip(),
        "languages": LANGUAGES,
        "data": "Unicode CLDR through Babel, examples from splits() and "
        "generate() of book/kit/dates.py, seed 0",
        "sha256": hashlib.sha256(weights.read_bytes()).hexdigest(),
    }
    write(FOLDER / f"{name}.json", about | card)


def main() -> None:
    torch.set_num_threads(1)
    setup()
    task, runs, trainers = Task(STEPS), [], []
    validation = task.batches(task.validation)
    for seed in range(SEEDS):
        torch.manual_seed(seed)
        trainer = Trainer(Transformer(task.config), Recipe(rate))
        took = seconds(lambda t=trainer: train(t, task.training, STEPS))
        share = exact_match(trainer.average, validation)
        runs.append(
            {"seed": seed, "validation": share, "CPU s": round(took, 1)}
        )
        print(runs[-1], flush=True)
        trainers.append(trainer)
    seed = max(range(SEEDS), key=lambda seed: runs[seed]["validation"])
    trainer = trainers[seed]
    test = exact_match(trainer.average, task.batches(task.test))
    card = {
        "task": "dates in words to ISO 8601, 1900 to 2099",
        "steps": STEPS,
        "peak": PEAK,
        "warmup": WARMUP,
        "bucket": BUCKET,
        "runs": runs,
        "seed": seed,
        "test": test,
        "test examples": len(task.test),
        "config": asdict(task.config),
        "source": task.source.tokens[4:],
        "target": task.target.tokens[4:],
        "losses": [round(loss, 4) for loss in trainer.losses[::10]],
    }
    keep("dates", trainer.average, card)
    print(f"seed {seed}: {test:.2%} of the test dates")


if __name__ == "__main__":
    main()
