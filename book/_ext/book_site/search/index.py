"""What the search of the site knows: every section, as plain text.

The index is JSON inside a script, because a page that was opened as a file may
load scripts only. A page loads it when its reader goes to the search field.
"""

import json
import re
from functools import cache
from pathlib import Path

import yaml

from ..pages.glossary import PAGE as GLOSSARY
from ..pages.glossary import entries_of
from .sections import ERRATA, TEACHING, Section, sections

LISTS = (GLOSSARY, "book/bibliography", ERRATA)
FILE = "_static/search-index.js"
START = "globalThis.bookIndex="
HERE = Path(__file__).parent
CHAPTER = re.compile(r"/\d\d_\w+\.html$")


@cache
def listed(name: str) -> dict[str, str]:
    """One of the lists beside this file."""
    return yaml.safe_load((HERE / f"{name}.yml").read_text("utf-8"))


def known_names(app) -> dict[str, list[str]]:
    """Each name of a term, with all names of that term."""
    return {name: names for name, (*_, names) in entries_of(app).items()}


def aliases(app) -> dict[str, str]:
    """What students type, and what the book calls it."""
    known = known_names(app).items()
    leads = {name: names[0] for name, names in known if name != names[0]}
    for name, typed in listed("aliases").items():
        leads |= dict.fromkeys(typed.split(", "), name)
    return leads


def keep_first_uses(pages: list[list[Section]]) -> None:
    """A term belongs to the section that has it first; later it is bold.

    Without this, every chapter that repeats a term would explain it.
    """
    met = set()
    for section in (section for page in pages for section in page):
        again = [term for term in section.terms if term.lower() in met]
        section.bold += again
        section.terms = [t for t in section.terms if t not in again]
        met.update(term.lower() for term in section.terms)


def note(app, doctree, docname):
    """Gather a page, before the book adds links of its own to it."""
    parts = list(sections(docname, doctree, known_names(app), listed("asked")))
    number = app.env.toc_secnumbers.get(docname, {}).get("", ())
    label = "".join(f"{n}. " for n in number) + parts[0].title
    app.book_index[docname] = app.builder.get_target_uri(docname), label, parts


def content(app) -> dict:
    """All of it: the browser finds a page by its place in the list."""
    pages = [page for _, page in sorted(app.book_index.items())]
    keep_first_uses([part for url, _, part in pages if CHAPTER.search(url)])
    return {
        "pages": [[url, label] for url, label, _ in pages],
        "sections": [
            [number, section.anchor, round(section.weight, 2), *section.texts]
            for number, (*_, part) in enumerate(pages)
            for section in part
        ],
        "aliases": aliases(app),
    }


def search_page(app):
    """The page of the search: without a script, all pages and sections.

    Of lists of small entries it has the page alone.
    """
    contents = []
    for name, (url, label, parts) in sorted(app.book_index.items()):
        inside = [(s.anchor, s.title) for s in parts if s.is_in_contents]
        is_list = name in LISTS or name.startswith(TEACHING)
        contents.append((url, label, [] if is_list else inside))
    yield "search", {"contents": contents}, "search.html"


def finish(app):
    """Write the script."""
    text = json.dumps(content(app), ensure_ascii=False, separators=(",", ":"))
    Path(app.outdir, FILE).write_text(f"{START}{text};\n", encoding="utf-8")


def begin(app):
    """Gather anew; Sphinx's own index is not made."""
    app.book_index = {}
    app.builder.search = False


def setup(app):
    app.connect("builder-inited", begin)
    app.connect("doctree-resolved", note, priority=300)
    app.connect("html-collect-pages", search_page)
