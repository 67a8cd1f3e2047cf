"""The trained model of chapters 11 to 14: `make model`.

Trains from five seeds, keeps the one that is best on the validation dates,
and asks the test dates once. Written are the averaged weights and a card
that says where they come from.
"""

import hashlib
import json
import time
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import save_file

from benchmarks.ablations import commit
from benchmarks.timing import circumstances
from lib.dates import LANGUAGES, batches, characters, generate, splits
from lib.runtime import setup
from lib.training import Recipe, Trainer, exact_match, train, warmup_rate
from lib.transformer import Transformer, TransformerConfig

FOLDER = Path(__file__).parents[1] / "book" / "data"
WEIGHTS, CARD = FOLDER / "dates.safetensors", FOLDER / "dates.json"
STEPS, SIZE, SEEDS = 1_400, 64, 5


def rate(step: int) -> float:
    """The schedule of 2017, falling to zero at the end."""
    falling = max(0.0, 1 - (step - 1) / STEPS)
    return 0.7 * warmup_rate(step, 64, 200) * falling


def main() -> None:
    torch.set_num_threads(1)
    setup()
    days = splits()
    examples = generate(days["train"], STEPS * SIZE)
    source = characters([e.text for e in examples])
    target = characters([e.iso for e in examples])
    data = batches(examples, source, target, SIZE)
    unseen = {
        part: batches(generate(days[part]), source, target, 250)
        for part in ("validation", "test")
    }
    config = TransformerConfig(
        len(source), len(target), 64, 4, 128, 1, 1, dropout=0.0, max_length=64
    )
    runs, best = [], None
    for seed in range(SEEDS):
        torch.manual_seed(seed)
        trainer = Trainer(Transformer(config), Recipe(rate))
        start = time.process_time()
        train(trainer, data, STEPS)
        took = time.process_time() - start
        share = exact_match(trainer.average, unseen["validation"])
        runs.append({"seed": seed, "validation": share, "CPU s": round(took)})
        print(runs[-1], flush=True)
        if best is None or share > best[0]:
            best = share, seed, trainer
    _, seed, trainer = best
    FOLDER.mkdir(exist_ok=True)
    save_file(trainer.average.state_dict(), WEIGHTS)
    card = circumstances() | {
        "commit": commit(),
        "task": "dates in words to ISO 8601, 1900 to 2099",
        "languages": LANGUAGES,
        "data": "Unicode CLDR through Babel, examples from splits() and "
        "generate() of book/lib/dates.py, seed 0",
        "steps": STEPS,
        "runs": runs,
        "seed": seed,
        "test": exact_match(trainer.average, unseen["test"]),
        "test examples": len(days["test"]),
        "sha256": hashlib.sha256(WEIGHTS.read_bytes()).hexdigest(),
        "config": asdict(config),
        "source": source.tokens[4:],
        "target": target.tokens[4:],
        "losses": [round(loss, 4) for loss in trainer.losses[::10]],
    }
    text = json.dumps(card, indent=1, ensure_ascii=False)
    CARD.write_text(text + "\n", encoding="utf-8")
    print(f"seed {seed}: {card['test']:.2%} of the test dates")


if __name__ == "__main__":
    main()
