"""What a place of a built page says, in a few words: title, figure, entry.

The text is what the build has written, so that formulas, numbers and pictures
are as on the page.
"""

import re

from bs4 import BeautifulSoup, Tag

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
