"""A decoder alone learns the dates, beside chapter 11's encoder-decoder.

Both see the same examples in the same order and take turns, twenty steps at a
time, from five seeds. Noted are the CPU time of one by that of the other and
how many validation dates each gets right. The decoder that is best there is
kept for chapter 16, and asked the test dates once. Then every part of its
block is changed back by itself, in shorter trainings: what is it worth here?
"""

import hashlib
import json
import statistics
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from benchmarks.ablations import commit
from benchmarks.date_model import (
    BUCKET,
    PEAK,
    SEEDS,
    SIZE,
    STEPS,
    WARMUP,
    config,
    rate,
)
from benchmarks.dates import TURN, steps
from benchmarks.timing import circumstances, seconds
from lib.dates import LANGUAGES, batches, characters, generate, splits
from lib.layers import FeedForward, LayerNorm
from lib.llama import DecoderOnly, DecoderOnlyConfig
from lib.masks import causal_mask
from lib.modern import RotaryAttention
from lib.one_text import IGNORED, OneText, one_text_batches
from lib.positions import PositionalEncoding
from lib.runtime import setup
from lib.training import Recipe, Trainer, cosine_rate, exact_match, train
from lib.transformer import Transformer

RESULT = Path(__file__).parent / "results" / "decoder_only.json"
FOLDER = Path(__file__).parents[1] / "book" / "data"
WEIGHTS, CARD = FOLDER / "one_text.safetensors", FOLDER / "one_text.json"
ALONE = 2  # batches in a bucket: a row is longer here, and PAD matters less
SIZES = {"d_model": 48, "heads": 4, "kv_heads": 2, "d_ff": 96, "layers": 2}
SHORT = 300  # steps, so that differences show
Change = Callable[[DecoderOnly], object]


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


def decoder(seed: int, task: Task, rate=rate, **changes) -> Trainer:
    """A decoder alone at its beginning."""
    torch.manual_seed(seed)
    model = DecoderOnly(replace(task.new, **changes))
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
        "generate() of book/lib/dates.py, seed 0",
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


def short_rate(step: int) -> float:
    """As `rate`, for fewer steps."""
    return cosine_rate(step, PEAK, WARMUP, SHORT)


def parameters(model: nn.Module) -> int:
    return sum(weight.numel() for weight in model.parameters())


# The parts, changed back.


class Unturned(RotaryAttention):
    """Causal attention that turns nothing."""

    def forward(self, x, past=None):
        q, k, v = self.project(x, x, x)
        context, _ = self.attend(q, k, v, causal_mask(x.shape[1], x.device))
        return self.output(context)


def layer_norms(model: DecoderOnly) -> None:
    model.norm = LayerNorm(model.config.d_model)
    for block in model.blocks:
        block.around_attention.norm = LayerNorm(model.config.d_model)
        block.around_feed_forward.norm = LayerNorm(model.config.d_model)


def biases(model: DecoderOnly) -> None:
    for linear in model.blocks.modules():
        if isinstance(linear, nn.Linear):
            linear.bias = nn.Parameter(torch.zeros(linear.out_features))


def relu(model: DecoderOnly) -> None:
    """Two matrices with as many weights as three."""
    c = model.config
    for block in model.blocks:
        wide = 3 * c.d_ff // 2
        block.feed_forward = FeedForward(c.d_model, wide, bias=False)


def post_norm(model: DecoderOnly) -> None:
    model.norm = nn.Identity()
    for block in model.blocks:
        block.around_attention.norm_first = False
        block.around_feed_forward.norm_first = False


def no_positions(model: DecoderOnly) -> None:
    for block in model.blocks:
        block.attention.__class__ = Unturned


def sinusoids(model: DecoderOnly) -> None:
    no_positions(model)
    places = PositionalEncoding(model.config.d_model, 100)
    model.table = nn.Sequential(model.table, places)


def nothing(model: DecoderOnly) -> None:
    """The block of LLaMA."""


# name: (change of the model, of its configuration)
VARIANTS: dict[str, tuple[Change, dict]] = {
    "LLaMA's block": (nothing, {}),
    "ReLU, two matrices": (relu, {}),
    "sinusoids added": (sinusoids, {}),
    "post-norm": (post_norm, {}),
    "no positions": (no_positions, {}),
    "LayerNorm": (layer_norms, {}),
    "4 heads of keys": (nothing, {"kv_heads": 4}),
    "biases": (biases, {}),
}


def variants(task: Task) -> dict:
    """The share of validation dates, from every seed."""
    found = {}
    for name, (change, changes) in VARIANTS.items():
        found[name] = []
        for seed in range(SEEDS):
            trainer = decoder(seed, task, short_rate, **changes)
            change(trainer.model.model)
            trainer = Trainer(trainer.model, trainer.recipe)
            train(trainer, task.ours, SHORT)
            share = exact_match(trainer.average, task.our_validation, IGNORED)
            found[name].append(share)
        print(f"{name:20}", *(f"{share:.1%}" for share in found[name]))
        sys.stdout.flush()
    return {"steps": SHORT, "peak": PEAK, "warmup": WARMUP, "shares": found}


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
    record["variants"] = variants(Task(SHORT, 1_000))
    RESULT.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
