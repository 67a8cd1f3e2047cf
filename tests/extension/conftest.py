"""The built site, and a small book that has a page of every kind."""

import json
import re
import shutil
from functools import cache

import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from book._ext.book_site.pages.mathematics import MATHML
from book._ext.book_site.search.index import FILE, START
from tests.site.conftest import ROOT, address, build, site  # noqa: F401
from tools.gpu import source_hash
from tools.source import taught

COLOURED = re.compile(r'<span class="\w{1,3}">([^<]*)</span>')
GLOSSARY = """\
# Glossary

## K

key (name)
: What something is found by.

never used
: A term that no chapter has.
"""
PAGES = {
    "index": "# Index\n\n1. [One](01_one.ipynb). Why?\n2. [Two](02_two.ipynb)."
    " How?\n\n```{explorer} dates.date_explorer\n:compact:\n```\n",
    "glossary": GLOSSARY,
    "tested": "# Tested\n\n```{gpu-reports}\n```\n",
    "cite": "# Cite\n\n```{citation} bibtex\n```\n",
    "library_1": "# Part I\n\n```{library} 1\n```\n",
    "library_helpers": "# Helpers\n\n```{library} helpers\n```\n",
    "library": "# Library\n\n```{library-map}\n```\n",
    "bibliography": "# Works\n\n```{bibliography}\n:all:\n```\n",
}
ONE = """\
# 1. One

> **You will** read.
> **Minutes** 35, and about 20 for the exercises.

A **key** finds; [Vaswani](bibliography.md#vaswani2017) says so.
All **keys** do, and **nothing** else."""
REPORT = {
    "device": "NVIDIA H200 (fake)",
    "python": "3.12.1",
    "torch": "2.13.0+cu130",
    "date": "2026-11-20",
    "commit": "0123456789abcdef",
    "library": {"passed": 640, "failed": 0},
}


def write_report(folder):
    """A report on two chapters, of which one has changed; a third is new."""
    hashes = {p.name: source_hash(p) for p in folder.glob("book/*.ipynb")}
    hashes["02_two.ipynb"] = "of older code"
    del hashes["03_three.ipynb"]
    notebooks = {
        name: {"code_sha256": digest, "passed": 7, "failed": 1}
        for name, digest in hashes.items()
    }
    (folder / "reports").mkdir()
    path = folder / "reports" / "h200.json"
    path.write_text(json.dumps(REPORT | {"notebooks": notebooks}))


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """The folder of a book with three chapters, built."""
    folder = tmp_path_factory.mktemp("small")
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    config["repository"]["url"] = "https://github.com/someone/book"
    del config["sphinx"]["config"]["moved_pages"]
    (folder / "_config.yml").write_text(yaml.safe_dump(config))
    shutil.copy(ROOT / "CITATION.cff", folder)
    names = ["01_one", "02_two", "03_three", *list(PAGES)[1:]]
    entries = "".join(f"      - file: book/{name}\n" for name in names)
    (folder / "_toc.yml").write_text(
        "format: jb-book\nroot: book/index\nparts:\n"
        f"  - caption: I\n    chapters:\n{entries}"
    )
    book = folder / "book"
    for name in ("_static", "lib", "kit"):
        shutil.copytree(ROOT / "book" / name, book / name)
    (book / "references.bib").symlink_to(ROOT / "book" / "references.bib")
    for name, text in PAGES.items():
        (book / f"{name}.md").write_text(text)
    softmax = taught.as_taught(
        (book / "lib" / "softmax.py").read_text(),
        "# lib/softmax.py\ndef softmax(): ...",
    )
    two = new_markdown_cell("# 2. Two\n\n## How\n\nA **key**.")
    cells = {
        "01_one": [new_markdown_cell(ONE), new_code_cell("1 + 1")],
        "02_two": [two, new_code_cell(softmax)],
        "03_three": [new_markdown_cell("# 3. Three\n\nNothing.")],
    }
    for name, parts in cells.items():
        python = {"language_info": {"name": "python"}}
        notebook = new_notebook(cells=parts, metadata=python)
        nbformat.write(notebook, book / f"{name}.ipynb")
    write_report(folder)
    build(folder)
    return folder


@cache
def soup_of(path):
    """A built page, parsed without its MathML and the colours of code."""
    text = COLOURED.sub(r"\1", MATHML.sub("", path.read_text("utf-8")))
    return BeautifulSoup(text, "html.parser")


@cache
def anchors_of(path):
    """What an address can name on a page."""
    return set(re.findall(r'<[^>]* id="([^"]+)"', path.read_text("utf-8")))


def index_of(folder):
    """What the search of a built site knows."""
    script = (folder / FILE).read_text("utf-8")
    return json.loads(script.removeprefix(START).removesuffix(";\n"))
