"""Links to the slides of the chapters, where there are slides.

`make slides` puts them beside the built site; `make book` needs none. So the
links are written when the pages are finished, and again when slides have
been added: on the page of each chapter, and all of them on one for teachers.
"""

import re
from pathlib import Path

from .downloads import rewrite

FOLDER = "slides"
PAGE = "book/teach/slides"
NAMES = "[0-9][0-9]_*.html"
PLACE = re.compile(r"(<!-- slides -->).*?(<!-- /slides -->)", re.S)
LIST = re.compile(r'(<div id="decks">).*?(</div>)', re.S)
TITLE = re.compile(r"<title>(.*?) · slides")
NONE = "This copy of the website was built without them."


def linked(text: str, target: str) -> str:
    """The text of a chapter's page with this link, or with none."""
    shown = f'<a href="{target}">Slides</a>' if target else ""
    return PLACE.sub(lambda found: found[1] + shown + found[2], text)


def listed(text: str, titles: dict[str, str]) -> str:
    """The text of the teachers' page with links to these decks."""
    lines = [
        f'<li><a href="../../{FOLDER}/{name}">{title}</a></li>'
        for name, title in titles.items()
    ]
    shown = f"<ul>{''.join(lines)}</ul>" if lines else f"<p>{NONE}</p>"
    return LIST.sub(lambda found: found[1] + shown + found[2], text)


def link(site: Path) -> None:
    """Let the pages of a built site lead to the decks that lie there."""
    decks = {path.name: path for path in sorted((site / FOLDER).glob(NAMES))}
    for page in (site / "book").glob(NAMES):
        target = f"../{FOLDER}/{page.name}" if page.name in decks else ""
        rewrite(page, lambda text, target=target: linked(text, target))
    titles = {
        name: TITLE.search(path.read_text("utf-8"))[1]
        for name, path in decks.items()
    }
    if (page := site / f"{PAGE}.html").exists():
        rewrite(page, lambda text: listed(text, titles))


def link_when_built(app) -> None:
    """The same at the end of a build."""
    link(Path(app.outdir))
