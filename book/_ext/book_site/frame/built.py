"""What the pages of a built site say of themselves, and in which order."""

import re
from dataclasses import dataclass
from html import unescape
from pathlib import Path

from tools.source import taught

TITLE = re.compile(r'<meta property="og:title" content="([^"]*)"')
DESCRIPTION = re.compile(r'<meta name="description" content="([^"]*)"')


@dataclass(frozen=True)
class Page:
    """A page of the site; `source` is its text in the repository."""

    source: Path
    address: str
    title: str
    description: str
    part: str

    @property
    def is_chapter(self) -> bool:
        return self.source.suffix == ".ipynb"


def pages(app) -> list[Page]:
    """The pages that have been written, in the order of the book."""
    found = []
    for entry in taught.contents(Path(app.srcdir)):
        address = f"{entry.document}.html"
        text = Path(app.outdir, address).read_text(encoding="utf-8")
        said = (rule.search(text) for rule in (TITLE, DESCRIPTION))
        words = (unescape(match[1]) if match else "" for match in said)
        source = Path(app.env.doc2path(entry.document))
        found.append(Page(source, address, *words, entry.caption))
    return found
