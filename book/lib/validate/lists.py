"""Lists of what a caller hands over, checked. Not taught.

Anything that can be iterated over is taken, a generator too, and comes back
as a plain list.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from .. import validate
from .refuse import expect, shape

ANY_ID = torch.iinfo(torch.int64).max


def strings(items: Iterable, name: str = "texts") -> list[str]:
    """Strings, but not one string."""
    validate.iterable(name, items, "a list of strings")
    items = list(items)
    for item in items:
        validate.string(**{f"an item of {name}": item})
    return items


def ids(items: Iterable, size: int, name: str = "ids") -> list[int]:
    """Integers in 0 .. size - 1; a tensor must have one axis."""
    if isinstance(items, Tensor):
        validate.token_ids(items, size, name)
        expect(items.ndim == 1, name, "one axis", shape(items))
        return items.tolist()
    validate.iterable(name, items, "a list or tensor of integers")
    items = list(items)
    for i in items:
        validate.integer(name, i)
        expect(0 <= i < size, name, f"ids from 0 to {size - 1}", i)
    return items


def sequences(rows: Iterable) -> list[list[int]]:
    """At least one sequence of ids, each a list."""
    validate.iterable("sequences", rows, "a list of id lists", Tensor)
    rows = [ids(row, ANY_ID, "an item of sequences") for row in rows]
    expect(rows, "sequences", "at least one", "none")
    return rows
