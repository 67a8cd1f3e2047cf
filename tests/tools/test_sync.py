"""`make sync` on a book of two tiny chapters, without torch."""

import json

import nbformat
import pytest
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_notebook,
    new_output,
)

from tests.tools.small import put_book
from tools.chapters import sync
from tools.source.colab import FIRST_LINE

LIBRARY = '''\
def twice(x):
    """Two times x.

    Not more.
    """
    return 2 * x
'''
SHORT = 'def twice(x):\n    """Two times x."""\n    return 2 * x'
TITLE = new_markdown_cell("# Grüße", metadata={"editable": True})
ONE = [
    "# lib/softmax.py\ndef twice(): ...",
    """\
import os, sys
print('größer', flush=True)
sys.stderr.write('b')
sys.stderr.flush()
print('twice', twice(2), end='')""",
    "os.environ['BOOK_DEVICE'], os.path.exists('lib/runtime.py')",
]


@pytest.fixture
def book(tmp_path):
    one = [TITLE, *map(new_code_cell, ONE)]
    chapters = {"02_two": [TITLE, new_code_cell("'two'")], "01_one": one}
    put_book(tmp_path, chapters, {"book/lib/softmax.py": LIBRARY})
    return tmp_path


def text_of(book, name="01_one") -> str:
    return (book / "book" / f"{name}.ipynb").read_text(encoding="utf-8")


def put(book, *sources: str, title=TITLE) -> str:
    """Store these cells as chapter 1; returns the text of the file."""
    notebook = new_notebook(cells=[title, *map(new_code_cell, sources)])
    nbformat.write(notebook, book / "book" / "01_one.ipynb")
    return text_of(book)


def test_chapters_are_written_and_run_and_a_second_run_changes_nothing(
    book, capsys
):
    assert sync.main([], book) == 0
    written = "02_two.ipynb: written\n01_one.ipynb: written\n"
    assert capsys.readouterr().out == written
    text = text_of(book)
    _, first, teaches, prints, value = json.loads(text)["cells"]
    assert "".join(first["source"]).startswith(FIRST_LINE)
    assert first["outputs"] == []
    assert "".join(teaches["source"]) == f"# lib/softmax.py\n{SHORT}"
    texts = {output["name"]: output["text"] for output in prints["outputs"]}
    assert texts == {"stdout": ["größer\n", "twice 4"], "stderr": ["b"]}
    assert len(prints["outputs"]) == 2
    assert value["outputs"][0]["data"]["text/plain"] == ["('cpu', True)"]
    code = (first, teaches, prints, value, *value["outputs"])
    assert [c["execution_count"] for c in code] == [1, 2, 3, 4, 4]
    assert sync.main(["01"], book) == 0
    assert capsys.readouterr().out == "01_one.ipynb: up to date\n"
    assert text_of(book) == text


def test_named_chapters_alone_are_synced_and_stored_outputs_are_kept(
    book, capsys
):
    two = text_of(book, "02_two")
    put(book, "1 / 0", "# lib/softmax.py\ndef twice(): ...")
    for _ in range(2):
        assert sync.main(["01", "--stored"], book) == 0
    (book / "book/lib/softmax.py").write_text(LIBRARY.replace("2 *", "3 *"))
    assert sync.main(["01", "--stored"], book) == 0
    said = capsys.readouterr().out.replace("01_one.ipynb: ", "")
    assert said == "written\nup to date\nwritten\n"
    assert "return 3 * x" in text_of(book)
    assert text_of(book, "02_two") == two
    said = "sync: no chapter in _toc.yml is named 03"
    assert sync.main(["03"], book) == said


FAILING = {
    "ZeroDivisionError: division by zero": "x = 1\nx / 0",
    "Kernel died": "import os\nos._exit(1)",
    "A cell timed out": "import time\ntime.sleep(30)",
    "lib/softmax.py does not define": "# lib/softmax.py\ndef thrice(): ...",
}


@pytest.mark.parametrize("reason", FAILING)
def test_a_cell_that_fails_is_named_and_the_file_stays(
    book, monkeypatch, reason
):
    monkeypatch.setattr(sync, "SECONDS", 1)
    before = put(book, "'fine'", FAILING[reason], "'never'")
    problem = sync.main(["01"], book)
    assert problem.startswith("sync: 01_one.ipynb, code cell 3:")
    assert reason in problem and "\x1b" not in problem
    assert problem.endswith("\nThe file is as it was.")
    assert text_of(book) == before


def test_a_chapter_without_a_title_is_refused(book):
    put(book, "1", title=new_code_cell("# Title"))
    problem = sync.main(["01"], book)
    assert "01_one.ipynb: the first cell must begin with the title" in problem


def test_a_notebook_has_one_form():
    """Whatever an editor has left: only what somebody reads stays."""
    kept = {
        "book": {"exempt": "a reason"},
        "mystnb": {"image": {"alt": "A figure."}},
        "nbgrader": {"grade_id": "f"},
        "slideshow": {"slide_type": "slide"},
        "tags": ["hide-input"],
    }
    left = {"execution": {"iopub.busy": "now"}, "colab": {}, "scrolled": True}
    element = "<a-b>\n<p>Read me.</p>\n</a-b>"
    carried = "\n<script data-explorer>\nlet a = 1 < 2;\n</script>"
    html = {"text/html": element + carried, "text/plain": "<a-b>"}
    value = new_output("execute_result", html, execution_count=9)
    notebook = new_notebook(metadata={"colab": {"provenance": []}})
    notebook.nbformat_minor = 2
    notebook.cells = [
        TITLE,
        new_code_cell("'ß'", id="a", metadata=kept | left),
        new_code_cell("2", metadata={"tags": [], "cellView": "form"}),
        new_code_cell("# @title Check: it is one\nassert 1", id="a"),
        new_code_cell("4", id="cell-1", outputs=[value]),
        new_code_cell("5"),
    ]
    for number in (2, 5):
        del notebook.cells[number]["id"]
    sync.normalise(notebook)
    assert notebook.metadata == sync.METADATA
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    code = notebook.cells[1:]
    ids = [cell.id for cell in code]
    assert ids == ["a", "cell-2", "cell-3", "cell-1", "cell-4"]
    folded = {"cellView": "form", "jupyter": {"source_hidden": True}}
    assert [c.metadata for c in code] == [kept, {}, folded, {}, {}]
    assert code[3].execution_count == code[3].outputs[0].execution_count == 4
    assert code[3].outputs[0].data == html | {"text/html": element}
    text = sync.to_text(notebook)
    assert text.startswith('{\n "cells": [\n  {\n   "cell_type"')
    assert "# Grüße" in text and "ß" in text
    assert text.endswith("\n}\n")
