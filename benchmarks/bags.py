"""Which dates a model without positions gets right: `make ablations`.

It sees its text as a bag of characters. Several days can have the same bag,
and then nothing but luck decides. Counted are dates and right dates by the
number of days with the same bag, for five seeds, after a training as long as
that of the date model. Also: what the models get right of the same days with
the weekday, which only helps who knows the calendar, and the largest share of
all texts of the task that anybody can get right who sees bags only.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta

import numpy as np

from benchmarks.ablations import VARIANTS, right, trained
from benchmarks.date_model import STEPS, Task, each_seed, rate
from kit.dates import (
    CASES,
    FIRST,
    LANGUAGES,
    LAST,
    Example,
    collate,
    splits,
    styles,
    write,
)

HELD = 5_000
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
    size = answers.max() + 1
    _, bags = np.unique(seen, return_inverse=True)
    pairs, which = np.unique(bags * size + answers, return_inverse=True)
    of_pair = np.bincount(which, chances)
    _, begins = np.unique(pairs // size, return_index=True)
    return float(np.maximum.reduceat(of_pair, begins).sum())


def texts(days: Sequence[date], style: str) -> list[Example]:
    """Each day as "3 mars 2019" or in another style, languages in turn."""
    languages = [WITH_LETTERS[i % len(WITH_LETTERS)] for i in range(len(days))]
    return [
        Example(write(day, language, style), day.isoformat(), language)
        for day, language in zip(days, languages, strict=True)
    ]


def by_size(days: Sequence[date], right: Sequence[bool]) -> dict:
    """Right dates and all, by the number of days with the same bag."""
    count, asked, known = sizes(), Counter(), Counter()
    for day, is_right in zip(days, right, strict=True):
        asked[count[bag(day)]] += 1
        known[count[bag(day)]] += is_right
    return {size: [known[size], asked[size]] for size in sorted(asked)}


def record() -> dict:
    task, days = Task(STEPS), splits()["validation"][:HELD]
    given = {
        style: collate(texts(days, style), task.source, task.target)
        for style in ("long", "full")
    }
    variant = VARIANTS["no positions"]._replace(recipe={"rate": rate})

    def measure(seed: int) -> tuple[dict, float]:
        model = trained(variant, seed, task).average
        known = right(model, given["full"])
        by_bag = by_size(days, right(model, given["long"]))
        return by_bag, sum(known) / len(known)

    runs, with_weekday = zip(*each_seed(measure), strict=True)
    return {
        "steps": STEPS,
        "runs": runs,
        "with weekday": with_weekday,
        "ceilings": ceilings(every_day()),
    }
