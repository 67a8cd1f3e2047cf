"""Numbers, and the intervals in which they must lie."""

import math
from collections.abc import Callable

import torch

from .refuse import expect, kind, wrong, wrong_kind

WHOLE = (int, torch.SymInt)  # the second while torch exports


def integer(name: str, value: object, least: int | None = None) -> None:
    """A Python integer, not a bool, not below `least`."""
    if not isinstance(value, WHOLE) or isinstance(value, bool):
        wrong_kind(name, "an integer", kind(value))
    if least is not None and value < least:
        wrong(name, f"at least {least}", value)


def positive(**named: object) -> None:
    """Every argument is a positive integer."""
    for name, value in named.items():
        integer(name, value, least=1)


def between(name: str, value: object, least: int, most: int) -> None:
    """An integer from `least` to `most`."""
    integer(name, value)
    expect(least <= value <= most, name, f"{least} to {most}", value)


def row_or_none(name: str, value: object, rows: int) -> None:
    """None, or the index of a row."""
    if value is not None:
        integer(name, value, least=0)
        expect(value < rows, name, f"at most {rows - 1}", value)


def even(name: str, value: object) -> None:
    """A positive even integer, because entries come in pairs."""
    integer(name, value, least=2)
    expect(value % 2 == 0, name, "an even number", value)


def multiple(name: str, value: int, number: int, what: str) -> None:
    """A multiple of the number of something."""
    expect(value % number == 0, name, f"a multiple of {what}", value)


def divisible(d_model: object, heads: object) -> None:
    """Positive integers, and d_model a multiple of heads."""
    positive(d_model=d_model, heads=heads)
    multiple("d_model", d_model, heads, f"heads={heads}")


def number(
    name: str, value: object, expected: str, fits: Callable[[float], bool]
) -> None:
    """A number, not a bool, of the interval that `fits` accepts."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        wrong_kind(name, "a number", kind(value))
    expect(fits(value), name, expected, value)


def probability(name: str, value: object) -> None:
    """A number from 0 up to, but not including, 1."""
    number(name, value, f"0 <= {name} < 1", lambda p: 0 <= p < 1)


def real(name: str, value: object, least: int | float) -> None:
    """A finite number that is not below `least`."""
    expected = f"a finite number of at least {least}"
    number(name, value, expected, lambda x: least <= x < math.inf)


def above(name: str, value: object, least: int | float) -> None:
    """A finite number above `least`."""
    expected = f"a number above {least}"
    number(name, value, expected, lambda x: least < x < math.inf)


def base(value: object) -> None:
    """A number above 1."""
    above("base", value, 1)
