"""Rows of grades as a run leaves them, made without a run."""

from tests.grading.handed_in import chapter
from tools.grading.gradebook import Gradebook
from tools.grading.grading import UNREADABLE, Course, Row
from tools.grading.key import key
from tools.grading.results import Result
from tools.grading.roster import Roster

RIGHT = Result("right", 1.0, seconds=0.1)
EVIL = '<script>alert("x")</script> & =1+1'


def row(student: str, place: int, result: Result, *notes: str) -> Row:
    """A student's row of an exercise of chapter 4, counted from 1."""
    task = list(chapter().tasks.values())[place - 1]
    file = f"{student}/04_masks.ipynb"
    return Row(student, file, "04_masks", task, None, result, list(notes))


def book(rows: list[Row], roster: Roster | None = None) -> Gradebook:
    return Gradebook(rows, Course(key(), roster or Roster()))


def some() -> list[Row]:
    """One of everything."""
    return [
        row("alice", 1, RIGHT),
        row("alice", 2, Result("wrong", 0.5, "half (seed=1)", 0.2)),
        row("bob", 1, Result("wrong", 0.0, EVIL)),
        row("bob", 2, Result("tampered", 0.0, "it wrote"), "replaced x"),
        row("=carol", 1, Result("not started", hint="not started")),
        row("=carol", 2, Result("not graded", hint="the sandbox ended")),
        row("erin", 1, Result(UNREADABLE, hint="no valid JSON")),
        row("erin", 2, Result(UNREADABLE, hint="no valid JSON")),
        Row("dave", "dave/x.ipynb", result=Result(UNREADABLE, hint="empty")),
    ]
