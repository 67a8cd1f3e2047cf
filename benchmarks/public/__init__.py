"""Attention of public packages, as `make conformance` calls it.

Each module here builds attentions of public packages from their arguments;
nothing is downloaded. A builder returns the attention, and the words in which
`lib.diagnose` is told how it is called. All have the same width, two heads
and, where it can be had, dropout.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn

WIDTH, HEADS, DROPOUT = 16, 2, 0.3
HEAD = WIDTH // HEADS
SUBJECTS: list["Subject"] = []
# Where masked scores become a large negative number, on purpose.
LOWEST = {
    "fully masked row": "masked scores become the lowest number of the dtype, "
    "so that a row without a key is a mean, and not NaN"
}


@dataclass(frozen=True)
class Subject:
    """One attention of one package, in one of the ways to call it."""

    package: str  # as pip calls it
    entry: str  # the class or function
    way: str  # as a narrow table names it
    build: Callable[[], tuple[Callable, dict]]
    by_design: dict[str, str]  # property -> why a failure is none
    leave: dict[str, str]  # property -> why it is not asked
    only: tuple[str, ...]  # properties that are asked, if not all
    shown: dict[str, str]  # property -> the file that shows it fail

    def left(self, name: str) -> str | None:
        """Why a property is not asked, or None."""
        if self.only and name not in self.only:
            return "another line of this package shows it"
        return self.leave.get(name)


def subject(
    package: str,
    entry: str,
    way: str,
    *,
    by_design: dict[str, str] | None = None,
    leave: dict[str, str] | None = None,
    only: tuple[str, ...] = (),
    shown: dict[str, str] | None = None,
) -> Callable:
    """Register the builder of an attention."""

    def register(build: Callable) -> Callable:
        about = (by_design or {}, leave or {}, only, shown or {})
        SUBJECTS.append(Subject(package, entry, way, build, *about))
        return build

    return register


class Called(nn.Module):
    """A module that is called in a way of our choice, and nothing else."""

    def __init__(self, inner: nn.Module, ask: Callable):
        super().__init__()
        self.inner, self.ask = inner, ask

    def forward(self, *inputs: Tensor | None) -> object:
        return self.ask(self.inner, *inputs)


def said(**words: object) -> dict:
    """A convention, with the width and the number of heads used here."""
    return {"width": WIDTH, "heads": HEADS} | words
