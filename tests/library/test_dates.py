"""kit.dates: many ways to write a date, and never two dates for a text."""

import hashlib
import itertools
import random
from datetime import date, datetime, timedelta

import pytest
import torch
from babel import Locale

from kit import dates
from kit.dates import (
    FIRST,
    LANGUAGES,
    LAST,
    Example,
    batches,
    characters,
    collate,
    generate,
    ordinal,
    splits,
    styles,
    write,
)
from lib.text import Vocabulary
from tests.library.draw import DEVICE, refused

DAY = date(2019, 3, 3)
ISO = characters(["0123456789-"])
FIRST_FOUR = [
    "nl weekday Aa",
    "IT WEEKDAY AA",
    "it weekday aa",
    "ja long Aa",
]
DIGEST = "0aeacbe3661634a2"  # of 600 such lines
BAD = pytest.mark.bad_input


@pytest.fixture(scope="module")
def parts():
    return splits()


@pytest.fixture(scope="module")
def examples(parts):
    return generate(parts["validation"])


@pytest.fixture(scope="module")
def source(examples):
    return characters([e.text for e in examples])


@pytest.mark.parametrize(
    ("language", "style", "text"),
    [
        ("en", "full", "Sunday, March 3, 2019"),
        ("en", "medium", "Mar 3, 2019"),
        ("en", "weekday", "Sun, Mar 3, 2019"),
        ("en", "day first", "3 March 2019"),
        ("en", "ordinal", "March 3rd, 2019"),
        ("en", "ordinal of", "3rd of March 2019"),
        ("de", "full", "Sonntag, 3. März 2019"),
        ("de", "medium", "03.03.2019"),
        ("fr", "long", "3 mars 2019"),
        ("es", "long", "3 de marzo de 2019"),
        ("it", "weekday", "dom 3 mar 2019"),
        ("pt", "medium", "3 de mar. de 2019"),
        ("nl", "full", "zondag 3 maart 2019"),
        ("ru", "full", "воскресенье, 3 марта 2019 г."),
        ("zh", "full", "2019年3月3日星期日"),
        ("ja", "weekday", "2019年3月3日(日)"),
        ("ja", "medium", "2019/03/03"),
        ("sv", "long", "3 mars 2019"),
        ("en_GB", "full", "Sunday, 3 March 2019"),
    ],
)
def test_write(language, style, text):
    assert write(DAY, language, style) == text


def test_ordinals():
    wanted = "1st 2nd 3rd 4th 10th 11th 12th 13th 20th 21st 22nd 23rd 31st"
    for text in (wanted + " 101st 111th 112th 113th 200th").split():
        assert ordinal(int(text[:-2])) == text


def test_at_least_ten_languages_in_at_least_three_styles():
    assert len(set(LANGUAGES)) >= 10
    for language in LANGUAGES:
        written = {write(DAY, language, style) for style in styles(language)}
        assert len(written) >= 3


def test_no_text_stands_for_two_dates():
    """All days of four years; and every text has its year in full."""
    meaning = {}
    for i in range(4 * 365 + 1):
        day = date(2008, 1, 1) + timedelta(i)
        for language in LANGUAGES:
            for style in styles(language):
                text = write(day, language, style)
                assert str(day.year) in text
                for cased in (text, text.lower(), text.upper()):
                    assert meaning.setdefault(cased, day) == day


def test_the_short_form_would_be_ambiguous():
    def short(day, language):
        pattern = Locale.parse(language).date_formats["short"]
        return pattern.apply(day, language)

    assert short(date(2004, 3, 5), "en") == short(date(1904, 3, 5), "en")
    assert short(date(2004, 3, 5), "es") == short(date(2004, 5, 3), "en")


def test_splits_share_no_day_and_lose_none(parts):
    days = [day for part in parts.values() for day in part]
    assert {name: len(part) for name, part in parts.items()} == {
        "test": 5_000,
        "validation": 5_000,
        "train": 63_049,
    }
    assert len(set(days)) == len(days) == (LAST - FIRST).days + 1
    assert (min(days), max(days)) == (FIRST, LAST)


def test_splits_are_repeatable(parts):
    assert splits() == parts
    assert splits(1)["test"] != parts["test"]
    assert len(splits(0, 7)["validation"]) == 7


def test_splits_are_spread_over_the_years(parts):
    for part in parts.values():
        assert {day.month for day in part} == set(range(1, 13))
        assert {day.year for day in part} == set(range(1900, 2100))


def test_generate_takes_every_day_once(parts, examples):
    days = parts["validation"]
    assert [e.iso for e in examples] == [day.isoformat() for day in days]
    assert {e.language for e in examples} == set(LANGUAGES)
    again = generate(days[:3], 7)
    assert [e.iso for e in again] == [d.isoformat() for d in days[:3] * 3][:7]


def test_generate_is_repeatable(parts, examples):
    days = parts["validation"]
    assert generate(days) == examples
    assert generate(days, seed=1) != examples
    few = generate(days, 20, languages=["sv", "ro"])
    assert {e.language for e in few} == {"sv", "ro"}


def test_a_seed_means_the_same_dates_on_every_machine(parts, monkeypatch):
    """The order of languages, styles and cases is part of the data."""
    called = "{1} {2} Aa".format  # whatever CLDR says
    monkeypatch.setattr(dates, "write", lambda *given: called(*given))
    texts = [example.text for example in generate(parts["validation"], 600)]
    assert texts[:4] == FIRST_FOUR
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    assert digest[:16] == DIGEST


def test_only_english_has_more_styles():
    assert styles("en_GB") == styles("en") != styles("de")
    assert styles("enm") == styles("de")  # Middle English is another language


def test_generate_uses_every_style_and_case(parts, examples):
    texts = {e.text for e in examples}
    for style in styles("en"):
        shapes = {write(day, "en", style) for day in parts["validation"]}
        assert shapes & texts
    cased = [text for text in texts if text.lower() != text.upper()]
    upper = sum(text == text.upper() for text in cased) / len(cased)
    lower = sum(text == text.lower() for text in cased) / len(cased)
    assert 0.2 < upper < 0.4 and 0.3 < lower < 0.7


def test_the_text_is_the_date(examples):
    for example in examples[:500]:
        day = date.fromisoformat(example.iso)
        texts = [
            write(day, example.language, style)
            for style in styles(example.language)
        ]
        assert example.text.lower() in [text.lower() for text in texts]


def test_training_shows_every_character_of_the_held_out_texts(parts):
    seen = characters([e.text for e in generate(parts["train"][:20_000])])
    for part in ("validation", "test"):
        for example in generate(parts[part], seed=1):
            assert Vocabulary.unk_id not in seen.encode(example.text)


def test_characters():
    vocabulary = characters(["3 mars"])
    assert vocabulary.tokens[4:] == [" ", "3", "a", "m", "r", "s"]
    assert vocabulary.decode(vocabulary.encode("3 mars", eos=True)) == "3 mars"


def test_collate():
    pair = [Example("ab", "12", "en"), Example("b", "1", "en")]
    ids = collate(pair, characters(["ab"]), ISO)
    one, two = ISO.ids["1"], ISO.ids["2"]
    assert ids.source.tolist() == [[4, 5], [5, 0]]
    assert ids.decoder_input.tolist() == [[1, one, two], [1, one, 0]]
    assert ids.target.tolist() == [[one, two, 2], [one, 2, 0]]
    moved = ids.to(DEVICE)
    assert type(moved) is type(ids) and moved.target.device.type == DEVICE.type
    assert {part.device.type for part in ids.to("meta")} == {"meta"}


PAIR = [Example("ab", "12", "en")]


@BAD
@pytest.mark.parametrize(
    "given, error, parts",
    [
        (([], ISO, ISO), ValueError, ("examples", "at least one", "none")),
        (
            (["ab"], ISO, ISO),
            TypeError,
            ("an item of examples", "an Example", "str"),
        ),
        ((PAIR, "ab", ISO), TypeError, ("source", "Vocabulary", "str")),
        ((PAIR, ISO, None), TypeError, ("target", "Vocabulary", "NoneType")),
    ],
)
def test_collate_refuses(given, error, parts):
    with refused(error, *parts):
        collate(*given)


def everything(some, vocabulary):
    return sorted(
        (vocabulary.decode(text), ISO.decode(iso))
        for batch in some
        for text, iso in zip(batch.source, batch.target, strict=True)
    )


@pytest.mark.parametrize("bucket", [1, 3])
def test_batches_lose_nothing(examples, source, bucket):
    some = batches(examples[:700], source, ISO, 64, bucket)
    wanted = sorted((e.text, e.iso) for e in examples[:700])
    assert everything(some, source) == wanted
    assert sorted(len(b.source) for b in some) == [60] + [64] * 10


def test_a_batch_has_64_examples_if_nobody_says_otherwise(examples, source):
    made = batches(examples[:130], source, ISO)
    assert sorted(len(batch.source) for batch in made) == [2, 64, 64]
    again = batches(examples[:130], source, ISO, 64, 1, 0)
    assert [b.source.tolist() for b in made] == [
        b.source.tolist() for b in again
    ]


def test_batches_are_shuffled_repeatably(examples, source):
    def first(**options):
        return batches(examples[:200], source, ISO, **options)[0].source

    assert torch.equal(first(), first())
    assert not torch.equal(first(seed=1), first())
    assert first().tolist() != collate(examples[:64], source, ISO)[0].tolist()


def lengths(batch):
    return (batch.source != 0).sum(dim=1).tolist()


def test_a_bucket_holds_neighbours_in_length(examples, source):
    """One bucket of five batches: no length is inside of two ranges."""
    made = batches(examples[:320], source, ISO, size=64, bucket=5)
    ranges = sorted((min(lengths(b)), max(lengths(b))) for b in made)
    for (_, longest), (shortest, _) in itertools.pairwise(ranges):
        assert longest <= shortest
    assert [min(lengths(b)) for b in made] != [least for least, _ in ranges]


def test_the_batches_of_buckets_are_shuffled(examples, source):
    """Else the short half of every bucket would come before the long one."""
    made = batches(examples[:640], source, ISO, size=64, bucket=2)
    pairs = zip(made[::2], made[1::2], strict=True)
    assert not all(max(lengths(a)) <= min(lengths(b)) for a, b in pairs)


def test_without_buckets_nothing_is_sorted(examples, source):
    some = examples[:200]
    made = batches(some, source, ISO)
    assert some == examples[:200]  # the list of the caller stays as it was
    assert all(lengths(batch) != sorted(lengths(batch)) for batch in made[:2])
    order = list(some)
    random.Random(0).shuffle(order)
    for start, batch in zip(range(0, 200, 64), made, strict=True):
        expected = collate(order[start : start + 64], source, ISO)
        assert torch.equal(batch.source, expected.source)


def test_buckets_save_padding(examples, source):
    def padding(bucket):
        some = batches(examples, source, ISO, 64, bucket)
        return sum((b.source == 0).sum().item() for b in some)

    assert padding(16) < padding(2) < 0.75 * padding(1)


@BAD
@pytest.mark.parametrize(
    ("arguments", "error", "parts"),
    [
        (("2019-03-03", "en", "full"), TypeError, ("day", "date", "str")),
        (
            (datetime(2019, 3, 3), "en", "full"),
            TypeError,
            ("day", "date", "datetime"),
        ),
        ((DAY, 5, "full"), TypeError, ("language", "a string", "int")),
        ((DAY, "xx", "full"), ValueError, ("language", "Babel", "'xx'")),
        ((DAY, "", "full"), ValueError, ("language", "Babel", "''")),
        ((DAY, "en", "short"), ValueError, ("style", "medium", "'short'")),
        ((DAY, "de", "ordinal"), ValueError, ("style", "full", "'ordinal'")),
        ((DAY, "end", "ordinal"), ValueError, ("language", "Babel", "'end'")),
        ((DAY, "de", None), TypeError, ("style", "a string", "NoneType")),
    ],
)
def test_write_refuses(arguments, error, parts):
    with refused(error, *parts):
        write(*arguments)


@BAD
def test_ordinal_refuses():
    with refused(ValueError, "number", "at least 1", "0"):
        ordinal(0)
    with refused(TypeError, "number", "an integer", "float"):
        ordinal(1.0)


@BAD
@pytest.mark.parametrize(
    ("arguments", "error", "parts"),
    [
        ((0, 0), ValueError, ("held_out", "1 to 36524", "0")),
        ((0, 36_525), ValueError, ("held_out", "1 to 36524", "36525")),
        ((0, 0.1), TypeError, ("held_out", "an integer", "float")),
        (("a", 1), TypeError, ("seed", "an integer", "str")),
    ],
)
def test_splits_refuses(arguments, error, parts):
    with refused(error, *parts):
        splits(*arguments)


@BAD
@pytest.mark.parametrize(
    ("arguments", "error", "parts"),
    [
        ({"days": []}, ValueError, ("days", "at least one", "none")),
        ({"days": DAY}, TypeError, ("days", "a list of dates", "date")),
        ({"days": ["x"]}, TypeError, ("an item of days", "date", "str")),
        ({"count": 0}, ValueError, ("count", "at least 1", "0")),
        ({"seed": None}, TypeError, ("seed", "an integer", "NoneType")),
        ({"languages": []}, ValueError, ("languages", "one", "none")),
        ({"languages": "en"}, TypeError, ("languages", "a list", "str")),
        ({"languages": ["xx"]}, ValueError, ("language", "Babel", "xx")),
    ],
)
def test_generate_refuses(arguments, error, parts):
    with refused(error, *parts):
        generate(**({"days": [DAY]} | arguments))


@BAD
@pytest.mark.parametrize(
    ("arguments", "error", "parts"),
    [
        ({"examples": []}, ValueError, ("examples", "at least one", "none")),
        ({"examples": "ab"}, TypeError, ("examples", "a list", "str")),
        ({"examples": ["ab"]}, TypeError, ("an item of examples", "", "str")),
        ({"source": None}, TypeError, ("source", "Vocabulary", "NoneType")),
        ({"target": "0"}, TypeError, ("target", "a Vocabulary", "str")),
        ({"size": 0}, ValueError, ("size", "at least 1", "0")),
        ({"bucket": 0}, ValueError, ("bucket", "at least 1", "0")),
        ({"seed": 0.5}, TypeError, ("seed", "an integer", "float")),
    ],
)
def test_batches_refuses(arguments, error, parts):
    good = {"examples": generate([DAY]), "source": ISO, "target": ISO}
    with refused(error, *parts):
        batches(**(good | arguments))
