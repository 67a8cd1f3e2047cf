"""Chapters opened alone: the first cell and the badge.

Whole chapters are run alone by `make test-notebooks`; see test_alone.py.
"""

import ast
import os
import sys

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from book._ext.book_site.source.notebook import page_cells
from tests.tools.small import put, python
from tools import gpu
from tools.chapters import alone, sync
from tools.chapters.rules import imported
from tools.source import colab
from tools.source.address import PLACEHOLDER, Place
from tools.source.taught import ROOT, notebooks

PUBLIC = Place("https://github.com/some-owner/executable-transformer", "v1")
UNKNOWN = Place(PLACEHOLDER, "main")
WHERE = "import lib, os\nprint(os.getcwd())\nprint(lib.__file__)"
LIBRARY = {"lib/__init__.py": "", "lib/runtime.py": ""}


def fetch(address: Place) -> str:
    return colab.first_cell(address, colab.pins(ROOT))


def assert_enters(book, source: str, folder) -> None:
    """The first cell runs in a folder, says nothing, and leads to the book."""
    done = python("-c", f"{source}\n{WHERE}", cwd=folder)
    assert done.stderr == ""
    assert done.stdout == f"{book}\n{book / 'lib' / '__init__.py'}\n"


@pytest.fixture(scope="module")
def published(tmp_path_factory) -> Place:
    """A bare repository with the files that the first cell looks for."""
    folder = tmp_path_factory.mktemp("public")
    put(folder / "tree" / "book", LIBRARY)
    return alone.publish(folder / "book.git", folder / "tree")


def test_it_fetches_the_book_and_mends_and_keeps_it(published, tmp_path):
    wrong = Place(published.url, "no-such-branch")
    done = python("-c", fetch(wrong), cwd=tmp_path)
    assert f"RuntimeError: cannot fetch {wrong.url}: " in done.stderr
    assert wrong.branch in done.stderr and "fatal:" in done.stderr
    clone = tmp_path / "book-files"
    for stray in ("lib/__init__.py", "book/x", "book-files/x"):
        put(tmp_path, {stray: "raise ImportError"})
    assert_enters(clone / "book", fetch(published), tmp_path)
    for lost in (".git/index", "book/lib/runtime.py"):
        (clone / lost).unlink()
        assert_enters(clone / "book", fetch(published), tmp_path)
        assert (clone / lost).exists()
    put(clone, {"note": "mine"})
    nowhere = Place("file:///nowhere", published.branch)
    assert_enters(clone / "book", fetch(nowhere), tmp_path)
    assert (clone / "note").exists()


@pytest.mark.parametrize("address", [PUBLIC, UNKNOWN])
def test_where_the_book_lies_nothing_is_fetched(tmp_path, address):
    book = tmp_path / "book"
    put(book, LIBRARY)
    (book / "deeper").mkdir()
    for folder in (tmp_path, book, book / "deeper"):
        assert_enters(book, fetch(address), folder)
    assert os.listdir(tmp_path) == ["book"]
    assert {*os.listdir(book)} <= {"deeper", "lib", "__pycache__"}


def test_without_git_or_an_address_it_says_so(tmp_path):
    for address, why in [
        (UNKNOWN, "FileNotFoundError: this notebook needs the rest of"),
        (PUBLIC, "RuntimeError: install git, then run this cell again"),
    ]:
        done = python("-c", fetch(address), cwd=tmp_path, PATH=str(tmp_path))
        assert done.returncode == 1 and f"\n{why}" in done.stderr


def test_what_is_missing_is_installed_in_its_pinned_version(tmp_path):
    """And what is there is not: einops stays, whatever its version."""
    put(tmp_path, LIBRARY)
    pins = {"einops": "0.0", "no_such_package": "1.0"}
    source = colab.first_cell(PUBLIC, pins)
    said = python("-c", source, cwd=tmp_path, PIP_NO_INDEX="1").stderr
    assert "RuntimeError: cannot install ['no_such_package==1.0']: " in said
    assert "No matching distribution found for no_such" in said


def test_it_brings_all_that_colab_may_lack_and_nothing_else():
    folders = ((ROOT / "book" / name).rglob("*.py") for name in ("lib", "kit"))
    sources = [path.read_text() for paths in folders for path in paths]
    for path in notebooks():
        sources += [c.source for c in sync.code_cells(sync.read(path))]
    trees = map(ast.parse, sources)
    names = {parts[0] for t in trees for parts in imported(t, "a/package")}
    there = {"IPython", "kit", "lib", "matplotlib", "numpy", "torch"}
    there |= {"transformers"}  # in Colab, asked for there
    needed = names - sys.stdlib_module_names - there
    assert colab.pins(ROOT).keys() == needed
    assert needed <= {*gpu.NEEDED}  # it has no network to fetch them


@pytest.mark.parametrize("text", ["", "\n\n**Why?**\n\nBecause."])
def test_both_are_put_changed_and_removed_and_not_shown_on_the_site(text):
    title, code = new_markdown_cell(f"# Title{text}"), new_code_cell("1")
    notebook = new_notebook(cells=[title, code])
    for branch in ("main", "main", "v1"):
        address = Place(PUBLIC.url, branch)
        colab.put_first_cell(notebook, fetch(address))
        colab.put_badge(notebook, colab.badge(address, "01.ipynb"))
        first, rest = sync.code_cells(notebook)
        assert (first.id, first.source) == ("colab", fetch(address))
        assert first.metadata == {"tags": ["hide-cell", "colab"]}
        assert rest.source == "1"
        link = (
            "https://colab.research.google.com/github/some-owner/executable-"
            f"transformer/blob/{branch}/book/01.ipynb"
        )
        line = f"[Open this chapter in Colab]({link})"
        assert notebook.cells[0].source == f"# Title\n\n{line}{text}"
    shown = [c.source for cell in notebook.cells for c in page_cells(cell)]
    assert shown == [f"# Title{text}", "1"]
    for url in (PLACEHOLDER, "https://example.org/a/b"):
        line = colab.badge(Place(url, "main"), "01.ipynb")
        colab.put_badge(notebook, line)
        assert notebook.cells[0].source == f"# Title{text}"
