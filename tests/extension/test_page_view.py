"""The page view of a notebook: its cells, one by one.

What all chapters have, `tests/html` finds on their pages.
"""

from copy import deepcopy

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from book._ext.book_site.pages.mathematics import typeset_node
from book._ext.book_site.source.notebook import (
    adapt_outputs,
    note_on_checks,
    page_cells,
)
from kit.explorers import Explorer
from tests import sample

BADGE = (
    "[Open this chapter in Colab]"
    "(https://colab.research.google.com/github/someone/book/blob/main/x.ipynb)"
)
CHECK = new_code_cell("# @title Check: a set {1} is <small>\nassert {1}")
IMPORTS = new_code_cell("# @title Imports\nimport math")
HIDDEN = """\
assert double(2) == 4
### BEGIN HIDDEN TESTS
assert double(3) == 6
### END HIDDEN TESTS
"""


def test_other_cells_stay_as_they_are_and_that_for_colab_is_left_out():
    cell = new_code_cell("1 + 1")
    assert page_cells(cell) == [new_code_cell("1 + 1", id=cell.id)]
    colab = new_code_cell("import os", metadata={"tags": ["colab"]})
    assert page_cells(colab) == []


def test_a_title_loses_number_and_badge():
    cell = new_markdown_cell(f"# 7. A title\n\n{BADGE}\n\n1. A list")
    assert page_cells(cell)[0].source == "# A title\n\n1. A list"


@pytest.mark.parametrize(
    "cell, line, kind, source",
    [
        (CHECK, "✓ a set {1} is <small>", "check", "assert {1}"),
        (IMPORTS, "Imports", "imports", "import math"),
        (
            sample.exercise()[-1],
            'check("4.1", window_mask)',
            "exercise-check",
            sample.CHECK,
        ),
    ],
)
def test_a_cell_is_folded_to_one_line(cell, line, kind, source):
    (shown,) = page_cells(deepcopy(cell))
    assert shown.source == source
    assert shown.metadata["tags"] == ["hide-input", kind]
    assert shown.metadata["mystnb"]["code_prompt_show"] == line


@pytest.mark.parametrize(
    "cells, said",
    [
        ([IMPORTS, CHECK], ["1 check is"]),
        ([CHECK, IMPORTS, CHECK], ["2 checks are"]),
        ([IMPORTS], []),
    ],
)
def test_a_page_says_how_many_checks_it_holds(cells, said):
    notes = note_on_checks(cells)
    assert [" ".join(n.source.split()[2:5]) for n in notes] == said


def test_an_answer_hides_what_variants_change_and_hidden_tests():
    _, answer, _ = sample.exercise()
    for cell in page_cells(answer):
        assert "width, length = 3, 7\n\n\ndef" in cell.source
    cell = new_code_cell(HIDDEN, metadata={"nbgrader": {"grade": True}})
    assert page_cells(cell)[0].source == "assert double(2) == 4"


@pytest.mark.parametrize(
    "link, shown",
    [
        ('<a href="05_heads.ipynb">', '<a href="05_heads.html">'),
        ('<a href="https://b.example/05_heads.ipynb">', None),
        ("text: 05_heads.ipynb", None),
    ],
)
def test_links_of_a_drawing_lead_to_pages(link, shown):
    data = {"text/html": f"<p>{link * 2}</p>", "text/plain": link}
    cell = new_code_cell("drawing", outputs=[new_output("display_data", data)])
    adapt_outputs(cell)
    (output,) = cell.outputs
    assert output.data["text/html"] == f"<p>{(shown or link) * 2}</p>"
    assert output.data["text/plain"] == link


def test_an_explorer_stands_on_the_page_without_code_and_scripts():
    made = Explorer("mask-explorer", "<p>A table.</p>", words=["a"])
    output = new_output("execute_result", {"text/html": made._repr_html_()})
    tags = {"tags": ["hide-input", "explorer"]}
    cell = new_code_cell("masks()", metadata=tags, outputs=[output])
    (shown,) = page_cells(cell)
    adapt_outputs(shown)
    assert shown.metadata["tags"] == ["remove-input", "explorer"]
    html = shown.outputs[0].data["text/html"]
    assert html.startswith("<mask-explorer ")
    assert html.endswith("<p>A table.</p>\n</mask-explorer>")


def test_a_wrong_formula_is_a_warning_that_names_it(caplog):
    assert "katex-html" in typeset_node(None, "x = 1")
    assert caplog.text == ""
    assert typeset_node(None, r"\notacommand") == ""
    (record,) = caplog.records  # and a warning fails the build
    assert record.levelname == "WARNING"
    assert r"\notacommand" in record.getMessage()
