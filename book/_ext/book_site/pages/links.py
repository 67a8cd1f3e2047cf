"""Links between pages that the extension makes itself.

A page is written before it is known where another one lies, so a link keeps
its target until both are there. A figure that the text names by its number is
a link to it.
"""

import re
from collections import Counter
from functools import cache
from pathlib import Path

from docutils import nodes

from ..source.chapters import lessons

FIGURE = re.compile(r"\b[Ff]igure\s+(\d+\.\d+)\b")
APART = (nodes.FixedTextElement, nodes.literal, nodes.reference, nodes.title)


def is_notebook(app, document):
    """Is this page made of a notebook?"""
    return str(app.env.doc2path(document)).endswith(".ipynb")


def link(text, document, anchor="", **options):
    """A link to a page of the book, or to a place on it."""
    node = nodes.reference("", "", internal=True, **options)
    node["to"] = (document, anchor)
    node += nodes.Text(text) if isinstance(text, str) else text
    return node


def pieces(text, pattern, made):
    """A text as nodes, with what `made` makes of a match, if anything."""
    end = 0
    for match in pattern.finditer(text):
        if (node := made(match)) is not None:
            yield nodes.Text(text[end : match.start()])
            yield node
            end = match.end()
    yield nodes.Text(text[end:])


def shortened(text, longest):
    """Its beginning, up to the end of a word."""
    if len(text) <= longest:
        return text
    return text[:longest].rsplit(" ", 1)[0] + " …"


def is_within(node, kinds):
    """Does it stand in a node of one of these kinds?"""
    while node := node.parent:
        if isinstance(node, kinds):
            return True
    return False


def section_of(node):
    """The section in which a node stands: its place and its title."""
    while not isinstance(node, nodes.section):
        node = node.parent
    return node["ids"][0], node[0].astext()


@cache
def first_places(app, marks):
    """Where the lessons first have what `marks` finds: (lesson, section).

    Args:
        marks: makes of a page the names that it has, each with its node.
    """
    places = {}
    for page in lessons(Path(app.srcdir)):
        for name, node in marks(app.env.get_doctree(page.document)):
            places.setdefault(name, (page, *section_of(node)))
    return places


def go_on_counting(app, env):
    """The figures of a deeper page follow those of its chapter."""
    last = Counter()
    for page in lessons(Path(app.srcdir)):
        figures = env.toc_fignumbers.get(page.document, {}).get("figure", {})
        for place in figures:
            last[page.number] += 1
            figures[place] = (page.number, last[page.number])


def link_figures(app, doctree, docname):
    """Make links of the numbers of figures in the text of a page."""
    known = {  # page and place by number
        ".".join(map(str, number)): (document, place)
        for document, kinds in app.env.toc_fignumbers.items()
        for place, number in kinds.get("figure", {}).items()
    }

    def linked(found):
        place = known.get(found[1])
        return place and link(found[0], *place, classes=["figure-link"])

    for text in list(doctree.findall(nodes.Text)):
        if FIGURE.search(text) and not is_within(text, APART):
            text.parent.replace(text, list(pieces(text, FIGURE, linked)))


def resolve(app, doctree, docname):
    """Write the address into every link of a page."""
    for node in doctree.findall(nodes.reference):
        if "to" in node:
            document, anchor = node["to"]
            page = ""
            if document != docname:
                page = app.builder.get_relative_uri(docname, document)
            node["refuri"] = f"{page}#{anchor}" if anchor else page


def setup(app):
    app.connect("env-updated", go_on_counting)
    app.connect("doctree-resolved", link_figures, priority=400)
    app.connect("doctree-resolved", resolve)
