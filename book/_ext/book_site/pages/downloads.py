"""The page of downloads: it names the files that lie there, and no others.

`make pdf` and `make offline` put files beside the built site; `make book`
needs neither. So the list is written when the pages are finished, and again
when a file has been added; so are the links of the chapters to the PDF.
"""

import re
from html import escape
from pathlib import Path

PAGE = "book/download"
FOLDER = "downloads"
PDF = "the-executable-transformer.pdf"
OFFLINE = "the-executable-transformer-offline.zip"
WORDS = {
    PDF: "The book as a PDF",
    OFFLINE: "The website as a zip, for reading without a network",
}
NONE = "This copy of the website was built without these files."
PLACE = re.compile(r"(<!-- pdf (\S+) -->).*?(<!-- /pdf -->)", re.S)
LIST = re.compile(r'(<div id="downloads">).*?(</div>)', re.S)


def listed(text: str, sizes: dict[str, int]) -> str:
    """The text of the page with links to the files of these sizes."""
    lines = [
        f'<li><a href="../{FOLDER}/{name}">{escape(WORDS[name])}</a> '
        f"({size / 1e6:.1f} MB)</li>"
        for name, size in sizes.items()
    ]
    shown = f"<ul>{''.join(lines)}</ul>" if lines else f"<p>{NONE}</p>"
    return LIST.sub(lambda found: found[1] + shown + found[2], text)


def place(link: str) -> str:
    """What a chapter keeps for a link to its part of the PDF."""
    return f"<!-- pdf {link} --><!-- /pdf -->"


def rewrite(page: Path, change) -> None:
    """Let a page be what `change` makes of it, and touch no other."""
    old = page.read_text("utf-8")
    if (new := change(old)) != old:
        page.write_text(new, "utf-8")


def link_chapters(site: Path) -> None:
    """Let the chapters lead to the PDF if it is there."""
    is_there = (site / FOLDER / PDF).exists()
    shown = r'\1<a href="\2">PDF</a>\3' if is_there else r"\1\3"
    for page in (site / PAGE).parent.glob("*.html"):
        rewrite(page, lambda text: PLACE.sub(shown, text))


def show(site: Path) -> None:
    """Let the pages of a built site name what can be downloaded there."""
    link_chapters(site)
    page = site / f"{PAGE}.html"
    if not page.exists():
        return
    files = (site / FOLDER / name for name in WORDS)
    sizes = {path.name: path.stat().st_size for path in files if path.exists()}
    page.write_text(listed(page.read_text("utf-8"), sizes), "utf-8")


def show_when_built(app) -> None:
    """The same at the end of a build."""
    show(Path(app.outdir))
