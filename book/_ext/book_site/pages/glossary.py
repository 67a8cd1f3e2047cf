"""The glossary: its terms are targets, and first uses lead to them.

A chapter sets a term in bold where it first uses it. The first such place of
a page becomes a link to the glossary, and the glossary says in which chapter
the term is explained. Neither is written by hand.
"""

import re

from docutils import nodes

from . import links

PAGE = "book/glossary"
SYNONYMS = re.compile(r"\s*[,()]\s*")
APART = (nodes.block_quote, nodes.title)
TITLE_LENGTH = 240  # characters of a definition that a mouse pointer shows


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


def note_entries(app, doctree):
    """Make each entry of the glossary a target.

    Raises:
        ValueError: a term stands twice.
    """
    if app.env.docname != PAGE:
        return
    entries = {}
    for item in doctree.findall(nodes.definition_list_item):
        term, text = item[0].astext(), " ".join(item[1].astext().split())
        text = links.shortened(text, TITLE_LENGTH)
        item[0]["ids"] = [anchor(term)]
        for name in names(term):
            if name in entries:
                raise ValueError(f"the glossary has {name!r} twice")
            entries[name] = (anchor(term), text, names(term))
    app.env.metadata[PAGE]["book_entries"] = entries


def entries_of(app) -> dict[str, tuple[str, str, list[str]]]:
    """By each name: the place of the entry, its text, and all its names."""
    return app.env.metadata[PAGE].get("book_entries", {})


def note_first_uses(app, doctree):
    """Note what a page sets in bold, and in which section."""
    if links.is_notebook(app, app.env.docname):
        marks = [(key(node.astext()), node) for node in bold(doctree)]
        links.note_places(app, "book_bold", marks)


def bold(doctree):
    """The bold texts of a page that can be terms."""
    for strong in doctree.findall(nodes.strong):
        is_link = isinstance(strong.parent, nodes.reference)
        if not is_link and not links.is_within(strong, APART):
            yield strong


def link_first_uses(app, doctree, docname):
    """Let the first bold occurrence of each term lead to the glossary."""
    entries = entries_of(app)
    if links.is_notebook(app, docname):
        found = [(b, find(b.astext(), entries)) for b in bold(doctree)]
        marks = [(node, entries[name]) for node, name in found if name]
        links.link_first_uses(marks, PAGE, "term")


def link_chapters(app, doctree, docname):
    """Say at each entry of the glossary where it is first used."""
    if docname != PAGE:
        return
    entries, uses = entries_of(app), {}
    for text, use in links.first_places(app, "book_bold").items():
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
    app.connect("doctree-read", note_first_uses)
    app.connect("doctree-resolved", link_first_uses, priority=400)
    app.connect("doctree-resolved", link_chapters, priority=400)
