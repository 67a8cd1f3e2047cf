"""Chapter 3: who looks at whom."""

import matplotlib.pyplot as plt
import torch

from .canvas import bare, drawing, each, numbers, panels, titled
from .colours import ACCENT, FAINT, INK, OUTPUT, PLATE, ROLE, SECOND, TOKEN
from .kinds import Axes, Named, Names, Panels, Tensor
from .marks import arrow, box, cell, entry, words

BLUES = plt.colormaps["Blues"]
COLOURS = ROLE | {"context": OUTPUT}


def dependencies(names: Names, needs: dict[str, str]) -> Axes:
    """The words in a row; an arc from each to the word that it needs.

    Arcs to the right run above the words, arcs to the left below. Their gid
    is "needs <word> <other>".
    """
    axes = drawing(2.3, (-0.5, len(names) - 0.5), (-0.95, 0.95))
    for place, name in enumerate(names):
        box(axes, (place, 0), (0.84, 0.4), name, TOKEN)
    for name, other in needs.items():
        start, end = names.index(name), names.index(other)
        side = 1 if end > start else -1
        bend, into = (-0.8, 0.28) if abs(end - start) == 1 else (-0.55, 0.05)
        y, gid = 0.22 * side, f"needs {name} {other}"
        ends = (start + 0.14 * side, y), (end - into * side, y)
        arrow(axes, *ends, ACCENT, gid, bend=bend, lw=1.6, head=12)
    return axes


FLOW = {  # the corner of each table
    "X": (4.6, 10),
    "Q": (11.5, 0.3),
    "K": (11.5, 10),
    "V": (10.5, 19.7),
    "scores": (18.6, 5),
    "weights": (28.6, 5),
    "context": (29.6, 19.7),
}
FLOW_ARROWS = (
    ((7.9, 11.4), (11.1, 4.2)),
    ((7.9, 13.0), (11.1, 13.0)),
    ((7.9, 14.6), (10.1, 21.6)),
    ((13.9, 4.2), (18.2, 6.8)),
    ((13.9, 13.0), (18.2, 9.4)),
    ((24.9, 8), (28.3, 8)),
    ((31.6, 12.5), (31.6, 18.1)),
    ((14.9, 22.7), (29.2, 22.7)),
)
FLOW_NOTES = {
    "$W_q$": (8.1, 7.0),
    "$W_k$": (9.5, 12.2),
    "$W_v$": (7.8, 18.4),
    "$QK^\\mathsf{T}$": (17.0, 12.4),
    "weights × V": (22, 21.9),
    "÷ $\\sqrt{d_k}$\nsoftmax": (26.6, 4.0),
}


def flow(
    x: Tensor, qkv: tuple[Tensor, Tensor, Tensor], names: Names, row: int
) -> Axes:
    """How x, q, k and v meet in attention, as tables.

    The rows of one word are framed. Shapes have the gid "shape <name>".
    """
    axes = drawing(4.1, (0.2, 35.2), (27.6, -1.6))
    q, k, v = qkv
    scores = q @ k.T
    weights = torch.softmax(scores / q.shape[1] ** 0.5, dim=1)
    tables = x, q, k, v, scores, weights, weights @ v
    for ends in FLOW_ARROWS:
        arrow(axes, *ends)
    for text, at in FLOW_NOTES.items():
        words(axes, at, text, 9)
    for table, (name, corner) in zip(tables, FLOW.items(), strict=True):
        _table(axes, corner, table, name)
        if name not in ("K", "V"):
            at, size = (corner[0], corner[1] + row), (table.shape[1], 1)
            cell(axes, at, size, "none", ec=INK, lw=1.3, zorder=3)
    left, top = FLOW["X"]
    for i, name in enumerate(names):
        weight = "bold" if i == row else "normal"
        style = {"ha": "right", "weight": weight, "zorder": 3}
        words(axes, (left - 0.3, top + i + 0.5), name, 9, **style)
    return axes


def _table(axes, corner, table, name) -> None:
    """A matrix as cells, its name above it, and its shape below."""
    (x, y), (rows, columns) = corner, table.shape
    colour = COLOURS.get(name, PLATE)
    style = {"ec": "white", "lw": 0.6, "alpha": 1 if colour == PLATE else 0.45}
    for i, j, value in each(numbers(table)):
        shade = BLUES(value) if name == "weights" else colour
        cell(axes, (x + j, y + i), (1, 1), shade, **style)
    centre, ink = x + columns / 2, COLOURS.get(name, INK)
    words(axes, (centre, y - 0.85), name, color=ink, weight="bold")
    shape, gid = f"{rows} × {columns}", f"shape {name}"
    words(axes, (centre, y + rows + 0.75), shape, 9, gid=gid)


def letters(q: Tensor, k: Tensor, row: int, column: int) -> Axes:
    """`id,jd->ij` as three tables: which rows meet in one cell.

    The number in the lit cell has the gid "score".
    """
    tables = numbers(q), numbers(k)
    is_short = all(2 * x % 1 == 0 for t in tables for *_, x in each(t))
    wide, digits = (1.0, "{:g}") if is_short else (1.6, "{:.2f}")
    second, third = (n * (2 + wide * q.shape[1]) for n in (1, 2))
    right = third + wide * len(k)
    axes = drawing(2.8, (-0.9, right + 0.2), (7.2, -1.0))
    parts = ("Q", 0.0, "id", row), ("K", second, "jd", column)
    for table, (name, left, axis, lit) in zip(tables, parts, strict=True):
        for i, d, value in each(table):
            style = {"ec": "white", "alpha": 0.45 if i == lit else 0.15}
            at, text = (left + wide * d, i), digits.format(value)
            entry(axes, at, (wide, 1), text, ROLE[name], **style)
        _letters(axes, left, wide * q.shape[1] / 2, axis, lit, name)
    for i in range(len(q)):
        for j in range(len(k)):
            colour = BLUES(0.3) if (i, j) == (row, column) else PLATE
            cell(axes, (third + wide * j, i), (wide, 1), colour, ec="white")
    at, score = wide * (column + 0.5), float(q[row] @ k[column])
    style = {"weight": "bold", "gid": "score"}
    words(axes, (third + at, row + 0.5), digits.format(score), 9, **style)
    _letters(axes, third, wide * len(k) / 2, "ij", row, "scores")
    for x, mark in ((second - 1, ","), (third - 1, "→")):
        words(axes, (x, 3), mark, 14)
    return axes


def _letters(axes, left, half, axis, lit, name) -> None:
    """The letters of a table's axes beside and above it, its name below."""
    style = {"style": "italic", "weight": "bold", "family": "DejaVu Serif"}
    centre = left + half
    words(axes, (left - 0.45, lit + 0.5), axis[0], **style)
    words(axes, (centre, -0.55), axis[1], **style)
    ink = ROLE.get(name, INK)
    words(axes, (centre, 6.75), name, color=ink, weight="bold")


def wiring(weights: Tensor, names: Names) -> Panels:
    """What each output is made of: by a linear layer, and by attention.

    An arrow's width is the weight; its gid is "from <j> to <i>".
    """
    both = panels(1, 2, 2.6)
    parts = {"linear layer": torch.eye(len(names)), "attention": weights}
    for axes, (title, table) in zip(both, parts.items(), strict=True):
        for i, j, weight in each(numbers(table)):
            if weight > 0:
                style = {"lw": 0.4 + 3 * weight, "zorder": 1 + weight}
                style |= {"arrowstyle": "-|>" if weight > 0.1 else "-"}
                colour = ACCENT if j == 0 else SECOND
                ends, gid = ((0.1, j), (1.9, i)), f"from {j} to {i}"
                arrow(axes, *ends, colour, gid, **style)
        for i, name in enumerate(names):
            words(axes, (0, i), name, 9, ha="right")
            words(axes, (2, i), name, 9, ha="left")
        words(axes, (1, -0.9), title)
        bare(axes, (-0.85, 2.85), (len(names) - 0.5, -1.3))
    return both


def picture(colours: Tensor, asked: Named) -> Panels:
    """A picture of patches, and beside it where each word looks.

    Args:
        colours: (rows, columns, 3), from 0 to 1.
        asked: for each word, its weights on the patches, (rows, columns).
    """
    maps = {"the picture": colours} | {f"“{w}”": p for w, p in asked.items()}
    row = panels(1, len(maps), 1.75)
    for axes, table in titled(row, maps, fontsize=9.5):
        axes.imshow(numbers(table), vmin=0, vmax=1, cmap="Blues")
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set(color=FAINT, visible=True)
    return row
