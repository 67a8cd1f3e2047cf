"""What a link shows when the pointer or the focus is on it.

Beside each page lies a script with what its links lead to. `previews.js` loads
it when it is first wanted; a script, because a page that was opened as a file
may read nothing else.
"""

import json
import posixpath
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urldefrag

from .snippets import snippet

FOLDER = "_static/previews"
MAIN = re.compile(r'<main.*?(?=<nav class="prev-next|</main>)', re.S)
LINK = re.compile(r'<a class="([^"]*)"[^>]*? href="([^"]+)"')
IMAGE = re.compile(r'(<img[^>]*? src=")([^"]+)')


@cache
def text_of(path: Path) -> str:
    """The text of a built page; "" if it is none."""
    if path.suffix != ".html" or not path.is_file():
        return ""
    found = MAIN.search(path.read_text(encoding="utf-8"))
    return found[0] if found else ""


def links(text: str) -> list[str]:
    """Where the text of a page leads inside the book, each once."""
    found = LINK.findall(text)
    inside = (href for kind, href in found if "internal" in kind.split())
    return list(dict.fromkeys(inside))


def moved(html: str, source: Path, page: Path) -> str:
    """A text of one page for another: its pictures are still found."""
    target, start = source.parent.as_posix(), page.parent.as_posix()

    def seen_from_page(match):
        path = posixpath.normpath(posixpath.join(target, match[2]))
        return match[1] + posixpath.relpath(path, start)

    return IMAGE.sub(seen_from_page, html)


def previews(page: Path) -> dict[str, str]:
    """What each link of a page shows, by its address as it stands there."""
    found = {}
    for href in links(text_of(page)):
        address, place = urldefrag(href)
        path = page.parent / unquote(address) if address else page
        path = Path(posixpath.normpath(path.as_posix()))
        if html := snippet(text_of(path), unquote(place)):
            found[href] = moved(html, path, page)
    return found


def finish(app) -> None:
    """A script for each page whose links show something."""
    text_of.cache_clear()
    site = Path(app.outdir)
    for name in sorted(app.env.found_docs):
        found = previews(site / app.builder.get_target_uri(name))
        path = site / FOLDER / f"{name}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        data = json.dumps(found, ensure_ascii=False)
        path.write_text(f"previews({data});\n", encoding="utf-8")
