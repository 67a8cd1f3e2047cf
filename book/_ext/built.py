"""What the pages of a built site say of themselves, and in which order."""

import re
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import yaml

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


def documents(entry: dict) -> list[str]:
    """The documents of an entry of `_toc.yml`, and of those below it."""
    below = [*entry.get("chapters", []), *entry.get("sections", [])]
    own = [entry["file"]] if "file" in entry else []
    return [*own, *(name for e in below for name in documents(e))]


def in_order(root: Path) -> list[tuple[str, str]]:
    """Each document of the book, and the part that it belongs to."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    found = [(toc["root"], "")]
    for part in [toc, *toc.get("parts", [])]:
        caption = part.get("caption", "")
        found += [(name, caption) for name in documents(part)]
    return found


def pages(app) -> list[Page]:
    """The pages that have been written, in the order of the book."""
    found = []
    for name, part in in_order(Path(app.srcdir)):
        path = Path(app.outdir, f"{name}.html")
        head = path.read_text(encoding="utf-8").partition("</head>")[0]
        said = (rule.search(head) for rule in (TITLE, DESCRIPTION))
        words = (unescape(match[1]) if match else "" for match in said)
        found.append(Page(name, *words, part))
    return found
