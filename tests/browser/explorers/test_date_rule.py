"""Whether the date explorer trusts an answer: its script date-rule.js."""

import re
from datetime import date

import pytest
from playwright.sync_api import expect

from kit import dates
from kit.dates import generate, splits, write
from kit.explorers.dates import examples
from tests.browser.explorers.test_dates import (
    ON,
    answer,
    iso_of,
    part,
    sample,
    tiles,
    type_in,
    written,
)

EXAMPLES = [example["text"] for example in examples()]
DASHED = "(tile) => getComputedStyle(tile).borderTopStyle === 'dashed'"
RIGHT = "✓ The text says this date."
UNKNOWN = "the text is no date of a kind that it learnt."
# What a reader types, and what is said below the answer.
SAID = {
    "29 février 2019": "⚠ No such day: February 2019 has no day 29.",
    "0 March 2019": "⚠ No such day: March 2019 has no day 0.",
    "2019年13月3日": "⚠ No such day: there is no month 13.",
    "25 December 2525": "⚠ Not to be trusted: the year 2525 is not among "
    "those that it learnt, 1900 to 2099.",
    "14 July": "⚠ Not to be trusted: the text has no year of four digits.",
    "hello world": f"⚠ Not to be trusted: {UNKNOWN}",
    "3/3/2019": f"⚠ Not to be trusted: {UNKNOWN}",
    "third of March 2019": f"⚠ Not to be trusted: {UNKNOWN}",
    "March 3, 2019 at noon": f"⚠ Not to be trusted: {UNKNOWN}",
    "year 1850": "⚠ Not to be trusted: it learnt the years 1900 to 2099 only.",
    "Monday, March 3, 2019": "⚠ Doubtful: 3 March 2019 is a Sunday.",
    "2019年3月3日星期五": "⚠ Doubtful: 3 March 2019 is a Sunday.",
    "Sept. 11, 2001": f"⚠ Doubtful: {UNKNOWN}",
    "9 мая 1945 года": "⚠ Wrong: the text says 1945-05-09.",
    "\u200e3 mars\u200f 2019": f"{RIGHT} Read as “3 mars 2019”, without 2 "
    "invisible characters.",
    "Ｍars 3\u2060, 2019": f"⚠ Doubtful: {UNKNOWN} Read as “Mars 3, 2019”, "
    "each character in its plain form, without 1 invisible character.",
    "３ MÄrz 2019": f"{RIGHT} Read as “3 märz 2019”, each character in its "
    "plain form, in lower case.",
    # What cannot be seen is not said.
    "12\u205fde octubre de\u00a01992\t": RIGHT,
    "3 fe\u0301vrier 2019": RIGHT,
    "MARCH 3, 2019": RIGHT,
    "3 mars 2019!": f"{RIGHT} It has never met ! (U+0021) and reads <unk>.",
    "3 \u0489mars 2019\u2800\ue000☂é": "⚠ Doubtful: it has never met "
    "(U+0489), ⠀ (U+2800), (U+E000), ☂ (U+2602) and reads <unk>.",
    "٣ مارس ٢٠١٩": "⚠ Not to be trusted: it has never met ٣ (U+0663), م "
    "(U+0645), ا (U+0627), ر (U+0631) and 5 more and reads <unk>.",
}
READ = """({ rule }, texts) => texts.map((text) =>
  [rule.plain(text).plain, rule.readings(text)])"""


@pytest.fixture
def shown(show):
    """The explorer on a phone, with its model."""
    shown = show(sample(), width=360, still=True)
    shown.page.evaluate(ON)
    return shown


def test_a_doubt_and_a_change_are_said(shown):
    wanted = SAID | dict.fromkeys(EXAMPLES, RIGHT)
    states = [{"text": text} for text in wanted]
    found = shown.each(states, "(e) => e.verdict.textContent")
    said = [words.partition(". ")[2] for words in found]
    assert dict(zip(wanted, said, strict=True)) == wanted


def test_they_stand_beside_the_answer_and_fit_a_phone(shown, few):
    verdict = part(shown, "verdict")
    height = shown.element.bounding_box()["height"]
    for text in [*SAID][:: few(2, 9)]:
        type_in(shown, text)
        expect(verdict).to_have_text(f"{written(shown)}. {SAID[text]}")
        is_doubted = SAID[text].startswith("⚠")
        assert tiles(shown).first.evaluate(DASHED) == is_doubted
        shown.assert_fits()
        shown.set(text="3 mars 2019")
        assert shown.element.bounding_box()["height"] == height
    type_in(shown, "14 July")
    assert shown.violations() == []


def test_little_confidence_is_said(shown):
    """A right answer that was nearly a guess is doubted, too."""
    text = "Thursday, November 29, 1979"
    shown.set(text=text)
    _, p, _ = answer(text)
    least, place = p.max(-1).values.min(0)
    expect(part(shown, "verdict")).to_have_text(
        "1979-11-29. ⚠ Unsure: the text says this date, but the model gave "
        f"character {place + 1} only {least:.2f}."
    )


def test_a_text_is_made_plain_and_signs_stand_for_what_is_not_seen(shown):
    text = "  3 \u0489mars \t２019\n\u2800\ufeff\ue000☂é"
    shown.set(text=text)
    read = "3 \u0489mars 2019 \u2800\ue000☂é"
    signs = {" ": "␣", "\u0489": "◌\u0489", "\u2800": "�", "\ue000": "�"}
    keys = shown.all(".look thead th[scope=col]")
    assert keys == [signs.get(c, c) for c in read]
    assert written(shown) == iso_of(read)


def test_what_it_learnt_is_what_the_book_writes(shown, few):
    """Of every date of the book the rule reads that date and no other."""
    drawn = generate(splits()["train"], few(5_000, 200), seed=16)
    texts = [example.text for example in drawn]
    found = shown.element.evaluate(READ, texts)
    for example, (plain, readings) in zip(drawn, found, strict=True):
        assert plain == example.text
        assert readings, example
        for one in readings:
            day = date(one["year"], one["month"], one["day"])
            assert day.isoformat() == example.iso, (example, one)
            weekday = one.get("weekday")
            assert weekday in (None, day.isoweekday() % 7), (example, one)


def test_the_box_says_what_it_learnt(shown):
    digits = {
        write(date(2019, 3, 3), language, style)
        for language in dates.LANGUAGES
        for style in dates.styles(language)
    }
    digits = {text for text in digits if not any(map(str.isalpha, text))}
    said = re.findall(r"\S*\d\d[./]\d+", shown.text(".learnt"))
    assert {*said} == digits
