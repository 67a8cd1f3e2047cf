"""Pages that are not the book's: old addresses, and where there is none.

`moved_pages` in the configuration maps an old document to a new one. An entry
with a section, such as `old#section: new`, is for links to that section; it
needs a script, without which the reader lands on the page's new address, or
on the page itself where only some of its sections have moved. The address of
the site itself leads to its first page in the same way.

A host shows `404.html` at any depth, so nothing in it is relative: its style
is inside, and its links begin at the root of the site.
"""

import posixpath
from collections import defaultdict
from pathlib import Path
from urllib.parse import urlsplit

from tools.source.taught import is_deeper

from .beside import pages
from .policy import guarded
from .repository import published


def addresses(moved):
    """Each old document, and its new ones by section; "" is the page."""
    old = defaultdict(dict)
    for source, target in moved.items():
        name, _, section = source.partition("#")
        folder = posixpath.dirname(name)
        url = posixpath.relpath(f"{target}.html", folder or ".")
        old[name][section] = url
    return old


def write_page(app, name, template, **context):
    """Write a page that is made of one template alone."""
    text = app.builder.templates.render(template, context)
    Path(app.outdir, f"{name}.html").write_text(guarded(text), "utf-8")


def write_moved(app):
    """One page for each old address.

    Raises:
        ValueError: an old address is a page of today, a new one is none, or a
            document that is gone has entries for its sections only.
    """
    there, moved = app.env.found_docs, app.config.moved_pages
    for name in moved.values():
        if name not in there:
            raise ValueError(f"moved_pages: there is no document {name}")
    for name, sections in addresses(moved).items():
        if (name in there) == ("" in sections):
            raise ValueError(f"moved_pages: {name} is there, or goes nowhere")
        if name in there:
            continue  # the page itself leads to them
        shown = {"title": "This page has moved", "url": sections.pop("")}
        shown |= {"sections": sections, "is_old": True}
        write_page(app, name, "moved.html", **shown)
    if "index" not in there:  # in the place of the page of sphinx-external-toc
        shown = {"title": app.config.html_title, "sections": {}}
        url = f"{app.config.root_doc}.html"
        write_page(app, "index", "moved.html", url=url, **shown)


def finish(app):
    write_moved(app)
    write_page(
        app,
        "404",
        "404.html",
        title=app.config.html_title or app.config.project,
        root=urlsplit(published(app)).path or "/",
        chapters=[
            page
            for page in pages(app)
            if page.is_chapter and not is_deeper(page.source)
        ],
    )
