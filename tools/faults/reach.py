"""What a chapter or a test file can reach: the modules that it imports.

Read from the text alone. A package below book/lib counts as one module; only
of the exercises and the explorers each chapter reaches its own.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tools.taught import ROOT

LIBRARY = ROOT / "book" / "lib"
TESTS = ROOT / "tests" / "library"
APART = {"exercises": "chapter_*.py", "explorers": "[!_]*.py"}
ASKED = re.compile(r'^check\("(\d+)\.\d+"', re.MULTILINE)


@cache
def apart() -> frozenset[str]:
    """The modules of packages that count apart, such as `explorers/masks`."""
    return frozenset(
        f"{package}/{path.stem}"
        for package, pattern in APART.items()
        for path in (LIBRARY / package).glob(pattern)
    )


@cache
def files(module: str) -> tuple[Path, ...]:
    """The files of a module of book/lib; of a package all but `APART`."""
    package = LIBRARY / module
    if package.is_dir():
        paths = {*package.rglob("*.py")}
        return tuple(sorted(paths - {LIBRARY / f"{m}.py" for m in apart()}))
    return (LIBRARY / f"{module}.py",)


@cache
def modules() -> frozenset[str]:
    """The modules and packages of book/lib, `__init__` among them."""
    return frozenset(
        path.relative_to(LIBRARY).parts[0].removesuffix(".py")
        for path in LIBRARY.rglob("*.py")
    )


def imports(source: str, package: tuple[str, ...] = ()) -> Iterator[tuple]:
    """The dotted names that a text imports, as parts.

    Args:
        source: a program.
        package: the parts of the package that it stands in.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (tuple(a.name.split(".")) for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) + 1 - node.level]
            start = start if node.level else ()
            start += tuple(node.module.split(".")) if node.module else ()
            yield from ((*start, alias.name) for alias in node.names)


def from_lib(names: Iterable[tuple]) -> set[str]:
    """The modules of book/lib among imported names."""
    known = modules() | apart()
    return {
        name
        for first, *parts in names
        if first == "lib"
        for name in {*parts[:1], "/".join(parts[:2])} & known
    }


@cache
def direct(module: str) -> frozenset[str]:
    """The modules that a module of book/lib imports itself."""
    found = set()
    for path in files(module):
        inside = path.relative_to(LIBRARY).parent.parts
        text = path.read_text(encoding="utf-8")
        found |= from_lib(imports(text, ("lib", *inside)))
    return frozenset(found - {module})


def reached(start: Iterable[str]) -> set[str]:
    """These modules, all that they import, and so on."""
    waiting, found = {"__init__", *start}, set()
    while waiting:
        module = waiting.pop()
        found.add(module)
        waiting |= direct(module) - found
    return found


def reached_by_cells(sources: Iterable[str]) -> set[str]:
    """The modules that the cells of a chapter reach."""
    names = set()
    for text in sources:
        names |= from_lib(imports(text))
        chapters = map(int, ASKED.findall(text))
        names |= {f"exercises/chapter_{n:02}" for n in chapters}
    return reached(names)


@cache
def test_files(name: str) -> tuple[Path, ...]:
    """A file of tests/library and what it imports from there."""
    waiting, found = {TESTS / name}, {TESTS / "conftest.py"}
    while waiting:
        path = waiting.pop()
        found.add(path)
        for parts in imports(path.read_text(encoding="utf-8")):
            if parts[:2] == ("tests", "library") and len(parts) > 2:
                helper = TESTS / f"{parts[2]}.py"
                waiting |= {helper} - found if helper.exists() else set()
    return tuple(sorted(found))


@cache
def reached_by_test(name: str) -> frozenset[str]:
    """The modules that a file of tests/library reaches."""
    texts = [path.read_text(encoding="utf-8") for path in test_files(name)]
    return frozenset(reached_by_cells(texts))
