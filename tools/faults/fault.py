"""A fault, and a copy of the book that has it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.taught import ROOT, homes, library


@dataclass(frozen=True)
class Fault:
    """One wrong text in one module.

    Args:
        module: the module of book/lib.
        old: the right text.
        new: the wrong text.
        name: what somebody who writes it believes or forgets.
        start: where the right text begins; None if it occurs only once.
        generated: it comes from generate.py and not from the list.
        shown: a reader can see it; False for a missing argument check.
    """

    module: str
    old: str
    new: str
    name: str
    start: int | None = None
    generated: bool = False
    shown: bool = True

    @property
    def brief(self) -> str:
        """The fault in one line of a table."""
        if not self.generated:
            return f"{self.module}: {self.name}"
        place = self.name.partition(": ")[0]
        change = " ".join(f"{self.old} -> {self.new}".split())
        return f"{self.module}: {place}: {change}"

    def apply(self, source: str) -> str:
        """The source of the module, with the fault."""
        start = self.start
        if start is None:
            if (times := source.count(self.old)) != 1:
                raise ValueError(
                    f"{self.module}, {self.name}: expected the text once, "
                    f"found it {times} times: {self.old!r}"
                )
            start = source.index(self.old)
        return source[:start] + self.new + source[start + len(self.old) :]


@dataclass(frozen=True)
class Verdict:
    """Who noticed a fault; an empty text means that nobody did."""

    fault: Fault
    notebooks: str
    units: str

    @property
    def survived(self) -> list[str]:
        found = {"unit tests": self.units}
        if self.fault.shown:
            found = {"notebooks": self.notebooks} | found
        return [way for way, noticed in found.items() if not noticed]


def taught_modules() -> list[str]:
    """The modules of book/lib that chapters teach, in their order."""
    return list(homes())


def source_of(module: str) -> str:
    return library()[module]


@contextmanager
def faulty_book(fault: Fault) -> Iterator[Path]:
    """The folder of a book with this fault; all other files are links."""
    with TemporaryDirectory(prefix="fault-") as folder:
        book = Path(folder, "book")
        book.mkdir()
        link(ROOT, Path(folder), leave_out={"book"})
        link(ROOT / "book", book, leave_out={"lib"})
        shutil.copytree(
            ROOT / "book" / "lib",
            book / "lib",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        wrong = fault.apply(source_of(fault.module))
        (book / "lib" / f"{fault.module}.py").write_text(wrong, "utf-8")
        yield book


def link(folder: Path, to: Path, leave_out: set[str]) -> None:
    """Link what lies in a folder, hidden files left out, into another."""
    for path in folder.glob("[!.]*"):
        if path.name not in leave_out:
            (to / path.name).symlink_to(path)
