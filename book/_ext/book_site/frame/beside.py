"""What lies beside the pages: the chapters in other forms, and lists of pages.

- `notebooks/`: the chapters as they are, to download. One that was downloaded
  alone runs: its first cell fetches the rest of the book.
- `text/` and `llms.txt`, in the form of llmstxt.org: the chapters for programs
  that read text. A check is the sentence that it proves, a figure what it
  shows; the solutions of the exercises stand on the pages only.
- `sitemap.xml`, with the days of the last changes, and `robots.txt`: what
  search engines ask for. Both must name whole addresses, so they are written
  once that of the published site is known.
"""

import re
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import nbformat
from markupsafe import Markup, escape

from tools.source import colab, taught
from tools.source.address import Place

from ..source.notebook import page_cells
from .repository import published, repository

NOTEBOOKS, TEXTS = "notebooks", "text"
CHAPTER = re.compile(r"\]\((?:\.\./|deeper/)?(\w+)\.ipynb")
OTHER = re.compile(r"\]\((?:\.\./)?(\w+)\.md")
INTRODUCTION = """\
# {title}

> {description}

Each chapter is linked as text: what it says, its code, and what the code
printed. The pages themselves, with figures and solutions, begin at
[book/index.html]({address}).
"""
SITEMAP = """\
<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
{}
</urlset>
"""
ROBOTS = """\
User-agent: *
Allow: /

Sitemap: {}sitemap.xml
"""


@dataclass(frozen=True)
class Page:
    """A page of the site; `source` is its text in the repository."""

    source: Path
    address: str
    title: str
    description: str
    part: str

    @property
    def is_chapter(self) -> bool:
        return self.source.suffix == ".ipynb"


def pages(app) -> list[Page]:
    """The pages that have been written, in the order of the book."""
    written = []
    for entry in taught.contents(Path(app.srcdir)):
        source = Path(app.env.doc2path(entry.document))
        title, description = app.book_pages[entry.document]
        words = Markup(title).striptags(), description
        written.append(
            Page(source, f"{entry.document}.html", *words, entry.caption)
        )
    return written


def addressed(text: str, url: str, branch: str) -> str:
    """A notebook's text with this address in its first cell."""
    notebook = nbformat.reads(text, as_version=4)
    if not any(c.source.startswith(colab.FIRST_LINE) for c in notebook.cells):
        return text
    cell = colab.first_cell(Place(url, branch), colab.pins(taught.ROOT))
    colab.put_first_cell(notebook, cell)
    return nbformat.writes(notebook) + "\n"


def outputs(cell):
    """What a cell printed; of a figure what it shows."""
    shown = cell.metadata.get("mystnb", {})
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "image/png" in data:
            alt = shown.get("image", {}).get("alt", "")
            caption = shown.get("figure", {}).get("caption", "")
            yield f"> **Figure.** {' '.join(caption.split())} ({alt})"
        elif text := output.get("text") or data.get("text/plain"):
            yield f"```text\n{text.rstrip()}\n```"


def cell_text(cell) -> str:
    """A cell of the page view as Markdown."""
    tags = cell.metadata.get("tags", [])
    if cell.cell_type == "markdown":
        text = OTHER.sub(r"](../book/\1.html", cell.source)
        return CHAPTER.sub(r"](\1.md", text).strip()
    if "solution" in tags:
        return ""
    line = cell.metadata.get("mystnb", {}).get("code_prompt_show")
    if "check" in tags:
        return line
    code = line if "exercise-check" in tags else cell.source
    return "\n\n".join([f"```python\n{code}\n```", *outputs(cell)])


def chapter_text(text: str, title: str) -> str:
    """A notebook as Markdown."""
    notebook = nbformat.reads(text, as_version=4)
    cells = [new for cell in notebook.cells for new in page_cells(cell)]
    text = "\n\n".join(filter(None, map(cell_text, cells)))
    _, _, rest = text.partition("\n")
    return f"# {title}\n{rest}\n"


def index_text(found: list[Page]) -> str:
    """The file that leads to all others."""
    home, *others = found
    text = INTRODUCTION.format(**vars(home))
    for part, inside in groupby(others, lambda page: page.part):
        text += f"\n## {part}\n\n"
        for page in inside:
            path = f"{TEXTS}/{page.source.stem}.md"
            link = path if page.is_chapter else page.address
            text += f"- [{page.title}]({link}): {page.description}\n"
    return text


def sitemap(app, site: str) -> str:
    """All pages of a site that is published at this address."""
    entries = []
    for page in pages(app):
        path = page.source.relative_to(app.srcdir).as_posix()
        past = app.book_history.get(path)
        day = f"<lastmod>{past[0].date}</lastmod>" if past else ""
        place = escape(site + page.address)
        entries.append(f"<url><loc>{place}</loc>{day}</url>")
    return SITEMAP.format("\n".join(entries))


def files(app):
    """Each file: its name, and what it says."""
    known = repository(app)
    for page in filter(lambda page: page.is_chapter, pages(app)):
        text = page.source.read_text(encoding="utf-8")
        yield f"{TEXTS}/{page.source.stem}.md", chapter_text(text, page.title)
        if known:
            text = addressed(text, known.url, known.branch)
        yield f"{NOTEBOOKS}/{page.source.name}", text
    yield "llms.txt", index_text(pages(app))
    if site := published(app):
        yield "sitemap.xml", sitemap(app, site)
        yield "robots.txt", ROBOTS.format(site)


def finish(app) -> None:
    for name, text in files(app):
        path = Path(app.outdir, name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
