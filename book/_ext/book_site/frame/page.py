"""What the templates show of every page.

Above a chapter stands one line of links: Colab, the notebook, PDF and slides
where they have been made, the exercises. Below every page where it comes
from, how to report a mistake, and what has changed.
"""

import itertools
import math
from pathlib import Path
from urllib.parse import urlencode

from docutils import nodes
from markupsafe import Markup

from tools.source import taught

from ..pages.explorers import scripts_of
from .assets import image_sizes
from .beside import NOTEBOOKS
from .history import changes
from .other_pages import addresses
from .policy import of_theme
from .repository import colab, published, repository

PICTURE = "_static/social.png"  # what a link to a page shows elsewhere
SHOWN = 8  # changes; the older ones stand in the repository
REPORT = """\
**Page:** {}
**Section:** {}
**Passage:** {}

**What is wrong:**
"""
ARIA_REPAIRS = {
    # The label would replace the words that the summary itself shows.
    ' aria-label="Toggle hidden content"': "",
    # A deprecated role, and no item for the list around it.
    'role="doc-biblioentry"': 'role="listitem"',
    # The corner of a table heads nothing.
    '<th class="head"><p></p></th>': "<td></td>",
    '<th scope="col"></th>': "<td></td>",
}
# Scripts that a page loads if it has what they are for.
SCRIPTS = {
    "code.js": '<div class="highlight">',
    "zoom.js": "<figure",
    "quiz.js": 'class="quiz"',
    "ticks.js": "tag_check",
}


def hero():
    """The picture on the title page: how strong each of its squares is."""
    for row, column in itertools.product(range(7), range(34)):
        distance = column - (row + 0.5) * 34 / 7
        near = math.exp(-((distance / 3) ** 2))
        again = 0.5 * math.exp(-(((distance + 11) / 1.5) ** 2))
        yield 20 * column, 20 * row, 0.07 + 0.93 * max(near, again)


def first_paragraph(doctree):
    """The page's first words, cut at 160 characters, for search engines."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        if len(text) >= 40:
            return text if len(text) <= 160 else text[:159].rstrip() + "…"
    return ""


def frame(app, pagename: str, title: str) -> dict:
    """What the template needs to know for both places of a page."""
    path = Path(app.env.doc2path(pagename)).relative_to(app.srcdir)
    known, name = repository(app), path.as_posix()
    past = app.book_history.get(name, [])
    foot = {"changes": past[:SHOWN], "older": len(past) - SHOWN}
    if known:
        page = Markup(title).striptags()
        body = REPORT.format(page, "", "")  # `report.js` fills these places
        issue = urlencode({"title": f"Mistake: {page}", "body": body})
        foot["all_changes"] = f"{known.url}/commits/{known.branch}/{name}"
        foot["source"] = f"{known.url}/blob/{known.branch}/{name}"
        foot["report"] = f"{known.url}/issues/new?{issue}"
    teacher = f"book/teach/chapter_{path.stem[:2]}"
    is_walk = not taught.is_deeper(path) and teacher in app.env.found_docs
    return {
        "is_chapter": path.suffix == ".ipynb",
        "teacher": teacher if is_walk else "",
        "colab": colab(app, path),
        "notebook": f"{NOTEBOOKS}/{path.name}",
        "foot": foot,
        "moved": addresses(app.config.moved_pages).get(pagename, {}),
    }


def neighbours(app, pagename: str) -> dict:
    """What a chapter leads to: the chapters beside it, over deeper pages."""
    names = [entry.document for entry in taught.contents(Path(app.srcdir))]
    walk = [name for name in names if not taught.is_deeper(Path(name))]
    if pagename not in walk:
        return {}
    at, builder = walk.index(pagename), app.builder

    def leads_to(name):
        title = builder.render_partial(app.env.titles[name])["title"]
        return {
            "link": builder.get_relative_uri(pagename, name),
            "title": title,
        }

    before, after = walk[max(at - 1, 0) : at], walk[at + 1 : at + 2]
    return {
        "prev": leads_to(before[0]) if before else None,
        "next": leads_to(after[0]) if after else None,
    }


def explorers(body: str) -> list[tuple[str, bool]]:
    """Their scripts, and whether the first paint waits for each.

    That of one below the second section does not.
    """
    near = scripts_of("<h2".join(body.split("<h2")[:3]))
    return [(name, name in near) for name in scripts_of(body)]


def prepare_page(app, pagename, templatename, context, doctree):
    """Give the templates what they show; runs once for every page."""
    body = context.get("body", "")
    for unfit, better in ARIA_REPAIRS.items():
        body = body.replace(unfit, better)
    tree = context["toctree"](
        collapse=True, maxdepth=2, includehidden=True, titles_only=True
    )
    toc = context.get("toc", "")
    context |= {
        "body": image_sizes(app, body),
        "policy": of_theme(),
        "hero": hero(),
        "has_math": 'class="math' in body,
        "scripts_here": [name for name in SCRIPTS if SCRIPTS[name] in body],
        "explorers": explorers(body),
        "book_toctree": tree.replace(' role="heading"', ""),
        "page_toc": toc if toc.count("<li>") > 2 else "",
    }
    if doctree:
        context["description"] = first_paragraph(doctree)
        context |= frame(app, pagename, context["title"])
        context |= neighbours(app, pagename)
        app.book_pages[pagename] = context["title"], context["description"]
        if site := published(app):
            own = site + app.builder.get_target_uri(pagename)
            context |= {"own_address": own, "social_picture": site + PICTURE}


def name_rows(app, doctree, docname):
    """Where a table has no word in its corner, its first column names rows."""
    for group in doctree.findall(nodes.tgroup):
        if not next(group.findall(nodes.entry)).astext():
            group[0]["stub"] = 1


def begin(app):
    """Ask git once for all pages."""
    app.book_history = changes(Path(app.srcdir))
    app.book_pages = {}


def setup(app):
    app.connect("builder-inited", begin)
    app.connect("doctree-resolved", name_rows)
    app.connect("html-page-context", prepare_page)
