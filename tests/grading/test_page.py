"""The page of a class: one file, readable, and nobody's script."""

from html.parser import HTMLParser

from tests.grading.graded import EVIL, book, some
from tools.grading import page
from tools.grading.results import Result

VOID = {"meta"}


class Reader(HTMLParser):
    """Checks that elements close, and collects text and attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open, self.tags, self.text, self.attributes = [], [], "", []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, name, attributes):
        self.tags.append(name)
        self.attributes += attributes
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        self.text += data


def test_the_page_is_whole_and_needs_nothing_else():
    text = page.page(book(some()))
    reader = Reader(text)
    assert not {"script", "link", "img", "iframe"} & set(reader.tags)
    names = {name for name, _ in reader.attributes}
    assert not names & {"src", "href", "srcset", "onclick"}
    assert "url(" not in text and "@import" not in text
    assert "default-src 'none'" in text


def test_what_students_wrote_is_text():
    text = page.page(book(some()))
    assert EVIL not in text
    assert EVIL in Reader(text).text
    rows = some()
    rows[0].student = EVIL
    rows[0].notes = [EVIL]
    assert "<script>" not in page.page(book(rows))


def test_the_page_says_who_is_to_be_looked_at():
    text = Reader(page.page(book(some()))).text
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
    assert "2 × too wide" in Reader(page.page(book(rows))).text


def test_signs_do_not_speak_by_colour_alone():
    text = Reader(page.page(book(some()))).text
    for sign, meaning in page.MEANINGS.items():
        assert f"{page.SIGNS[sign]} {meaning}" in text


def test_a_class_of_nobody_is_a_page():
    Reader(page.page(book([])))
