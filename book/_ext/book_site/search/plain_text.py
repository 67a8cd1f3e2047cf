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
    is_quoted = isinstance(node.parent, nodes.block_quote)
    is_in_box = is_quoted and node.astext().startswith(BOX)
    return is_in_box or bool(ASIDE & {*node.get("classes", ())})


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
