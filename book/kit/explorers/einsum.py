"""Chapter 3: which numbers an einsum multiplies and sums.

Not taught. The script makes its numbers by the rule of `digits`, so that a
check on a page can compute with the same ones.
"""

import math
from html import escape

import torch
from torch import Tensor

from kit.explorers import Explorer, table

EQUATION, CELL = "id,jd->ij", (1, 2)  # at first
SIZES = {"n": 2, "h": 2, "i": 3, "j": 4, "k": 2, "l": 4, "d": 2, "e": 3}


def digits(factor: int, sizes: list[int]) -> Tensor:
    """The numbers of the first, second or third factor of an equation."""
    state, values = 9 + 8 * factor, []
    for _ in range(math.prod(sizes)):
        state = state * 29 % 101
        values.append(state % 10)
    return torch.tensor(values, dtype=torch.float32).reshape(sizes)


def shown_factors(equation: str) -> list[Tensor]:
    """The factors that the explorer shows for an equation."""
    letters = equation.partition("->")[0].split(",")
    return [
        digits(n, [SIZES.get(letter, 2) for letter in axes])
        for n, axes in enumerate(letters)
    ]


def einsum_explorer() -> Explorer:
    """Any equation, cell by cell; it begins with `id,jd->ij`, cell 1, 2."""
    a, b = (factor.int() for factor in shown_factors(EQUATION))
    out, (i, j) = a @ b.T, CELL
    pairs = zip(a[i].tolist(), b[j].tolist(), strict=True)
    terms = " + ".join(f"{x} · {y}" for x, y in pairs)
    sentence = (
        f"<p><code>{escape(EQUATION)}</code> of A = {a.tolist()}, "
        f"B = {b.tolist()}: out{list(CELL)} = {terms} = {out[i, j]}</p>\n"
    )
    columns = ["i \\ j", *map(str, range(len(b)))]
    rows = {str(n): row for n, row in enumerate(out.tolist())}
    return Explorer(
        "einsum-explorer",
        sentence + table("out, axes i and j", columns, rows),
        start={"equation": EQUATION, "cell": CELL, "sizes": SIZES},
    )
