"""What kind of thing an argument is."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from .refuse import expect, kind, wrong_kind

INTEGERS = (torch.int32, torch.int64)
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


def not_empty(name: str, items: Sequence) -> None:
    """At least one item."""
    expect(items, name, "at least one", "none")


def some_items(
    name: str, items: object, what: str, wanted: type = Sequence
) -> None:
    """A list (or tuple) that is not empty."""
    if isinstance(items, str) or not isinstance(items, wanted):
        wrong_kind(name, f"a list of {what}", kind(items))
    not_empty(name, items)
