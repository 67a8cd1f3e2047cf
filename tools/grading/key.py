"""The answer key: what each exercise asks, and which cells the book wrote."""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager

from kit.exercises import numbered
from tools.chapters import sync
from tools.exercises import slices
from tools.exercises import tasks as exercises
from tools.exercises.tasks import Task
from tools.source import answers, cells, colab
from tools.source.taught import ROOT, lessons

LONGEST = 200_000  # characters of a cell; nobody types that many
MEMORY = 10_000  # cells; most of them are the same in all submissions
GIVEN = re.compile(rf"^.*{answers.GIVEN}$", re.MULTILINE)
OF_CHECK = {  # the second in notebooks of 2026 and 2027
    "from kit.exercises import check",
    "from lib.exercises import check",
}


@lru_cache(MEMORY)
def plain(source: str) -> str | None:
    """A cell as Python, without what only a notebook understands.

    None stands for a cell that is no Python. It is never run here, and what
    it holds may be made to break whoever looks at it.
    """
    if len(source) > LONGEST:
        return None
    try:
        try:
            text, tree = source, ast.parse(source)
        except SyntaxError:
            text = without_magics(source)
            tree = ast.parse(text)
        compile(tree, "cell", "exec", dont_inherit=True)
        ast.dump(tree)
    except (SyntaxError, ValueError, RuntimeError, MemoryError):
        return None
    return text


def without_magics(source: str) -> str:
    """What IPython makes of a cell, with nothing in place of its magics."""
    while source.lstrip().startswith("%%"):
        source = source.lstrip().partition("\n")[2]
    tree = ast.parse(TransformerManager().transform_cell(source))
    return ast.unparse(WithoutMagics().visit(tree))


class WithoutMagics(ast.NodeTransformer):
    """`pass` or None for what IPython has made of `%magic` and `!command`."""

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        return ast.Pass() if is_magic(node.value) else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        nothing = ast.Constant(None)
        return nothing if is_magic(node) else self.generic_visit(node)


def is_magic(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and ast.unparse(node.func.value) == "get_ipython()"
    )


@lru_cache(MEMORY)
def bare(source: str) -> str | None:
    """A cell as Python, without calls of `check` and the import of it."""
    text = plain(source)
    if text is None or "check" not in text:
        return text
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if not is_of_check(node)]
    return ast.unparse(tree)


def is_of_check(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return ast.unparse(node) in OF_CHECK
    return isinstance(node, ast.Expr) and bool(checks(ast.unparse(node)))


@lru_cache(MEMORY)
def checks(source: str) -> tuple[tuple[str, int], ...]:
    """The exercise and the variant of each call of `check` in a cell."""
    text, calls = plain(source), []
    is_there = text and "check" in text
    for node in ast.walk(ast.parse(text)) if is_there else ():
        if not isinstance(node, ast.Call) or not node.args:
            continue
        first, name = node.args[0], getattr(node.func, "id", "")
        which = asked(getattr(first, "value", ""))
        if name == "check" and which:
            given = {k.arg: k.value for k in node.keywords}
            variant = getattr(given.get("variant"), "value", 0)
            is_one = isinstance(variant, int) and 0 <= variant < 10**9
            calls.append((which, variant if is_one else 0))
    return tuple(calls)


def asked(which: object) -> str:
    """The exercise that a check names, if only by the number it once had."""
    which = which if isinstance(which, str) else ""
    return numbered().get(which, which if which.isidentifier() else "")


@lru_cache(MEMORY)
def meaning(source: str) -> str:
    """What two cells share that differ in comments, layout and checks."""
    text = bare(source)
    return source.strip() if text is None else ast.dump(ast.parse(text))


def own_part(source: str) -> str:
    """What a student has defined in the cell that fetches the book."""
    kinds = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
    texts = [
        ast.unparse(node)
        for node in body(source)
        if isinstance(node, kinds) or sets_what_is_not_fetched(node)
    ]
    return "\n".join(text for text in texts if text not in FETCHING)


def sets_what_is_not_fetched(node: ast.stmt) -> bool:
    """`scale = 3`, but neither `needed = []` nor `os.environ[name] = "1"`."""
    is_setting = isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
    names = slices.bound(ast.unparse(node)) if is_setting else ()
    return bool(names) and names.isdisjoint(FETCHED)


def body(source: str) -> list[ast.stmt]:
    return ast.parse(bare(source) or "").body


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


FETCHING = {
    ast.unparse(node)
    for text in (colab.FETCH, colab.EXPLAIN)
    for node in body(
        text.format(first_line="", url="", branch="", needed="needed = []")
    )
}
FETCHED = slices.bound("\n".join(FETCHING))


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
    def statements(self) -> set[str]:
        """All that the book says at the beginning of a line."""
        page = slices.givers(sync.read(self.path).cells)
        return {ast.dump(node) for source in page for node in body(source)}

    def learn(self) -> None:
        """Remember of the book's cells what each submission asks again."""
        page = [cell.source for cell in sync.read(self.path).cells]
        for source in filter(None, map(plain, page)):
            for ask in (slices.bound, slices.used, slices.changed):
                ask(source)
        for kept in ("written", "statements", "stubs"):
            getattr(self, kept)

    @cached_property
    def stubs(self) -> set[str]:
        return {untouched(task.stub) for task in self.tasks.values()}


@lru_cache(MEMORY)
def untouched(source: str) -> str:
    """The meaning of a stub, whatever numbers its variant is given."""
    return meaning(GIVEN.sub("", source))


@cache
def key(root: Path = ROOT) -> dict[str, Chapter]:
    """All lessons that have exercises, by the names of their files."""
    by_name = {}
    for path in lessons(root):
        page = sync.read(path).cells
        tasks = {task.name: task for task in exercises.tasks_of(path, page)}
        if tasks:
            by_name[path.stem] = Chapter(path, tasks)
    return by_name


def selected(names: Iterable[str], root: Path = ROOT) -> dict[str, Chapter]:
    """The chapters whose names begin so; all if none is named.

    Raises:
        LookupError: no chapter has such a name.
    """
    starts = tuple(names) or ("",)
    chapters = {n: c for n, c in key(root).items() if n.startswith(starts)}
    if not chapters:
        raise LookupError(f"no chapter with exercises is named {starts[0]}")
    return chapters
