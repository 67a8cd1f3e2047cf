"""The five rules that keep the lessons and book/lib one.

    same        a cell that begins `# lib/<module>.py` is the library's own
                text of what it names, each docstring cut to its first line;
                a chapter with deeper pages shows it plain
    unique      no other cell defines a name that a taught module defines
    in order    a lesson imports from taught modules only what a cell before
                it has taught; a module imports only modules above it
    complete    every public definition of a taught module is taught once
    introduced  a chapter imports only what a chapter up to there has taught:
                who reads no deeper page meets no name from nowhere. What a
                chapter builds in plain form counts from the check on that
                compares the two; its second line is
                `# plain: lib/<module>.py name`

`python -m tools.chapters.rules` lists what breaks them.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from math import inf
from pathlib import Path

from tools.source.taught import (
    MARKER,
    ROOT,
    as_taught,
    code_cells,
    definitions,
    is_deeper,
    is_taught,
    is_walk,
    lessons,
    library,
    read,
    symbols,
)

PLAIN = re.compile(r"# @title Check: .*\n# plain: lib/([\w/]+)\.py (\w+)\n")
# What a definition may use though no chapter teaches it.
FOUNDATION = {"runtime", "validate", "checkpoints"}
# Plumbing that a definition may name; it stands on what chapters teach, be it
# later than the definition.
PLUMBING = {"decoders"}


def imported(tree: ast.Module, package: str = "") -> Iterator[list[str]]:
    """The parts of every dotted name that is imported.

    Relative imports start at the package of lib that the code is in.
    """
    here = ".".join(["lib", *package.split("/")]) if package else "lib"
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            dots = "." * node.level
            start = resolve_name(dots + (node.module or ""), here).split(".")
            yield from ([*start, alias.name] for alias in node.names)


def names_bound(cell: str) -> set[str]:
    """The names a cell gives a value, other than by importing from lib."""
    known = symbols(cell).get_symbols()
    names = {s.get_name() for s in known if s.is_assigned()}
    for node in ast.walk(ast.parse(cell)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            is_lib = (getattr(node, "module", "") or "").split(".")[0] == "lib"
            names |= {
                alias.asname or alias.name
                for alias in node.names
                if alias.asname or not is_lib
            }
    return names


def top(module: str) -> str:
    """The package of lib that a module is in, or the module."""
    return module.partition("/")[0]


@dataclass(frozen=True)
class Cell:
    """A code cell, and where it stands."""

    where: str
    source: str
    is_deeper: bool = False
    is_plain: bool = False

    @property
    def module(self) -> str | None:
        """The module that a definition cell shows."""
        marked = MARKER.match(self.source)
        return marked[1] if marked else None

    @property
    def taught(self) -> set[tuple[str, str]]:
        """(module, name) of what a definition cell shows."""
        shown = definitions(self.source) if self.module else ()
        return {(self.module, name) for name in shown}

    @property
    def compared(self) -> set[tuple[str, str]]:
        """(module, name) of what stands beside a plain form in a check."""
        marked = PLAIN.match(self.source)
        return {(marked[1], marked[2])} if marked else set()


@dataclass(frozen=True)
class Book:
    """The library's modules by name, and the code cells of all lessons."""

    library: dict[str, str]
    cells: list[Cell]

    @cached_property
    def taught(self) -> list[str]:
        """The modules to be taught, those that no cell shows yet at the end.

        The others serve the chapters. Their names are free for variables.
        """
        shown = [cell.module for cell in self.cells]
        return [
            module
            for module in dict.fromkeys([*shown, *self.library])
            if module in self.library
            if module in shown or "/" not in module
            if is_taught(self.library[module])
        ]

    def span(self, module: str) -> tuple[float, float]:
        """The first and the last cell that shows a module or package."""
        shown = [cell.module or "" for cell in self.cells]
        places = [n for n, name in enumerate(shown) if top(name) == module]
        return min(places, default=inf), max(places, default=inf)

    def from_lib(self, path: list[str]) -> tuple[str, str | None] | None:
        """The module of lib that is imported, and what of it.

        A whole module has the name None; what is not of lib is None.
        """
        root, *parts = path
        if root != "lib" or not parts:
            return None
        deeper = "/".join(parts[:2])
        module = deeper if deeper in self.library else parts[0]
        rest = parts[module.count("/") + 1 :]
        return module, rest[0] if rest else None

    @cached_property
    def public(self) -> list[tuple[str, str]]:
        """(module, name) of everything that the chapters must teach."""
        return [
            (module, name)
            for module in self.taught
            for name in definitions(self.library[module])
            if not name.startswith("_")
        ]

    @property
    def imports(self) -> dict[str, set[str]]:
        """What each module or package of the library imports from it."""
        imports = {}
        for name, source in self.library.items():
            is_package = any(n.startswith(f"{name}/") for n in self.library)
            package = name if is_package else name.rpartition("/")[0]
            paths = imported(ast.parse(source), package)
            modules = {top(m[0]) for m in map(self.from_lib, paths) if m}
            own = imports.setdefault(top(name), set())
            own |= modules - {top(name)}
        return imports


def read_book(root: Path = ROOT) -> Book:
    """Read the library and the lessons of a table of contents.

    Raises:
        ValueError: a code cell is not plain Python.
    """
    cells = []
    for path in lessons(root):
        kind = is_deeper(path), is_walk(path)
        for number, cell in enumerate(code_cells(read(path)), start=1):
            where = f"{path.name}, code cell {number}"
            cells.append(Cell(where, cell.source, *kind))
            try:
                ast.parse(cell.source)
            except SyntaxError as error:
                raise ValueError(
                    f"{where}: line {error.lineno} is not plain Python: "
                    f"{error.text}"
                ) from None
    return Book(library(root), cells)


def same(book: Book) -> Iterator[str]:
    for cell in book.cells:
        if not cell.module:
            continue
        file = f"lib/{cell.module}.py"
        if cell.module not in book.taught:
            yield f"{cell.where}: same: {file} is not a taught module"
            continue
        try:
            module = book.library[cell.module]
            expected = as_taught(module, cell.source, cell.is_plain)
        except LookupError as error:
            yield f"{cell.where}: same: {file} does not define {error}"
            continue
        if cell.source != expected:
            yield (
                f"{cell.where}: same: this is not the text of {file}; change "
                "the library, not the cell, and run `make sync`"
            )


def unique(book: Book) -> Iterator[str]:
    home = {}
    for module, name in book.public:
        if name in home:
            yield f"lib/{module}.py: unique: {home[name]}.{name} exists too"
        home[name] = module
    for cell in book.cells:
        if cell.module:
            continue
        for name in sorted(names_bound(cell.source) & home.keys()):
            yield (
                f"{cell.where}: unique: {name} is the name of a definition "
                f"in lib/{home[name]}.py; use another one, or begin the cell "
                f"with `# lib/{home[name]}.py` and run `make sync`"
            )


def in_order(book: Book) -> Iterator[str]:
    yield from library_in_order(book)
    taught = set()
    for cell in book.cells:
        for module, name in sorted(wanted(book, cell) - taught):
            if (module, name) not in cell.compared:
                yield (
                    f"{cell.where}: in order: it imports {name} of "
                    f"lib/{module}.py, which no cell before it teaches; move "
                    "the import below the definition cell"
                )
        taught |= cell.taught


def wanted(book: Book, cell: Cell) -> set[tuple[str, str]]:
    """(module, name) of all that a cell imports from taught modules."""
    names = set()
    paths = map(book.from_lib, imported(ast.parse(cell.source)))
    for module, name in filter(None, paths):
        if module not in book.library or module in book.taught:
            whole = {one for one in book.public if one[0] == module}
            names |= {(module, name)} if name else whole
    return names


def introduced(book: Book) -> Iterator[str]:
    known, everywhere = set(), {one for c in book.cells for one in c.taught}
    for cell in book.cells:
        if cell.is_deeper:
            continue
        names = wanted(book, cell)
        for module, name in sorted(cell.compared - names):
            yield (
                f"{cell.where}: introduced: it says that it compares {name} "
                f"of lib/{module}.py, and does not import it"
            )
        known |= cell.compared
        for module, name in sorted((names & everywhere) - known):
            yield (
                f"{cell.where}: introduced: it imports {name} of "
                f"lib/{module}.py, which no chapter up to here has shown; "
                "show it, or build it in plain form and compare"
            )
        known |= cell.taught


def library_in_order(book: Book) -> Iterator[str]:
    """A definition uses what was taught before it and the foundation."""
    imports = book.imports
    for module, others in imports.items():
        for name in sorted(others):
            if why := misplaced(book, module, name):
                yield (
                    f"lib/{module}.py: in order: it imports lib.{name}, {why}"
                )
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        circle = " -> ".join(reversed(error.args[1]))
        yield f"lib: in order: modules import each other: {circle}"


def misplaced(book: Book, module: str, other: str) -> str | None:
    """Why a module may not import another; None if it may."""
    taught = {top(name) for name in book.taught}
    if other not in book.library:
        return "which does not exist"
    if other in FOUNDATION | PLUMBING:
        return None
    if module in FOUNDATION:
        return "but all others rest on it"
    if module in taught and other not in taught:
        return "which is not taught"
    begin, end = book.span(other)
    own_begin, own_end = book.span(module)
    if module in taught and begin >= own_begin and end >= own_end:
        return "which is not taught before it"
    return None


def complete(book: Book) -> Iterator[str]:
    for module, name in book.public:
        cells = [
            cell.where
            for cell in book.cells
            if cell.module == module and name in definitions(cell.source)
        ]
        if not cells:
            yield (
                f"lib/{module}.py: complete: no lesson teaches {name}; begin "
                f"a cell with `# lib/{module}.py`, name it there, and run "
                "`make sync`"
            )
        elif len(cells) > 1:
            yield (
                f"lib/{module}.py: complete: {name} is taught in "
                f"{' and in '.join(cells)}; keep one of them"
            )


RULES = (same, unique, in_order, complete, introduced)


def problems(book: Book) -> list[str]:
    """What breaks the rules, one line each."""
    return [problem for rule in RULES for problem in rule(book)]


if __name__ == "__main__":
    sys.exit("\n".join(problems(read_book())) or 0)
