"""Links to the slides of the chapters, where `make slides` has put them.

On the page of each chapter, and all of them on one for teachers.
"""

import re
from pathlib import Path

from .downloads import link_chapters, rewrite, with_list

FOLDER = "slides"
PAGE = "book/teach/slides"
TITLE = re.compile(r"<title>(.*?) · slides")
NONE = "This copy of the website was built without them."


def link(site: Path) -> None:
    """Let the pages of a built site lead to the decks that lie there."""
    decks = sorted((site / FOLDER).glob("[0-9][0-9]_*.html"))
    addresses = {path.name: f"../{FOLDER}/{path.name}" for path in decks}
    link_chapters(site, "slides", "Slides", lambda p: addresses.get(p.name))
    lines = [
        f'<a href="../{addresses[path.name]}">'
        f"{TITLE.search(path.read_text('utf-8'))[1]}</a>"
        for path in decks
    ]
    page = site / f"{PAGE}.html"
    rewrite(page, lambda text: with_list(text, "decks", lines, NONE))


def finish(app) -> None:
    link(Path(app.outdir))
