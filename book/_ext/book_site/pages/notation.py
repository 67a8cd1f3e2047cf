"""The page of notation: its rows are targets, and first uses lead to them.

A row is found by the symbols of its first cell and the code of its second.
Not every symbol can be: a small letter, as in f(x), a word of code that means
something else in other libraries, or what stands in two rows.
"""

import re
from collections import Counter

from docutils import nodes

from . import links

PAGE = "book/notation"
SHAPE = re.compile(r"^\([^)]*\): ")
TOO_COMMON = re.compile(r"[a-z]|\\varepsilon|S|[pz]_i")  # of one chapter, too
APART = (nodes.block_quote, nodes.reference, nodes.title)


def names(row: nodes.row) -> list[str]:
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


def note_rows(app, doctree):
    """Make each row of the page a target."""
    if app.env.docname != PAGE:
        return
    count, known = Counter(), {}
    bodies = doctree.findall(nodes.tbody)
    rows = (row for body in bodies for row in body.findall(nodes.row))
    for number, row in enumerate(rows, start=1):
        row["ids"] = [place := f"notation-{number}"]
        meaning = SHAPE.sub("", spoken(row[-1].astext()))
        for name in set(names(row)):
            known[name] = place, f"{spoken(name)}: {meaning}"
            count[name] += 1
    known = {name: known[name] for name in known if count[name] == 1}
    app.env.metadata[PAGE]["book_rows"] = known


def link_first_uses(app, doctree, docname):
    """Let the first use of each symbol or code that has a row lead to it."""
    known = app.env.metadata[PAGE].get("book_rows", {})
    if links.is_notebook(app, docname):
        marks = [
            (mark, known[mark.astext()])
            for mark in doctree.findall(nodes.TextElement)
            if isinstance(mark, nodes.math | nodes.literal)
            and mark.astext() in known
            and not links.is_within(mark, APART)
        ]
        links.link_first_uses(marks, PAGE, "symbol")


def setup(app):
    app.connect("doctree-read", note_rows)
    app.connect("doctree-resolved", link_first_uses, priority=400)
