"""A figure that the text names by its number is a link to it."""

import re

from docutils import nodes

from .links import link

FIGURE = re.compile(r"\b[Ff]igure\s+(\d+\.\d+)\b")
APART = (nodes.FixedTextElement, nodes.literal, nodes.reference, nodes.title)


def places(env) -> dict[str, tuple[str, str]]:
    """The page and the place of each figure, by its number."""
    found = {}
    for document, kinds in env.toc_fignumbers.items():
        for place, number in kinds.get("figure", {}).items():
            found[".".join(map(str, number))] = (document, place)
    return found


def is_prose(text: nodes.Text) -> bool:
    """Is it neither code nor a title nor a link already?"""
    inside = text.parent
    while inside and not isinstance(inside, APART):
        inside = inside.parent
    return inside is None


def linked(text: str, known: dict):
    """A text in pieces; those that name a figure are links."""
    end = 0
    for found in FIGURE.finditer(text):
        if found[1] in known:
            yield nodes.Text(text[end : found.start()])
            yield link(found[0], *known[found[1]], classes=["figure-link"])
            end = found.end()
    yield nodes.Text(text[end:])


def link_figures(app, doctree, docname):
    """Make links of the numbers in the text of a page."""
    known = places(app.env)
    for text in list(doctree.findall(nodes.Text)):
        if FIGURE.search(text) and is_prose(text):
            text.parent.replace(text, list(linked(text, known)))


def setup(app):
    app.connect("doctree-resolved", link_figures, priority=400)
