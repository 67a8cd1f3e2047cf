"""A formula keeps the punctuation that touches it; short things are whole.

Browsers may break a line on either side of a formula, even before a comma,
between the signs of code, and before the number of a chapter.
"""

import re

from docutils import nodes

BEFORE = re.compile(r"[^\s\w.,;:]+$")
AFTER = re.compile(r"^[^\s\w]+")
SHORT = 10  # letters that a line always has room for
NUMBERED = re.compile(r"(?:chapter|figure|exercise) [\d.]+", re.IGNORECASE)
WHOLE = (nodes.literal, nodes.reference)


def outermost(math: nodes.Node) -> nodes.Node:
    """The formula, or the link that has nothing else in it."""
    while isinstance(math.parent, nodes.reference) and len(math.parent) == 1:
        math = math.parent
    return math


def cut(text: nodes.Node | None, pattern: re.Pattern) -> str:
    """What a pattern finds in a neighbour, which loses it."""
    match = isinstance(text, nodes.Text) and pattern.search(text)
    if not match:
        return ""
    rest = text[: match.start()] + text[match.end() :]
    text.parent.replace(text, nodes.Text(rest) if rest else [])
    return match[0]


def keep_together(app, doctree, docname):
    """Put formulas and what touches them into spans that do not break."""
    for math in list(doctree.findall(nodes.math)):
        formula = outermost(math)
        around = formula.parent
        after = cut(formula.next_node(descend=False, siblings=True), AFTER)
        at = around.index(formula)
        before = cut(around[at - 1] if at else None, BEFORE)
        if before or after:
            span = nodes.inline(classes=["glued"])
            around.replace(formula, span)
            span += [nodes.Text(before)] if before else []
            span += formula
            span += [nodes.Text(after)] if after else []


def keep_short_whole(app, doctree, docname):
    """Mark the code and the links that stay on one line."""
    for node in doctree.findall(lambda n: isinstance(n, WHOLE)):
        text = node.astext()
        is_code = isinstance(node, nodes.literal)
        if (is_code and len(text) <= SHORT) or NUMBERED.fullmatch(text):
            node["classes"].append("short")


def setup(app):
    app.connect("doctree-resolved", keep_together, priority=900)
    app.connect("doctree-resolved", keep_short_whole, priority=900)
