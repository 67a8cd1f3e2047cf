"""The map of the title page says how long each chapter takes to read."""

import re
from pathlib import Path

from ..source.chapters import chapters

ENTRY = re.compile(r"^(\d+\. \[[^\]]+\]\((\d\d_\w+)\.ipynb\)\..*)$", re.M)


def with_minutes(text: str, minutes: dict[str, int | None]) -> str:
    """The text of the title page; each chapter's line ends in its minutes."""

    def line(entry):
        known = minutes.get(entry[2])
        return f"{entry[1]} [{known}\u00a0min]{{.soon}}" if known else entry[1]

    return ENTRY.sub(line, text)


def add_minutes(app, docname, content):
    if docname != app.config.root_doc:
        return
    root = Path(app.srcdir)
    book = chapters(root)
    for chapter in book:
        app.env.note_dependency(str(chapter.path))
    minutes = {c.path.stem: c.minutes for c in book}
    content[0] = with_minutes(content[0], minutes)


def setup(app):
    app.connect("source-read", add_minutes)
