"""The grades as one page: what went well, what did not, whom to look at.

The page is one file without script; it asks nobody for anything. What
students wrote stands in it as text and as nothing else.
"""

from collections import Counter
from collections.abc import Iterable
from html import escape
from pathlib import Path

from tools.exercises.tasks import Task
from tools.grading.gradebook import Gradebook
from tools.grading.grading import Row
from tools.grading.tables import number

STYLE = Path(__file__).with_name("page.css")
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


def tag(name: str, content: str, kinds: str = "", **more: str) -> str:
    """An element; its content is HTML already."""
    if kinds:
        more["class"] = kinds
    attributes = "".join(f' {k}="{escape(v)}"' for k, v in more.items())
    return f"<{name}{attributes}>{content}</{name}>"


def cells(values: Iterable[str], name: str = "td", kinds: str = "") -> str:
    return "".join(tag(name, value, kinds) for value in values)


def table(header: str, rows: Iterable[str], kinds: str = "wide") -> str:
    """A table; `wide` scrolls on a phone, `stack` stands on end there."""
    head = tag("thead", tag("tr", header))
    body = tag("tbody", "\n".join(tag("tr", row) for row in rows))
    more = {"tabindex": "0"} if kinds == "wide" else {}
    return tag("div", tag("table", head + body), kinds, **more)


def numbers(book: Gradebook) -> str:
    """The first thing to see."""
    answers = [row for row in book.rows if row.task]
    right = sum(row.result.state == "right" for row in answers)
    shown = {
        "students": len(book.by_student),
        "notebooks": len({row.file for row in book.rows if row.file}),
        "answers": len(answers),
        "right": f"{right / len(answers):.0%}" if answers else "–",
        "to look at": sum(row.needs_a_look for row in book.rows),
    }
    parts = (
        tag("div", tag("dt", name) + tag("dd", str(value)))
        for name, value in shown.items()
    )
    return tag("dl", "".join(parts), "numbers")


def looks(book: Gradebook) -> str:
    """What a person should see before the grades count."""
    rows, files = [], set()
    for row in book.rows:
        is_said = row.is_unreadable and (row.student, row.file) in files
        if row.needs_a_look and not is_said:
            rows.append(row)
            files.add((row.student, row.file))
    if not rows:
        return tag("p", "Nothing: no file was unreadable, no check touched.")
    header = cells(("Student", "Exercise", "What", "File"), "th")
    return table(header, map(look, rows), "stack")


def look(row: Row) -> str:
    """Why a row asks for somebody's eyes."""
    what = "; ".join(filter(None, [row.hint, *row.all_notes]))
    name = row.chapter
    if row.task and not row.is_unreadable:
        name = f"{row.task.number} {row.task.name}"
    return tag("th", escape(row.student), scope="row") + cells(
        map(escape, (name, what, row.file))
    )


def exercise(book: Gradebook, task: Task) -> str:
    """How an exercise went, and what most were told."""
    rows = [book.row(student, task) for student in book.by_student]
    there = [row for row in rows if row]
    kinds = Counter(map(kind, rows))
    mean = sum(row.points or 0 for row in there) / max(1, len(there))
    bar = "".join(
        tag("span", "", name, style=f"flex: {kinds[name]}")
        for name in SIGNS
        if kinds[name]
    )
    counts = ", ".join(f"{kinds[n]} {MEANINGS[n]}" for n in SIGNS if kinds[n])
    told = Counter(
        row.hint.split(SEED)[0]
        for row in there
        if row.hint and kind(row) in ("wrong", "part")
    )
    hints = "".join(
        tag("li", f"{count} × {escape(hint)}")
        for hint, count in told.most_common(HINTS)
    )
    name = escape(f"{task.number} {task.name}")
    return (
        tag("th", name, scope="row")
        + tag("td", f"{mean:.2f} of {task.points}", "n")
        + tag("td", tag("div", bar, "bar") + tag("div", counts, "note"))
        + tag("td", tag("ul", hints, "hints") if hints else "")
    )


def grade(row: Row | None) -> str:
    """A cell of the table of everybody."""
    name = kind(row)
    points = number(row.points) if row else ""
    text = f"{SIGNS[name]} {points}" if points else SIGNS[name]
    hint = row.hint if row and row.hint else MEANINGS[name]
    return tag("td", text, f"cell {name}", title=hint)


def everybody(book: Gradebook) -> str:
    """All students and all exercises."""
    names = [tag("th", "Student"), tag("th", f"of {book.of}", "n")]
    names += [
        tag("th", task.number, "cell", title=task.name) for task in book.tasks
    ]
    rows = (
        tag("th", escape(student), scope="row")
        + tag("td", number(book.total(student)), "n")
        + "".join(grade(book.row(student, task)) for task in book.tasks)
        for student in book.by_student
    )
    return table("".join(names), rows)


def student(book: Gradebook, name: str) -> str:
    """What a student can be told; folded to her name and her points."""
    rows = book.by_student[name]
    points = f"{number(book.total(name))} of {book.of}"
    line = escape(name) + tag("span", points, "n")
    notes = "; ".join(book.notes(name))
    inner = tag("p", escape(notes), "note") if notes else ""
    if rows:
        header = cells(("Exercise", "Points", "Hint", "Notes"), "th")
        inner += table(header, map(told, rows), "stack")
    return tag("details", tag("summary", line) + inner)


def told(row: Row) -> str:
    """A row of a student's own table."""
    task, name = row.task, kind(row)
    title = f"{task.number} {task.name}" if task else row.file
    points = f"{number(row.points) or '?'} of {row.of}" if task else ""
    return (
        tag("th", escape(title), scope="row")
        + tag("td", f"{SIGNS[name]} {points}", name)
        + cells((escape(row.hint), escape("; ".join(row.all_notes))))
    )


def key() -> str:
    """What the signs mean."""
    return tag(
        "p",
        " · ".join(f"{tag('span', SIGNS[n], n)} {MEANINGS[n]}" for n in SIGNS),
        "note",
    )


def page(book: Gradebook) -> str:
    """The whole page."""
    header = cells(("Exercise", "Mean", "Answers", "Most were told"), "th")
    parts = [
        tag("h1", "Grades"),
        numbers(book),
        tag("h2", "To look at by hand"),
        looks(book),
        tag("h2", "The exercises"),
        table(header, (exercise(book, task) for task in book.tasks), "stack"),
        tag("h2", "Everybody"),
        key(),
        everybody(book),
        tag("h2", "Student by student"),
        *(student(book, name) for name in book.by_student),
    ]
    style = STYLE.read_text(encoding="utf-8")
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>Grades</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        + tag("main", "\n".join(parts))
        + "\n</body>\n</html>\n"
    )


def write(book: Gradebook, path: Path) -> None:
    """The page, whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(page(book), encoding="utf-8")
    part.replace(path)
