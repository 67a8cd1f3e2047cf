"""A decoder alone learns the dates, beside chapter 11's encoder-decoder.

Both see the same examples in the same order and take turns, twenty steps at a
time, from five seeds. Noted are the CPU time of one by that of the other and
how many validation dates each gets right. The decoder that is best there is
kept for chapter 16, and asked the test dates once.
"""

import hashlib
import json
import statistics
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from benchmarks.ablations import commit
from benchmarks.date_model import (
    BUCKET,
    SEEDS,
    SIZE,
    STEPS,
    config,
    rate,
)
from benchmarks.dates import TURN, steps
from benchmarks.timing import circumstances, seconds
from kit.dates import LANGUAGES, batches, characters, generate, splits
from kit.one_text import IGNORED, OneText, one_text_batches
from lib.llama import DecoderOnly, DecoderOnlyConfig
from lib.runtime import setup
from lib.training import Recipe, Trainer, exact_match
from lib.transformer import Transformer

RESULT = Path(__file__).parent / "results" / "decoder_only.json"
FOLDER = Path(__file__).parents[1] / "book" / "data"
WEIGHTS, CARD = FOLDER / "one_text.safetensors", FOLDER / "one_text.json"
ALONE = 2  # batches in a bucket: a row is longer here, and PAD matters less
SIZES = {"d_model": 48, "heads": 4, "kv_heads": 2, "d_ff": 96, "layers": 2}


class Task:
    """The same examples for both kinds of model."""

    def __init__(self, steps: int, held: int):
        days = splits()
        examples = generate(days["train"], steps * SIZE)
        self.unseen = {
            part: generate(days[part], held) for part in ("validation", "test")
        }
        source = characters([e.text for e in examples])
        target = characters([e.iso for e in examples])
        self.both = characters([e.text + e.iso for e in examples])
        self.theirs = batches(examples, source, target, SIZE, BUCKET)
        self.ours = one_text_batches(examples, self.both, SIZE, ALONE)
        self.old = config(len(source), len(target))
        self.new = DecoderOnlyConfig(len(self.both), **SIZES)
        held = self.unseen["validation"]
        self.their_validation = batches(held, source, target, 250)
        self.our_validation = one_text_batches(held, self.both, 250)


def decoder(seed: int, task: Task) -> Trainer:
    """A decoder alone at its beginning."""
    torch.manual_seed(seed)
    model = DecoderOnly(task.new)
    return Trainer(OneText(model), Recipe(rate, pad_id=IGNORED))


def race(seed: int, task: Task) -> tuple[dict, Trainer]:
    """Both models from one seed, in turns."""
    torch.manual_seed(seed)
    old = Trainer(Transformer(task.old), Recipe(rate))
    new = decoder(seed, task)
    kinds = {"alone": (new, task.ours), "pair": (old, task.theirs)}
    took = {name: [] for name in kinds}
    for first in range(0, STEPS, TURN):
        for name in list(kinds)[:: -1 if first // TURN % 2 else 1]:
            trainer, data = kinds[name]
            part = data[first : first + TURN]
            took[name].append(
                seconds(lambda t=trainer, p=part: steps(t, p), 1)
            )
    pairs = zip(took["alone"], took["pair"], strict=True)
    return {
        "seed": seed,
        "alone": exact_match(new.average, task.our_validation, IGNORED),
        "pair": exact_match(old.average, task.their_validation),
        "CPU s alone": round(sum(took["alone"]), 1),
        "CPU s pair": round(sum(took["pair"]), 1),
        "alone by pair": round(statistics.median(a / b for a, b in pairs), 2),
    }, new


def keep(trainer: Trainer, run: dict, task: Task, about: dict) -> None:
    """Write the averaged weights and where they come from."""
    model = trainer.average.model
    save_file(model.state_dict(), WEIGHTS)
    test = one_text_batches(task.unseen["test"], task.both, 250)
    card = about | {
        "task": "dates in words, BOS, ISO 8601, EOS: one text",
        "languages": LANGUAGES,
        "data": "Unicode CLDR through Babel, examples from splits() and "
        "generate() of book/kit/dates.py, seed 0",
        "seed": run["seed"],
        "validation": run["alone"],
        "test": exact_match(trainer.average, test, IGNORED),
        "test examples": len(task.unseen["test"]),
        "sha256": hashlib.sha256(WEIGHTS.read_bytes()).hexdigest(),
        "config": asdict(task.new),
        "tokens": task.both.tokens[4:],
    }
    text = json.dumps(card, indent=1, ensure_ascii=False)
    CARD.write_text(text + "\n", encoding="utf-8")


def parameters(model: nn.Module) -> int:
    return sum(weight.numel() for weight in model.parameters())


def main() -> None:
    torch.set_num_threads(1)
    setup()
    about = circumstances() | {"commit": commit(), "steps": STEPS}
    task, runs, best = Task(STEPS, 5_000), [], None
    counts = {
        "alone": parameters(DecoderOnly(task.new)),
        "pair": parameters(Transformer(task.old)),
    }
    record = about | {"parameters": counts, "runs": runs}
    for seed in range(SEEDS):
        run, trainer = race(seed, task)
        runs.append(run)
        print(run, flush=True)
        if best is None or run["alone"] > best[0]["alone"]:
            best = run, trainer
    keep(best[1], best[0], task, about)
    RESULT.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
