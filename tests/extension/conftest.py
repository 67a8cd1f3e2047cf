"""A small book that has a page of every kind, and its search index."""

import json
import shutil
from functools import cache

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from book._ext.book_site.search.index import FILE, START
from tests.built import ROOT, small_book, soup_of
from tools.gpu import source_hash
from tools.source import taught

ONE = """\
# 1. One

> **You will** read.
> **Minutes** 35, and about 20 for the exercises.

A **key** finds; [Vaswani](bibliography.md#vaswani2017) says so.
All **keys** do, and **nothing** else."""
GLOSSARY = """\
# Glossary

## K

key (name)
: What something is found by.

never used
: A term that no chapter has.
"""
SOFTMAX = taught.as_taught(
    (ROOT / "book/lib/softmax.py").read_text(),
    "# lib/softmax.py\ndef softmax(): ...",
)
TWO = "# 2. Two\n\n## How\n\nA **key**."
PAGES = {
    "index": "# Index\n\n1. [One](01_one.ipynb). Why?\n2. [Two](02_two.ipynb)."
    " How?\n\n```{explorer} dates.date_explorer\n```\n",
    "01_one": [new_markdown_cell(ONE), new_code_cell("1 + 1")],
    "02_two": [new_markdown_cell(TWO), new_code_cell(SOFTMAX)],
    "03_three": [new_markdown_cell("# 3. Three\n\nNothing.")],
    "glossary": GLOSSARY,
    "tested": "# Tested\n\n```{gpu-reports}\n```\n",
    "cite": "# Cite\n\n```{citation} bibtex\n```\n",
    "library_1": "# Part I\n\n```{library} 1\n```\n",
    "library_helpers": "# Helpers\n\n```{library} helpers\n```\n",
    "library": "# Library\n\n```{library-map}\n```\n",
    "bibliography": "# Works\n\n```{bibliography}\n:all:\n```\n",
}
TOC = """\
format: jb-book
root: book/index
parts:
  - caption: I
    chapters:
"""
REPORT = {
    "device": "NVIDIA H200 (fake)",
    "torch": "2.13.0+cu130",
    "date": "2026-11-20",
    "commit": "0123456789abcdef",
    "library": {"passed": 640, "failed": 0},
}


def write_reports(folder):
    """An older report, and one on two chapters, of which one has changed."""
    one = folder / "one.ipynb"
    nbformat.write(new_notebook(cells=PAGES["01_one"]), one)
    hashes = {"01_one": source_hash(one), "02_two": "of older code"}
    counts = {
        f"{name}.ipynb": {"code_sha256": code, "passed": 7, "failed": 1}
        for name, code in hashes.items()
    }
    old = {"device": "Old", "date": "2026-01-02", "notebooks": {}}
    for name, said in (("a", old), ("b", {"notebooks": counts})):
        path = folder / "reports" / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(REPORT | said))


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """The site of a book with three chapters."""
    folder = tmp_path_factory.mktemp("small")
    shutil.copy(ROOT / "CITATION.cff", folder)
    own = shutil.ignore_patterns("explorers")
    for name in ("lib", "kit"):
        shutil.copytree(
            ROOT / "book" / name, folder / "book" / name, ignore=own
        )
    write_reports(folder)
    _, *names = PAGES
    toc = TOC + "".join(f"      - file: book/{name}\n" for name in names)
    small_book(folder, toc, PAGES, "https://github.com/someone/book")
    return folder / "_build" / "html"


@pytest.fixture
def main(small):
    """`main(name)` is the text of a page of the small book."""
    return lambda name: soup_of(small / "book" / f"{name}.html").main


@cache
def index_of(folder):
    """What the search of a built site knows."""
    script = (folder / FILE).read_text("utf-8")
    return json.loads(script.removeprefix(START).removesuffix(";\n"))
