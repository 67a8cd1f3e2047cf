"""What is run for an answer, and by what it is known again.

That is the chapter's cells that the answer needs, the student's own that it
needs, the answer itself, and the check from the book. Nothing else of the
chapter or of the submission.
"""

import ast
import hashlib
import json
from collections.abc import Container, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from nbformat import NotebookNode

from tools.exercises import slices
from tools.exercises.tasks import Task
from tools.grading.key import Chapter, bare
from tools.grading.notebook import Answer, Cell, helpers
from tools.source.taught import ROOT

# What an answer hardly needs.
SUSPECT_MODULES = """
builtins ctypes gc importlib inspect mmap os pathlib shutil signal socket
subprocess sys threading unittest
""".split()
SUSPECT_NAMES = """
__builtins__ __import__ compile eval exec get_ipython globals open vars
""".split()
SUSPECT_ATTRIBUTES = """
__closure__ __code__ __dict__ __globals__ __subclasses__ __traceback__
_getframe f_back setprofile settrace
""".split()
SUSPECT_METHODS = """
__bool__ __eq__ __instancecheck__ __torch_dispatch__ __torch_function__
""".split()


@dataclass(frozen=True)
class Attempt:
    """All that decides what becomes of an answer."""

    name: str
    names: tuple[str, ...]  # of all exercises of its chapter
    chapter: tuple[str, ...]
    own: tuple[str, ...]
    check: str

    def job(self) -> dict:
        """As the sandbox gets it."""
        return asdict(self)

    def fingerprint(self) -> str:
        """Another one when the answer, the key or the library has changed."""
        text = json.dumps([library_digest(), self.job()])
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def attempt_of(
    task: Task,
    answer: Answer,
    cells: list[Cell],
    chapter: Chapter,
    variant: int,
    seed: int,
) -> Attempt:
    """What is run for an answer of a notebook."""
    own = {bare(text): text for text in helpers(answer, cells, chapter)}
    page = [*task.before, *map(code_cell, own)]
    source = f"{bare(answer.source) or ''}\n{task.name}"
    needed = slices.needed(page, source)
    return Attempt(
        task.name,
        tuple(chapter.tasks),
        tuple(text for text in needed if text not in own),
        (*(own[text] for text in needed if text in own), answer.source),
        with_arguments(task.check.source, variant=variant, seed=seed),
    )


def code_cell(source: str) -> NotebookNode:
    """As much of a cell as `slices` reads."""
    return NotebookNode(cell_type="code", source=source, metadata={})


def with_arguments(check: str, **arguments: int) -> str:
    """A check cell whose call of `check` has further arguments."""
    tree = ast.parse(check)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "check":
            node.keywords += [
                ast.keyword(name, ast.Constant(value))
                for name, value in arguments.items()
            ]
    return ast.unparse(tree)


@cache
def library_digest(root: Path = ROOT) -> str:
    """Another text when the library, or what runs answers, has changed."""
    digest = hashlib.sha256()
    inside = Path(__file__).with_name("inside")
    for folder in (*(root / "book" / name for name in ("lib", "kit")), inside):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def suspicions(
    sources: tuple[str, ...], books: Container[str] = ()
) -> list[str]:
    """What an answer to these exercises hardly needs: somebody should look.

    Who forges a verdict within the process must get at it somehow; this
    names the usual ways, and honest code that takes one is not punished.
    What the book itself says is not looked at.
    """
    names = {
        name
        for source in sources
        if (text := bare(source))
        for statement in ast.parse(text).body
        if ast.dump(statement) not in books
        for node in ast.walk(statement)
        for name in suspicious(node)
    }
    return sorted(names)


def suspicious(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield from suspicious_module(alias.name)
    elif isinstance(node, ast.ImportFrom):
        yield from suspicious_module(node.module or "")
    elif isinstance(node, ast.FunctionDef) and node.name in SUSPECT_METHODS:
        yield node.name
    elif isinstance(node, ast.Name) and node.id in SUSPECT_NAMES:
        yield node.id
    elif isinstance(node, ast.Attribute):
        if node.attr in SUSPECT_ATTRIBUTES:
            yield node.attr
        if isinstance(node.ctx, ast.Store) and is_module(node.value):
            yield f"sets {ast.unparse(node)}"


def suspicious_module(name: str) -> Iterator[str]:
    if name.split(".")[0] in SUSPECT_MODULES or "exercises" in name:
        yield name


def is_module(node: ast.AST) -> bool:
    known = ("torch", "F", "lib", "kit", "math")
    return ast.unparse(node).split(".")[0] in known
