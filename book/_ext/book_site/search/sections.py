"""The sections of a page, as the search knows them: titles, terms and texts.

An entry of the glossary and a work of the bibliography are sections too. Texts
are what a reader sees: no TeX, no code, nothing folded. A formula in a line
becomes what one would write for it without TeX. Displayed formulas, code, its
output and what stands in a box that opens are left out: answers are hidden
there.
"""

import re
from dataclasses import dataclass, field

from docutils import nodes

from tools.source.taught import MARKER

from ..pages.glossary import PAGE as GLOSSARY
from ..pages.glossary import bold, find, names
from ..pages.mathematics import formula

TEACHING = "book/teach/"
ERRATA = "book/errata"
# How much a hit counts, by page and by title.
PAGES = {
    f"{TEACHING}chapter_": 0.7,
    "book/library_helpers": 0.4,
    "book/library": 0.55,
    "book/bibliography": 0.4,
    "book/notation": 0.6,
}
TITLES = {"Exercise ": 0.7, "Summary": 0.6, "Quiz": 0.3, "Next": 0.3}
ENTRY, EMPTY = 0.9, 0.5
DEFINED = re.compile(r"^(?:def|class) (\w+)", re.M)
WORK = re.compile(r"(\D+)(\d+)")
MINUTES = re.compile(r"^\d+ minutes · [^.]*\. ")
# Found by their titles alone: for teachers, what was false, lists of names.
TITLED = (TEACHING, ERRATA, "book/library_helpers")
# Found as pages alone: their sections are called the same everywhere.
WHOLE = (f"{TEACHING}chapter_", ERRATA)
REPEATED = ("Quiz", "Summary")
LEFT_OUT = (nodes.Invisible, nodes.literal_block, nodes.math_block)
ASIDE = {"answer-links", "checks"}
ARGUMENTS = {"api-label", "api-list"}  # found by what they belong to
BOX = ("You need", "Minutes")  # of what a chapter begins with
FOLD = re.compile(r"<(/?)details\b")
BEFORE_MARK = re.compile(r"\s+([.,:;?!)\]])")
AFTER = {  # a part of a page: what separates it from the next
    nodes.paragraph: " ",
    nodes.caption: " ",
    nodes.term: ": ",
    nodes.entry: " · ",
}


def is_aside(node: nodes.Element) -> bool:
    """Does it speak of the page or of an argument, and not of a subject?"""
    is_quoted = isinstance(node.parent, nodes.block_quote)
    is_in_box = is_quoted and node.astext().startswith(BOX)
    return is_in_box or bool((ASIDE | ARGUMENTS) & {*node.get("classes", ())})


class Reader:
    """Reads a page from top to bottom, and knows when it is in a fold."""

    def __init__(self):
        self.folds = 0

    def words(self, node: nodes.Node):
        """The pieces of a text, in their order."""
        if isinstance(node, nodes.raw):
            marks = FOLD.findall(node.astext())
            self.folds += marks.count("") - marks.count("/")
        elif self.folds or isinstance(node, LEFT_OUT):
            return
        elif isinstance(node, nodes.Text):
            yield node.astext()
        elif isinstance(node, nodes.math):
            yield formula(node.astext())
        elif not is_aside(node):
            for child in node.children:
                yield from self.words(child)
            yield "" if self.folds else AFTER.get(type(node), "")

    def text(self, *parts: nodes.Node) -> str:
        """The text of some parts of a page, in one line."""
        pieces = (piece for part in parts for piece in self.words(part))
        line = " ".join("".join(pieces).split())
        return BEFORE_MARK.sub(r"\1", line).rstrip(" ·:")


@dataclass
class Section:
    """A place that a result can lead to; "" is the top of a page."""

    anchor: str
    title: str
    text: str
    weight: float = 1.0
    terms: list[str] = field(default_factory=list)
    bold: list[str] = field(default_factory=list)
    asked: str = ""

    @property
    def texts(self) -> list[str]:
        """Title, terms, what else is bold, text, what strangers type."""
        lists = ("; ".join(dict.fromkeys(x)) for x in (self.terms, self.bold))
        return [self.title, *lists, self.text, self.asked]

    @property
    def is_in_contents(self) -> bool:
        """Is it a part of its page, and one that has a name of its own?"""
        return bool(self.anchor) and not self.title.startswith(tuple(TITLES))


def starting(text: str, weights: dict[str, float]) -> float:
    """The weight of the entry that this text starts with."""
    matching = (w for start, w in weights.items() if text.startswith(start))
    return next(matching, 1.0)


def defined(parts: list[nodes.Node]) -> list[str]:
    """What is defined in the cells that show the library."""
    blocks = (b for part in parts for b in part.findall(nodes.literal_block))
    texts = (block.astext() for block in blocks)
    return [n for t in texts if MARKER.match(t) for n in DEFINED.findall(t)]


class Page:
    """One page, read from top to bottom."""

    def __init__(self, document: str, known: dict[str, list[str]]):
        self.document, self.known = document, known
        self.reader, self.met = Reader(), set()

    def section(self, node: nodes.section) -> Section:
        """A section without those in it, with the terms that it explains."""
        title = self.reader.text(node[0])
        parts = [part for part in node[1:] if self.is_text(part)]
        text = MINUTES.sub("", self.reader.text(*parts))
        terms, others = self.strong(parts)
        if self.document.startswith(TITLED) or title in REPEATED:
            text, others = "", []
        weight = starting(self.document, PAGES) * starting(title, TITLES)
        return Section(
            "" if isinstance(node.parent, nodes.document) else node["ids"][0],
            title,
            text,
            weight if text else weight * EMPTY,
            terms + defined(parts),
            others,
        )

    def is_text(self, part: nodes.Node) -> bool:
        """Is it no section, and no list of entries?"""
        if isinstance(part, nodes.section):
            return False
        if any(part.findall(nodes.citation)):
            return False
        entries = part.findall(nodes.definition_list_item)
        return self.document != GLOSSARY or not any(entries)

    def strong(self, parts: list[nodes.Node]) -> tuple[list, list]:
        """The terms in bold that the page has not had before; other words."""
        terms, others = [], []
        for node in (node for part in parts for node in bold(part)):
            text = self.reader.text(node).strip(".,:;?")
            name = find(text, self.known)
            if name and name not in self.met:
                self.met.update(self.known[name])
                synonyms = (n for n in self.known[name] if n != name)
                terms += [text, *synonyms]
            elif text[:1].isalpha() and len(text) < 40:
                others.append(text)
        return terms, others

    def entry(self, item: nodes.definition_list_item) -> Section:
        """An entry of the glossary."""
        title, text = (self.reader.text(part) for part in item[:2])
        return Section(item[0]["ids"][0], title, text, ENTRY, names(title))

    def work(self, node: nodes.citation) -> Section:
        """A work of the bibliography, under the name of its first author."""
        anchor = node["ids"][0]
        title = " ".join(WORK.match(anchor).groups()).title()
        weight = starting(self.document, PAGES)
        return Section(anchor, title, self.reader.text(*node[1:]), weight)


def sections(document: str, doctree: nodes.document, known: dict, asked: dict):
    """All places of a page.

    Args:
        known: each name of a term, with all names of that term.
        asked: what strangers type who are best answered there, by place.
    """
    page = Page(document, known)
    found = [*doctree.findall(nodes.section)]
    for node in found[:1] if document.startswith(WHOLE) else found:
        section = page.section(node)
        if len(section.title) > 1:  # no letter of the alphabet
            place = document + (section.anchor and f"#{section.anchor}")
            section.asked = asked.get(place.removeprefix("book/"), "")
            yield section
        for part in node[1:]:
            if isinstance(part, nodes.section):
                continue
            if document == GLOSSARY:
                items = part.findall(nodes.definition_list_item)
                yield from map(page.entry, items)
            yield from map(page.work, part.findall(nodes.citation))
