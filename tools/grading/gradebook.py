"""Rows of grades, asked by student, chapter and exercise."""

from collections import defaultdict
from functools import cached_property

from tools.exercises.tasks import Task
from tools.grading.grading import Course, Row
from tools.grading.key import Chapter
from tools.grading.roster import Person


class Gradebook:
    """What all tables and pages are made from.

    Of two notebooks of a chapter, the better answer to an exercise counts.
    """

    def __init__(self, rows: list[Row], course: Course) -> None:
        self.rows, self.roster = rows, course.roster
        used = {row.chapter for row in rows}
        self.chapters = [c for n, c in course.key.items() if n in used]
        self.tasks = [t for c in self.chapters for t in c.tasks.values()]

    @cached_property
    def by_student(self) -> dict[str, list[Row]]:
        """Everybody's rows; the roster's come first and in its order."""
        rows = defaultdict(list)
        for person in self.roster.people:
            rows[person.student] = []
        for row in self.rows:
            rows[row.student].append(row)
        return dict(rows)

    @cached_property
    def best(self) -> dict[tuple[str, str], Row]:
        """The row that counts, by student and exercise."""
        rows = {}
        for row in self.rows:
            if row.task is None:
                continue
            key = (row.student, row.task.number)
            if key not in rows or (row.points or 0) > (rows[key].points or 0):
                rows[key] = row
        return rows

    def row(self, student: str, task: Task) -> Row | None:
        return self.best.get((student, task.number))

    def points(self, student: str, chapter: Chapter) -> float | None:
        """A chapter's points; None if nothing of it was handed in."""
        rows = [self.row(student, task) for task in chapter.tasks.values()]
        if not any(rows):
            return None
        return round(sum(row.points or 0 for row in rows if row), 2)

    def total(self, student: str) -> float:
        return round(
            sum(self.points(student, c) or 0 for c in self.chapters), 2
        )

    @property
    def of(self) -> int:
        return sum(chapter.points for chapter in self.chapters)

    def person(self, student: str) -> Person:
        """What the roster knows of a student, or her name alone."""
        return self.roster.find(student) or Person(student)

    def notes(self, student: str) -> list[str]:
        """What a teacher should know about a student's grades."""
        rows = self.by_student[student]
        if not rows:
            return ["nothing was handed in"]
        notes = [r.hint for r in rows if r.is_unreadable]
        if count := sum(r.needs_a_look and not r.is_unreadable for r in rows):
            notes.append(f"{count} to look at by hand")
        for chapter in self.chapters:
            files = {r.file for r in rows if r.chapter == chapter.name}
            if len(files) > 1:
                notes.append(
                    f"{len(files)} notebooks of {chapter.name}: the better "
                    "answers count"
                )
        return list(dict.fromkeys(notes))
