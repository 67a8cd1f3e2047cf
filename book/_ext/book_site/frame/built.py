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
    """A page of the site."""

    document: str
    title: str
    description: str
    part: str = ""

    @property
    def address(self) -> str:
        """Where it is, seen from the root of the site."""
        return f"{self.document}.html"


def pages(app) -> list[Page]:
    """The pages that have been written, in the order of the book."""
    found = []
    for entry in taught.contents(Path(app.srcdir)):
        path = Path(app.outdir, f"{entry.document}.html")
        head = path.read_text(encoding="utf-8").partition("</head>")[0]
        said = (rule.search(head) for rule in (TITLE, DESCRIPTION))
        words = (unescape(match[1]) if match else "" for match in said)
        found.append(Page(entry.document, *words, entry.caption))
    return found
