"""The page of downloads: it names the files that lie there, and no others.

`make pdf` and `make offline` put files beside the built site; `make book`
needs neither. So the list is written when the pages are finished, and again
when a file has been added.
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
NONE = "This copy of the website was built without them."
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


def show(site: Path) -> None:
    """Let the page of a built site name what can be downloaded there."""
    page = site / f"{PAGE}.html"
    if not page.exists():
        return
    files = (site / FOLDER / name for name in WORDS)
    sizes = {path.name: path.stat().st_size for path in files if path.exists()}
    page.write_text(listed(page.read_text("utf-8"), sizes), "utf-8")


def show_when_built(app, error) -> None:
    """The same at the end of a build."""
    if not error and app.builder.format == "html":
        show(Path(app.outdir))
