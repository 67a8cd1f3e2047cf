"""A fault: a text of a module, and the wrong text in its place."""

import ast
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools.source.taught import ROOT

At = Callable[[str], None]  # told of each cell or test before it runs


@dataclass(frozen=True)
class Fault:
    """One wrong text in one module, `a/b` being one of a package a."""

    module: str
    source: str
    start: int  # where in the source the right text begins
    end: int
    new: str
    kind: str = "generated"  # or "realistic"

    @property
    def wrong(self) -> str:
        """The text of the module with the fault."""
        return self.source[: self.start] + self.new + self.source[self.end :]

    def __str__(self) -> str:
        """The place, and its line before and after."""
        first = self.source.rfind("\n", 0, self.start) + 1
        rest = len(self.source) - self.source.find("\n", self.end)
        lines = (text[first:-rest] for text in (self.source, self.wrong))
        change = "  ->  ".join(" ".join(line.split()) for line in lines)
        number = self.source.count("\n", 0, self.start) + 1
        return f"{self.module}:{number}: {change}"


def span(source: str, nodes: list[ast.AST]) -> tuple[int, int]:
    """Where the text of neighbouring nodes begins and ends."""
    lines = source.encode().splitlines(keepends=True)

    first, last = nodes[0], nodes[-1]
    start = first.lineno - 1, first.col_offset
    end = last.end_lineno - 1, last.end_col_offset
    return tuple(
        len(b"".join([*lines[:line], lines[line][:column]]).decode())
        for line, column in (start, end)
    )


def faulty_book(fault: Fault, folder: Path) -> Path:
    """Make a book with this fault; all its other files are links."""
    for path in ROOT.glob("[!.]*"):
        if path.name != "book":
            (folder / path.name).symlink_to(path)
    book = folder / "book"
    shutil.copytree(ROOT / "book", book, copy_function=os.symlink)
    stem = book / "lib" / fault.module
    path = stem / "__init__.py" if stem.is_dir() else stem.with_suffix(".py")
    path.unlink()
    path.write_text(fault.wrong, encoding="utf-8")
    return book
