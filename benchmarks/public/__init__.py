"""Attention of public packages, as `make conformance` calls it.

Each module here lists attentions of public packages, built from their
arguments; nothing is downloaded. A builder returns the attention, and the
words in which `lib.diagnose` is told how it is called. All have the same
width, two heads and, where it can be had, dropout. A package is a pin in
tests/conformance/requirements.txt and a builder here; what fails needs a few
lines in `reproductions` that show it, and a look at the cause by hand.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from torch import Tensor, nn

os.environ.setdefault("KERAS_BACKEND", "torch")  # before keras is imported
WIDTH, HEADS, DROPOUT = 16, 2, 0.3
HEAD = WIDTH // HEADS
# Where masked scores become a large negative number, on purpose.
LOWEST = {
    "fully masked row": "masked scores become the lowest number of the dtype, "
    "so that a row without a key is a mean, and not NaN"
}


@dataclass(frozen=True)
class Subject:
    """One attention of one package, in one of the ways to call it."""

    package: str  # as pip calls it
    way: str  # as a narrow table names it
    build: Callable[[], tuple[Callable, dict]]
    by_design: dict[str, str] = field(default_factory=dict)  # no failures: why
    leave: dict[str, str] = field(default_factory=dict)  # not asked: why
    only: str = ""  # the property that is asked, if not all
    shown: dict[str, str] = field(default_factory=dict)  # failures: the proof

    def left(self, name: str) -> str | None:
        """Why a property is not asked, or None."""
        if self.only and name != self.only:
            return "another line of this package shows it"
        return self.leave.get(name)


class Called(nn.Module):
    """A module that is called in a way of our choice, and nothing else."""

    def __init__(self, inner: nn.Module, ask: Callable):
        super().__init__()
        self.inner, self.ask = inner, ask

    def forward(self, *inputs: Tensor | None) -> object:
        return self.ask(self.inner, *inputs)


def named(inner: nn.Module, mask: str = "mask", **options: object) -> Called:
    """A module that takes the last input, its mask, by name."""
    return Called(
        inner, lambda m, *xs: m(*xs[:-1], **{mask: xs[-1]}, **options)
    )


def said(call: str = "q k v mask -> out", **words: object) -> dict:
    """A convention, with the width and the number of heads used here."""
    return {"width": WIDTH, "heads": HEADS, "call": call} | words
