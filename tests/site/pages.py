"""The pages of the book, read from the table of contents."""

import yaml

from tests.site.conftest import ROOT

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
DOCUMENTS = [
    TOC["root"],
    *(
        chapter["file"]
        for part in TOC["parts"]
        for chapter in part["chapters"]
    ),
]
NOTEBOOKS = [d for d in DOCUMENTS if (ROOT / f"{d}.ipynb").exists()]
PAGES = [f"{name}.html" for name in [*DOCUMENTS, "search"]]
