"""A decoder alone learns the dates, beside chapter 11's encoder-decoder.

Both see the same examples in the same order and take turns, twenty steps at a
time, from five seeds. Noted are the CPU time of one by that of the other and
how many validation dates each gets right. The decoder that is best there is
kept for chapter 16, and asked the test dates once.
"""

from dataclasses import asdict

import torch

from benchmarks.date_model import SEEDS, SIZE, STEPS, Task, keep, rate
from benchmarks.timing import in_turns, ratio, seconds
from kit.dates import characters
from kit.one_text import IGNORED, OneText, one_text_batches
from lib.llama import DecoderOnly, DecoderOnlyConfig
from lib.runtime import setup
from lib.text import Vocabulary
from lib.training import Recipe, Trainer, exact_match, train
from lib.transformer import Transformer

TURN = 20
BUCKET = 2  # a row is longer here than a pair's, and PAD matters less
SIZES = {"d_model": 48, "heads": 4, "kv_heads": 2, "d_ff": 96, "layers": 2}


def race(seed: int, task: Task, words: Vocabulary) -> tuple[dict, Trainer]:
    """Both models from one seed, in turns."""
    torch.manual_seed(seed)
    pair = Trainer(Transformer(task.config), Recipe(rate))
    torch.manual_seed(seed)
    decoder = DecoderOnly(DecoderOnlyConfig(len(words), **SIZES))
    alone = Trainer(OneText(decoder), Recipe(rate, pad_id=IGNORED))
    data = one_text_batches(task.examples, words, SIZE, BUCKET)
    kinds = {"alone": (alone, data), "pair": (pair, task.training)}
    took = {name: [] for name in kinds}
    for turn, name in in_turns(kinds, -(-STEPS // TURN)):
        until = min(TURN * (turn + 1), STEPS)
        run = seconds(lambda given=kinds[name], n=until: train(*given, n))
        took[name].append(run)
    unseen = one_text_batches(task.validation, words, 250)
    run = {
        "seed": seed,
        "alone": exact_match(alone.average, unseen, IGNORED),
        "pair": exact_match(pair.average, task.batches(task.validation)),
        "alone by pair": round(ratio(took, "alone", "pair"), 2),
    }
    print(run, flush=True)
    return run, alone


def record() -> dict:
    setup()
    task = Task(STEPS)
    words = characters([e.text + e.iso for e in task.examples])
    made = [race(seed, task, words) for seed in range(SEEDS)]
    run, trainer = max(made, key=lambda pair: pair[0]["alone"])
    test = one_text_batches(task.test, words, 250)
    model = trainer.average.model
    card = {
        "task": "dates in words, BOS, ISO 8601, EOS: one text",
        "steps": STEPS,
        "seed": run["seed"],
        "validation": run["alone"],
        "test": exact_match(trainer.average, test, IGNORED),
        "test examples": len(task.test),
        "config": asdict(model.config),
        "tokens": words.tokens[4:],
    }
    keep("one_text", model, card)
    models = {"alone": model, "pair": Transformer(task.config)}
    counts = {
        name: sum(weight.numel() for weight in each.parameters())
        for name, each in models.items()
    }
    runs = [run for run, _ in made]
    return {"steps": STEPS, "parameters": counts, "runs": runs}
