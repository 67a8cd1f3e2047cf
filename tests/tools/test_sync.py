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

from tools.chapters import sync
from tools.chapters.kernels import write_kernels
from tools.source import colab
from tools.source.colab import FIRST_LINE

LIBRARY = '''\
def twice(x):
    """Two times x.

    Not more.
    """
    return 2 * x
'''
SHORT = 'def twice(x):\n    """Two times x."""\n    return 2 * x'


def cell(source: str, **metadata) -> dict:
    return new_code_cell(source, metadata=metadata)


def chapter(*cells: dict) -> dict:
    """A notebook as an editor leaves it."""
    title = new_markdown_cell("# Grüße", metadata={"editable": True})
    return new_notebook(
        cells=[title, *cells],
        metadata={"colab": {"provenance": []}, "kernelspec": {
            "name": "conda", "display_name": "conda", "language": "python",
        }},
    )  # fmt: skip


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A book on disk; the kernel book-cpu is installed for it alone."""
    write_kernels(tmp_path / "jupyter" / "kernels")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    files = {
        "_config.yml": "repository: {url: 'https://github.com/OWNER/REPO', "
        "branch: main}",
        "_toc.yml": "root: book/index\nparts:\n- chapters:\n"
        "  - file: book/02_two\n  - file: book/01_one\n",
        "requirements.txt": "".join(
            f"{name}==1.0\n" for name in colab.INSTALLED_IF_MISSING
        ),
        "book/lib/runtime.py": "",
        "book/lib/softmax.py": LIBRARY,
    }
    (tmp_path / "book" / "lib").mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    one = chapter(
        cell("# lib/softmax.py\ndef twice(): ..."),
        cell("import os\nprint('größer')\nprint('twice', twice(2), end='')"),
        cell("os.environ['BOOK_DEVICE'], os.path.exists('lib/runtime.py')"),
    )
    two = chapter(cell("'two'"))
    nbformat.write(one, tmp_path / "book" / "01_one.ipynb")
    nbformat.write(two, tmp_path / "book" / "02_two.ipynb")
    return tmp_path


def text_of(book, name="01_one") -> str:
    return (book / "book" / f"{name}.ipynb").read_text(encoding="utf-8")


def put(book, *cells: dict) -> str:
    """Store these cells as chapter 1; returns the text of the file."""
    nbformat.write(chapter(*cells), book / "book" / "01_one.ipynb")
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
    (output,) = prints["outputs"]
    assert output["text"] == ["größer\n", "twice 4"]
    assert value["outputs"][0]["data"]["text/plain"] == ["('cpu', True)"]
    counts = [c["execution_count"] for c in (first, teaches, prints, value)]
    assert (
        counts == [1, 2, 3, 4] and value["outputs"][0]["execution_count"] == 4
    )

    assert sync.main([], book) == 0
    assert capsys.readouterr().out == written.replace("written", "up to date")
    assert text_of(book) == text


def test_named_chapters_alone_are_synced(book):
    one, two = text_of(book), text_of(book, "02_two")
    assert sync.main(["03"], book) == (
        "sync: no chapter in _toc.yml is named 03"
    )
    assert sync.main(["02"], book) == 0
    assert text_of(book) == one and text_of(book, "02_two") != two


def test_what_is_stored_is_written_without_a_run(book, capsys):
    put(book, cell("1 / 0"), cell("# lib/softmax.py\ndef twice(): ..."))
    for _ in range(2):
        assert sync.main(["01", "--stored"], book) == 0
    (book / "book/lib/softmax.py").write_text(LIBRARY.replace("2 *", "3 *"))
    assert sync.main(["01", "--stored"], book) == 0
    said = capsys.readouterr().out.replace("01_one.ipynb: ", "")
    assert said == "written\nup to date\nwritten\n"
    assert "return 3 * x" in text_of(book)


@pytest.mark.parametrize(
    "source, reason",
    [
        ("x = 1\nx / 0", "ZeroDivisionError: division by zero"),
        ("import os\nos._exit(1)", "Kernel died"),
        ("import time\ntime.sleep(30)", "A cell timed out"),
    ],
)
def test_a_failing_cell_is_named_and_the_file_stays(
    book, monkeypatch, source, reason
):
    monkeypatch.setattr(sync, "SECONDS", 1)
    before = put(book, cell("'fine'"), cell(source), cell("'never'"))
    problem = sync.main(["01"], book)
    assert problem.startswith("sync: 01_one.ipynb, code cell 3:\n")
    assert reason in problem and "\x1b" not in problem
    assert problem.endswith("\nThe file is as it was.")
    assert text_of(book) == before


@pytest.mark.parametrize("module", ["softmax", "nowhere"])
def test_a_definition_that_the_library_lacks_is_named(book, module):
    before = put(book, cell(f"# lib/{module}.py\ndef thrice(): ..."))
    problem = sync.main(["01"], book)
    assert problem.startswith(
        f"sync: 01_one.ipynb, code cell 2: lib/{module}.py does not define"
    )
    assert text_of(book) == before


@pytest.mark.parametrize(
    "first", [new_markdown_cell("No title"), new_code_cell("# Title")]
)
def test_a_chapter_without_a_title_is_refused(book, first):
    notebook = chapter(cell("1"))
    notebook.cells[0] = first
    nbformat.write(notebook, book / "book" / "01_one.ipynb")
    problem = sync.main(["01"], book)
    assert "01_one.ipynb: the first cell must begin with the title" in problem


def normal(*cells: dict) -> dict:
    """The normal form of a chapter with these cells."""
    notebook = chapter(*cells)
    notebook.nbformat_minor = 2
    sync.normalise(notebook)
    return notebook


def test_a_notebook_has_one_form_and_keeps_its_letters():
    notebook = normal(cell("x = 'ß'"))
    assert notebook.metadata == sync.METADATA
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    text = sync.to_text(notebook)
    assert text.startswith('{\n "cells": [\n  {\n   "cell_type"')
    assert "# Grüße" in text and "ß" in text
    assert text.endswith("\n}\n")


def test_cells_keep_only_the_metadata_that_somebody_reads():
    kept = {
        "book": {"exempt": "a reason"},
        "mystnb": {"image": {"alt": "A figure."}},
        "nbgrader": {"grade_id": "f"},
        "slideshow": {"slide_type": "slide"},
        "tags": ["hide-input"],
    }
    left = {"execution": {"iopub.busy": "now"}, "colab": {}, "scrolled": True}
    notebook = normal(
        cell("1", **kept, **left),
        cell("2", tags=[], cellView="form"),
        cell("# @title Check: it is one\nassert 1"),
    )
    metadata = [dict(c.metadata) for c in notebook.cells]
    folded = {"cellView": "form", "jupyter": {"source_hidden": True}}
    assert metadata == [{}, kept, {}, folded]


def test_outputs_are_merged_numbered_and_without_scripts():
    def stream(name, text):
        return new_output("stream", name=name, text=text)

    element = "<a-b>\n<p>Read me.</p>\n</a-b>"
    carried = "\n<script data-explorer>\nlet a = 1 < 2;\n</script>"
    html = {"text/html": element + carried, "text/plain": "<a-b>"}
    value = new_output("execute_result", html, execution_count=9)
    code = new_code_cell("1", execution_count=7)
    code.outputs = [
        stream("stdout", "a\n"),
        value,
        stream("stderr", "b"),
        stream("stdout", "c"),
    ]
    last = normal(cell("0"), code).cells[-1]
    assert last.execution_count == last.outputs[1].execution_count == 2
    assert [o.get("text") for o in last.outputs] == ["a\nc", None, "b"]
    assert last.outputs[1].data == html | {"text/html": element}


def test_cells_keep_their_ids_and_others_are_numbered():
    notebook = chapter(*(cell("1") for _ in range(5)))
    names = ["a", None, "a", "cell-1", None]
    for one, name in zip(notebook.cells[1:], names, strict=True):
        if name is None:
            del one["id"]
        else:
            one.id = name
    sync.normalise(notebook)
    ids = [c.id for c in notebook.cells[1:]]
    assert ids == ["a", "cell-2", "cell-3", "cell-1", "cell-4"]
