"""What must hold for every notebook of the book, whatever it teaches."""

import ast
import re
from collections.abc import Iterator

from tools.chapters.compare import fields
from tools.chapters.plugin import stored_problems
from tools.source.cells import EFFORT
from tools.source.taught import MARKER

LONGEST_CELL = 30  # lines
IMPORTS = re.compile("# @title Imports\n")
HACK = re.compile(r"\bsys\.path\b|\bget_ipython\b")
EXERCISES = range(4, 7)  # in a chapter
TRANSFER = 2  # of them, at least, leave the situation of the page
ON_A_WALK = range(3, 5)  # more stand on its deeper pages


def code_cells(page: list) -> list:
    return [cell for cell in page if cell.cell_type == "code"]


def is_exempt(cell) -> bool:
    """Does nbval run the cell and compare nothing?"""
    tags = " ".join(cell.metadata.get("tags", []))
    return "nbval-" in tags or "NBVAL_" in cell.source


def code(page: list) -> Iterator[str]:
    """Every code cell, by its number."""
    for number, cell in enumerate(code_cells(page), start=1):
        for problem in (*source_problems(cell), *output_problems(cell)):
            yield f"code cell {number}: {problem}"


def source_problems(cell) -> Iterator[str]:
    """It runs anywhere, is compared or says why not, is seen at a glance.

    Definitions and imports may be longer.
    """
    if is_exempt(cell) and not cell.metadata.get("book", {}).get("exempt"):
        yield "exempt from comparison, no reason"
    yield from HACK.findall(cell.source)
    length = cell.source.count("\n") + 1
    may_be_long = IMPORTS.match(cell.source) or MARKER.match(cell.source)
    if length > LONGEST_CELL and not may_be_long:
        yield f"{length} lines, not {LONGEST_CELL}"


UNFIT = {
    "a negative zero": r"(?<![\w.])-0(\.0*)?(?![\w.])",
    "more than 4 decimals": r"\.\d{5,}",
    "a rounding residual": r"\d[eE]-(0*[7-9]|0*[1-9]\d+)(?!\d)",
    "a device": r"device=|\bcuda\b",
    "an address in memory": r"\b0x[0-9a-f]{6,}",
}


def output_problems(cell) -> Iterator[str]:
    """Figures have a name; numbers mean something, on every machine."""
    shown = cell.metadata.get("mystnb", {}).get("figure", {})
    is_named = shown.get("name", "").startswith("fig-")
    for output in cell.outputs:
        for kind, text in fields(output).items():
            if kind.startswith("image/"):
                if not is_named:
                    yield "the figure lacks a name `fig-...`"
                continue
            for name, pattern in UNFIT.items():
                if match := re.search(pattern, text):
                    line = text[: match.end()].split("\n")[-1]
                    yield f"prints {name}: {line}"


HEADING = re.compile(r"### Exercise (\d+\.\d+) · \S")


def tasks(page: list) -> list[tuple[int, str]]:
    """The place and the text of each exercise."""
    return [
        (place, cell.source)
        for place, cell in enumerate(page)
        if cell.source.startswith("### Exercise")
    ]


def exercises(page: list) -> Iterator[str]:
    """Each has all of its parts."""
    found = tasks(page)
    for place, text in found:
        heading = text.split("\n")[0]
        effort = EFFORT.search(text)
        if not HEADING.match(heading):
            yield f"{heading}: not `### Exercise <number> · <title>`"
        if not effort:
            yield f"{heading}: no `**<n> minutes · <easy, medium, hard>**`"
        if "<details>\n<summary>Hint" not in text:
            yield f"{heading}: no hint"
        for problem in answer_problems(*(page[place + 1 : place + 3])):
            yield f"{heading}: {problem}"
    graded = sum("nbgrader" in cell.metadata for cell in page)
    if graded != 2 * len(found):
        yield f"{graded} cells with nbgrader metadata, not 2 an exercise"


def answer_problems(answer=None, check=None) -> Iterator[str]:
    """What is wrong with the two cells below an exercise."""
    for cell, role in ((answer, "solution"), (check, "grade")):
        grader = cell.metadata.get("nbgrader", {}) if cell else {}
        if not grader.get(role) or cell.cell_type != "code":
            yield f"no cell with nbgrader metadata `{role}: true` in its place"
            return
    name = answer.metadata["nbgrader"]["grade_id"]
    body = ast.parse(answer.source).body
    if name not in [getattr(node, "name", None) for node in body]:
        yield f"the answer cell does not define {name}, its grade_id"
    markers = re.findall(r"### (BEGIN|END) SOLUTION$", answer.source, re.M)
    if not markers or markers != ["BEGIN", "END"] * (len(markers) // 2):
        yield "### BEGIN SOLUTION and ### END SOLUTION do not come in pairs"
    if check.metadata["nbgrader"]["grade_id"] != f"{name}-check":
        yield f"the grade_id of the check cell is not {name}-check"
    if not check.metadata["nbgrader"].get("locked"):
        yield "the check cell is not locked"


def practice(page: list, number: range = EXERCISES) -> Iterator[str]:
    """A few exercises, and some that leave the situation of the page."""
    texts = [text for _, text in tasks(page)]
    transfer = [t for t in texts if (e := EFFORT.search(t)) and e["transfer"]]
    if len(texts) not in number:
        yield f"{len(texts)} exercises, not {number[0]} to {number[-1]}"
    if len(transfer) < TRANSFER:
        yield f"{len(transfer)} exercises are marked `transfer`"


RULES = stored_problems, code, exercises
