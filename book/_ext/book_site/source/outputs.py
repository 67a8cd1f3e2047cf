"""Outputs of notebooks, as far as a page shows them: an allow-list.

Whoever runs a notebook stores what its libraries say, and a page would show
it as it is. Here HTML is taken apart and written anew, from the elements and
attributes that tables, drawings and explorers need. Anything else is left out
with a warning, which stops the build.
"""

import re
from html import escape
from html.parser import HTMLParser
from urllib.parse import urlsplit

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
EMPTY = {"br", "col", "hr", "img", "wbr"}
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


class Cleaner(HTMLParser):
    """Writes anew what it reads, and refuses what it does not know.

    A style sheet it passes over: a page has its own for tables.
    """

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.written, self.open = [], []

    def handle_starttag(self, tag, attrs):
        if tag != "style":
            self.start(tag, attrs)
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        if tag not in EMPTY and "svg" not in self.open:
            raise Refused(f"<{tag}/>, which does not end there")
        self.start(tag, attrs, end="/>")

    def start(self, tag, attrs, end=">"):
        drawn = "svg" in self.open or tag == "svg"
        spelt = SPELT.get(tag, tag) if drawn else tag
        known = spelt in (DRAWING if drawn else TEXT)
        if not known and (drawn or not EXPLORER.fullmatch(tag)):
            raise Refused(f"<{tag}>")
        said = (
            attribute(tag, name, value or "", drawn) for name, value in attrs
        )
        self.written.append(f"<{spelt}{''.join(said)}{end}")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            raise Refused(f"</{tag}>, which ends nothing")
        if tag != "style":
            self.written.append(f"</{SPELT.get(tag, tag)}>")

    def handle_data(self, data):
        if "style" not in self.open:
            self.written.append(escape(data, quote=False))

    def refuse(self, text):
        raise Refused(f"<!{text[:20]}")

    handle_comment = handle_decl = handle_pi = unknown_decl = refuse


def attribute(tag: str, name: str, value: str, drawn: bool) -> str:
    """An attribute as it is written, if the element may have it."""
    spelt = SPELT.get(name, name) if drawn else name
    named = OF_DRAWING if drawn else OF_TEXT
    if spelt not in named and not GENERAL.fullmatch(name):
        raise Refused(f"<{tag} {name}>")
    if not fits(tag, name, value, drawn):
        raise Refused(f'<{tag} {name}="{value[:40]}">')
    return f' {spelt}="{escape(value)}"'


def fits(tag: str, name: str, value: str, drawn: bool) -> bool:
    """May this attribute say this?"""
    if name == "href":
        return is_link(value) and (tag == "a" or value.startswith("#"))
    if name == "src":
        return bool(PICTURE.fullmatch(value)) or is_path(value)
    if name == "style":
        harmful = HARMFUL.search(value)
        return bool(STYLE.fullmatch(value)) and not harmful
    return not drawn or is_inside(name, value)


def is_link(value: str) -> bool:
    """Does it lead to a page, and do nothing?"""
    if re.search(r"[\x00-\x20\\]", value):
        return False
    return urlsplit(value).scheme in ("", "http", "https", "mailto")


def is_path(value: str) -> bool:
    """Is it a file of the site?"""
    return is_link(value) and not any(urlsplit(value)[:2])


def is_inside(name: str, value: str) -> bool:
    """Does the value of a drawing refer to nothing outside of it?"""
    if GENERAL.fullmatch(name):
        return True
    return "url(" not in re.sub(r"url\(#[\w-]+\)", "", value.lower())


def cleaned(html: str) -> str:
    """The same output, if a page may show it.

    Raises:
        Refused: it may not; the message names what it may not show.
    """
    cleaner = Cleaner()
    cleaner.feed(html)
    cleaner.close()
    if cleaner.open:
        raise Refused(f"<{cleaner.open[-1]}>, which does not end")
    return "".join(cleaner.written)


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
