"""The book's Sphinx extension: its pages, search, theme and mathematics.

`source` reads the book, `pages` makes or changes what pages say, `search` is
what the search knows, and `frame` stands around the pages and beside them.
Its own small theme replaces the stock one, which loads 1.5 MB of icon script.
"""

import hashlib
from pathlib import Path

from tools.source import answers, cells, taught

from .frame import (
    foot,
    llms,
    moved_pages,
    not_found,
    notebooks,
    page,
    pictures,
    repository,
    sitemap,
    styles,
)
from .pages import (
    bibliography,
    citing,
    downloads,
    explorers,
    figures,
    glossary,
    gpu_reports,
    library,
    links,
    mathematics,
    nonbreaking,
    notation,
    previews,
    reading_time,
    slides,
    teaching,
)
from .search import index
from .source import notebook

HERE = Path(__file__).parent
PARTS = (
    bibliography,
    citing,
    explorers,
    figures,
    foot,
    glossary,
    gpu_reports,
    index,
    library,
    links,
    mathematics,
    nonbreaking,
    notation,
    notebook,
    page,
    reading_time,
    repository,
    teaching,
)
# What is done when the pages have been written.
LAST = (
    styles.bundle_fonts,
    pictures.shrink_figures,
    moved_pages.write_front_door,
    moved_pages.write_moved_pages,
    downloads.show_when_built,
    slides.link_when_built,
    previews.write_previews,
    explorers.copy_scripts,
    sitemap.write_sitemap,
    not_found.write_not_found,
    notebooks.write_notebooks,
    index.write_index,
    llms.write_texts,
)


def finish(app, error):
    """Complete a site that has been built."""
    if not error and app.builder.format == "html":
        for step in LAST:
            step(app)


def digest(paths):
    """One word for the contents of files; it changes when they do."""
    contents = b"".join(path.read_bytes() for path in sorted(paths))
    return hashlib.sha256(contents).hexdigest()


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
    own = digest([*HERE.rglob("*.py"), *format_of])
    app.add_config_value("book_site_digest", own, "env")
    app.add_config_value("book_made_of", [], "env")
    app.add_config_value("moved_pages", {}, "html")
    app.add_config_value("student_path", "", "html")
    app.add_config_value("comments_config", {}, "")  # Jupyter Book sets it
    app.add_html_theme("book", str(HERE / "theme"))
    app.connect("config-inited", notice_new_files)
    app.connect("env-updated", write_every_page)
    app.connect("build-finished", finish)
    for part in PARTS:
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
