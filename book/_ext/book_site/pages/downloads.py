"""What may lie beside the built site: two downloads, and the slides.

`make pdf` and `make offline` put files there, and `make book` needs neither.
So pages have places that are filled when all of them are finished, and again
when something has been added: the list of downloads, the chapters' links to
the PDF, and what `slides` fills.
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


def filled(text: str, begin: str, end: str, shown: str) -> str:
    """A text that shows this where it has these two, between them."""
    place = re.compile(f"(?<={re.escape(begin)}).*?(?={re.escape(end)})", re.S)
    return place.sub(lambda _: shown, text, count=1)


def with_list(text: str, name: str, lines: list[str], none: str) -> str:
    """A text whose list of this name has these lines, or one sentence."""
    inside = "".join(f"<li>{line}</li>" for line in lines)
    shown = f"<ul>{inside}</ul>" if lines else f"<p>{none}</p>"
    return filled(text, f'<div id="{name}">', "</div>", shown)


def rewrite(page: Path, change) -> None:
    """Let a page be what `change` makes of it, and touch no other."""
    if page.exists():
        old = page.read_text("utf-8")
        if (new := change(old)) != old:
            page.write_text(new, "utf-8")


def link_chapters(site: Path, name: str, label: str, target) -> None:
    """Fill a place above each chapter with a link, or with nothing.

    Args:
        name: of the place: it stands between `<!-- name -->` and another.
        target: the address for a page, or "".
    """
    for page in (site / "book").glob("[0-9][0-9]_*.html"):
        link = target(page)
        shown = f'<a href="{link}">{label}</a>' if link else ""
        ends = f"<!-- {name} -->", f"<!-- /{name} -->"
        rewrite(page, lambda text, e=ends, s=shown: filled(text, *e, s))


def listed(text: str, sizes: dict[str, int]) -> str:
    """The text of the page with links to the files of these sizes."""
    lines = [
        f'<a href="../{FOLDER}/{name}">{escape(WORDS[name])}</a> '
        f"({size / 1e6:.1f} MB)"
        for name, size in sizes.items()
    ]
    return with_list(text, "downloads", lines, NONE)


def show(site: Path) -> None:
    """Let the pages of a built site name what can be downloaded there."""
    files = [site / FOLDER / name for name in WORDS]
    sizes = {path.name: path.stat().st_size for path in files if path.exists()}
    pdf = f"../{FOLDER}/{PDF}#nameddest=" if PDF in sizes else ""
    link_chapters(site, "pdf", "PDF", lambda page: pdf and pdf + page.stem)
    rewrite(site / f"{PAGE}.html", lambda text: listed(text, sizes))


def finish(app) -> None:
    show(Path(app.outdir))
