"""kit.dates: many ways to write a date, and never two dates for a text."""

import hashlib
import itertools
import random
from datetime import date, datetime, timedelta

import pytest
import torch

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
from tests.library.draw import DEVICE, refused

DAY = date(2019, 3, 3)
ISO = characters(["0123456789-"])
DIGEST = "0aeacbe3661634a2"  # of 600 lines like "it weekday Aa"


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
        ("en", "weekday", "Sun, Mar 3, 2019"),
        ("en", "day first", "3 March 2019"),
        ("en", "ordinal", "March 3rd, 2019"),
        ("en", "ordinal of", "3rd of March 2019"),
        ("de", "full", "Sonntag, 3. März 2019"),
        ("fr", "long", "3 mars 2019"),
        ("it", "weekday", "dom 3 mar 2019"),
        ("ru", "full", "воскресенье, 3 марта 2019 г."),
        ("ja", "weekday", "2019年3月3日(日)"),
        ("en_GB", "full", "Sunday, 3 March 2019"),
    ],
)
def test_write(language, style, text):
    assert write(DAY, language, style) == text


def test_ordinals():
    wanted = "1st 2nd 3rd 4th 10th 11th 12th 13th 20th 21st 22nd 23rd 31st"
    for text in (wanted + " 101st 111th 112th 113th 200th").split():
        assert ordinal(int(text[:-2])) == text


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


def test_splits_share_no_day_and_lose_none(parts):
    days = [day for part in parts.values() for day in part]
    assert {name: len(part) for name, part in parts.items()} == {
        "test": 5_000,
        "validation": 5_000,
        "train": 63_049,
    }
    assert len(set(days)) == len(days) == (LAST - FIRST).days + 1
    assert (min(days), max(days)) == (FIRST, LAST)
    for part in parts.values():  # shuffled, so that each has every month
        assert {day.month for day in part} == set(range(1, 13))
        assert {day.year for day in part} == set(range(1900, 2100))


def test_a_split_is_that_of_its_seed_and_of_its_size(parts):
    assert splits() == parts
    assert splits(1)["test"] != parts["test"]
    assert len(splits(0, 7)["validation"]) == 7


def test_generate_takes_the_days_in_turn(parts, examples):
    days = parts["validation"]
    assert [e.iso for e in examples] == [day.isoformat() for day in days]
    again = generate(days[:3], 7)
    assert [e.iso for e in again] == [d.isoformat() for d in days[:3] * 3][:7]
    assert generate(days, seed=1) != examples
    few = generate(days, 20, languages=["sv", "ro"])
    assert {e.language for e in few} == {"sv", "ro"}


def test_a_seed_means_the_same_dates_on_every_machine(parts, monkeypatch):
    """The order of languages, styles and cases is part of the data."""
    called = "{1} {2} Aa".format  # whatever CLDR says
    monkeypatch.setattr(dates, "write", lambda *given: called(*given))
    texts = [example.text for example in generate(parts["validation"], 600)]
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    assert digest[:16] == DIGEST


def test_only_english_has_more_styles():
    assert styles("en_GB") == styles("en") != styles("de")
    assert styles("enm") == styles("de")  # Middle English is another language


def test_the_text_is_the_date(examples):
    for example in examples[:500]:
        day = date.fromisoformat(example.iso)
        texts = [
            write(day, example.language, style)
            for style in styles(example.language)
        ]
        cases = {str(f(t)) for t in texts for f in (str, str.lower, str.upper)}
        assert example.text in cases


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


def everything(some, vocabulary):
    return sorted(
        (vocabulary.decode(text), ISO.decode(iso))
        for batch in some
        for text, iso in zip(batch.source, batch.target, strict=True)
    )


@pytest.mark.parametrize("bucket", [1, 3])
def test_batches_lose_nothing(examples, source, bucket):
    some = batches(examples[:700], source, ISO, bucket=bucket)
    wanted = sorted((e.text, e.iso) for e in examples[:700])
    assert everything(some, source) == wanted
    assert sorted(len(b.source) for b in some) == [60] + [64] * 10


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
    random.Random(0).shuffle(some)
    for start, batch in zip(range(0, 200, 64), made, strict=True):
        expected = collate(some[start : start + 64], source, ISO)
        assert torch.equal(batch.source, expected.source)
    other = batches(examples[:200], source, ISO, seed=1)
    assert not torch.equal(other[0].source, made[0].source)


def batched(**changed):
    given = {"examples": generate([DAY]), "source": ISO, "target": ISO}
    return batches(**given | changed)


def collated(**changed):
    given = {"examples": generate([DAY]), "source": ISO, "target": ISO}
    return collate(**given | changed)


def generated(**changed):
    return generate(**{"days": [DAY]} | changed)


def written(day=DAY, language="de", style="full"):
    return write(day, language, style)


REFUSED = {
    written: [
        ("day", "2019-03-03", TypeError, "datetime.date", "str"),
        ("day", datetime(2019, 3, 3), TypeError, "date", "datetime"),
        ("language", 5, TypeError, "a string", "int"),
        ("language", "xx", ValueError, "Babel", "'xx'"),
        ("language", "", ValueError, "Babel", "''"),
        ("style", "short", ValueError, "medium", "'short'"),
        ("style", "ordinal", ValueError, "full", "'ordinal'"),
        ("style", None, TypeError, "a string", "NoneType"),
    ],
    ordinal: [
        ("number", 0, ValueError, "at least 1", "0"),
        ("number", 1.0, TypeError, "an integer", "float"),
    ],
    splits: [
        ("held_out", 0, ValueError, "1 to 36524", "0"),
        ("held_out", 36_525, ValueError, "1 to 36524", "36525"),
        ("held_out", 0.1, TypeError, "an integer", "float"),
        ("seed", "a", TypeError, "an integer", "str"),
    ],
    generated: [
        ("days", [], ValueError, "at least one", "none"),
        ("days", DAY, TypeError, "a list of dates", "date"),
        ("days", ["x"], TypeError, "date", "str"),
        ("count", 0, ValueError, "at least 1", "0"),
        ("seed", None, TypeError, "an integer", "NoneType"),
        ("languages", [], ValueError, "one", "none"),
        ("languages", "en", TypeError, "a list", "str"),
        ("languages", ["xx"], ValueError, "Babel", "xx"),
    ],
    collated: [
        ("examples", [], ValueError, "at least one", "none"),
        ("source", "ab", TypeError, "Vocabulary", "str"),
    ],
    batched: [
        ("examples", [], ValueError, "at least one", "none"),
        ("examples", "ab", TypeError, "a list", "str"),
        ("examples", ["ab"], TypeError, "an Example", "str"),
        ("source", None, TypeError, "Vocabulary", "NoneType"),
        ("target", "0", TypeError, "a Vocabulary", "str"),
        ("size", 0, ValueError, "at least 1", "0"),
        ("bucket", 0, ValueError, "at least 1", "0"),
        ("seed", 0.5, TypeError, "an integer", "float"),
    ],
}


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("call", "argument", "bad", "kind", "expected", "got"),
    [(call, *row) for call, rows in REFUSED.items() for row in rows],
)
def test_refuses(call, argument, bad, kind, expected, got):
    is_item = isinstance(bad, list) and kind is TypeError
    named = f"an item of {argument}" if is_item else argument
    if bad == ["xx"]:
        named = "language"
    with refused(kind, named, expected, got):
        call(**{argument: bad})
