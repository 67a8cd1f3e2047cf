"""An explorer on a page of text, which has no cell that could show it."""

import sys
from importlib import import_module
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective


class ExplorerDirective(SphinxDirective):
    """`{explorer} dates.date_explorer`: what this function returns.

    It is one of book/kit/explorers that computes nothing, since a site is
    built without torch.
    """

    required_arguments = 1
    option_spec = {"compact": directives.flag}

    def run(self):
        module, name = self.arguments[0].split(".")
        book = Path(self.env.srcdir, "book")
        if str(book) not in sys.path:
            sys.path.append(str(book))
        make = getattr(import_module(f"kit.explorers.{module}"), name)
        self.env.note_dependency(str(book / f"kit/explorers/{module}.py"))
        made = make(**dict.fromkeys(self.options, True))
        return [nodes.raw("", made.element(), format="html")]


def setup_explorer_directive(app):
    """Part of the extension `book_site`."""
    app.add_directive("explorer", ExplorerDirective)
