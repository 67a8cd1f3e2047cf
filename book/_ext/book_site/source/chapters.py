"""The chapters of the book in their order, and which of them teaches what."""

import json
from dataclasses import dataclass
from pathlib import Path

from tools.source import cells, taught


@dataclass(frozen=True)
class Chapter:
    """A notebook of the book."""

    path: Path
    document: str
    number: int
    part: int
    cells: tuple[str, ...]

    @property
    def title(self) -> str:
        return next(filter(None, map(cells.HEADING.match, self.cells)))[1]

    @property
    def minutes(self) -> int | None:
        """How long it takes to read, from the box under its title."""
        for found in filter(None, map(cells.MINUTES.search, self.cells)):
            return int(found["reading"])


def chapters(root: Path) -> list[Chapter]:
    """The notebooks, in the order of the table of contents."""
    found = []
    for entry in taught.contents(root):
        path = root / f"{entry.document}.ipynb"
        if entry.part and path.exists():
            notebook = json.loads(path.read_text(encoding="utf-8"))
            sources = tuple("".join(c["source"]) for c in notebook["cells"])
            number = len(found) + 1
            made = Chapter(path, entry.document, number, entry.part, sources)
            found.append(made)
    return found
