"""The order of the book: its parts, its chapters, and what each teaches."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import yaml

MARKER = re.compile(r"# lib/(\w+)\.py\n")
TITLE = re.compile(r"# (?:\d+[.:] )?(.*)")
MINUTES = re.compile(r"\*\*Minutes\*\*\s+(\d+)")


@dataclass(frozen=True)
class Chapter:
    """A notebook of the book."""

    document: str
    number: int
    part: int
    cells: tuple[str, ...]

    @property
    def title(self) -> str:
        return next(filter(None, map(TITLE.match, self.cells)))[1]

    @property
    def minutes(self) -> int | None:
        """How long it takes to read, from the box under its title."""
        for found in filter(None, map(MINUTES.search, self.cells)):
            return int(found[1])

    @property
    def modules(self) -> list[str]:
        """The modules of the library that it shows, in their order."""
        found = filter(None, map(MARKER.match, self.cells))
        return list(dict.fromkeys(match[1] for match in found))


def chapters(root: Path) -> list[Chapter]:
    """The notebooks, in the order of the table of contents."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    found = []
    for part, contents in enumerate(toc.get("parts", []), start=1):
        for entry in contents["chapters"]:
            path = root / f"{entry['file']}.ipynb"
            if path.exists():
                notebook = json.loads(path.read_text(encoding="utf-8"))
                cells = tuple("".join(c["source"]) for c in notebook["cells"])
                number = len(found) + 1
                found.append(Chapter(entry["file"], number, part, cells))
    return found


def homes(book: list[Chapter]) -> dict[str, Chapter]:
    """Each module that is taught, and the chapter that first shows it."""
    found = {}
    for chapter in book:
        for module in chapter.modules:
            found.setdefault(module, chapter)
    return found
