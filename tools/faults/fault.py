"""A fault, and a copy of the book that has it."""

import shutil
from dataclasses import dataclass
from pathlib import Path

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
        loops: it may make a loop endless: the seconds of processor time
            after which a cell or test that has not ended has noticed it.
            0 for all other faults: what does not end was not tried.
    """

    module: str
    old: str
    new: str
    name: str
    start: int | None = None
    generated: bool = False
    shown: bool = True
    loops: int = 0

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


NOTHING = Fault("softmax", "", "", "nothing is changed", start=0)


@dataclass(frozen=True)
class Answer:
    """What became of a fault in one way of looking.

    Args:
        noticed: the cell or test that noticed it; empty if none did.
        why: how it showed there.
        untried: why it cannot be said; empty if it can.
        recorded: it was found out in an earlier run.
    """

    noticed: str = ""
    why: str = ""
    untried: str = ""
    recorded: bool = False


@dataclass(frozen=True)
class Verdict:
    """Who noticed a fault."""

    fault: Fault
    notebooks: Answer
    units: Answer

    @property
    def answers(self) -> dict[str, Answer]:
        """The answers that count, by the name of the way."""
        found = {"unit tests": self.units}
        if self.fault.shown:
            found = {"notebooks": self.notebooks} | found
        return found

    @property
    def recorded(self) -> bool:
        """Nothing had to be found out."""
        return all(answer.recorded for answer in self.answers.values())

    @property
    def survived(self) -> list[str]:
        return [
            way
            for way, answer in self.answers.items()
            if not answer.noticed and not answer.untried
        ]

    @property
    def untried(self) -> dict[str, str]:
        return {
            way: answer.untried
            for way, answer in self.answers.items()
            if answer.untried
        }


def taught_modules() -> list[str]:
    """The modules of book/lib that chapters teach, in their order."""
    return list(homes())


def source_of(module: str) -> str:
    return library()[module]


def faulty_book(fault: Fault, folder: Path) -> Path:
    """Make a book with this fault; all files but the library are links."""
    book = folder / "book"
    book.mkdir()
    link(ROOT, folder, leave_out={"book"})
    link(ROOT / "book", book, leave_out={"lib"})
    shutil.copytree(
        ROOT / "book" / "lib",
        book / "lib",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    wrong = fault.apply(source_of(fault.module))
    (book / "lib" / f"{fault.module}.py").write_text(wrong, "utf-8")
    return book


def link(folder: Path, to: Path, leave_out: set[str]) -> None:
    """Link what lies in a folder, hidden files left out, into another."""
    for path in folder.glob("[!.]*"):
        if path.name not in leave_out:
            (to / path.name).symlink_to(path)
