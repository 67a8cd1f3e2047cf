"""The book's Sphinx extension: its pages, search, theme and mathematics.

`source` reads the book, `pages` makes or changes what pages say, `search` is
what the search knows, and `frame` stands around the pages and beside them.
A module with `setup(app)` is set up, one with `finish(app)` completes a site
whose pages have been written. The book's own small theme replaces the stock
one, which loads 1.5 MB of icon script; `theme/made` has the texts of pages
that are made of data.
"""

import hashlib
from importlib import import_module
from pathlib import Path

from tools.source import answers, cells, taught

HERE = Path(__file__).parent
ROOMS = ("source", "pages", "search", "frame")


def modules_with(function):
    """The modules of the rooms that have a function of this name."""
    for room in ROOMS:
        for path in sorted((HERE / room).glob("*.py")):
            module = import_module(f".{room}.{path.stem}", __name__)
            if hasattr(module, function):
                yield module


def finish(app, error):
    """Complete a site that has been built."""
    if not error and app.builder.format == "html":
        for module in modules_with("finish"):
            module.finish(app)


def notice_new_files(app, config):
    """Read all pages again when a module or a report has come or gone."""
    folder = Path(app.srcdir)
    files = [*folder.glob("book/???/*.py"), *folder.glob("reports/*.json")]
    config.book_made_of = sorted(path.name for path in files)


def write_every_page(app, env):
    """A page that is not written anew would be missing in the search."""
    return sorted(env.found_docs)


def setup(app):
    """Register all of it; a changed extension makes Sphinx start afresh."""
    format_of = [Path(part.__file__) for part in (answers, cells, taught)]
    own = [*sorted(HERE.rglob("*.py")), *sorted(HERE.rglob("*.md"))]
    text = b"".join(path.read_bytes() for path in [*own, *format_of])
    digest = hashlib.sha256(text).hexdigest()
    app.add_config_value("book_site_digest", digest, "env")
    app.add_config_value("book_made_of", [], "env")
    app.add_config_value("moved_pages", {}, "html")
    app.add_config_value("student_path", "", "html")
    app.add_config_value("comments_config", {}, "")  # Jupyter Book sets it
    app.add_html_theme("book", str(HERE / "theme"))
    app.connect("config-inited", notice_new_files)
    app.connect("env-updated", write_every_page)
    app.connect("build-finished", finish)
    for module in modules_with("setup"):
        module.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
