"""What a page says, as a reader sees it: no TeX, no code, nothing folded.

The search shows these texts. A formula in a line becomes what one would write
for it without TeX. Displayed formulas, code, its output and what
stands in a box that opens are left out: answers are hidden there.
"""

import re

from docutils import nodes

from ..pages.mathematics import formula

LEFT_OUT = (nodes.Invisible, nodes.literal_block, nodes.math_block)
ASIDE = {"answer-links", "checks"}
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
    """Does it speak of the page, and not of its subject?"""
    if ASIDE & set(node.get("classes", ())):
        return True
    return isinstance(
        node.parent, nodes.block_quote
    ) and node.astext().startswith(BOX)


class Reader:
    """Reads a page from top to bottom, and knows when it is in a fold."""

    def __init__(self):
        self.folds = 0

    def words(self, node: nodes.Node):
        """The pieces of a text, in their order."""
        if isinstance(node, nodes.raw):
            for closing in FOLD.findall(node.astext()):
                self.folds += -1 if closing else 1
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
        return tidy("".join(pieces))


def tidy(text: str) -> str:
    """One line, with no space before a full stop and no mark at its end."""
    return BEFORE_MARK.sub(r"\1", " ".join(text.split())).rstrip(" ·:")
