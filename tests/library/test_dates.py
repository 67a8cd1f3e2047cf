"""kit.dates: many ways to write a date, and never two dates for a text.

And kit.one_text: rows of text and answer.
"""

import random
from datetime import date, datetime
from functools import partial

import pytest
import torch.nn.functional as F

from kit.dates import (
    LANGUAGES,
    Example,
    batches,
    characters,
    collate,
    generate,
    in_buckets,
    ordinal,
    splits,
    styles,
    write,
)
from kit.one_text import OneText, one_text, one_text_batches
from lib.llama import DecoderOnly, DecoderOnlyConfig
from lib.training import label_smoothed_loss
from tests.library import no
from tests.library.draw import close, normal, refused, same
from tests.library.refusals import refuses

DAY = date(2019, 3, 3)
ISO = characters(["0123456789-"])


@pytest.fixture(scope="module")
def parts():
    return splits()


@pytest.fixture(scope="module")
def examples(parts):
    return generate(parts["validation"])


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


def test_every_text_has_its_year_in_full():
    for language in LANGUAGES:
        for style in styles(language):
            assert "2019" in write(DAY, language, style)


def test_splits_are_shuffled_by_their_seed_and_share_no_day(parts):
    """Chapter 11 asks whether they lose one."""
    days = [day for part in parts.values() for day in part]
    assert len(days) == len({*days})
    for part in parts.values():
        assert {day.month for day in part} == set(range(1, 13))
        assert {day.year for day in part} == set(range(1900, 2100))
    assert splits() == parts
    assert splits(1)["test"] != parts["test"]
    assert len(splits(0, 7)["validation"]) == 7


def test_generate_takes_the_days_in_turn(parts, examples):
    days = parts["validation"]
    assert [e.iso for e in examples] == [day.isoformat() for day in days]
    again = generate(days[:3], 7)
    assert [e.iso for e in again] == [d.isoformat() for d in days[:3] * 3][:7]
    assert generate(days) == examples != generate(days, seed=1)
    few = generate(days, 20, languages=["sv", "ro"])
    assert {e.language for e in few} == {"sv", "ro"}
    for day, (text, _, language) in zip(days[:500], examples, strict=False):
        texts = [write(day, language, style) for style in styles(language)]
        cases = {str(f(t)) for t in texts for f in (str, str.lower, str.upper)}
        assert text in cases
    for case in (str.lower, str.upper):
        texts = [e.text for e in examples if e.language == "en"]
        share = sum(case(text) == text for text in texts) / len(texts)
        assert 0.2 < share < 0.3


def test_only_english_has_more_styles():
    assert styles("en_GB") == styles("en") != styles("de")
    assert styles("enm") == styles("de")  # Middle English is another language


def test_collate():
    pair = [Example("ab", "12", "en"), Example("b", "1", "en")]
    ids = collate(pair, characters(["ab"]), ISO)
    one, two = ISO.ids["1"], ISO.ids["2"]
    assert ids.source.tolist() == [[4, 5], [5, 0]]
    assert ids.decoder_input.tolist() == [[1, one, two], [1, one, 0]]
    assert ids.target.tolist() == [[one, two, 2], [one, 2, 0]]
    moved = ids.to("meta")
    assert type(moved) is type(ids)
    assert all(part.is_meta for part in moved)


def cut(items, size):
    return [items[i : i + size] for i in range(0, len(items), size)]


def test_examples_are_shuffled_and_sorted_by_length_in_buckets(examples):
    """The batches of all buckets are shuffled again."""
    some, seed = examples[:330], 1
    random.Random(seed).shuffle(mixed := [*some])
    assert in_buckets(some, 32, 1, seed) == cut(mixed, 32)
    pools = [sorted(p, key=lambda e: len(e.text)) for p in cut(mixed, 160)]
    wanted = [part for pool in pools for part in cut(pool, 32)]
    found = in_buckets(some, 32, 5, seed)
    assert sorted(found) == sorted(wanted) and found != wanted
    assert some == examples[:330]  # the list of the caller stays as it was


@pytest.mark.parametrize("given", [(64, 1, 0), (32, 5, 1)])
def test_batches_are_what_is_collated(examples, given):
    some = examples[:200]
    source = characters([example.text for example in some])
    options = {} if given == (64, 1, 0) else given
    made = batches(some, source, ISO, *options)
    parts = in_buckets(some, *given)
    same(made, [collate(part, source, ISO) for part in parts])


def written(day=DAY, language="de", style="full"):
    return write(day, language, style)


def in_language(language):
    return generate([DAY], languages=["de", "de", language])


make = partial(generate, days=[DAY])
arguments = {"examples": generate([DAY]), "source": ISO, "target": ISO}
together, cut_up = partial(collate, **arguments), partial(batches, **arguments)
EMPTY, TEXT, NO_EXAMPLE = {"none": []}, {"str": "ab"}, {"str": ["a"]}
NO_DATE = {"str": "2019-03-03", "datetime": datetime(2019, 3, 3)}
NO_LANGUAGE = {repr(name): name for name in ("xx", "")}
NO_STYLE = {repr(style): style for style in ("short", "ordinal")}
FEW = {"0": 0, "36525": 36_525}
test_bad_input_is_refused = refuses(
    ("day", written, TypeError, "a datetime.date", NO_DATE),
    ("language", written, TypeError, "a string", {"int": 5}),
    ("language", written, ValueError, "that Babel knows", NO_LANGUAGE),
    ("style", written, TypeError, "a string", {"NoneType": None}),
    ("style", written, ValueError, "full, long, medium", NO_STYLE),
    *no.size(ordinal, "number"),
    *no.integer(splits, "held_out", "seed"),
    ("held_out", splits, ValueError, "1 to 36524", FEW),
    ("days", make, TypeError, "a list of dates", {"date": DAY}),
    ("days", make, ValueError, "at least one", EMPTY),
    ("an item of days", make, TypeError, "a datetime.date", {"str": ["x"]}),
    ("count", make, ValueError, "at least 1", {"0": 0}),
    *no.integer(make, "seed"),
    ("languages", make, TypeError, "a list of strings", TEXT),
    ("languages", make, ValueError, "at least one", EMPTY),
    ("language", in_language, ValueError, "that Babel knows", NO_LANGUAGE),
    ("examples", together, TypeError, "a list of examples", TEXT),
    ("examples", together, ValueError, "at least one", EMPTY),
    ("an item of examples", together, TypeError, "Example", NO_EXAMPLE),
    ("source", together, TypeError, "a Vocabulary", TEXT),
    ("target", together, TypeError, "a Vocabulary", TEXT),
    ("target", cut_up, TypeError, "a Vocabulary", TEXT),
    *no.size(cut_up, "size", "bucket"),
    *no.integer(cut_up, "seed"),
)


# --- kit.one_text

PAIR = [Example("3 mars", "03-03", "fr"), Example("12 mars", "03-12", "fr")]
TOKENS = characters(["3 mars12-0"])


def test_a_row_of_one_text_is_text_bos_and_answer_and_only_the_answer_counts():
    batch = one_text(PAIR, TOKENS)
    texts = [TOKENS.encode(e.text) for e in PAIR]
    answers = [TOKENS.encode(e.iso) for e in PAIR]
    first = [*texts[0], TOKENS.bos_id, *answers[0], TOKENS.pad_id]
    second = [*texts[1], TOKENS.bos_id, *answers[1]]
    assert batch.decoder_input.tolist() == [first, second]
    assert batch.source[0].tolist() == [*texts[0], TOKENS.pad_id]
    answer = [*answers[0], TOKENS.eos_id]
    assert batch.target[0].tolist() == [-100] * 6 + answer + [-100]
    logits = normal(*batch.target.shape, len(TOKENS)).cpu()
    ours = label_smoothed_loss(logits, batch.target, 0.1, pad_id=-100)
    theirs = F.cross_entropy(
        logits.flatten(0, 1), batch.target.flatten(), label_smoothing=0.1
    )
    close(ours, theirs)
    model = DecoderOnly(DecoderOnlyConfig(len(TOKENS), 8, 2, 1, 12, 1))
    read = OneText(model)(batch.source, batch.decoder_input)
    same(read, model(batch.decoder_input))


def test_batches_of_one_text_are_the_rows_of_examples_in_buckets():
    examples = generate(splits()["test"][:200])
    tokens = characters([e.text + e.iso for e in examples])
    made = one_text_batches(examples, tokens, 24, 5, 1)
    parts = in_buckets(examples, 24, 5, 1)
    same(made, [one_text(part, tokens) for part in parts])


@pytest.mark.bad_input
def test_one_text_refuses():
    with refused(ValueError, "examples", "at least one", "none"):
        one_text([], TOKENS)
    with refused(ValueError, "size", "at least 1", "0"):
        one_text_batches(PAIR, TOKENS, size=0)
