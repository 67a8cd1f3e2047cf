"""A figure that the text names by its number is a link to it."""

import re

from docutils import nodes

from .links import is_within, link, pieces

FIGURE = re.compile(r"\b[Ff]igure\s+(\d+\.\d+)\b")
APART = (nodes.FixedTextElement, nodes.literal, nodes.reference, nodes.title)


def link_figures(app, doctree, docname):
    """Make links of the numbers in the text of a page."""
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


def setup(app):
    app.connect("doctree-resolved", link_figures, priority=400)
