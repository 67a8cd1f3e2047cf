"""From a folder of submissions to rows of grades."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from tools.exercises.tasks import Task
from tools.grading import attempts, notebook
from tools.grading.apart import Overrun, apart
from tools.grading.attempts import Attempt
from tools.grading.key import Chapter
from tools.grading.results import Result, one_line
from tools.grading.roster import Roster
from tools.grading.submissions import Submission

MISSING = re.compile(r"\b'?(?P<name>\w+)'? is not defined")
UNREADABLE = "unreadable"  # the state of all that is in such a file
NOT_STARTED = Result("not started", hint="not started")


@dataclass
class Row:
    """An exercise of a submission; without one, what is wrong with it."""

    student: str
    file: str = ""
    chapter: str = ""
    task: Task | None = None
    attempt: Attempt | None = None
    result: Result | None = None
    notes: list[str] = field(default_factory=list)
    names: frozenset[str] = frozenset()  # of all that is in the notebook

    @property
    def of(self) -> int | None:
        return self.task.points if self.task else None

    @property
    def points(self) -> float | None:
        """What it has earned; None if it could not be graded."""
        if self.task is None or self.result.state == "not graded":
            return None
        return round(self.result.share * self.task.points, 2)

    @property
    def hint(self) -> str:
        said = {
            "tampered": "tampered with: look by hand",
            "not graded": "could not be graded",
            "not started": "not started",
        }.get(self.result.state, "")
        if said and self.result.hint not in ("", said):
            return f"{said} ({self.result.hint})"
        return said or self.result.hint

    @property
    def all_notes(self) -> list[str]:
        return [*self.notes, *self.result.notes, *self.unexplained]

    @property
    def unexplained(self) -> list[str]:
        """A name that was missing and is in the notebook: ours to explain."""
        match = MISSING.search(self.result.hint)
        if not match or not self.names & {match["name"], "*"}:
            return []
        return [f"look by hand: {match['name']} is in the notebook"]

    @property
    def is_unreadable(self) -> bool:
        return self.result.state == UNREADABLE

    @property
    def needs_a_look(self) -> bool:
        """Should a person look at it before the grade counts?"""
        states = ("tampered", "not graded", UNREADABLE)
        signs = ("replaced ", "look by hand: ")
        return self.result.state in states or any(
            note.startswith(signs) for note in self.all_notes
        )


@dataclass(frozen=True)
class Course:
    """What all submissions are measured by."""

    key: dict[str, Chapter]
    roster: Roster = Roster()
    seed: int = 0


def rows(found: list[Submission], course: Course, root: Path) -> Iterator[Row]:
    """The rows of all submissions; what must be tried has no result yet."""
    for submission in found:
        person = course.roster.find(submission.student, *submission.aliases)
        student = person.student if person else submission.student
        row = Row(one_line(student, 100))
        if course.roster.people and not person:
            row.notes.append("not in the roster")
        if submission.path:
            path = submission.path.relative_to(root)
            row.file = one_line(path.as_posix(), 200)
        variant = person.variant if person else None
        yield from of_submission(submission, row, course, variant)


def of_submission(
    submission: Submission, row: Row, course: Course, variant: int | None
) -> Iterator[Row]:
    """The rows of a submission, which is read in a process of its own."""

    def read() -> list[tuple[str, Row]]:
        rows = read_here(submission, row, course, variant)
        return [(r.task and r.task.name, replace(r, task=None)) for r in rows]

    if submission.path:
        named = notebook.named_chapter(submission.path, course.key)
        if named:  # each of these processes would ask again
            course.key[named].learn()
    try:
        for name, mine in apart(read):
            chapter = course.key.get(mine.chapter)
            yield replace(mine, task=chapter.tasks[name] if name else None)
    except Overrun as why:
        problem = replace(submission, problem=str(why))
        yield from read_here(problem, row, course, variant)


def read_here(
    submission: Submission, row: Row, course: Course, variant: int | None
) -> Iterator[Row]:
    """The rows of a submission, which all begin like `row`."""
    cells, why = content(submission)
    chapter, note = None, ""
    if submission.path:
        chapter, note = notebook.chapter_of(submission.path, cells, course.key)
    if not chapter:
        why = why or "no exercise of these chapters is in it"
        row.result = Result(UNREADABLE, hint=one_line(why))
        yield row
        return
    notes = [*row.notes, *[note] * bool(note)]
    names = notebook.named(cells)
    for home, name in asked(chapter, cells, course.key):
        task = home.tasks[name]
        mine = Row(row.student, row.file, home.name, task, notes=[*notes])
        try:
            if why:
                mine.result = Result(UNREADABLE, hint=one_line(why))
            else:
                fill(mine, name, cells, home, course.seed, variant)
        except Exception as error:  # whatever it is made to do here
            said = one_line(f"{type(error).__name__}: {error}")
            mine.result = Result("not graded", hint=said)
        mine.names = names if mine.attempt else frozenset()
        yield mine


def asked(
    chapter: Chapter, cells: list, key: dict[str, Chapter]
) -> list[tuple[Chapter, str]]:
    """Each exercise of a notebook, and where it stands today.

    An older notebook has exercises that stand on a deeper page now, or above.
    """
    own = [(chapter, name) for name in chapter.tasks]
    beside = (c for c in key.values() if c.number == chapter.number)
    return own + [
        (other, name)
        for other in beside
        for name in other.tasks
        if other is not chapter and notebook.answer_to(name, cells, other)
    ]


def content(submission: Submission) -> tuple[list, str]:
    """The cells of a submission, or why there are none."""
    if submission.problem:
        return [], submission.problem
    try:
        return notebook.read(submission.path), ""
    except notebook.Unreadable as error:
        return [], str(error)


def fill(
    row: Row,
    name: str,
    cells: list,
    chapter: Chapter,
    seed: int,
    variant: int | None,
) -> None:
    """Put into a row what is to be tried for it, or why nothing is."""
    written = notebook.variant_of(cells)
    if variant is not None and variant != written:
        row.notes.append(
            f"variant {written} in the notebook, {variant} in the roster"
        )
    if notebook.has_edited_check(name, cells, chapter):
        row.notes.append("the check cell was edited (the book's was run)")
    answer = notebook.answer_to(name, cells, chapter)
    if answer is None:
        row.result = Result("not started", hint="the answer is missing")
        return
    row.notes += answer.notes
    if notebook.is_stub(answer.source, chapter):
        row.result = NOT_STARTED
        return
    use = written if variant is None else variant
    row.attempt = attempts.attempt_of(
        row.task, answer, cells, chapter, use, seed
    )
    names = attempts.suspicions(row.attempt.own, chapter.statements)
    if names:
        row.notes.append(f"look by hand: {', '.join(names)}")
