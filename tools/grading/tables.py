"""The grades as tables: our own, and those that Canvas and Moodle import."""

import csv
import re
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

from tools.grading.gradebook import Gradebook
from tools.grading.grading import Row
from tools.grading.key import Chapter
from tools.source.taught import is_deeper

COLUMNS = "student chapter exercise points of hint seconds notes file"
FORMULA = ("=", "+", "-", "@", "\t", "\r")
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
MOODLE = ("First name", "Last name", "ID number", "Email address")
READ_ONLY = re.compile(r"\b(Current|Final|Override|Unposted)\b")


def harmless(value: object) -> object:
    """A cell that a spreadsheet shows and does not compute.

    A student may be called, or make an error say, `=HYPERLINK(...)`.
    """
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return "" if value is None else value


def write(path: Path, rows: Iterable[Iterable], mark: bool = False) -> None:
    """A CSV file, whole or not at all.

    Excel takes it for UTF-8 only if it begins with a mark, which those who
    import it elsewhere may take for part of the first column's name.
    """
    part = path.with_suffix(".part")
    encoding = "utf-8-sig" if mark else "utf-8"
    with part.open("w", encoding=encoding, newline="") as file:
        table = csv.writer(file)
        table.writerows([harmless(v) for v in row] for row in rows)
    part.replace(path)


def number(value: float | None) -> str:
    """Points without a point where they are whole."""
    return "" if value is None else f"{value:g}"


def write_grades(book: Gradebook, path: Path) -> None:
    """A row for each submission and exercise."""
    rows = [COLUMNS.split(), *map(grades_row, book.rows)]
    write(path, rows, mark=True)


def grades_row(row: Row) -> list:
    task = row.task
    return [
        row.student,
        row.chapter,
        f"{task.number} {task.name}" if task else "",
        number(row.points),
        number(row.of),
        row.hint,
        f"{row.result.seconds:.2f}" if row.attempt else "",
        "; ".join(row.all_notes),
        row.file,
    ]


def write_students(book: Gradebook, path: Path) -> None:
    """A row for each student, with all exercises side by side."""
    header = ["student", "total", "of"]
    for chapter in book.chapters:
        header += [chapter.name, *(t.number for t in chapter.tasks.values())]
    rows = [[*header, "notes"]]
    for student in book.by_student:
        row = [student, number(book.total(student)), book.of]
        for chapter in book.chapters:
            row.append(number(book.points(student, chapter)))
            for task in chapter.tasks.values():
                best = book.row(student, task)
                row.append(number(best.points) if best else "")
        rows.append([*row, "; ".join(book.notes(student))])
    write(path, rows, mark=True)


def title(chapter: Chapter) -> str:
    """What a chapter's assignment is called in a learning platform."""
    return f"Chapter {chapter.number}: {chapter.title}"


def column(chapter: Chapter, header: tuple[str, ...]) -> str:
    """The assignment's column in a table that was exported; else our own.

    It has the title or the name; if none has, a chapter is found by number.
    """
    patterns = [f"{re.escape(title(chapter))}|{re.escape(chapter.name)}"]
    if not is_deeper(chapter.path):
        patterns.append(rf"\bchapter 0?{chapter.number}\b")
    for pattern in patterns:
        for name in header:
            is_grade = name not in CANVAS and not READ_ONLY.search(name)
            if is_grade and re.search(pattern, name, re.IGNORECASE):
                return name
    return title(chapter)


def write_canvas(book: Gradebook, path: Path) -> None:
    """What Canvas imports as grades: a column for each chapter."""
    columns = [column(c, book.roster.header) for c in book.chapters]
    most = ["    Points Possible", "", "", "", ""]
    rows = [[*CANVAS, *columns], most + [c.points for c in book.chapters]]
    for student in book.by_student:
        person = book.person(student)
        known = person.known
        names = [known.get(k) for k in ("last", "first") if known.get(k)]
        rows.append([
            known.get("name") or ", ".join(names) or student,
            known.get("number"),
            known.get("sis"),
            known.get("login"),
            known.get("section"),
            *(number(book.points(student, c)) for c in book.chapters),
        ])  # fmt: skip
    write(path, rows)


def feedback(book: Gradebook, student: str, chapter: Chapter) -> str:
    """What a student should read: her points, and the hints."""
    parts = []
    for task in chapter.tasks.values():
        if row := book.row(student, task):
            hint = f" ({row.hint})" if row.hint else ""
            points = number(row.points) or "?"
            parts.append(f"{task.number}: {points} of {task.points}{hint}")
    return "; ".join(parts)


def write_moodle(book: Gradebook, path: Path) -> None:
    """What Moodle imports as CSV: points and feedback for each chapter."""
    header = list(MOODLE)
    for chapter in book.chapters:
        name = column(chapter, book.roster.header)
        header += [name, f"{name} (feedback)"]
    rows = [header]
    for student in book.by_student:
        known = book.person(student).known
        first, _, last = known.get("name", student).rpartition(" ")
        row = [
            known.get("first", first),
            known.get("last", last),
            known.get("number"),
            known.get("email"),
        ]
        for chapter in book.chapters:
            points = book.points(student, chapter)
            row += [number(points), feedback(book, student, chapter)]
        rows.append(row)
    write(path, rows)


def write_moodle_xml(book: Gradebook, path: Path) -> None:
    """What Moodle imports as XML, by the ID numbers of student and item.

    One student whom Moodle does not know would stop the import, so that only
    those are in it whose ID number the roster says; without one, all are.
    """
    results = ElementTree.Element("results")
    for student in book.by_student:
        person = book.person(student)
        known = person.known.get("number")
        if book.roster.people and not known:
            continue
        for chapter in book.chapters:
            points = book.points(student, chapter)
            if points is None:
                continue
            result = ElementTree.SubElement(results, "result")
            for tag, text in (
                ("state", "new"),
                ("assignment", chapter.name),
                ("student", known or student),
                ("score", number(points)),
                ("feedback", feedback(book, student, chapter)),
            ):
                ElementTree.SubElement(result, tag).text = text
    ElementTree.indent(results)
    text = ElementTree.tostring(results, "utf-8", xml_declaration=True)
    path.write_bytes(text + b"\n")
