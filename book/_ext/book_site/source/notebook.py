"""What a reader of the website sees of a notebook.

The notebook file stays as it is: this works on its text just before
MyST-NB parses it. The Colab cell and badge are left out, imports and checks
are folded to their titles, an answer cell becomes a stub and a folded
solution, the check below it is one line, hidden tests disappear. Of outputs
the page shows what `outputs` allows.
"""

import re
from functools import partial

import nbformat
from nbformat.v4 import new_markdown_cell
from sphinx.util.logging import getLogger

from tools.source import cells, colab
from tools.source.answers import (
    solution,
    stub,
    without_hidden_tests,
    without_marks,
)

from ..pages.links import is_notebook
from .outputs import clean
from .quiz import boxed, is_quiz

LOGGER = getLogger(__name__)
REFUSED = "%s: a page cannot show what an output has: %s"
NOTEBOOK_LINK = re.compile(r'(href="(?:\.\./|deeper/)?\d\d_\w+)\.ipynb(?=")')
APART = re.compile(r"(<code>.*?</code>|<[^>]*>|`[^`]*`)", re.S)
OPENING = re.compile(r'(?<![^\s(\[])"')
SUMMARY = re.compile(r"(?<=<summary>).*?(?=</summary>)", re.S)
CALL = re.compile(r"^check\(.*\)$", re.M)
BOX = "> **You will**"
IMPORTS = "# @title Imports"


def curly(text: str) -> str:
    """A text, maybe with HTML, with the quotes and apostrophes of print.

    Sphinx sets none in summaries and titles of checks.
    """
    parts = APART.split(text)
    for at in range(0, len(parts), 2):  # between tags and code
        part = OPENING.sub("“", parts[at])
        parts[at] = part.replace('"', "”").replace("'", "’")
    return "".join(parts)


def in_summaries(text: str) -> str:
    """Markdown whose summaries have such quotes."""
    return SUMMARY.sub(lambda found: curly(found[0]), text)


def page_cells(cell):
    """The cells of the page that stand for one cell of the notebook."""
    tags = cell.metadata.get("tags", [])
    nbgrader = cell.metadata.get("nbgrader", {})
    if "colab" in tags:
        return []
    if cell.cell_type == "markdown":
        source = colab.BADGE_LINE.sub("", cell.source)
        cell.source = in_summaries(cells.HEADING.sub(r"# \1", source))
        if is_quiz(cell):
            cell.source = boxed(cell.source)
        return [cell]
    if nbgrader.get("solution"):
        return answer_cells(cell)
    if nbgrader.get("grade"):
        cell.source = without_hidden_tests(cell.source)
    if "explorer" in tags:
        cell.metadata["tags"] = ["remove-input", "explorer"]
    elif titled := cells.TITLE.match(cell.source):
        cell.source = cell.source[titled.end() :]
        if claim := titled["claim"]:
            fold(cell, f"✓ {curly(claim)}", "check")
        else:
            fold(cell, "Imports", "imports")
    elif nbgrader and (call := CALL.search(cell.source)):
        fold(cell, call[0], "exercise-check")
    return [cell]


def answer_cells(cell):
    """The stub, and the solution that opens below it."""
    source = without_marks(cell.source)
    shown = new_markdown_cell(f"```python\n{stub(source)}\n```")
    cell.source = solution(source)
    tags = cell.metadata.get("tags", [])
    cell.metadata["tags"] = [*tags, "hide-input", "solution"]
    cell.metadata["mystnb"] = {
        "code_prompt_show": "Show a solution",
        "code_prompt_hide": "Hide the solution",
    }
    return [shown, cell]


def fold(cell, line, kind):
    """Show of a cell this line, which opens, and its output."""
    cell.metadata["tags"] = ["hide-input", kind]
    prompts = {"code_prompt_show": line, "code_prompt_hide": line}
    cell.metadata["mystnb"] = prompts


def note_on_checks(page):
    """What the page says of its checks, for below the box; maybe nothing.

    All of them ran: the tests refuse a notebook whose outputs are not those
    of a run from the first cell to the last.
    """
    titles = filter(None, (cells.TITLE.match(cell.source) for cell in page))
    number = sum(titled["claim"] is not None for titled in titles)
    if not number:
        return []
    are = "check is" if number == 1 else "checks are"
    text = (
        f"{{.checks}}\n**{number} {are} folded into this page.** Press a ✓ to "
        "see the one that proves what stands before it. All of them ran "
        "with the numbers you see."
    )
    return [new_markdown_cell(text)]


def adapt_outputs(cell):
    """Links lead to notebooks in Jupyter, to pages here.

    An explorer finds its scripts beside the page.
    """
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "text/html" in data:
            html = cells.without_scripts(data["text/html"])
            data["text/html"] = NOTEBOOK_LINK.sub(r"\1.html", html)


def rewrite_notebook(app, docname, content):
    """Replace the notebook's text by the text of its page view."""
    if not is_notebook(app, docname):
        return
    notebook = nbformat.reads(content[0], as_version=4)
    note, page, imports = note_on_checks(notebook.cells), [], []
    has_box = any(cell.source.startswith(BOX) for cell in notebook.cells)
    for cell in notebook.cells:
        if has_box and cell.source.startswith(IMPORTS):
            imports = page_cells(cell)  # a picture follows the question
            continue
        page += page_cells(cell)
        if cell.source.startswith(BOX):
            page += [*note, *imports]
    for cell in page:
        adapt_outputs(cell)
        for output in cell.get("outputs", []):
            clean(output, partial(LOGGER.warning, REFUSED, docname))
    notebook.cells = page
    content[0] = nbformat.writes(notebook)


def setup(app):
    app.connect("source-read", rewrite_notebook)
