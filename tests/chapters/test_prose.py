"""Numbers in prose are printed, stand in code, or are computed on paper."""

from functools import cache

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from tools.chapters.prose import unproved, unproved_in_sections
from tools.source.taught import ROOT, notebooks

# A program writes them; tests of their own compare each with a fresh run.
WRITTEN = {"gallery", "shapes"}
PAGES = sorted(
    path for path in (ROOT / "book").glob("*.md") if path.stem not in WRITTEN
)


@cache
def cells_of(name: str) -> list:
    """The cells of a notebook, named as a link on a page in book/ does."""
    return nbformat.read(ROOT / "book" / f"{name}.ipynb", as_version=4).cells


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_every_number_of_a_notebook_is_proved(path):
    name = path.relative_to(ROOT / "book").with_suffix("").as_posix()
    assert unproved(cells_of(name)) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_number_of_a_page_is_that_of_a_chapter_beside_it(path):
    text = path.read_text(encoding="utf-8")
    assert unproved_in_sections(text, cells_of) == []


def with_text(text: str) -> list:
    """A chapter that computes 0.1 + 0.25, prints 1,024.50 and says this."""
    printed = new_output("stream", name="stdout", text="loss 1,024.50\n")
    return [
        new_code_cell("print(0.1 + 0.25, 1e-5)", outputs=[printed]),
        new_markdown_cell(text),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "It is 0.77.",
        "The loss is 1,024.51.",
        "Their sum is 0.35.",
        "Their sum is 0.36. <!-- on paper: 0.1 + 0.25 -->",
    ],
)
def test_what_is_not_proved_is_named(text):
    (problem,) = set(p.partition(" ")[0] for p in unproved(with_text(text)))
    assert problem in text


def test_arithmetic_of_another_cell_does_not_count():
    cells = with_text("Six tenths. <!-- on paper: 0.1 + 0.52 -->")
    assert len(unproved([*cells, new_markdown_cell("It is 0.62.")])) == 1


def test_a_page_quotes_only_the_chapters_of_a_section():
    page = """# Questions

## One

It is 0.25, as [chapter 1](01_one.ipynb#here) prints.

## Two

It is 0.25, and 0.35. <!-- on paper: 0.1 + 0.25 -->
"""
    asked = []

    def cells(name):
        asked.append(name)
        return with_text("The text of a chapter proves nothing: 0.25")

    (problem,) = unproved_in_sections(page, cells)
    assert problem.startswith("0.25 in: ") and "0.35" in problem
    assert asked == ["01_one"]
