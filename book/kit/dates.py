"""The task of chapter 11: dates as people write them, to ISO 8601.

Not taught. Names and formats come from Unicode CLDR through the Babel
library; English ordinals follow rules of our own, because CLDR has none.
CLDR's short form is left out: in it 03/04/05 has several readings. Characters
are tokens.
"""

import random
from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from babel import Locale
from babel.dates import format_date

from lib import validate
from lib.text import Vocabulary, pad_batch
from lib.training import Batch

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "ru", "zh", "ja")
STYLES = ("full", "long", "medium", "weekday")
ENGLISH = ("day first", "ordinal", "ordinal of")
CASES = (str, str, str.lower, str.upper)
ENDINGS = {1: "st", 2: "nd", 3: "rd"}
FIRST, LAST = date(1900, 1, 1), date(2099, 12, 31)


def styles(language: str) -> tuple[str, ...]:
    """The ways to write a date in a language; English has three more."""
    is_english = f"{language}_".startswith("en_")  # en, en_GB
    return STYLES + ENGLISH if is_english else STYLES


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st: the English ordinal of a number."""
    validate.positive(number=number)
    teens = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teens else ENDINGS.get(number % 10, 'th')}"


def babel_format(language: str, style: str, day: int) -> str:
    """What Babel calls the format: a name, or letters for the parts.

    "weekday" is CLDR's format with an abbreviated weekday, which Babel knows
    by the parts it has: year, month, weekday (E) and day.
    """
    if style == "weekday":
        return Locale.parse(language).datetime_skeletons["yMMMEd"].pattern
    return {
        "day first": "d MMMM y",
        "ordinal": f"MMMM '{ordinal(day)}', y",
        "ordinal of": f"'{ordinal(day)} of' MMMM y",
    }.get(style, style)


def write(day: date, language: str, style: str) -> str:
    """A date in words, such as 3 mars 2019: language fr, style long.

    White space of every kind becomes a plain space. `language` is a language
    or a locale that Babel knows, of `LANGUAGES` or not; `style` is one of
    `styles(language)`.
    """
    validate.written(day, language, style, styles(language))
    text = format_date(day, babel_format(language, style, day.day), language)
    return " ".join(text.split())


class Example(NamedTuple):
    """A date as somebody wrote it, the same in ISO 8601, and the language."""

    text: str
    iso: str
    language: str


def splits(seed: int = 0, held_out: int = 5_000) -> dict[str, list[date]]:
    """The days from 1900 to 2099, shuffled and dealt out in three parts.

    No day is in two parts: what a model is tested on it has never seen, in
    no language. As many days are held out for validation as for the test.
    """
    total = (LAST - FIRST).days + 1
    validate.integer("seed", seed)
    validate.between("held_out", held_out, 1, (total - 1) // 2)
    days = [FIRST + timedelta(i) for i in range(total)]
    random.Random(seed).shuffle(days)
    return {
        "test": days[:held_out],
        "validation": days[held_out : 2 * held_out],
        "train": days[2 * held_out :],
    }


def generate(
    days: Sequence[date],
    count: int | None = None,
    seed: int = 0,
    languages: Sequence[str] = LANGUAGES,
) -> list[Example]:
    """Examples: the days in order, each in some language, style and case.

    Half of the texts are written as CLDR has them, a quarter in lower case,
    a quarter in upper case. By default there is one example for each day;
    where `count` is larger, the days are used from the start again. All
    languages have equal chances.
    """
    validate.to_generate(days, count, seed, languages)
    count = len(days) if count is None else count
    draw = random.Random(seed)
    examples = []
    for i in range(count):
        day, language = days[i % len(days)], draw.choice(languages)
        text = write(day, language, draw.choice(styles(language)))
        case = draw.choice(CASES)
        examples.append(Example(case(text), day.isoformat(), language))
    return examples


def characters(texts: Sequence[str]) -> Vocabulary:
    """The vocabulary of every character that occurs in the texts."""
    return Vocabulary.from_texts(texts, split=list, join="".join)


def collate(
    examples: Sequence[Example], source: Vocabulary, target: Vocabulary
) -> Batch:
    """One batch of all the examples, in their order."""
    validate.collatable(examples, Vocabulary, source, target)
    return Batch(
        pad_batch([source.encode(e.text) for e in examples]),
        pad_batch([target.encode(e.iso, bos=True) for e in examples]),
        pad_batch([target.encode(e.iso, eos=True) for e in examples]),
    )


def batches(
    examples: Sequence[Example],
    source: Vocabulary,
    target: Vocabulary,
    size: int = 64,
    bucket: int = 1,
    seed: int = 0,
) -> list[Batch]:
    """All examples in batches, shuffled; the last batch may be smaller.

    With buckets, texts of similar length come together and less is padding:
    `bucket` batches are sorted by length together, and 1 sorts nothing. The
    price: such a batch holds few languages and styles.
    """
    validate.positive(size=size, bucket=bucket)
    validate.integer("seed", seed)
    validate.collatable(examples, Vocabulary, source, target)
    parts = in_buckets(examples, size, bucket, seed)
    return [collate(part, source, target) for part in parts]


def in_buckets(
    examples: Sequence[Example], size: int, bucket: int, seed: int
) -> list[list[Example]]:
    """The examples of each batch, shuffled; arguments as in `batches`."""
    shuffle = random.Random(seed).shuffle
    shuffle(examples := list(examples))
    parts = []
    for pool in stretches(examples, size * bucket):
        pool = sorted(pool, key=lambda e: len(e.text)) if bucket > 1 else pool
        parts += stretches(pool, size)
    if bucket > 1:
        shuffle(parts)
    return parts


def stretches(items: Sequence, size: int) -> list[Sequence]:
    """Stretches of `size` items; the last may be shorter."""
    return [items[i : i + size] for i in range(0, len(items), size)]
