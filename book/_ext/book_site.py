"""The book's Sphinx extension: theme, mathematics, citations, page view.

Its own small theme replaces the stock one, which loads 1.5 MB of icon
script. KaTeX sets the mathematics while the pages are built, so that readers
need no script for it.
"""

import base64
import hashlib
import math
import re
from pathlib import Path

import dukpy
import imagesize
from bibliography import setup_bibliography
from cards import setup_cards
from citing import setup_citation
from docutils import nodes
from downloads import show_when_built
from explorer_directive import setup_explorer_directive
from explorers import scripts_of_the_book, setup_explorers
from figures import setup_figures
from glossary import setup_glossary
from glue import setup_glue
from gpu_reports import setup_reports
from library_pages import setup_library
from links import resolve
from llms import setup_texts
from machines import setup_machines
from markupsafe import Markup
from mathematics import typeset
from moved_pages import write_front_door, write_moved_pages
from not_found import setup_not_found
from notation import setup_notation
from page_frame import frame, setup_page_frame
from page_view import rewrite_notebook
from PIL import Image
from plain_text import formula as plain
from policy import of_theme
from reading_time import setup_reading_time
from repository import setup_repository
from search_index import setup_search
from slides import link_when_built
from social import head, setup_social
from sphinx.util.logging import getLogger
from sphinx.util.math import get_node_equation_number
from teaching import setup_teaching

HERE = Path(__file__).parent
LOGGER = getLogger(__name__)
COLOURS = 128  # of a figure
NEXT_PART = '</span><span class="katex-base">'  # of a formula
LINE_HOLDS = 18  # signs of a formula, on the narrowest phone too
PIXELS_PER_POINT = 2  # figures are drawn at twice the screen's resolution

ARIA_REPAIRS = {
    # The label would replace the words that the summary itself shows.
    ' aria-label="Toggle hidden content"': "",
    # A deprecated role, and no item for the list around it.
    'role="doc-biblioentry"': 'role="listitem"',
    # The corner of a table heads nothing.
    '<th class="head"><p></p></th>': "<td></td>",
    '<th scope="col"></th>': "<td></td>",
}
# Style sheets that bring their usual fonts along, so that text is painted
# once, in its own typeface, however slow the line. A script in layout.html
# knows these fonts by their `font-display: swap`.
BUNDLES = {
    "book.css": ["custom.css", "page.css"],
    "katex/math.css": ["katex/katex.min.css"],
}
# Scripts that a page loads if it has what they are for.
SCRIPTS = {
    "code.js": '<div class="highlight">',
    "zoom.js": "<figure",
    "quiz.js": 'class="quiz"',
}
FONT_FACE = re.compile(r"@font-face\s*\{[^}]*\}")
USUAL_FONT = re.compile(
    r"url\(\"?(fonts/(?:source-serif-4-|KaTeX_(?:Main-Regular|Math-Italic|"
    r"SansSerif-Regular|Size\d))[^\")]*)\"?\)"
)

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


def hero(rows=7, columns=34):
    """The picture on the title page: attention that moves along a text."""
    cells = []
    for row in range(rows):
        for column in range(columns):
            distance = column - (row + 0.5) * columns / rows
            near = math.exp(-((distance / 3) ** 2))
            again = 0.5 * math.exp(-(((distance + 11) / 1.5) ** 2))
            weight = 0.07 + 0.93 * max(near, again)
            cells.append(
                f'<rect x="{20 * column}" y="{20 * row}" width="18" '
                f'height="18" rx="3" opacity="{weight:.2f}"/>'
            )
    size = f"0 0 {20 * columns - 2} {20 * rows - 2}"
    return Markup(
        f'<svg class="hero" viewBox="{size}" aria-hidden="true">'
        f"{''.join(cells)}</svg>"
    )


def typeset_node(node, tex, display=False):
    """The same for a node of a page; a warning says where TeX is wrong."""
    try:
        return typeset(tex, display)
    except dukpy.JSRuntimeError as error:
        reason = str(error).strip().splitlines()[0]
        LOGGER.warning("formula: %s in %s", reason, tex, location=node)
        return ""


def visit_inline_math(self, node):
    """A formula in a line of text; a long one may break between its parts."""
    formula, kind = typeset_node(node, node.astext()), " short"
    if len(plain(node.astext())) > LINE_HOLDS:
        kind, broken = "", NEXT_PART.replace("<span", "<wbr><span")
        formula = formula.replace(NEXT_PART, broken)
    self.body.append(f'<span class="math notranslate{kind}">{formula}</span>')
    raise nodes.SkipNode


def visit_display_math(self, node):
    """A displayed formula, with its number if it has one."""
    formula = typeset_node(node, node.astext(), display=True)
    self.body.append(self.starttag(node, "div", CLASS="equation"))
    self.body.append(f'<div class="math notranslate">{formula}</div>')
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})</span>')
    self.body.append("</div>\n")
    raise nodes.SkipNode


def first_paragraph(doctree):
    """The page's first words, cut at 160 characters, for search engines."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        if len(text) >= 40:
            return text if len(text) <= 160 else text[:159].rstrip() + "…"
    return ""


def image_sizes(app, body):
    """Say how large each image is, so that no text moves when it loads."""
    sources = {name: path for path, name in app.builder.images.items()}

    def with_size(match):
        path = Path(app.srcdir, sources.get(match[1], ""))
        width, height = imagesize.get(path) if path.is_file() else (-1, -1)
        if width <= 0:
            return match[0]
        width, height = (n // PIXELS_PER_POINT for n in (width, height))
        return f'{match[0]} width="{width}" height="{height}" loading="lazy"'

    return re.sub(r'<img\b(?=[^>]*src="[^"]*/([^"/]+)")', with_size, body)


def prepare_page(app, pagename, templatename, context, doctree):
    """Give the templates what they show; runs once for every page."""
    body = context.get("body", "")
    for unfit, better in ARIA_REPAIRS.items():
        body = body.replace(unfit, better)
    context["body"] = image_sizes(app, body)
    context["icon"] = icon
    context["policy"] = of_theme(HERE / "theme")
    context["hero"] = hero()
    context["has_math"] = 'class="math' in body
    context["scripts_here"] = [
        name for name, mark in SCRIPTS.items() if mark in body
    ]
    context["description"] = first_paragraph(doctree) if doctree else ""
    tree = context["toctree"](
        collapse=True, maxdepth=1, includehidden=True, titles_only=True
    )
    context["book_toctree"] = tree.replace(' role="heading"', "")
    toc = context.get("toc", "")
    context["page_toc"] = toc if toc.count("<li>") > 2 else ""
    if doctree:
        context |= frame(app, pagename, context["title"])
        context |= head(app, pagename)


def with_usual_fonts(path):
    """The text of a style sheet, with its usual fonts inside."""

    def data(match):
        font = base64.b64encode((path.parent / match[1]).read_bytes())
        return f'url("data:font/woff2;base64,{font.decode()}")'

    def inside(match):
        face, found = USUAL_FONT.subn(data, match[0])
        return face.replace("display:block", "display:swap", found)

    return FONT_FACE.sub(inside, path.read_text())


def static_folder(app):
    """Where the book's own style sheets, scripts and fonts lie."""
    return Path(app.confdir, app.config.html_static_path[0])


def bundle_fonts(app, error):
    """Write the style sheets that the pages load."""
    if error or app.builder.format != "html":
        return
    folder = static_folder(app)
    for target, sources in BUNDLES.items():
        text = "\n".join(with_usual_fonts(folder / name) for name in sources)
        Path(app.outdir, "_static", target).write_text(text)


def shrink_figures(app, error):
    """Give every figure a palette, which takes a third of the bytes.

    A drawing has few colours; none of them moves by more than 6 percent.
    """
    if error or app.builder.format != "html":
        return
    for path in Path(app.outdir, app.builder.imagedir).glob("*.png"):
        with Image.open(path) as image:
            palette = image.convert("RGB").quantize(
                COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
            )
        palette.save(path, optimize=True)


def digest(paths):
    """One word for the contents of files; it changes when they do."""
    contents = b"".join(p.read_bytes() for p in sorted(paths) if p.is_file())
    return hashlib.sha256(contents).hexdigest()


def notice_static_files(app, config):
    """Write the pages again when a file beside them has changed.

    Without a page to write, Sphinx would not copy the file.
    """
    files = [*static_folder(app).rglob("*"), *HERE.rglob("*.js")]
    files += scripts_of_the_book(app)
    config.book_static_digest = digest(files)


def notice_new_files(app, config):
    """Read all pages again when a module or a report has come or gone."""
    folder = Path(app.srcdir)
    files = [*folder.glob("book/???/*.py"), *folder.glob("reports/*.json")]
    config.book_made_of = sorted(path.name for path in files)


def pages_about_chapters(app, env):
    """Pages that quote chapters are written again whenever one may differ."""
    quoting = ("book/bibliography", "book/glossary", "book/library")
    return [name for name in env.found_docs if name.startswith(quoting)]


def write_every_page(app, env):
    """A page that is not written anew would be missing in the search."""
    return sorted(env.found_docs)


def setup(app):
    """Register all of it; a changed extension makes Sphinx start afresh."""
    app.add_config_value("book_site_digest", digest(HERE.glob("*.py")), "env")
    app.add_config_value("book_static_digest", "", "html")
    app.add_config_value("book_made_of", [], "env")
    app.add_config_value("moved_pages", {}, "html")
    app.add_config_value("student_path", "", "html")
    app.add_config_value("comments_config", {}, "")  # Jupyter Book sets it
    app.add_html_theme("book", str(HERE / "theme"))
    app.add_html_math_renderer(
        "katex", (visit_inline_math, None), (visit_display_math, None)
    )
    app.connect("config-inited", notice_static_files)
    app.connect("config-inited", notice_new_files)
    app.connect("source-read", rewrite_notebook)
    app.connect("env-updated", pages_about_chapters)
    app.connect("doctree-resolved", resolve)
    app.connect("html-page-context", prepare_page)
    app.connect("env-updated", write_every_page)
    app.connect("build-finished", bundle_fonts)
    app.connect("build-finished", shrink_figures)
    app.connect("build-finished", write_front_door)
    app.connect("build-finished", write_moved_pages)
    app.connect("build-finished", show_when_built)
    app.connect("build-finished", link_when_built)
    for part in (
        setup_bibliography,
        setup_cards,
        setup_citation,
        setup_explorer_directive,
        setup_explorers,
        setup_figures,
        setup_glossary,
        setup_glue,
        setup_library,
        setup_machines,
        setup_not_found,
        setup_notation,
        setup_page_frame,
        setup_reading_time,
        setup_reports,
        setup_repository,
        setup_search,
        setup_social,
        setup_teaching,
        setup_texts,
    ):
        part(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
