"""Every answer as a plain Python file, for a checker of similarity.

An exercise is a folder, a student a file; `stub.py` in the folder `given` is
what all of them were given, and checkers can be told to leave it out.
"""

import shutil
from pathlib import Path

from tools.grading.grading import Row
from tools.grading.key import Chapter, plain


def file_name(text: str) -> str:
    """A name that every system takes for one file in this folder."""
    kept = "".join(c if c.isalnum() or c in "-_. " else "_" for c in text)
    return kept.strip(" .")[:100] or "nobody"


def write(rows: list[Row], key: dict[str, Chapter], folder: Path) -> int:
    """Write the answers of these rows; returns how many there are."""
    if folder.exists():
        shutil.rmtree(folder)
    count = 0
    for chapter in key.values():
        for task in chapter.tasks.values():
            place = folder / chapter.name / f"{task.number} {task.name}"
            mine = [r for r in rows if r.task == task and r.attempt]
            for row in mine:
                place.mkdir(parents=True, exist_ok=True)
                text = "\n\n\n".join(map(readable, row.attempt.own))
                free(place, row.student).write_text(text + "\n", "utf-8")
            if mine:
                given = folder / "given" / chapter.name / place.name
                given.mkdir(parents=True)
                (given / "stub.py").write_text(task.stub + "\n", "utf-8")
            count += len(mine)
    return count


def readable(source: str) -> str:
    """A cell as Python where it is any; what cannot be stored is marked."""
    text = plain(source) or source
    return text.strip().encode("utf-8", "replace").decode("utf-8")


def free(folder: Path, student: str) -> Path:
    """A file for a student, who may have handed in two notebooks."""
    name, number = file_name(student), 1
    path = folder / f"{name}.py"
    while path.exists():
        number += 1
        path = folder / f"{name} {number}.py"
    return path
