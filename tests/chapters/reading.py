"""A page is read, a check is run: what holds the two kinds of cells apart.

Each rule lists what is wrong with the cells of a chapter.
"""

import ast
import re
from collections.abc import Iterator
from statistics import median

from tools.exercises.slices import used
from tools.source import cells
from tools.source.taught import symbols

CLASS_LINES = 60  # any other cell: hygiene.LONGEST_CELL
TEACHING_CELLS, MEDIAN_LINES, WORDS = (15, 30), 6, (1_500, 3_000)
# Of a walk: no aims, but alarms. Headings and checks are counted as well.
MOST = {"teaching cells": 20, "words": 2_000, "headings": 9, "checks": 9}
# What looks into a figure rather than draws one.
READS_FIGURE = re.compile(
    r"\.(get_(gid|array|[xy]data|text|height|width|xy|facecolor|color|"
    r"[xy]ticklabels|lines|position)\(|(images|lines|texts|patches)\b)"
)
QUESTION = re.compile(
    r"<details>\n<summary><b>[^<]+</b>(?:(?!</summary>).)*\?</summary>"
)
FIGURE = re.compile(r"[Ff]igures?\s+(?:\d+\.\d+,?\s+(?:and\s+)?)*\d+\.\d+")


def asserts(source: str) -> int:
    """The number of assertions: statements, and calls that assert."""
    found = 0
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).split(".")[-1]
            found += name.startswith("assert_")
        found += isinstance(node, ast.Assert)
    return found


def assigned(source: str) -> set[str]:
    """The names that a cell gives a value, other than by importing them."""
    known = symbols(source).get_symbols()
    return {s.get_name() for s in known if s.is_assigned()}


def check_cells(page: list) -> Iterator[str]:
    """A claim, a proof of it, and nothing to look at."""
    before = None
    for cell in page:
        if cells.is_check(cell):
            claim = cells.TITLE.match(cell.source)["claim"]
            here = f"Check: {claim}"
            if len(claim.split()) < 3:
                yield f"{here}: the claim is not a sentence"
            if not asserts(cell.source):
                yield f"{here}: nothing is asserted"
            if cell.outputs:
                yield f"{here}: a check has no output"
            if before is not None and cells.is_check(before):
                yield f"{here}: two checks in a row, without a word between"
        elif "# @title" in cell.source and not cells.is_folded(cell):
            yield f"not a title of this book: {cell.source.splitlines()[0]}"
        before = cell


def checks_are_dispensable(page: list) -> Iterator[str]:
    """Nobody needs to open a check to understand the code that follows."""
    taught, checked = set(), {}
    for cell in page:
        if cell.cell_type != "code":
            continue
        if cells.is_check(cell):
            claim = cells.TITLE.match(cell.source)["claim"]
            for name in assigned(cell.source):
                if name in taught:
                    yield f"Check: {claim}: it changes {name} of the page"
                checked.setdefault(name, claim)
        else:
            own = assigned(cell.source)
            needed = used(cell.source) - own
            for name in sorted((needed & checked.keys()) - taught):
                yield f"{name} is used, but stands in Check: {checked[name]}"
            taught |= own


def teaching_cells(page: list) -> Iterator[str]:
    """Short, and about the idea: no proof, no figure taken apart."""
    for cell in filter(cells.is_teaching, page):
        first = cell.source.splitlines()[0]
        if cell.source.count("\n") > CLASS_LINES:
            yield f"more than {CLASS_LINES} lines: {first}"
        if asserts(cell.source) > 1:
            yield f"more than one assertion, which is a check: {first}"
        if READS_FIGURE.search(cell.source):
            yield f"it reads a figure, which is a check: {first}"


def counts(page: list) -> dict[str, int]:
    """What a page has before its exercises."""
    before = cells.before_exercises(page)
    return {
        "teaching cells": len(cells.code(before)),
        "words": cells.prose(before),
        "headings": sum(
            len(re.findall(r"^##+ ", cell.source, re.M))
            for cell in before
            if cell.cell_type == "markdown"
        ),
        "checks": sum(map(cells.is_check, before)),
    }


def short_cells(page: list) -> Iterator[str]:
    """One step a cell, in most of them."""
    lines = cells.code(cells.before_exercises(page))
    if lines and median(lines) > MEDIAN_LINES:
        yield f"half of the teaching cells have over {MEDIAN_LINES} lines"


def size(page: list) -> Iterator[str]:
    """Not too little for a chapter, and not too much for an evening."""
    limits = {"teaching cells": TEACHING_CELLS, "words": WORDS}
    found = counts(page)
    for what, (few, many) in limits.items():
        if not few <= found[what] <= many:
            yield f"{found[what]} {what}, not {few} to {many}"


def size_of_a_walk(page: list) -> Iterator[str]:
    """What nobody has to read before the idea is there is not on it."""
    for what, number in counts(page).items():
        if number > MOST[what]:
            yield f"{number} {what}, more than {MOST[what]}"


def first_screen(page: list) -> Iterator[str]:
    """A question, a picture, and then what it takes."""
    kinds = []
    for cell in page:
        if cell.cell_type == "code":
            is_figure = cells.is_drawing(cell) and cell.outputs
            title = cells.TITLE.match(cell.source)
            if "colab" in cell.metadata.get("tags", []):
                continue
            kinds.append("figure" if is_figure else title and title[0].strip())
        elif cell.source.startswith("# "):
            kinds.append("question" if "?**" in cell.source else "title")
        else:
            is_box = cell.source.startswith("> **You will**")
            kinds.append("box" if is_box else "words")
    expected = ["question", "# @title Imports", "figure", "box"]
    if [kind for kind in kinds if kind != "words"][:4] != expected:
        yield f"it begins with {kinds[:4]}, not with {expected}"


def figures_are_referred_to(page: list) -> Iterator[str]:
    """Every figure by its number, which is its place among the figures."""
    chapter = re.match(r"# (\d+)\.", page[0].source)[1]
    yield from figures_after(chapter, 0, page)


def drawings(page: list) -> list:
    return [c for c in page if c.metadata.get("mystnb", {}).get("figure")]


def figures_after(chapter: str, before: int, page: list) -> Iterator[str]:
    """The same on a page that so many figures of its chapter precede."""
    text = " ".join(c.source for c in page if c.cell_type == "markdown")
    places = " ".join(found[0] for found in FIGURE.finditer(text))
    named = set(re.findall(rf"\b{chapter}\.\d+", places))
    last = before + len(drawings(page))
    figures = {f"{chapter}.{n}" for n in range(before + 1, last + 1)}
    for number in sorted(figures - named):
        yield f"the text does not refer to figure {number}"
    for number in sorted(named - figures):
        if int(number.partition(".")[2]) > before:
            yield f"there is no figure {number}"


def explorers(page: list) -> Iterator[str]:
    """One expression; then a question, its answer, and a check of that."""
    for place, cell in enumerate(page):
        if "explorer" not in cell.metadata.get("tags", []):
            continue
        here = f"explorer: {cell.source}"
        if not cells.is_drawing(cell):
            yield f"{here}: it lacks the tag `hide-input`"
        if not isinstance(ast.parse(cell.source).body[0], ast.Expr):
            yield f"{here}: it is not one expression"
        question, check = page[place + 1 : place + 3]
        if not QUESTION.search(question.source):
            yield f"{here}: no question with a folded answer follows"
        if not cells.is_check(check):
            yield f"{here}: no check of the answer follows"


ABOUT = re.compile(
    r"# (?!\d)[^\n]+\n\n\*\*[^\n]+\?\*\*\n\n(?!This page ).+"
    r"This page belongs to \[chapter (\d+)\]\(\.\./(\d\d)_\w+\.ipynb\)\.\Z",
    re.DOTALL,
)


def one_question(page: list) -> Iterator[str]:
    """A deeper page has it on top, with its answer, and leads back."""
    match = ABOUT.match(page[0].source)
    if not match or int(match[1]) != int(match[2]):
        yield "it does not begin with title, question, answer and its chapter"


OF_ALL = check_cells, checks_are_dispensable
OF_CHAPTERS = first_screen, figures_are_referred_to, short_cells
OF_LESSONS = (*OF_ALL, teaching_cells, explorers)
