"""Outputs of notebooks, as far as a page shows them: an allow-list.

Whoever runs a notebook stores what its libraries say, and a page would show
it as it is. Here HTML is taken apart and written anew, from the elements and
attributes that tables, drawings and explorers need. Anything else is left out
with a warning, which stops the build.
"""

import re
from urllib.parse import urlsplit

from bs4 import BeautifulSoup, Tag
from bs4.element import PreformattedString

TEXT = set(
    "a abbr b bdi bdo blockquote br caption cite code col colgroup dd del "
    "details dfn div dl dt em figcaption figure h2 h3 h4 h5 h6 hr i img ins "
    "kbd li mark ol p pre q s samp small span strong sub summary sup table "
    "tbody td tfoot th thead time tr u ul var wbr".split()
)
# As they are spelt; the parser makes small letters of them.
DRAWING = (
    "a circle clipPath defs desc ellipse g line linearGradient marker path "
    "polygon polyline radialGradient rect stop svg symbol text textPath title "
    "tspan use".split()
)
EXPLORER = re.compile(r"(?:[a-z]+-)+explorer")
GENERAL = re.compile(
    r"class|id|title|lang|dir|role|tabindex|hidden|aria-[a-z]+|data-[a-z-]+"
)
OF_TEXT = set(
    "abbr align alt border cellpadding cellspacing colspan datetime headers "
    "height href open rel reversed rowspan scope span src start style type "
    "valign value width".split()
)
OF_DRAWING = (
    "clip-path clip-rule cx cy d dominant-baseline dx dy fill fill-opacity "
    "fill-rule font-family font-size font-style font-weight fx fy "
    "gradientTransform gradientUnits height href letter-spacing marker-end "
    "marker-mid marker-start markerHeight markerUnits markerWidth offset "
    "opacity orient overflow paint-order points preserveAspectRatio r refX "
    "refY rx ry shape-rendering startOffset stop-color stop-opacity stroke "
    "stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin "
    "stroke-miterlimit stroke-opacity stroke-width style text-anchor "
    "text-rendering textLength transform vector-effect viewBox visibility "
    "width x x1 x2 xmlns y y1 y2".split()
)
SPELT = {name.lower(): name for name in [*DRAWING, *OF_DRAWING]}
STYLE = re.compile(r"(?:\s*[a-z-]+\s*:[\w\s#%.,()'+-]*(?:;|$))*\s*")
HARMFUL = re.compile(r"url\(|image|position|expression|behavior|@", re.I)
PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[\w+/=\s]+")
# Kinds of outputs that need no look, and those that get one.
SAFE = {"text/plain", "text/latex", "image/png", "image/jpeg", "image/gif"}
MARKUP = {"text/html", "image/svg+xml"}


class Refused(ValueError):
    """What an output has that a page may not show."""


def write_anew(tag: Tag, drawn: bool) -> None:
    """Spell an element as it is spelt, if a page may show it."""

    def spelt(name):
        return SPELT.get(name, name) if drawn else name

    known = spelt(tag.name) in (DRAWING if drawn else TEXT)
    if not known and (drawn or not EXPLORER.fullmatch(tag.name)):
        raise Refused(f"<{tag.name}>")
    for name, value in tag.attrs.items():
        named = OF_DRAWING if drawn else OF_TEXT
        if spelt(name) not in named and not GENERAL.fullmatch(name):
            raise Refused(f"<{tag.name} {name}>")
        if not fits(tag.name, name, value, drawn):
            raise Refused(f'<{tag.name} {name}="{value[:40]}">')
    tag.attrs = {spelt(name): value for name, value in tag.attrs.items()}
    tag.name = spelt(tag.name)


def fits(tag: str, name: str, value: str, drawn: bool) -> bool:
    """May this attribute say this? A drawing refers to nothing outside."""
    if name == "href":
        return is_link(value) and (tag == "a" or value.startswith("#"))
    if name == "src":
        is_path = is_link(value) and not any(urlsplit(value)[:2])
        return is_path or bool(PICTURE.fullmatch(value))
    if name == "style":
        return bool(STYLE.fullmatch(value)) and not HARMFUL.search(value)
    if not drawn or GENERAL.fullmatch(name):
        return True
    return "url(" not in re.sub(r"url\(#[\w-]+\)", "", value.lower())


def is_link(value: str) -> bool:
    """Does it lead to a page, and do nothing?"""
    if re.search(r"[\x00-\x20\\]", value):
        return False
    return urlsplit(value).scheme in ("", "http", "https", "mailto")


def cleaned(html: str) -> str:
    """The same output, its elements ended, if a page may show it.

    Raises:
        Refused: it may not; the message names what it may not show.
    """
    soup = BeautifulSoup(html, "html.parser", multi_valued_attributes=None)
    for text in soup.find_all(string=True):
        if isinstance(text, PreformattedString):  # a comment, a declaration
            raise Refused(f"<!{text[:20]}")
    for sheet in soup("style"):  # a page has its own for tables
        sheet.decompose()
    for tag in soup(True):
        write_anew(tag, "svg" in {tag.name, *(p.name for p in tag.parents)})
    return soup.decode(formatter="minimal")


def clean(output, refuse) -> None:
    """Leave in an output what a page may show.

    Args:
        output: of a cell; it is changed.
        refuse: is called with what was left out.
    """
    data = output.get("data", {})
    for kind in [*data]:
        try:
            if kind in MARKUP:
                data[kind] = cleaned(data[kind])
            elif kind == "text/markdown":
                if re.search(r"<[a-z!?/]", data[kind], re.I):
                    raise Refused("HTML in Markdown")
            elif kind not in SAFE:
                raise Refused("of this kind")
        except Refused as reason:
            del data[kind]
            refuse(f"{kind}: {reason}")
