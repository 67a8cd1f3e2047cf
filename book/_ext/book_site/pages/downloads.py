"""What may lie beside the built site: two downloads, and the slides.

`make pdf`, `make offline` and `make slides` put files there, and `make book`
needs none of them. So pages have places that are filled when all of them are
finished, and again when something has been added: the chapters' links to the
PDF and to their slides, the list of downloads, and for teachers that of all
slides.
"""

import re
from html import escape
from pathlib import Path

PAGE, FOLDER = "book/download", "downloads"
PDF = "the-executable-transformer.pdf"
OFFLINE = "the-executable-transformer-offline.zip"
WORDS = {
    PDF: "The book as a PDF",
    OFFLINE: "The website as a zip, for reading without a network",
}
NONE = "This copy of the website was built without these files."
DECKS_PAGE, DECKS = "book/teach/slides", "slides"
NO_DECKS = "This copy of the website was built without them."
TITLE = re.compile(r"<title>(.*?) · slides")


def filled(text: str, begin: str, end: str, shown: str) -> str:
    """A text that shows this where it has these two, between them."""
    place = re.compile(f"(?<={re.escape(begin)}).*?(?={re.escape(end)})", re.S)
    return place.sub(lambda _: shown, text, count=1)


def with_list(text: str, name: str, lines: list[str], none: str) -> str:
    """A text whose list of this name has these lines, or one sentence."""
    inside = "".join(f"<li>{line}</li>" for line in lines)
    shown = f"<ul>{inside}</ul>" if lines else f"<p>{none}</p>"
    return filled(text, f'<div id="{name}">', "</div>", shown)


def with_link(text: str, name: str, label: str, address: str) -> str:
    """A text with this link at the place of this name; "" is none."""
    shown = f'<a href="{address}">{label}</a>' if address else ""
    return filled(text, f"<!-- {name} -->", f"<!-- /{name} -->", shown)


def rewrite(page: Path, change, *arguments) -> None:
    """Let a page be what `change` makes of it, and touch no other."""
    if page.exists():
        old = page.read_text("utf-8")
        if (new := change(old, *arguments)) != old:
            page.write_text(new, "utf-8")


def listed(text: str, sizes: dict[str, int]) -> str:
    """The text of the page with links to the files of these sizes."""
    lines = [
        f'<a href="../{FOLDER}/{name}">{escape(WORDS[name])}</a> '
        f"({size / 1e6:.1f} MB)"
        for name, size in sizes.items()
    ]
    return with_list(text, "downloads", lines, NONE)


def show(site: Path) -> None:
    """Let the pages of a built site lead to what lies beside them."""
    files = [site / FOLDER / name for name in WORDS]
    sizes = {path.name: path.stat().st_size for path in files if path.exists()}
    rewrite(site / f"{PAGE}.html", listed, sizes)
    decks = {
        path.stem: title[1]
        for path in sorted((site / DECKS).glob("[0-9][0-9]_*.html"))
        if (title := TITLE.search(path.read_text("utf-8")))  # else it moved
    }
    lines = [
        f'<a href="../../{DECKS}/{name}.html">{title}</a>'
        for name, title in decks.items()
    ]
    decks_page = site / f"{DECKS_PAGE}.html"
    rewrite(decks_page, with_list, "decks", lines, NO_DECKS)
    for page in (site / "book").glob("[0-9][0-9]_*.html"):
        name = page.stem
        pdf = f"../{FOLDER}/{PDF}#nameddest={name}" if PDF in sizes else ""
        rewrite(page, with_link, "pdf", "PDF", pdf)
        deck = f"../{DECKS}/{name}.html" if name in decks else ""
        rewrite(page, with_link, "slides", "Slides", deck)


def finish(app) -> None:
    show(Path(app.outdir))
