"""Which dates a model without positions gets right: `make ablations`.

It sees its text as a bag of characters. Several days can have the same bag,
and then nothing but luck decides. Counted are dates and right dates by the
number of days with the same bag, for five seeds, after a training as long as
that of the date model. Also: the largest share of all texts of the task that
anybody can get right who sees bags only, what the models get right of them,
and what of the same days with the weekday, which only helps who knows the
calendar.
"""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import torch

from benchmarks.ablations import SEEDS, SIZE, Task, commit, trainer
from benchmarks.ablations import written as right_of
from benchmarks.date_model import STEPS, rate
from benchmarks.timing import circumstances
from kit.dates import (
    CASES,
    FIRST,
    LANGUAGES,
    LAST,
    Example,
    characters,
    collate,
    generate,
    splits,
    styles,
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


def every_day() -> list[date]:
    """All days of the task."""
    return [FIRST + timedelta(i) for i in range((LAST - FIRST).days + 1)]


def sizes() -> Counter:
    """The number of days that have each bag."""
    return Counter(map(bag, every_day()))


def hashes(texts: Sequence[str]) -> np.ndarray:
    """A number for the bag of each text."""
    return np.array([hash("".join(sorted(text))) for text in texts])


def ceilings(days: Sequence[date], languages=LANGUAGES) -> dict:
    """The largest share that is right for who sees the bags of texts only.

    By language and style, as CLDR writes them, and over all texts, drawn as
    `generate` draws them. Who sees a bag can do no better than to give the
    day that is most probable with it.
    """
    kinds, seen, answers, chances = {}, [], [], []
    for language in languages:
        kinds[language] = {}
        for style in styles(language):
            texts = [write(day, language, style) for day in days]
            of_each = len(languages) * len(styles(language)) * len(CASES)
            for case in CASES:
                seen.append(hashes([case(text) for text in texts]))
                answers.append(np.arange(len(days)))
                chances.append(np.full(len(days), 1 / of_each / len(days)))
            bags = len(set(hashes(texts)))
            kinds[language][style] = round(bags / len(days), 4)
    parts = map(np.concatenate, (seen, answers, chances))
    return {"all": round(most_probable(*parts), 4), "kinds": kinds}


def most_probable(
    seen: np.ndarray, answers: np.ndarray, chances: np.ndarray
) -> float:
    """The chance of the most probable answer to each bag, summed up."""
    order = np.lexsort((answers, seen))
    seen, answers, chances = seen[order], answers[order], chances[order]
    other_bag = np.append(True, seen[1:] != seen[:-1])
    other_pair = other_bag | np.append(True, answers[1:] != answers[:-1])
    of_pair = np.add.reduceat(chances, np.flatnonzero(other_pair))
    bags = np.flatnonzero(other_bag[other_pair])
    return float(np.maximum.reduceat(of_pair, bags).sum())


def texts(days: Sequence[date], style: str = "long") -> list[Example]:
    """Each day as "3 mars 2019" or in another style, languages in turn."""
    languages = [WITH_LETTERS[i % len(WITH_LETTERS)] for i in range(len(days))]
    return [
        Example(write(day, language, style), day.isoformat(), language)
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
    task, days, runs = Task(steps, held), splits(), []
    shares = {"all texts": [], "with weekday": []}
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
        shares["all texts"].append(right_of(trained.average, task.validation))
        full = texts(asked, "full")
        answers = written(trained.average, full, *vocabularies)
        right = sum(a == e.iso for a, e in zip(answers, full, strict=True))
        shares["with weekday"].append(right / len(asked))
        print(runs[-1], {k: v[-1] for k, v in shares.items()}, flush=True)
    record = circumstances() | {"commit": commit(), "steps": steps}
    record |= {"runs": runs} | shares
    record |= {"ceilings": ceilings(every_day())}
    RESULT.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
