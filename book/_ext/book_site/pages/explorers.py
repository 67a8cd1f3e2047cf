"""The explorers of a page: their scripts, and nothing where there are none.

An explorer is an element that names its scripts in `data-scripts`; they lie
beside its Python in book/kit/explorers.
"""

import re
import shutil
import sys
from importlib import import_module
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

NEEDS = re.compile(r'<[a-z]+-[a-z-]+ [^<>]*data-scripts="([a-z -]+)"')


def scripts_of(html: str) -> list[str]:
    """The scripts that the explorers of a page need, each once, in order."""
    needed = " ".join(NEEDS.findall(html)).split()
    return list(dict.fromkeys(needed))


def finish(app):
    """Lay the scripts of all explorers beside the site's own."""
    target = Path(app.outdir, "_static", "explorers")
    target.mkdir(parents=True, exist_ok=True)
    for path in Path(app.srcdir, "book/kit/explorers").glob("*.js"):
        shutil.copyfile(path, target / path.name)


class ExplorerDirective(SphinxDirective):
    """`{explorer} dates.date_explorer`: what this returns, made compact.

    For a page of text, which has no cell that could show it. It is one of
    book/kit/explorers that computes nothing: a site is built without torch.
    """

    required_arguments = 1

    def run(self):
        module, name = self.arguments[0].split(".")
        book = Path(self.env.srcdir, "book")
        if str(book) not in sys.path:
            sys.path.append(str(book))
        make = getattr(import_module(f"kit.explorers.{module}"), name)
        self.env.note_dependency(str(book / f"kit/explorers/{module}.py"))
        html = make(compact=True).element()
        return [nodes.raw("", html, format="html")]


def setup(app):
    app.add_directive("explorer", ExplorerDirective)
