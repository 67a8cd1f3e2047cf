"""What a link shows when the pointer or the focus is on it.

It says in a few words what stands at its place: a title, a figure, an entry.
The text is what the build has written, so that formulas, numbers and pictures
are as on the page. Beside each page lies a script with what its links lead
to, which `previews.js` loads when it is first wanted; a script, because a page
that was opened as a file may read nothing else.
"""

import json
import posixpath
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urldefrag

from bs4 import BeautifulSoup, Tag

FOLDER = "_static/previews"
MAIN = re.compile(r'<main.*?(?=<nav class="prev-next|</main>)', re.S)
LINK = re.compile(r'<a class="([^"]*)"[^>]*? href="([^"]+)"')
IMAGE = re.compile(r'(<img[^>]*? src=")([^"]+)')
OF_THE_PAGE = ("id", "name", "loading", "title")  # attributes
END = re.compile(r"[.?!][”’)]?(?=\s|$)")
TITLE = re.compile("h[1-6]|dt")
SHORTEST = 30  # characters of a first sentence


def part(page: str, start: int, end: str) -> BeautifulSoup:
    """What begins here on a page, as far as the first `end`."""
    return BeautifulSoup(page[start : page.find(end, start)], "html.parser")


def plain(whole: Tag) -> Tag:
    """The same without anchors, links and what the page needs."""
    for anchor in whole.select("a.headerlink, a.first-use"):
        anchor.decompose()
    for link in whole("a"):
        link.unwrap()
    for tag in (whole, *whole(True)):
        for name in OF_THE_PAGE:
            del tag[name]
    return whole


def words(whole: Tag) -> str:
    """What stands in an element."""
    return plain(whole).decode_contents().strip()


def end_after(node) -> None:
    """Take away all that follows in the same paragraph."""
    while node.name != "p":
        for later in [*node.next_siblings]:
            later.extract()
        node = node.parent


def first_sentence(paragraph: Tag) -> Tag:
    """A paragraph with its first sentence alone; a formula ends none."""
    length = 0
    for text in plain(paragraph).find_all(string=True):
        if text.find_parent(class_="math"):
            continue
        for end in END.finditer(text):
            if length + end.end() >= SHORTEST:
                end_after(text)
                text.replace_with(text[: end.end()])
                return paragraph
        length += len(text)
    return paragraph


def titled(whole: Tag, shorten) -> str:
    """A title, and the words below it if there are some before a part."""
    title = whole.find(TITLE)
    below = title.find_next(["section", "p"])
    is_text = below and below.name == "p"
    text = words(shorten(below)) if is_text else ""
    return f"<p><strong>{words(title)}</strong></p><p>{text}</p>"


def of_figure(whole: Tag, before: str) -> str:
    """A figure and its caption; a class says if it keeps its colours."""
    cell = before[before.rfind('<div class="cell ') :].partition(">")[0]
    kept = ' class="keep-colours"' if "tag_keep-colours" in cell else ""
    caption, image = words(whole.p), plain(whole).img or ""
    return f"<figure{kept}>{image}</figure><p>{caption}</p>"


def of_row(whole: Tag) -> str:
    """The cells of a row; the last one says what it means."""
    *symbols, meaning = (words(cell.p) for cell in whole("td"))
    shown = " · ".join(cell for cell in symbols if cell != "–")
    return f"<p>{shown}</p><p>{meaning}</p>"


def snippet(page: str, place: str) -> str:
    """What stands at a place of a page; "" if that cannot be said."""
    where = page.find(f' id="{place}"') if place else page.find("<section")
    if where < 0:
        return ""
    start = page.rindex("<", 0, where + 1)
    opening = page[start : page.index(">", start)]
    if opening.startswith("<section"):
        shorten = first_sentence if place else plain
        return titled(part(page, start, "</p>"), shorten)
    if opening.startswith("<dt"):
        return titled(part(page, start, "</p>"), plain)
    if opening.startswith("<figure"):
        return of_figure(part(page, start, "</figure>"), page[:start])
    if opening.startswith("<tr"):
        return of_row(part(page, start, "</tr>"))
    if 'class="citation"' in opening:
        text = part(page, start, '<span class="cited-in').p
        return f"<p>{words(text)}</p>"
    if 'class="equation"' in opening:
        return str(plain(part(page, start, "</div>\n")))
    return ""


@cache
def text_of(path: Path) -> str:
    """The text of a built page; "" if it is none."""
    if path.suffix != ".html" or not path.is_file():
        return ""
    match = MAIN.search(path.read_text(encoding="utf-8"))
    return match[0] if match else ""


def links(text: str) -> list[str]:
    """Where the text of a page leads inside the book, each once."""
    every = LINK.findall(text)
    inside = (href for kind, href in every if "internal" in kind.split())
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
    by_link = {}
    for href in links(text_of(page)):
        address, place = urldefrag(href)
        path = page.parent / unquote(address) if address else page
        path = Path(posixpath.normpath(path.as_posix()))
        if html := snippet(text_of(path), unquote(place)):
            by_link[href] = moved(html, path, page)
    return by_link


def finish(app) -> None:
    """A script for each page whose links show something."""
    text_of.cache_clear()
    site = Path(app.outdir)
    for name in sorted(app.env.found_docs):
        by_link = previews(site / app.builder.get_target_uri(name))
        path = site / FOLDER / f"{name}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        data = json.dumps(by_link, ensure_ascii=False)
        path.write_text(f"previews({data});\n", encoding="utf-8")
