"""The notebooks themselves, to download: `notebooks/` of the site.

One that was downloaded alone runs: its first cell fetches the rest of the
book. That cell carries the address, so it is written when the site is.
"""

from pathlib import Path

import nbformat

from tools.source import colab, taught
from tools.source.address import Place

from .built import pages
from .repository import repository

FOLDER = "notebooks"


def addressed(text: str, url: str, branch: str) -> str:
    """A notebook's text with this address in its first cell."""
    notebook = nbformat.reads(text, as_version=4)
    if not any(c.source.startswith(colab.FIRST_LINE) for c in notebook.cells):
        return text
    cell = colab.first_cell(Place(url, branch), colab.pins(taught.ROOT))
    colab.put_first_cell(notebook, cell)
    return nbformat.writes(notebook) + "\n"


def finish(app) -> None:
    folder = Path(app.outdir, FOLDER)
    folder.mkdir(exist_ok=True)
    known = repository(app)
    for page in filter(lambda page: page.is_chapter, pages(app)):
        text = page.source.read_text(encoding="utf-8")
        if known:
            text = addressed(text, known.url, known.branch)
        (folder / page.source.name).write_text(text, encoding="utf-8")
