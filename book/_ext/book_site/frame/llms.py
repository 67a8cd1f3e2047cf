"""The book for programs that read text: `llms.txt`, and a file a chapter.

The form is that of llmstxt.org. A chapter's file has its text, its code and
what the code printed; a check is the sentence that it proves, a figure what
it shows. The solutions of the exercises stand on the pages only.
"""

import re
from itertools import groupby
from pathlib import Path

import nbformat

from ..source.notebook import page_cells
from .built import Page, pages

FOLDER = "text"
CHAPTER = re.compile(r"\]\((\d\d_\w+)\.ipynb")
OTHER = re.compile(r"\]\((\w+)\.md")
INTRODUCTION = """\
# {title}

> {description}

Each chapter is linked as text: what it says, its code, and what the code
printed. The pages themselves, with figures and solutions, begin at
[book/index.html]({address}).
"""


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


def chapter_text(path: Path, title: str) -> str:
    """A notebook as Markdown."""
    notebook = nbformat.read(path, as_version=4)
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
            path = f"{FOLDER}/{page.source.stem}.md"
            link = path if page.is_chapter else page.address
            text += f"- [{page.title}]({link}): {page.description}\n"
    return text


def finish(app) -> None:
    site, found = Path(app.outdir), pages(app)
    (site / "llms.txt").write_text(index_text(found), encoding="utf-8")
    (site / FOLDER).mkdir(exist_ok=True)
    for page in filter(lambda page: page.is_chapter, found):
        target = site / FOLDER / f"{page.source.stem}.md"
        text = chapter_text(page.source, page.title)
        target.write_text(text, encoding="utf-8")
