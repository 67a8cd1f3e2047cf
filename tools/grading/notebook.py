"""What a student handed in: cells of a notebook, if it is one.

Nothing of a submission is trusted: a file may be no notebook, huge, or made
to break whoever reads it. What is wrong with it becomes a sentence.
"""

import ast
import json
import os
import re
import stat
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tools.exercises import slices
from tools.grading.key import (
    MEMORY,
    Chapter,
    asked,
    checks,
    defined,
    meaning,
    own_part,
    plain,
    untouched,
)

LARGEST = 64 << 20  # bytes of a file
MOST_CELLS = 1000
MOST_SOURCE = 2 << 20  # characters of all cells, their outputs aside
# No link is followed, nor is what is no file waited for; Windows lacks both.
CAREFULLY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
HEADING = re.compile(r"^### Exercise (\d{1,3})\.\d{1,3} ·", re.MULTILINE)
WORD = re.compile(r"[^\W\d]\w*")


class Unreadable(Exception):
    """Why a file is no notebook that can be graded."""


@dataclass(frozen=True)
class Cell:
    """A cell as it was handed in."""

    kind: str
    source: str
    grade_id: str = ""
    is_check: bool = False


@dataclass(frozen=True)
class Answer:
    """What stands for an exercise in a notebook."""

    source: str
    place: int
    notes: tuple[str, ...] = ()


def read(path: Path) -> list[Cell]:
    """The cells of a notebook.

    Raises:
        Unreadable: it is none.
    """
    try:
        parsed = json.loads(content(path).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Unreadable("it is no text in UTF-8") from None
    except ValueError as error:
        raise Unreadable(f"it is no valid JSON: {error}") from None
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    if not isinstance(parsed, dict) or not isinstance(
        parsed.get("cells"), list
    ):
        raise Unreadable("it is no notebook: it has no cells")
    if len(parsed["cells"]) > MOST_CELLS:
        raise Unreadable(f"it has more than {MOST_CELLS} cells")
    cells = [cell(c) for c in parsed["cells"] if isinstance(c, dict)]
    if sum(len(cell.source) for cell in cells) > MOST_SOURCE:
        raise Unreadable(f"its cells hold more than {MOST_SOURCE >> 20} MB")
    return cells


def content(path: Path) -> bytes:
    """The bytes of an ordinary file; no link is followed."""
    try:
        file = os.open(path, os.O_RDONLY | CAREFULLY)
    except OSError as error:
        if path.is_symlink():
            raise Unreadable("it is a link, and links are not read") from None
        raise Unreadable(f"it cannot be read: {error.strerror}") from None
    with os.fdopen(file, "rb") as opened:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("it is not an ordinary file")
        if status.st_size > LARGEST:
            raise Unreadable(f"it is larger than {LARGEST >> 20} MB")
        data = opened.read(LARGEST + 1)
    if not data.strip():
        raise Unreadable("it is empty")
    return data


def cell(raw: dict) -> Cell:
    """A cell, whatever its parts are made of."""
    source = raw.get("source", "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    metadata = raw.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    grader = metadata.get("nbgrader")
    grader = grader if isinstance(grader, dict) else {}
    tags = metadata.get("tags")
    source = source if isinstance(source, str) else ""
    is_first = isinstance(tags, list) and "colab" in tags
    return Cell(
        kind=str(raw.get("cell_type")),
        source=own_part(source) if is_first else source,
        grade_id=str(grader.get("grade_id", "")),
        is_check=bool(grader.get("grade")),
    )


def code(cells: list[Cell]) -> list[tuple[int, Cell]]:
    """The cells that can be a student's, with their places."""
    return [
        (place, cell)
        for place, cell in enumerate(cells)
        if cell.kind == "code" and meaning(cell.source) != meaning("")
    ]


def chapter_of(path: Path, cells: list[Cell], key: dict[str, Chapter]):
    """The chapter that a notebook belongs to, and a note if its name lies.

    The file's name says it, unless the exercises in it are another's.
    """
    named = named_chapter(path, key)
    every = [signs(cell) for cell in cells]
    known = {name for chapter in key.values() for name in chapter.tasks}
    if any(names & known for _, names in every):  # numbers may be old ones
        every = [([], names) for _, names in every]
    scores = {name: of_it(every, chapter) for name, chapter in key.items()}
    best = max(scores, key=scores.get, default=None)
    if best is None or not scores[best]:
        return key.get(named), ""
    is_beside = named and key[named].number == key[best].number
    if not named or not (scores[named] or is_beside):
        note = f"the file is named {path.name}" if named else ""
        return key[best], note
    return key[named], ""


def named_chapter(path: Path, key: dict[str, Chapter]) -> str | None:
    """The chapter whose name, or number, a file's name has.

    Failing that, it is the one that a folder above is named for.
    """
    text = path.name.lower()
    for part in (text, *(part.lower() for part in path.parts[:-1][::-1])):
        for name in key:
            if name.lower() in part:
                return name
    for name, chapter in key.items():
        pattern = rf"(?<!\d)0?{chapter.number}(?!\d)"
        if re.fullmatch(rf"(chapter|ch)?[ _-]*{pattern}\D*", text):
            return name
    return None


def of_it(found: list[tuple], chapter: Chapter) -> int:
    """How many signs there are that cells are of a chapter."""
    return sum(
        numbers.count(chapter.number) + len(names & chapter.tasks.keys())
        for numbers, names in found
        if numbers or names
    )


@lru_cache(MEMORY)
def signs(cell: Cell) -> tuple[list[int], frozenset[str]]:
    """The numbers of chapters that a cell names, and what it defines."""
    if cell.kind != "code":
        return [int(n) for n in HEADING.findall(cell.source)], frozenset()
    asked = {which for which, _ in checks(cell.source)}
    return [], defined(cell.source) | asked | {cell.grade_id} - {""}


def answer_to(name: str, cells: list[Cell], chapter: Chapter) -> Answer | None:
    """The cell that answers an exercise; None if there is none.

    It has the exercise's grade_id or, where that is lost or the answer was
    written into another cell, defines its name. Of several the last one
    counts, stubs aside: it is what the name means when all cells have run.
    """
    answers = [
        (place, cell)
        for place, cell in code(cells)
        if cell.grade_id == name or name in defined(cell.source)
    ]
    begun = [f for f in answers if not is_stub(f[1].source, chapter)]
    if not answers:
        return None
    place, cell = (begun or answers)[-1]
    notes = []
    if len(begun) > 1:
        notes.append(f"{len(begun)} cells answer it: the last one counts")
    if cell.grade_id != name:
        notes.append("recognised by the name that it defines")
    return Answer(cell.source, place, tuple(notes))


def is_stub(source: str, chapter: Chapter) -> bool:
    return untouched(source) in chapter.stubs


def helpers(answer: Answer, cells: list[Cell], chapter: Chapter) -> list[str]:
    """A student's own cells, those before the answer last.

    They are what the book did not write and what can be run; the last cell
    that defines a name is the one that an answer gets.
    """
    before, after = [], []
    for place, cell in code(cells):
        is_own = meaning(cell.source) not in chapter.written
        is_own = is_own and not is_stub(cell.source, chapter)
        if place != answer.place and is_own and plain(cell.source):
            (before if place < answer.place else after).append(cell.source)
    return after + before


def variant_of(cells: list[Cell]) -> int:
    """The variant that a notebook says it is; 0 is the book's."""
    for cell in cells:
        for _, variant in checks(cell.source) if cell.kind == "code" else ():
            if variant:
                return variant
    return 0


def named(cells: list[Cell]) -> frozenset[str]:
    """All names that a notebook may give a value; "*" if it may be any."""
    names = set()
    for cell in cells:
        text = plain(cell.source) if cell.kind == "code" else ""
        names |= slices.bound(text) if text else set()
        if text != cell.source and cell.kind == "code":
            names |= {*WORD.findall(cell.source)}
    return frozenset(names)


def has_edited_check(name: str, cells: list[Cell], chapter: Chapter) -> bool:
    """Was a check cell changed? It is not run; somebody may want to ask."""
    wanted = called(chapter.tasks[name].check.source)
    return any(
        called(cell.source) != wanted
        for cell in cells
        if cell.is_check and cell.grade_id == f"{name}-check"
    )


def called(source: str) -> str:
    """A check cell as Python, whatever its variant is."""
    tree = ast.parse(plain(source) or "")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            node.keywords = [k for k in node.keywords if k.arg != "variant"]
            for first in node.args[:1]:
                if isinstance(first, ast.Constant):  # it once was a number
                    first.value = asked(first.value) or first.value
    return ast.dump(tree)
