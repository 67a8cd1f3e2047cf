"""Chapter 5: cutting vectors into heads."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from lib.figures.marks import (
    KEY,
    OUTPUT,
    QUERY,
    VALUE,
    bare,
    cell,
    words,
)


def cut(rows: Tensor, right: Tensor, wrong: Tensor) -> Axes:
    """Numbers (length, width), and two ways to cut them into heads.

    Every number keeps the colour of the head whose columns it stands in.
    `right` and `wrong` have the shape (heads, length, d_head).
    """
    figure, axes = plt.subplots(figsize=(5.4, 4.6))
    heads, length, width = right.shape
    pitch, colours = length + 1.6, (QUERY, KEY, VALUE, OUTPUT)
    tables = {"one tensor": rows[None], "right": right, "wrong": wrong}
    for line, (name, table) in enumerate(tables.items()):
        at = (0, line * pitch - 0.35)
        words(axes, at, name, ha="left", va="bottom", weight="bold")
        for t, i, j in (table == table).nonzero().tolist():
            number = table[t, i, j].item()
            head = number % (heads * width) // width
            x, y = t * (width + 0.45) + j, line * pitch + i
            colour, gid = colours[head], f"{name} {t} {head}"
            style = {"ec": "white", "alpha": 0.3, "gid": gid}
            cell(axes, (x, y), (1, 1), colour, **style)
            words(axes, (x + 0.5, y + 0.5), number, fontsize=9.5)
    bare(axes, (-0.1, 9.5), (3 * pitch - 1.3, -1.2))
    return axes


def head_colours(axes: Axes) -> dict[str, list[list[str]]]:
    """Of a figure by `cut`: the colours in each table, line by line."""
    found: dict[str, dict[str, list[str]]] = {}
    for patch in axes.patches:
        name, table, head = patch.get_gid().rsplit(" ", 2)
        found.setdefault(name, {}).setdefault(table, []).append(head)
    return {name: list(tables.values()) for name, tables in found.items()}
