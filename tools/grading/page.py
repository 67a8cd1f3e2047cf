"""The grades as one page: what went well, what did not, whom to look at.

The page is one file without script; it asks nobody for anything. What
students wrote stands in it as text and as nothing else.
"""

from collections import Counter
from pathlib import Path

import jinja2

from tools.exercises.tasks import Task
from tools.grading.gradebook import Gradebook
from tools.grading.grading import Row
from tools.grading.tables import number

STYLE, PAGE = (Path(__file__).with_name(f"page.{n}") for n in ("css", "html"))
HINTS = 3  # of an exercise are shown
SIGNS = {
    "right": "✓",
    "part": "½",
    "wrong": "✗",
    "empty": "–",
    "look": "!",
}
MEANINGS = {
    "right": "right",
    "part": "part of the points",
    "wrong": "not right, or stopped",
    "empty": "not started, or not handed in",
    "look": "look at it by hand",
}
SEED = " (seed="


def kind(row: Row | None) -> str:
    """Which colour and sign a grade has."""
    if row is None:
        return "empty"
    if row.needs_a_look:
        return "look"
    if row.result.state == "not started":
        return "empty"
    if row.result.state == "right":
        return "right"
    return "part" if row.points else "wrong"


def numbers(book: Gradebook) -> dict[str, object]:
    """The first thing to see."""
    answers = [row for row in book.rows if row.task]
    right = sum(row.result.state == "right" for row in answers)
    return {
        "students": len(book.by_student),
        "notebooks": len({row.file for row in book.rows if row.file}),
        "answers": len(answers),
        "right": f"{right / len(answers):.0%}" if answers else "–",
        "to look at": sum(row.needs_a_look for row in book.rows),
    }


def looks(book: Gradebook) -> list[Row]:
    """What a person should see before the grades count; a file, once."""
    rows, files = [], set()
    for row in book.rows:
        is_said = row.is_unreadable and (row.student, row.file) in files
        if row.needs_a_look and not is_said:
            rows.append(row)
            files.add((row.student, row.file))
    return rows


def exercise(book: Gradebook, task: Task) -> tuple:
    """How an exercise went: its mean, its kinds, and what most were told."""
    rows = [book.row(student, task) for student in book.by_student]
    there = [row for row in rows if row]
    counts = Counter(map(kind, rows))
    kinds = {name: counts[name] for name in SIGNS if counts[name]}
    mean = sum(row.points or 0 for row in there) / max(1, len(there))
    told = Counter(
        row.hint.split(SEED)[0]
        for row in there
        if row.hint and kind(row) in ("wrong", "part")
    )
    return task, mean, kinds, told.most_common(HINTS)


def page(book: Gradebook) -> str:
    """The whole page."""
    template = jinja2.Template(PAGE.read_text("utf-8"), autoescape=True)
    return template.render(
        book=book,
        style=STYLE.read_text("utf-8"),
        numbers=numbers(book),
        looks=looks(book),
        exercises=[exercise(book, task) for task in book.tasks],
        kind=kind,
        number=number,
        SIGNS=SIGNS,
        MEANINGS=MEANINGS,
    )


def write(book: Gradebook, path: Path) -> None:
    """The page, whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(page(book), encoding="utf-8")
    part.replace(path)
