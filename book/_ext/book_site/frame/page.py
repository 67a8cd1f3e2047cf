"""What the templates show of every page, but for its foot."""

import itertools
import math
from pathlib import Path

from docutils import nodes
from markupsafe import Markup

from ..pages.explorers import scripts_of
from .assets import image_sizes
from .foot import frame
from .policy import of_theme
from .repository import published

THEME = Path(__file__).parents[1] / "theme"
PICTURE = "_static/social.png"  # what a link to a page shows elsewhere
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
}

# Strokes on a grid of 24, drawn for this book.
ICONS = {
    "menu": "M4 6h16M4 12h16M4 18h16",
    "close": "M6 6l12 12M18 6L6 18",
    "search": "M10.5 4a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13M15.5 15.5L20 20",
    "moon": "M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z",
    "sun": "M12 8a4 4 0 1 0 0 8a4 4 0 1 0 0-8M12 2v2M12 20v2M2 12h2M20 12h2"
    "M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5",
}


def icon(name):
    """An icon as inline SVG, in the colour of the text around it."""
    return Markup(
        '<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">'
        f'<path d="{ICONS[name]}"/></svg>'
    )


def hero():
    """The picture on the title page: attention that moves along a text."""
    cells = []
    for row, column in itertools.product(range(7), range(34)):
        distance = column - (row + 0.5) * 34 / 7
        near = math.exp(-((distance / 3) ** 2))
        again = 0.5 * math.exp(-(((distance + 11) / 1.5) ** 2))
        weight = 0.07 + 0.93 * max(near, again)
        cells.append(
            f'<rect x="{20 * column}" y="{20 * row}" width="18" '
            f'height="18" rx="3" opacity="{weight:.2f}"/>'
        )
    return Markup(
        '<svg class="hero" viewBox="0 0 678 138" aria-hidden="true">'
        f"{''.join(cells)}</svg>"
    )


def first_paragraph(doctree):
    """The page's first words, cut at 160 characters, for search engines."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        if len(text) >= 40:
            return text if len(text) <= 160 else text[:159].rstrip() + "…"
    return ""


def prepare_page(app, pagename, templatename, context, doctree):
    """Give the templates what they show; runs once for every page."""
    body = context.get("body", "")
    for unfit, better in ARIA_REPAIRS.items():
        body = body.replace(unfit, better)
    tree = context["toctree"](
        collapse=True, maxdepth=1, includehidden=True, titles_only=True
    )
    toc = context.get("toc", "")
    context |= {
        "body": image_sizes(app, body),
        "icon": icon,
        "policy": of_theme(THEME),
        "hero": hero(),
        "has_math": 'class="math' in body,
        "scripts_here": [name for name in SCRIPTS if SCRIPTS[name] in body],
        "explorers": scripts_of(body),
        "book_toctree": tree.replace(' role="heading"', ""),
        "page_toc": toc if toc.count("<li>") > 2 else "",
    }
    if doctree:
        context["description"] = first_paragraph(doctree)
        context |= frame(app, pagename, context["title"])
        if site := published(app):
            own = site + app.builder.get_target_uri(pagename)
            context |= {"own_address": own, "social_picture": site + PICTURE}


def setup(app):
    app.connect("html-page-context", prepare_page)
