"""What becomes of the cells of a chapter on its slides."""

import pytest
from nbformat.v4 import new_markdown_cell

from book._ext.book_site.pages import downloads
from tests.chapters.made import code, drawn, exercise, figure, words
from tools.editions.slides import __main__ as tool
from tools.editions.slides import deck

FIRST = new_markdown_cell("# 1. Name\n\n**A question?**")
EXERCISES = words("Summary.\n\n## Exercises")


def slides(*cells) -> list:
    return deck.slides([FIRST, *cells])


def last(*cells):
    """The slide that these cells make, behind another one."""
    before = words(kind="slide", slide="## Before\n\n- It is short.")
    return slides(before, *cells)[-1]


def shown(slide) -> list:
    return [(part.kind, part.content) for part in slide.parts]


def test_prose_becomes_the_notes_of_the_slide_before():
    slide = last(
        words("Own prose.", "slide", slide="## T\n\nShort."),
        words("More."),
        words("Nobody says this.", "skip"),
        code("left_out = 1"),
        figure(),
    )
    assert shown(slide) == [("words", "Short.")]
    assert slide.title == "T" and slide.notes == ["Own prose.", "More."]


def test_a_figure_comes_without_its_code_and_its_caption_is_said():
    cell = figure(alt="Two bars.")
    cell.metadata["tags"] = ["keep-colours"]
    cell.metadata |= words("", "slide", slide="## Two bars").metadata
    slide = last(cell)
    (part,) = slide.parts
    assert (part.kind, part.alt) == ("figure", "Two bars.")
    assert part.keeps_colours and slide.notes == ["*Figure.* Bars."]


def test_a_part_of_a_cell_is_named_by_its_ends():
    text = "def f():\n    b = 0\n    a = 1\n\n\n    b = 2\n    return a\n"
    cell = code(text, kind="-", book={"part": ["a = ", "b = "]})
    assert shown(last(cell))[-1] == ("code", "a = 1\n\n\nb = 2")
    del cell.metadata["book"]
    assert "\n\n\n" not in shown(last(cell))[-1][1]
    cell.metadata["book"] = {"part": ["return", "b = "]}
    with pytest.raises(deck.SlideError, match=cell.id):
        last(cell)


def test_what_waits_for_a_key_and_what_goes_on():
    slide = last(
        words("Later.", "fragment"), words("At once.", "-"), code(kind="-")
    )
    assert [part.is_step for part in slide.parts] == [0, 1, 0, 0]
    goes_on = last(code(kind="subslide"))
    assert goes_on.title == "Before" and shown(goes_on)[0][0] == "code"


def test_the_title_slide_asks_the_question_over_the_first_figure():
    cells = [code("1", drawn(), drawn()), code("1", drawn())]
    first = slides(*cells)[0]
    assert first.title == "1. Name"
    assert shown(first) == [
        ("words", "A question?"),
        *[("figure", "AAAA")] * 2,
    ]
    asks = new_markdown_cell("# 1. Name", metadata={"book": {"slide": "Why?"}})
    assert shown(deck.slides([asks, *cells])[0])[0] == ("words", "Why?")


def test_exercises_are_neither_shown_nor_said():
    told = slides(
        code("f", kind="-", nbgrader={"solution": True}),
        EXERCISES,
        *exercise(),
        words("### Quiz", "slide", slide="## No\n\nno"),
        words("## Next\n\nOn."),
    )
    assert len(told) == 1
    assert told[0].notes == ["Summary.", "## Next\n\nOn."]
    assert [part.kind for part in told[0].parts] == ["words"]


def test_the_old_address_of_a_deck_leads_to_it(tmp_path):
    folder, page = tmp_path / "slides", tmp_path / "book/teach/slides.html"
    folder.mkdir()
    page.parent.mkdir(parents=True)
    page.write_text('<div id="decks"></div>')
    folder.joinpath("2_new.html").write_text("no deck of a chapter")
    folder.joinpath("02_new.html").write_text("<title>2. New · slides")
    moved = {"book/01_old": "book/02_new", "book/03_none": "book/04_none"}
    tool.put_moved(tmp_path, moved | {"book/05_part#a": "book/02_new"})
    assert not [*folder.glob("0[345]*")]
    text = folder.joinpath("01_old.html").read_text("utf-8")
    assert '<a href="02_new.html">' in text and "noindex" in text
    downloads.show(tmp_path)
    assert page.read_text("utf-8").count("<li>") == 1
