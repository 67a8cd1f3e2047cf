"""Links from the chapters to their slides, where there are slides.

`make slides` puts them beside the built site; `make book` needs none. So the
links are written when the pages are finished, and again when slides have
been added.
"""

import re
from pathlib import Path

FOLDER = "slides"
PLACE = re.compile(r"(<!-- slides -->).*?(<!-- /slides -->)", re.S)


def linked(text: str, target: str) -> str:
    """The text of a chapter's page with this link, or with none."""
    shown = f'<a href="{target}">Slides</a>' if target else ""
    return PLACE.sub(lambda found: found[1] + shown + found[2], text)


def link(site: Path) -> None:
    """Let every chapter of a built site lead to its slides."""
    for page in sorted((site / "book").glob("[0-9][0-9]_*.html")):
        has_slides = (site / FOLDER / page.name).exists()
        target = f"../{FOLDER}/{page.name}" if has_slides else ""
        old = page.read_text("utf-8")
        if (new := linked(old, target)) != old:
            page.write_text(new, "utf-8")


def link_when_built(app, error) -> None:
    """The same at the end of a build."""
    if not error and app.builder.format == "html":
        link(Path(app.outdir))
