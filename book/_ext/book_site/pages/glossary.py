"""Glossary and notation: entries are targets, and first uses lead to them.

A chapter sets a term in bold where it first uses it. The first such place of
a page becomes a link to the glossary, and the glossary says in which chapter
the term is explained. The first use of a symbol leads to its row on the page
of notation. None of it is written by hand.

A row is found by the symbols of its first cell and the code of its second.
Not every symbol can be: a small letter, as in f(x), a word of code that means
something else in other libraries, or what stands in two rows.
"""

import re
from collections import Counter

from docutils import nodes

from . import links

PAGE, NOTATION = "book/glossary", "book/notation"
SYNONYMS = re.compile(r"\s*[,()]\s*")
TITLE_LENGTH = 240  # characters of a definition that a mouse pointer shows
SHAPE = re.compile(r"^\([^)]*\): ")
TOO_COMMON = re.compile(r"[a-z]|\\varepsilon|S|[pz]_i")  # of one chapter, too
APART = (nodes.block_quote, nodes.reference, nodes.title)


def names(term: str) -> list[str]:
    """The names under which an entry is found: `a (b), c` has three."""
    return [key(name) for name in SYNONYMS.split(term) if name]


def key(text: str) -> str:
    """A term in the form in which terms are compared."""
    return " ".join(text.split()).strip(".,:;?").lower()


def find(text: str, known) -> str | None:
    """The name among the known ones that a bold text is, or has as plural."""
    name = key(text)
    names = name, re.sub("ies$", "y", name), name.removesuffix("s")
    return next((name for name in names if name in known), None)


def anchor(term: str) -> str:
    """The place of an entry on the page."""
    return "term-" + re.sub(r"[^a-z0-9]+", "-", names(term)[0]).strip("-")


def terms(doctree) -> dict[str, tuple[str, str, list[str]]]:
    """The entries of the glossary, as `entries_of` has them, as targets.

    Raises:
        ValueError: a term stands twice.
    """
    entries = {}
    for item in doctree.findall(nodes.definition_list_item):
        term, text = item[0].astext(), " ".join(item[1].astext().split())
        text = links.shortened(text, TITLE_LENGTH)
        item[0]["ids"] = [anchor(term)]
        for name in names(term):
            if name in entries:
                raise ValueError(f"the glossary has {name!r} twice")
            entries[name] = (anchor(term), text, names(term))
    return entries


def signs(row: nodes.row) -> list[str]:
    """The symbols and the code of a row by which it can be found."""
    symbols = (node.astext() for node in row[0].findall(nodes.math))
    code = (node.astext() for node in row[1].findall(nodes.literal))
    return [
        *(text for text in symbols if not TOO_COMMON.fullmatch(text)),
        *(text for text in code if "_" in text),
    ]


def spoken(text: str) -> str:
    """A text with formulas as plain letters."""
    plain = re.sub(r"\\(?:text|math\w+|hat|[lr]vert)\b|[\\{}]", "", text)
    return " ".join(plain.split())


def symbols(doctree) -> dict[str, tuple[str, str]]:
    """The rows of the notation, as `entries_of` has them, as targets."""
    count, known = Counter(), {}
    bodies = doctree.findall(nodes.tbody)
    rows = (row for body in bodies for row in body.findall(nodes.row))
    for number, row in enumerate(rows, start=1):
        row["ids"] = [place := f"notation-{number}"]
        meaning = SHAPE.sub("", spoken(row[-1].astext()))
        for name in set(signs(row)):
            known[name] = place, f"{spoken(name)}: {meaning}"
            count[name] += 1
    return {name: known[name] for name in known if count[name] == 1}


def note_entries(app, doctree):
    """Make targets of the entries of both pages."""
    document = app.env.docname
    if made := {PAGE: terms, NOTATION: symbols}.get(document):
        app.env.metadata[document]["book_entries"] = made(doctree)


def entries_of(app, page=PAGE) -> dict:
    """By each name: the place of the entry, its text; a term's names."""
    return app.env.metadata[page].get("book_entries", {})


def bold(doctree):
    """The bold texts of a page that can be terms."""
    for strong in doctree.findall(nodes.strong):
        if not links.is_within(strong, APART):
            yield strong


def link_first_uses(app, doctree, docname):
    """Let the first use of each term and symbol lead to its entry."""
    if not links.is_notebook(app, docname):
        return
    known = entries_of(app)
    marks = [(node, find(node.astext(), known)) for node in bold(doctree)]
    lead(marks, known, PAGE, "term")
    marks = [
        (node, node.astext())
        for node in doctree.findall(nodes.TextElement)
        if isinstance(node, nodes.math | nodes.literal)
        and not links.is_within(node, APART)
    ]
    lead(marks, entries_of(app, NOTATION), NOTATION, "symbol")


def lead(marks, known, page, kind):
    """Let the first mark of each entry lead to it."""
    linked = set()
    for node, name in marks:
        place, title, *_ = known.get(name, ("", ""))
        if place and place not in linked:
            linked.add(place)
            target = links.link("", page, place, reftitle=title)
            target["classes"] = [kind]
            node.replace_self(target)
            target += node


def bold_names(doctree):
    """What a page sets in bold, as terms are compared."""
    return [(key(node.astext()), node) for node in bold(doctree)]


def link_chapters(app, doctree, docname):
    """Say at each entry of the glossary where it is first used."""
    if docname != PAGE:
        return
    entries, uses = entries_of(app), {}
    for text, use in links.first_places(app, bold_names).items():
        if name := find(text, entries):
            uses.setdefault(entries[name][0], use)
    for item in doctree.findall(nodes.definition_list_item):
        if use := uses.get(item[0]["ids"][0]):
            chapter, place, title = use
            text = f"Chapter {chapter.number}"
            text += f": {title}" if title != chapter.title else ""
            target, kind = (chapter.document, place), ["first-use"]
            shown = links.link(text, *target, classes=kind)
            item[1][-1] += [nodes.Text(" "), shown]


def setup(app):
    app.connect("doctree-read", note_entries)
    app.connect("doctree-resolved", link_first_uses, priority=400)
    app.connect("doctree-resolved", link_chapters, priority=400)
