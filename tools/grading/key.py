"""The answer key: what each exercise asks, and which cells the book wrote."""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path

from tools import cells, exercises, sync
from tools.exercises import Task
from tools.taught import ROOT, chapters

LONGEST = 200_000  # characters of a cell; nobody types that many
MEMORY = 10_000  # cells; most of them are the same in all submissions
MAGIC = re.compile(r"^(\s*)[%!?].*$", re.MULTILINE)
ASSIGNED_MAGIC = re.compile(r"^(\s*[\w, ]+=)\s*[%!].*$", re.MULTILINE)
GIVEN = re.compile(r"^.*  # given$", re.MULTILINE)


@lru_cache(MEMORY)
def plain(source: str) -> str | None:
    """A cell as Python, without what only a notebook understands.

    None stands for a cell that is no Python. It is never run here, and what
    it holds may be made to break whoever looks at it.
    """
    if len(source) > LONGEST:
        return None
    text = MAGIC.sub(r"\1pass", ASSIGNED_MAGIC.sub(r"\1 None", source))
    try:
        tree = ast.parse(text)
        compile(tree, "cell", "exec", dont_inherit=True)
        ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return text


@lru_cache(MEMORY)
def meaning(source: str) -> str:
    """What two cells share that differ in comments and layout alone."""
    text = plain(source)
    return source.strip() if text is None else ast.dump(ast.parse(text))


@lru_cache(MEMORY)
def defined(source: str) -> frozenset[str]:
    """The functions and classes that a cell defines, and its other names."""
    text, names = plain(source), set()
    for node in ast.parse(text).body if text else ():
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    return frozenset(names)


@dataclass(frozen=True)
class Chapter:
    """A chapter with its exercises, by the names that they define."""

    path: Path
    tasks: dict[str, Task]

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def number(self) -> int:
        return int(self.name[:2])

    @cached_property
    def title(self) -> str:
        """Its heading, without the number."""
        first = sync.read(self.path).cells[0].source.split("\n")[0]
        return re.sub(r"^# (\d+[.:] )?", "", first)

    @property
    def points(self) -> int:
        return sum(task.points for task in self.tasks.values())

    @cached_property
    def written(self) -> set[str]:
        """The meaning of all code that is not for students to write."""
        page = sync.code_cells(sync.read(self.path))
        return {meaning(c.source) for c in page if not cells.is_exercise(c)}

    @cached_property
    def stubs(self) -> set[str]:
        return {untouched(task.stub) for task in self.tasks.values()}


@lru_cache(MEMORY)
def untouched(source: str) -> str:
    """The meaning of a stub, whatever numbers its variant is given."""
    return meaning(GIVEN.sub("", source))


@cache
def key(root: Path = ROOT) -> dict[str, Chapter]:
    """All chapters that have exercises, by the names of their files."""
    found = {}
    for path in chapters(root):
        page = sync.read(path).cells
        tasks = {task.name: task for task in exercises.tasks_of(path, page)}
        if tasks:
            found[path.stem] = Chapter(path, tasks)
    return found


def selected(names: Iterable[str], root: Path = ROOT) -> dict[str, Chapter]:
    """The chapters whose names begin so; all if none is named.

    Raises:
        LookupError: no chapter has such a name.
    """
    starts = tuple(names) or ("",)
    found = {n: c for n, c in key(root).items() if n.startswith(starts)}
    if not found:
        raise LookupError(f"no chapter with exercises is named {starts[0]}")
    return found
