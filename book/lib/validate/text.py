"""Texts, tokens and their ids, and dates."""

from contextlib import suppress
from datetime import date

import torch

from .. import validate
from .refuse import expect, kind, shape, wrong, wrong_kind


def ordinary_tokens(tokens: list[str], specials: tuple[str, ...]) -> None:
    """None is empty or spelled like a special one."""
    expected = f"none to be empty or one of {', '.join(specials)}"
    for token in ("", *specials):
        expect(token not in tokens, "tokens", expected, repr(token))


def token_ids(ids: object, vocab_size: int | None, name: str = "ids") -> None:
    """An integer tensor with entries in 0 .. vocab_size - 1.

    The range is not looked at without a vocabulary (a GPU would have to
    wait), and while torch compiles or exports.
    """
    validate.whole_numbers(name, ids)
    unseen = vocab_size is None or torch.compiler.is_compiling()
    if unseen or ids.numel() == 0:
        return
    low, high = (bound.item() for bound in ids.aminmax())
    if low < 0 or high >= vocab_size:
        got = low if low < 0 else high
        wrong(name, f"ids from 0 to {vocab_size - 1}", got)


def id_batch(ids, name="ids", most=None, vocab_size=None) -> None:
    """Token ids (batch, length); with `most`, of 1 to `most` positions."""
    token_ids(ids, vocab_size, name)
    validate.axes(f"{name}: batch length", **{name: ids})
    if most is not None and not 1 <= ids.shape[1] <= most:
        wrong(name, f"1 to {most} positions (max_length)", shape(ids))


def locale(language: object) -> None:
    """A language, or language and country, of which Babel has the names."""
    from babel import Locale, UnknownLocaleError

    validate.string(language=language)
    with suppress(UnknownLocaleError, ValueError):
        Locale.parse(language)
        return
    expected = "one that Babel knows, such as 'en' or 'pt_BR'"
    wrong("language", expected, repr(language))


def plain_date(day: object, name: str = "day") -> None:
    """A date; a datetime says more and is refused."""
    if type(day) is not date:
        wrong_kind(name, "a datetime.date", kind(day))


def written(day, language, style, styles: tuple[str, ...]) -> None:
    """A date, a language and one of its styles."""
    plain_date(day)
    locale(language)
    validate.string(style=style)
    validate.choice("style", style, styles)


def to_generate(days, count, seed, languages) -> None:
    """Dates and languages to draw from, and the number of examples."""
    validate.some_items("days", days, "dates")
    validate.some_items("languages", languages, "strings")
    for day in days:
        plain_date(day, "an item of days")
    for language in languages:
        locale(language)
    validate.integer("seed", seed)
    if count is not None:
        validate.positive(count=count)


def collatable(examples, wanted: type, source, target) -> None:
    """Examples, and a vocabulary for each side."""
    validate.some_items("examples", examples, "examples")
    for example in examples:
        if not (hasattr(example, "text") and hasattr(example, "iso")):
            wrong_kind("an item of examples", "an Example", kind(example))
    validate.instance(wanted, source=source, target=target)
