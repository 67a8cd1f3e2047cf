"""What kind of thing an argument is, and in which interval a number lies."""

import math
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from .refuse import expect, kind, wrong, wrong_kind

INTEGERS = (torch.int32, torch.int64)
WHOLE = (int, torch.SymInt)  # the second while torch exports
CALLED = {Tensor: "a tensor", str: "a string", bool: "True or False"}


def instance(wanted: type, **named: object) -> None:
    """Every argument is of this class."""
    for name, value in named.items():
        if not isinstance(value, wanted):
            expected = CALLED.get(wanted, f"a {wanted.__name__}")
            wrong_kind(name, expected, kind(value))


def instance_or_none(wanted: type, **named: object) -> None:
    """Every argument is of this class, or None."""
    given = {name: x for name, x in named.items() if x is not None}
    instance(wanted, **given)


def whole_numbers(name: str, tensor: object) -> None:
    """A tensor of integers."""
    instance(Tensor, **{name: tensor})
    if tensor.dtype not in INTEGERS:
        expected = "an integer tensor (int64 or int32)"
        wrong_kind(name, expected, tensor.dtype)


def string(**named: object) -> None:
    """Every argument is a string."""
    instance(str, **named)


def booleans(**named: object) -> None:
    """Every argument is True or False."""
    instance(bool, **named)


def functions(**named: object) -> None:
    """Every argument can be called."""
    for name, value in named.items():
        if not callable(value):
            wrong_kind(name, "a function", kind(value))


def floating_dtype(dtype: object) -> None:
    """A real floating-point dtype."""
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        wrong_kind("dtype", "a floating-point dtype", dtype)


def choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """One of a few names."""
    expected = f"one of {', '.join(allowed)}"
    expect(value in allowed, name, expected, repr(value))


def iterable(name: str, items: object, what: str, but: type = str) -> None:
    """Several items; a string, and what else is no list of them, is one."""
    if isinstance(items, (str, but)) or not isinstance(items, Iterable):
        wrong_kind(name, what, kind(items))


def some_items(
    name: str, items: object, what: str, wanted: type = Sequence
) -> None:
    """A list (or tuple) that is not empty."""
    if isinstance(items, str) or not isinstance(items, wanted):
        wrong_kind(name, f"a list of {what}", kind(items))
    expect(items, name, "at least one", "none")


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
