"""Old addresses of the book: each leads to where its page went.

`moved_pages` in the configuration maps an old document to a new one. An entry
with a section, such as `old#section: new`, is for links to that section; it
needs a script, without which the reader lands on the page's new address. The
address of the site itself leads to its first page in the same way.
"""

import json
import posixpath
from collections import defaultdict
from html import escape
from pathlib import Path

from .policy import guarded

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<noscript><meta http-equiv="refresh" content="0; url={url}"></noscript>
<link rel="canonical" href="{url}">
<script>
const sections = new Map({sections});
const section = decodeURIComponent(location.hash.slice(1));
location.replace((sections.get(section) || {script_url}) + location.hash);
</script>
</head>
<body><p>{title}: <a href="{url}">{url}</a></p></body>
</html>
"""


def addresses(moved):
    """Each old document, and its new ones by section; "" is the page."""
    old = defaultdict(dict)
    for source, target in moved.items():
        name, _, section = source.partition("#")
        folder = posixpath.dirname(name)
        url = posixpath.relpath(f"{target}.html", folder or ".")
        old[name][section] = url
    return old


def write_page(app, name, sections, title):
    """A page that leads to one of these addresses, by its section."""
    url = sections.pop("")
    page = PAGE.format(
        title=escape(title),
        url=escape(url),
        script_url=json.dumps(url),
        sections=json.dumps([*sections.items()]),
    )
    Path(app.outdir, f"{name}.html").write_text(guarded(page), "utf-8")


def finish(app):
    """One page for each old address.

    Raises:
        ValueError: an old address is a page of today, a new one is none, or a
            document has entries for its sections only.
    """
    there = app.env.found_docs
    for name in app.config.moved_pages.values():
        if name not in there:
            raise ValueError(f"moved_pages: there is no document {name}")
    for name, sections in addresses(app.config.moved_pages).items():
        if name in there or "" not in sections:
            raise ValueError(f"moved_pages: {name} is there, or goes nowhere")
        write_page(app, name, sections, "This page has moved")
    if "index" not in there:  # in the place of the page of sphinx-external-toc
        first = {"": f"{app.config.root_doc}.html"}
        write_page(app, "index", first, app.config.html_title)
