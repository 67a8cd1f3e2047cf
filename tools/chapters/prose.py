"""Numbers in prose: each is printed, stands in code, or is computed here.

A number with a decimal in the text of a chapter must have the digits of a
number that the chapter prints or that its code contains. Arithmetic that a
reader does on paper stands, for the test, in a comment of the same cell:

    <!-- on paper: 0.0386 + 0.6870; sqrt(3.5) -->

The expressions are computed, so a slip of the pen is found. They may use the
functions of Python's `math`.

A page of the back matter has no code of its own. A number in one of its
sections must come from a chapter that this section links to.
"""

import math
import re
from collections.abc import Callable, Iterator
from decimal import Decimal

from nbformat.v4 import new_markdown_cell

ON_PAPER = re.compile(r"<!-- on paper: (.*?) -->", re.DOTALL)
IN_PROSE = re.compile(r"(?<![\w.])(?:\d[\d,]*)?\.\d+(?![\d.]*\w)")
IN_CODE = re.compile(r"(?<![\w.])(?:\d[\d_,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?")
# Code, addresses of links and what counts headings or other books.
NOT_PROSE = re.compile(
    r"```.*?```|`[^`]*`|\]\([^)]*\)|^#+ .*?$"
    r"|\b(?:sections?|exercises?|figures?|equations?|chapters?|editions?"
    r"|CC BY|(?:py)?torch|python)(?:\s+(?:(?:and|to)\s+)?\d+(?:\.\d+)*,?)+",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
SECTIONS = re.compile(r"^(?=#+ )", re.MULTILINE)
CHAPTER = re.compile(r"\]\(((?:deeper/)?\d\d_\w+)\.ipynb")


def unproved(cells: list[dict]) -> list[str]:
    """The numbers of the text that nothing in the chapter gives."""
    known = set(numbers_of_code(cells))
    return [
        f"{number} in: {' '.join(around.split())}"
        for cell in cells
        if cell["cell_type"] == "markdown"
        for number, around in numbers_of_text(cell["source"])
        if not is_among(number, known | set(computed(cell["source"])))
    ]


def unproved_in_sections(
    text: str, cells_of: Callable[[str], list[dict]]
) -> list[str]:
    """The numbers of a page that no chapter linked beside them gives.

    Args:
        text: the page.
        cells_of: gives the cells of a chapter by its name, such as 04_masks.
    """
    problems = []
    for section in SECTIONS.split(text):
        linked = map(cells_of, dict.fromkeys(CHAPTER.findall(section)))
        code = [c for cells in linked for c in cells if c.cell_type == "code"]
        problems += unproved([*code, new_markdown_cell(section)])
    return problems


def numbers_of_text(text: str) -> Iterator[tuple[str, str]]:
    """Every number with a decimal, and the words around it."""
    prose = NOT_PROSE.sub(" ", ON_PAPER.sub(" ", text))
    for match in IN_PROSE.finditer(prose):
        start = max(0, match.start() - 50)
        yield match[0], prose[start : match.end() + 20]


def numbers_of_code(cells: list[dict]) -> Iterator[Decimal]:
    """Every number in the code of a chapter and in what it prints."""
    for cell in cells:
        if cell["cell_type"] == "code":
            for text in [cell["source"], *printed(cell["outputs"])]:
                for number in IN_CODE.findall(text):
                    yield Decimal(re.sub("[_,]", "", number))


def printed(outputs: list[dict]) -> Iterator[str]:
    """The texts of a cell's outputs."""
    for output in outputs:
        yield output.get("text", "")
        yield output.get("data", {}).get("text/plain", "")


def computed(text: str) -> Iterator[Decimal]:
    """The results of the arithmetic that is marked in a cell."""
    for marked in ON_PAPER.findall(text):
        for expression in marked.split(";"):
            known = {"__builtins__": {}} | vars(math)
            yield Decimal(eval(expression.strip(), known))


def is_among(number: str, known: set[Decimal]) -> bool:
    """Whether a known number, rounded or cut as printed, has these digits."""
    wanted = Decimal(number.replace(",", ""))
    half = Decimal("0.5").scaleb(wanted.as_tuple().exponent)
    slack = Decimal("1e-12")  # a tie such as 0.26265 is printed either way
    return any(abs(abs(have) - wanted) <= half + slack for have in known)
