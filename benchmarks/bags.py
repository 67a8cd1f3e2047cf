"""Which dates a model without positions gets right: `make ablations`.

It sees its text as a bag of characters. Several days can have the same bag,
and then nothing but luck decides. Counted are dates and right dates by the
number of days with the same bag, for five seeds, after a training as long as
that of the date model.
"""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import torch

from benchmarks.ablations import SEEDS, SIZE, Task, commit, trainer
from benchmarks.date_model import STEPS, rate
from benchmarks.timing import circumstances
from lib.dates import (
    FIRST,
    LANGUAGES,
    LAST,
    Example,
    characters,
    collate,
    generate,
    splits,
    write,
)
from lib.decoding import greedy
from lib.runtime import setup
from lib.text import Vocabulary
from lib.training import Recipe, Trainer, train
from lib.transformer import Transformer

RESULT = Path(__file__).parent / "results" / "bags.json"
WITH_LETTERS = [name for name in LANGUAGES if name not in ("zh", "ja")]


def bag(day: date) -> tuple:
    """What a reader without positions knows of "3 mars 2019"."""
    return day.month, *sorted(f"{day.day}{day.year}")


def sizes() -> Counter:
    """The number of days that have each bag."""
    total = (LAST - FIRST).days + 1
    return Counter(bag(FIRST + timedelta(i)) for i in range(total))


def texts(days: Sequence[date]) -> list[Example]:
    """Each day as "3 mars 2019", the languages in turn."""
    languages = [WITH_LETTERS[i % len(WITH_LETTERS)] for i in range(len(days))]
    return [
        Example(write(day, language, "long"), day.isoformat(), language)
        for day, language in zip(days, languages, strict=True)
    ]


def written(
    model: Transformer,
    examples: Sequence[Example],
    source: Vocabulary,
    target: Vocabulary,
) -> list[str]:
    """What greedy writing makes of each text."""
    ids = collate(examples, source, target).source
    lines = greedy(model, ids, limit=11, cached=False).tolist()
    return [target.decode(line) for line in lines]


def by_size(days: Sequence[date], answers: Sequence[str]) -> dict:
    """Dates and right ones, by the number of days with the same bag."""
    count, asked, right = sizes(), Counter(), Counter()
    for day, answer in zip(days, answers, strict=True):
        asked[count[bag(day)]] += 1
        right[count[bag(day)]] += answer == day.isoformat()
    return {size: [right[size], asked[size]] for size in sorted(asked)}


def main(held: int = 5_000, steps: int = STEPS) -> None:
    torch.set_num_threads(1)
    setup()
    task, days, runs = Task(steps), splits(), []
    seen = generate(days["train"], steps * SIZE)
    vocabularies = (
        characters([e.text for e in seen]),
        characters([e.iso for e in seen]),
    )
    asked = days["validation"][:held]
    for seed in range(SEEDS):
        model = trainer("no positions", seed, task).model
        trained = Trainer(model, Recipe(rate))
        train(trained, task.training, steps)
        answers = written(trained.average, texts(asked), *vocabularies)
        runs.append(by_size(asked, answers))
        print(runs[-1], flush=True)
    record = circumstances() | {"commit": commit(), "steps": steps}
    record |= {"runs": runs}
    RESULT.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
