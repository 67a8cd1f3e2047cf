"""The chapters of the book in their order, and how long each takes to read."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from tools.source import cells, taught

# A chapter's line in the map of the title page.
LINE = re.compile(r"^(\d+\. \[[^\]]+\]\((\d\d_\w+)\.ipynb\)\..*)$", re.M)


@dataclass(frozen=True)
class Chapter:
    """A chapter of the book, or a deeper page below one."""

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
        for match in filter(None, map(cells.MINUTES.search, self.cells)):
            return int(match["reading"])


def lessons(root: Path) -> list[Chapter]:
    """The chapters, each followed by its deeper pages with its number."""
    notebooks, known, number = [], {*taught.lessons(root)}, 0
    for entry in taught.contents(root):
        path = root / f"{entry.document}.ipynb"
        if path in known:
            notebook = json.loads(path.read_text(encoding="utf-8"))
            sources = tuple("".join(c["source"]) for c in notebook["cells"])
            number += not taught.is_deeper(path)
            made = Chapter(path, entry.document, number, entry.part, sources)
            notebooks.append(made)
    return notebooks


def chapters(root: Path) -> list[Chapter]:
    """The pages that everybody reads, in their order."""
    return [page for page in lessons(root) if not taught.is_deeper(page.path)]


def add_minutes(app, docname, content):
    """On the title page the line of each chapter ends in its minutes."""
    if docname != app.config.root_doc:
        return
    minutes = {}
    for chapter in chapters(Path(app.srcdir)):
        app.env.note_dependency(str(chapter.path))
        minutes[chapter.path.stem] = chapter.minutes

    def line(entry):
        known = minutes.get(entry[2])
        return f"{entry[1]} [{known}\u00a0min]{{.soon}}" if known else entry[1]

    content[0] = LINE.sub(line, content[0])


def setup(app):
    app.connect("source-read", add_minutes)
