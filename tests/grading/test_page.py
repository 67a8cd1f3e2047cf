"""The page of a class: one file, readable, and nobody's script."""

import re
from xml.etree import ElementTree

from tests.grading.graded import EVIL, book, some
from tools.grading import page
from tools.grading.results import Result


def body(text: str) -> ElementTree.Element:
    """What is shown, in which every element closes."""
    return ElementTree.fromstring(
        text[text.index("<body") : -len("</html>\n")]
    )


def shown(rows: list) -> str:
    return "".join(body(page.page(book(rows))).itertext())


def test_the_page_is_whole_and_needs_nothing_else():
    text = page.page(book(some()))
    assert not re.search("<(script|link|img|iframe)", text)
    names = {name for element in body(text).iter() for name in element.attrib}
    assert not names & {"src", "href", "srcset", "onclick"}
    assert "url(" not in text and "@import" not in text
    assert "default-src 'none'" in text


def test_what_students_wrote_is_text():
    rows = some()
    assert EVIL not in page.page(book(rows))
    assert EVIL in shown(rows)
    rows[0].student = EVIL
    rows[0].notes = [EVIL]
    assert "<script>" not in page.page(book(rows))


def test_the_page_says_who_is_to_be_looked_at():
    text = shown(some())
    looks = text.partition("To look at by hand")[2].partition("The exerc")[0]
    for said in ("it wrote", "replaced x", "the sandbox ended", "empty"):
        assert said in looks
    assert "half" not in looks
    assert looks.count("no valid JSON") == 1, "once for a file"


def test_hints_are_counted_whatever_was_drawn():
    rows = some()
    rows[1].result = Result("wrong", 0.5, "too wide (seed=1)")
    rows[3].result = Result("wrong", 0.0, "too wide (seed=2)")
    rows[3].notes = []
    assert "2 × too wide" in shown(rows)


def test_signs_do_not_speak_by_colour_alone():
    text = shown(some())
    for sign, meaning in page.MEANINGS.items():
        assert f"{page.SIGNS[sign]} {meaning}" in text


def test_a_class_of_nobody_is_a_page():
    assert "Nothing: no file" in shown([])
