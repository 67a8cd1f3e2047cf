"""What a place of a built page says, in a few words: title, figure, entry.

The text is what the build has written, so that formulas, numbers and pictures
are as on the page.
"""

import re

VOID = ("img", "br", "hr", "input", "path", "rect")
IDS = re.compile(r' (?:id|name|loading|title)="[^"]*"')
LINK = re.compile(r"</?a\b[^>]*>")
TOKEN = re.compile(r"<[^>]*>|[^<]+")
END = re.compile(r"[.?!][”’)]?(?=\s|$)")
PARAGRAPH = r"p[ >]"
SHORTEST = 30  # characters of a first sentence


def element(text: str, start: int) -> str:
    """The element of HTML that begins here, with all that is in it."""
    name = re.match(r"<(\w+)", text[start:])[1]
    depth = 0
    for tag in re.compile(rf"<(/?){name}\b[^>]*>").finditer(text, start):
        depth += -1 if tag[1] else 1
        if not depth:
            return text[start : tag.end()]
    raise ValueError(f"<{name}> does not end")


def inside(whole: str) -> str:
    """An element without its own tags."""
    return whole[whole.index(">") + 1 : whole.rindex("<")]


def first(text: str, pattern: str, start: int = 0) -> str:
    """The first element whose opening tag begins so; "" if there is none."""
    found = re.compile(f"<{pattern}").search(text, start)
    return element(text, found.start()) if found else ""


def without(text: str, pattern: str) -> str:
    """The text without the elements whose opening tags begin so."""
    while found := first(text, pattern):
        text = text.replace(found, "", 1)
    return text


def plain(text: str) -> str:
    """The same without anchors, links and what the page needs."""
    text = without(text, r'a class="(?:headerlink|first-use)')
    return IDS.sub("", LINK.sub("", text)).strip()


def sentence(text: str) -> str:
    """The first sentence of a paragraph; a formula ends none."""
    done, length, open_tags, place = [], 0, [], 0
    while place < len(text):
        part = TOKEN.match(text, place)[0]
        if part.startswith('<span class="math'):
            part = element(text, place)
        elif part.startswith("</"):
            open_tags.pop()
        elif part.startswith("<"):
            name = re.match(r"<(\w+)", part)[1]
            open_tags += [name] if name not in VOID else []
        else:
            for end in END.finditer(part):
                if length + end.end() >= SHORTEST:
                    rest = (f"</{name}>" for name in reversed(open_tags))
                    return "".join([*done, part[: end.end()], *rest])
            length += len(part)
        done.append(part)
        place += len(part)
    return text


def titled(title: str, words: str) -> str:
    return f"<p><strong>{plain(inside(title))}</strong></p><p>{words}</p>"


def of_section(whole: str, shorten=sentence) -> str:
    """A title, and the words below it if there are some before a part."""
    following = first(whole, r"(?:section|p)\b", whole.index("</h"))
    is_text = following.startswith("<p")
    words = shorten(plain(inside(following))) if is_text else ""
    return titled(first(whole, r"h\d"), words)


def of_figure(whole: str, before: str) -> str:
    """A figure and its caption; a class says if it keeps its colours."""
    image = IDS.sub("", re.search(r"<img[^>]*>|$", whole)[0])
    cell = before[before.rfind('<div class="cell ') :].partition(">")[0]
    kept = ' class="keep-colours"' if "tag_keep-colours" in cell else ""
    caption = plain(inside(first(whole, PARAGRAPH)))
    return f"<figure{kept}>{image}</figure><p>{caption}</p>"


def of_row(whole: str) -> str:
    """The cells of a row; the last one says what it means."""
    found = re.findall(r"<td.*?</td>", whole, re.S)
    cells = [plain(inside(inside(cell))) for cell in found]
    symbols = " · ".join(cell for cell in cells[:-1] if cell != "–")
    return f"<p>{symbols}</p><p>{cells[-1]}</p>"


def snippet(page: str, place: str) -> str:
    """What stands at a place of a page; "" if that cannot be said."""
    where = page.find(f' id="{place}"') if place else page.find("<section")
    if where < 0:
        return ""
    start = page.rindex("<", 0, where + 1)
    whole = element(page, start)
    if whole.startswith("<section"):
        return of_section(whole) if place else of_section(whole, str)
    if whole.startswith("<figure"):
        return of_figure(whole, page[:start])
    if whole.startswith("<dt"):
        rest = page[start + len(whole) :]
        return titled(whole, plain(inside(first(rest, PARAGRAPH))))
    if whole.startswith("<tr"):
        return of_row(whole)
    if 'class="citation"' in whole[:80]:
        words = inside(first(whole, PARAGRAPH)).partition('<span class="cited')
        return f"<p>{plain(words[0])}</p>"
    if 'class="equation"' in whole[:80]:
        return plain(whole)
    return ""
