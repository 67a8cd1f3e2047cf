"""Finds what was handed in, and who handed it in.

Known are the folders in which Canvas, Moodle and nbgrader hand out
submissions, a folder a student, a folder a chapter, and files that lie side
by side. Every notebook and every student without one becomes a submission,
so that nobody is forgotten.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.grading.key import Chapter

IGNORED = {".ipynb_checkpoints", "__MACOSX", "__pycache__", ".git"}
MOODLE = re.compile(r"^(?P<name>.+?)_(?P<id>\d+)_assignsubmission_file_?$")
CANVAS = re.compile(
    r"^(?P<name>[^_]+)_(?:LATE_)?(?P<user>\d+)_\d+_(?P<file>.+)$"
)
COPY = re.compile(r"[ _-]*(\(\d+\)|copy|-\d+)$", re.IGNORECASE)
MOST = 100_000  # files of all submissions


@dataclass(frozen=True)
class Submission:
    """A notebook, or what stands in its place."""

    student: str
    path: Path | None
    aliases: tuple[str, ...] = ()
    problem: str = ""


def find(folder: Path, key: dict[str, Chapter]) -> list[Submission]:
    """All submissions of a folder, in the order of their students."""
    submissions, others = [], []
    for path in entries(folder):
        if is_folder(path) and any(n in path.name.lower() for n in key):
            submissions += of_entries(entries(path), key)  # a chapter's folder
        else:
            others.append(path)
    submissions += of_entries(others, key)
    return sorted(submissions, key=lambda s: (s.student.lower(), str(s.path)))


def entries(folder: Path) -> list[Path]:
    """What lies in a folder, without what systems leave there."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.name not in IGNORED and not path.name.startswith(".")
    )


def is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def of_entries(
    paths: list[Path], key: dict[str, Chapter]
) -> Iterator[Submission]:
    """What lies side by side: students' folders, or files.

    Two folders that Moodle has named for two students of the same name keep
    its numbers.
    """
    names = Counter(folder_name(p.name) for p in paths if is_folder(p))
    for path in paths:
        if not is_folder(path):
            yield of_file(path, key)
            continue
        name = folder_name(path.name)
        student = path.name if names[name] > 1 else name
        yield from of_folder(path, student)


def of_folder(path: Path, student: str) -> Iterator[Submission]:
    """A student's notebooks, or that there are none."""
    notebooks, others = [], []
    for file in files(path):
        is_notebook = file.suffix.lower() == ".ipynb"
        (notebooks if is_notebook else others).append(file)
    for file in notebooks:
        yield Submission(student, file, (path.name,))
    if not notebooks:
        names = ", ".join(f.name for f in others[:3]) or "the folder is empty"
        why = f"no notebook was handed in ({names})"
        yield Submission(student, None, (path.name,), why)


def files(folder: Path) -> list[Path]:
    """All files below a folder; links to folders are not followed."""
    paths = []
    for place, folders, names in os.walk(folder, followlinks=False):
        links = [f for f in folders if Path(place, f).is_symlink()]
        folders[:] = sorted(
            f for f in folders if f not in IGNORED and f not in links
        )
        paths += [Path(place, name) for name in sorted(names)]
        if len(paths) > MOST:
            break
    return paths


def folder_name(name: str) -> str:
    """Who a folder belongs to. Moodle's number changes with each download."""
    moodle = MOODLE.match(name)
    return moodle["name"] if moodle else name


def of_file(path: Path, key: dict[str, Chapter]) -> Submission:
    """A file that lies beside others: its name says whose it is."""
    stem = path.name.removesuffix(path.suffix)
    if canvas := CANVAS.match(stem):
        names = (canvas["user"], canvas["name"])
        student = f"{canvas['name']}_{canvas['user']}"
    else:
        student = without_chapter(stem, key)
        names = (student,)
    problem = ""
    if path.is_symlink():
        problem = "it is a link, and links are not read"
    elif path.suffix.lower() != ".ipynb":
        problem = f"{path.name} is no notebook"
    return Submission(student, path, names, problem)


def without_chapter(stem: str, key: dict[str, Chapter]) -> str:
    """What is left of a file's name without the chapter's."""
    for name in key:
        place = stem.lower().find(name.lower())
        if place >= 0:
            before, after = stem[:place], stem[place + len(name) :]
            rest = f"{before.strip(' _-')} {COPY.sub('', after).strip(' _-')}"
            return rest.strip() or stem
    return stem
