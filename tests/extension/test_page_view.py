"""The page view of a notebook: its cells, one by one.

What all chapters have, `tests/html` finds on their pages.
"""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from book._ext.book_site.pages.mathematics import typeset_node
from book._ext.book_site.source.notebook import adapt_outputs, page_cells
from kit.explorers import Explorer

BADGE = (
    "[Open this chapter in Colab]"
    "(https://colab.research.google.com/github/someone/book/blob/main/x.ipynb)"
)
HIDDEN = """\
assert double(2) == 4
### BEGIN HIDDEN TESTS
assert double(3) == 6
### END HIDDEN TESTS
"""


def test_a_title_loses_number_and_badge():
    cell = new_markdown_cell(f"# 7. A title\n\n{BADGE}\n\n1. A list")
    assert page_cells(cell)[0].source == "# A title\n\n1. A list"


def test_a_cell_is_folded_to_one_line():
    cell = new_code_cell("# @title Check: a set {1} is <small>\nassert {1}")
    (shown,) = page_cells(cell)
    assert shown.source == "assert {1}"
    assert shown.metadata["tags"] == ["hide-input", "check"]
    line = shown.metadata["mystnb"]["code_prompt_show"]
    assert line == "✓ a set {1} is <small>"
    (shown,) = page_cells(new_code_cell("# @title Imports\nimport math"))
    assert shown.metadata["tags"] == ["hide-input", "imports"]


def test_an_answer_hides_hidden_tests():
    cell = new_code_cell(HIDDEN, metadata={"nbgrader": {"grade": True}})
    assert page_cells(cell)[0].source == "assert double(2) == 4"


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
