"""What kinds of cells a page has, and how long a reader takes.

A cell whose first line is `# @title Imports` or `# @title Check: <claim>` is
folded to that one line in Colab, in Jupyter and on the site. What is left of
a chapter's code is for reading: the teaching cells.
"""

import re

# Of a chapter; the site numbers its chapters itself.
HEADING = re.compile(r"\A# (?:\d+[.:] )?(.*)")
TITLE = re.compile(r"# @title (?:Imports|Check: (?P<claim>\S.*))(?:\n|\Z)")
EXERCISES = re.compile(r"^## Exercises$", re.MULTILINE)
EFFORT = re.compile(
    r"^\*\*(?P<minutes>\d+) minutes? · (?P<difficulty>easy|medium|hard)"
    r"(?P<transfer> · transfer)?\.?\*\*",
    re.MULTILINE,
)
MINUTES = re.compile(
    r"\*\*Minutes\*\*\s+(?P<reading>\d+),\s+and\s+about\s+"
    r"(?P<exercises>\d+)\s+for\s+the\s+exercises\."
)
PRACTICE = ("### Exercise", "### Quiz")
FOLDS = re.compile(r"<summary>.*?</summary>|<!--.*?-->|\$\$.*?\$\$", re.DOTALL)
WORDS = 120  # a minute; readers of chapters 3 and 8 were asked
LINES = 8  # of code a minute
CARRIED = re.compile(r"\s*<script data-explorer>.*?</script>", re.DOTALL)


def is_check(cell) -> bool:
    titled = TITLE.match(cell.source)
    return bool(titled and titled["claim"])


def is_folded(cell) -> bool:
    """Does its title say all that a reader needs?"""
    return cell.cell_type == "code" and bool(TITLE.match(cell.source))


def is_drawing(cell) -> bool:
    """Does a page show what it draws, and not its code?"""
    return "hide-input" in cell.metadata.get("tags", [])


def is_exercise(cell) -> bool:
    return "nbgrader" in cell.metadata


def without_scripts(html: str) -> str:
    """An output without the scripts that explorers carry along.

    A reader without network needs them; a stored or built page does not.
    """
    return CARRIED.sub("", html)


def is_teaching(cell) -> bool:
    """Is it code that a reader is to read, or type?"""
    is_for_machines = "colab" in cell.metadata.get("tags", [])
    return cell.cell_type == "code" and not (
        is_for_machines
        or is_folded(cell)
        or is_drawing(cell)
        or is_exercise(cell)
    )


def before_exercises(cells: list) -> list:
    """The cells up to the heading `## Exercises`, with the words above it."""
    for place, cell in enumerate(cells):
        if cell.cell_type != "markdown":
            continue
        if heading := EXERCISES.search(cell.source):
            last = type(cell)(cell)
            last.source = cell.source[: heading.start()]
            return [*cells[:place], last]
    return list(cells)


def prose(cells: list) -> int:
    """The number of words in Markdown cells; a formula is none."""
    return sum(
        len(FOLDS.sub(" ", cell.source).split())
        for cell in cells
        if cell.cell_type == "markdown"
    )


def code(cells: list) -> list[int]:
    """The lines of each teaching cell."""
    return [
        sum(bool(line.strip()) for line in cell.source.splitlines())
        for cell in cells
        if is_teaching(cell)
    ]


def effort(cells: list) -> str:
    """How long a chapter takes: words and lines, and what exercises say.

    Reading is rounded to five minutes; a library's text counts as code.
    """
    page = before_exercises(cells)
    reading = prose(page) / WORDS + sum(code(page)) / LINES
    tasks = [cell for cell in cells if cell.source.startswith(PRACTICE)]
    stated = filter(None, (EFFORT.search(task.source) for task in tasks))
    return (
        f"**Minutes** {5 * round(reading / 5)}, and about "
        f"{sum(int(task['minutes']) for task in stated)} for the exercises."
    )


def put_effort(cells: list) -> None:
    """Write the minutes into the box under the title."""
    for cell in cells:
        if match := MINUTES.search(cell.source):
            cell.source = cell.source.replace(match[0], effort(cells))
            return
