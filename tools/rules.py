"""The four rules that keep the chapters and book/lib one.

    same      a cell that begins `# lib/<module>.py` is the library's own
              text of what it names, each docstring cut to its first line
    unique    no other cell defines a name that a taught module defines
    in order  a chapter imports from taught modules only what a cell before
              it has taught; a module imports only modules above it
    complete  every public definition of a taught module is taught once

`python -m tools.rules` lists what breaks them.
"""

import ast
import symtable
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbformat.v4 import reads

from tools.taught import (
    MARKER,
    ROOT,
    as_taught,
    chapters,
    definitions,
    library,
)

# book/lib, in the order in which it is built and taught.
MODULES = (
    *("runtime", "validate", "checkpoints"),
    *("text", "embedding", "softmax", "attention", "masks", "heads"),
    *("positions", "layers", "encoder", "decoder", "transformer"),
    *("dates", "training", "cache", "decoding", "beams", "efficient"),
    *("parallel", "diagnose", "interop", "figures", "shapes"),
    *("architecture", "checks", "explorers"),
)
# These serve the chapters. Their names are free for variables.
NOT_TAUGHT = {
    *("runtime", "validate", "checkpoints", "interop", "figures"),
    *("shapes", "architecture", "checks", "explorers"),
}


def imports_from_lib(tree: ast.Module) -> Iterator[tuple[str, str | None]]:
    """Every (module, name) imported; a whole module has the name None."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            paths = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = ["lib"] * bool(node.level)
            start += node.module.split(".") if node.module else []
            paths = [[*start, alias.name] for alias in node.names]
        else:
            continue
        for root, *rest in paths:
            if root == "lib" and rest:
                yield rest[0], rest[1] if len(rest) > 1 else None


def names_bound(cell: str) -> set[str]:
    """The names a cell gives a value, other than by importing from lib."""
    symbols = symtable.symtable(cell, "cell", "exec").get_symbols()
    names = {s.get_name() for s in symbols if s.is_assigned()}
    for node in ast.walk(ast.parse(cell)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            is_lib = (getattr(node, "module", "") or "").split(".")[0] == "lib"
            names |= {
                alias.asname or alias.name
                for alias in node.names
                if alias.asname or not is_lib
            }
    return names


@dataclass(frozen=True)
class Cell:
    """A code cell, and where it stands."""

    where: str
    source: str

    @property
    def module(self) -> str | None:
        """The module that a definition cell shows."""
        marked = MARKER.match(self.source)
        return marked[1] if marked else None


@dataclass(frozen=True)
class Book:
    """The library's modules by name, and the code cells of all chapters."""

    library: dict[str, str]
    cells: list[Cell]

    @property
    def public(self) -> list[tuple[str, str]]:
        """(module, name) of everything that the chapters must teach."""
        return [
            (module, name)
            for module, source in self.library.items()
            if module not in NOT_TAUGHT
            for name in definitions(source)
            if not name.startswith("_")
        ]


def read_book(root: Path = ROOT) -> Book:
    """Read the library and the chapters of a table of contents.

    Raises:
        ValueError: a code cell is not plain Python.
    """
    cells = []
    for path in chapters(root):
        notebook = reads(path.read_text(encoding="utf-8"))
        code = [c.source for c in notebook.cells if c.cell_type == "code"]
        for number, source in enumerate(code, start=1):
            cells.append(Cell(f"{path.name}, code cell {number}", source))
            try:
                ast.parse(source)
            except SyntaxError as error:
                raise ValueError(
                    f"{cells[-1].where}: line {error.lineno} is not plain "
                    f"Python: {error.text}"
                ) from None
    return Book(library(root), cells)


def same(book: Book) -> Iterator[str]:
    for cell in book.cells:
        if not cell.module:
            continue
        file = f"lib/{cell.module}.py"
        if cell.module not in book.library or cell.module in NOT_TAUGHT:
            yield f"{cell.where}: same: {file} is not a taught module"
            continue
        try:
            expected = as_taught(book.library[cell.module], cell.source)
        except LookupError as error:
            yield f"{cell.where}: same: {file} does not define {error}"
            continue
        if cell.source != expected:
            yield (
                f"{cell.where}: same: this is not the text of {file}: "
                f"{first_difference(cell.source, expected)}; change the "
                "library, not the cell, and run `make sync`"
            )


def first_difference(cell: str, expected: str) -> str:
    """The first line in which a definition cell is wrong."""
    was, must = cell.split("\n"), expected.split("\n")
    length = min(len(was), len(must))
    line = next((i for i in range(length) if was[i] != must[i]), length)
    here, there = (
        repr(lines[line]) if line < len(lines) else "nothing"
        for lines in (was, must)
    )
    return f"line {line + 1} has {here}, the library {there}"


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
        for module, name in imports_from_lib(ast.parse(cell.source)):
            if module in NOT_TAUGHT:
                continue
            wanted = {(module, name)}
            if name is None:
                wanted = {one for one in book.public if one[0] == module}
            for _, missing in sorted(wanted - taught):
                yield (
                    f"{cell.where}: in order: it imports {missing} of "
                    f"lib/{module}.py, which no cell before it teaches; move "
                    "the import below the definition cell"
                )
        if cell.module:
            taught |= {(cell.module, n) for n in definitions(cell.source)}


def library_in_order(book: Book) -> Iterator[str]:
    for module, source in book.library.items():
        if module not in MODULES:
            yield (
                f"lib/{module}.py: in order: put it into MODULES of "
                "tools/rules.py"
            )
            continue
        above = MODULES[: MODULES.index(module)]
        for imported, _ in imports_from_lib(ast.parse(source)):
            if imported not in above:
                yield (
                    f"lib/{module}.py: in order: it imports lib.{imported}, "
                    "which does not stand above it in MODULES"
                )


def complete(book: Book) -> Iterator[str]:
    for module, name in book.public:
        cells = [
            cell.where
            for cell in book.cells
            if cell.module == module and name in definitions(cell.source)
        ]
        if not cells:
            yield (
                f"lib/{module}.py: complete: no chapter teaches {name}; begin "
                f"a cell with `# lib/{module}.py`, name it there, and run "
                "`make sync`"
            )
        elif len(cells) > 1:
            yield (
                f"lib/{module}.py: complete: {name} is taught in "
                f"{' and in '.join(cells)}; keep one of them"
            )


RULES = (same, unique, in_order, complete)


def problems(book: Book) -> list[str]:
    """What breaks the rules, one line each."""
    return [problem for rule in RULES for problem in rule(book)]


if __name__ == "__main__":
    sys.exit("\n".join(problems(read_book())) or 0)
