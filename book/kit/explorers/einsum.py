"""Chapter 3: which numbers an einsum multiplies and sums.

Not taught. The script makes its numbers by the rule of `digits`, so that a
check on a page can compute with the same ones.
"""

import math
from html import escape
from itertools import product

import torch
from torch import Tensor

from kit.explorers import Explorer, table

SIZES = {"n": 2, "h": 2, "i": 3, "j": 4, "k": 2, "l": 4, "d": 2, "e": 3}


def digits(factor: int, sizes: list[int]) -> Tensor:
    """The numbers of the first, second or third factor of an equation."""
    state, found = 9 + 8 * factor, []
    for _ in range(math.prod(sizes)):
        state = state * 29 % 101
        found.append(state % 10)
    return torch.tensor(found, dtype=torch.float32).reshape(sizes)


def shown_factors(equation: str) -> list[Tensor]:
    """The factors that the explorer shows for an equation."""
    letters = equation.partition("->")[0].split(",")
    return [
        digits(n, [SIZES.get(letter, 2) for letter in axes])
        for n, axes in enumerate(letters)
    ]


def einsum_explorer(equation="id,jd->ij", cell=(1, 2)) -> Explorer:
    """Any equation, cell by cell; it begins with this one.

    Args:
        equation: its result has two axes.
        cell: the place in the result that is traced first.
    """
    return Explorer(
        "einsum-explorer",
        written_out(equation, cell) + result(equation),
        start={"equation": equation, "cell": cell, "sizes": SIZES},
    )


def written_out(equation: str, cell: tuple[int, ...]) -> str:
    """The factors, and one cell of the result as the sum that it is."""
    left, _, right = equation.partition("->")
    found = shown_factors(equation)
    summed = sorted(set(left) - set(right) - {","})
    kept = dict(zip(right, cell, strict=True))
    terms = []
    for along in product(*(range(SIZES.get(a, 2)) for a in summed)):
        at = kept | dict(zip(summed, along, strict=True))
        pairs = zip(found, left.split(","), strict=True)
        numbers = [
            tensor[tuple(at[a] for a in f)].item() for tensor, f in pairs
        ]
        terms.append(" · ".join(f"{x:g}" for x in numbers))
    total = torch.einsum(equation, *found)[cell].item()
    given = ", ".join(
        f"{name} = {tensor.int().tolist()}"
        for name, tensor in zip("ABC", found, strict=False)
    )
    return (
        f"<p><code>{escape(equation)}</code> of {given}: "
        f"out{list(cell)} = {' + '.join(terms)} = {total:g}</p>\n"
    )


def result(equation: str) -> str:
    """The result as a table."""
    down, across = equation.partition("->")[2]
    out = torch.einsum(equation, *shown_factors(equation)).int().tolist()
    columns = [f"{down} \\ {across}", *map(str, range(len(out[0])))]
    rows = {str(n): row for n, row in enumerate(out)}
    return table(f"out, axes {down} and {across}", columns, rows)
