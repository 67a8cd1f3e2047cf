"""The pages of the book and its address, as they are configured."""

import pytest
import yaml

from book._ext.book_site.pages import downloads
from tests.site.conftest import ROOT
from tools.source import colab
from tools.source.taught import toc_files

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
DOCUMENTS = [TOC["root"], *toc_files(TOC)]
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text())
HAS_ADDRESS = colab.read_address(ROOT).is_known
NOTEBOOKS = [d for d in DOCUMENTS if (ROOT / f"{d}.ipynb").exists()]
PAGES = [f"{name}.html" for name in [*DOCUMENTS, "search"]]
ONLINE = ("book/teach/", downloads.PAGE)  # pages of the site alone
PRINTED = [name for name in DOCUMENTS if not name.startswith(ONLINE)]
# A page of each kind; chapters with an explorer, colours and a drawing.
KINDS = [
    *(f"{NOTEBOOKS[n]}.html" for n in (2, 4, 9)),
    PAGES[0],
    "book/glossary.html",
    "book/notation.html",
    "book/gallery.html",
    "book/library_1.html",
    "book/bibliography.html",
    "book/download.html",
    "book/teach/syllabus.html",
    "book/teach/chapter_04.html",
    "search.html",
]


def quickly(pages, is_quick):
    """Parameters for a test: the other pages only in the full run."""
    return [
        page if is_quick(page) else pytest.param(page, marks=pytest.mark.slow)
        for page in pages
    ]


BY_KIND = quickly(PAGES, KINDS.__contains__)
CHAPTERS_TOO = quickly(
    PAGES, lambda page: page in KINDS or page[:-5] in NOTEBOOKS
)
