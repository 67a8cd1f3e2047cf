"""The notebooks themselves, to download: `notebooks/` of the site.

One that was downloaded alone runs: its first cell fetches the rest of the
book. That cell carries the address, so it is written when the site is.
"""

import sys
from pathlib import Path

import nbformat
from repository import repository

FOLDER = "notebooks"
ROOT = Path(__file__).resolve().parents[2]


def sources(app) -> list[Path]:
    """The notebooks of the book."""
    paths = (Path(app.env.doc2path(name)) for name in app.env.found_docs)
    return sorted(path for path in paths if path.suffix == ".ipynb")


def addressed(text: str, url: str, branch: str) -> str:
    """A notebook's text with this address in its first cell and badge."""
    sys.path.insert(0, str(ROOT))
    try:
        from tools import colab
    finally:
        sys.path.remove(str(ROOT))
    notebook = nbformat.reads(text, as_version=4)
    if not any(c.source.startswith(colab.FIRST_LINE) for c in notebook.cells):
        return text
    address = colab.Address(url, branch)
    cell = colab.first_cell(address, colab.pins(ROOT))
    colab.put_first_cell(notebook, cell)
    return nbformat.writes(notebook) + "\n"


def write_notebooks(app, error) -> None:
    """Lay them beside the pages."""
    if error or app.builder.format != "html":
        return
    folder = Path(app.outdir, FOLDER)
    folder.mkdir(exist_ok=True)
    known = repository(app)
    for path in sources(app):
        text = path.read_text(encoding="utf-8")
        if known:
            text = addressed(text, known.url, known.branch)
        (folder / path.name).write_text(text, encoding="utf-8")
