"""Chapter 3: who looks at whom."""

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from torch import Tensor

from kit.figures.marks import (
    ACCENT,
    FAINT,
    INK,
    KEY,
    OUTPUT,
    PLATE,
    QUERY,
    SECOND,
    TOKEN,
    VALUE,
    arrow,
    bare,
    cell,
    numbers,
    words,
)

BLUES = plt.colormaps["Blues"]
ROLE = {"Q": QUERY, "K": KEY, "V": VALUE, "context": OUTPUT}


def dependencies(names: list[str], needs: dict[str, str]) -> Axes:
    """The words in a row; an arc from each to the word that it needs.

    Arcs to the right run above the words, arcs to the left below. Their gid
    is "needs <word> <other>".
    """
    figure, axes = plt.subplots(figsize=(5.4, 2.3))
    for place, name in enumerate(names):
        cell(axes, (place - 0.42, -0.2), (0.84, 0.4), TOKEN)
        words(axes, (place, 0), name, gid="word")
    for name, other in needs.items():
        start, end = names.index(name), names.index(other)
        side = 1 if end > start else -1
        near, edge = abs(end - start) == 1, 0.22 * side
        bend, into = (-0.8, 0.28) if near else (-0.55, 0.05)
        style = {"connectionstyle": f"arc3,rad={bend}", "lw": 1.6}
        ends = (start + 0.14 * side, edge), (end - into * side, edge)
        name = f"needs {name} {other}"
        arrow(axes, *ends, ACCENT, name, mutation_scale=12, **style)
    bare(axes, (-0.5, len(names) - 0.5), (-0.95, 0.95))
    return axes


def _grid(axes, corner, values, colour, row=None, tinted=False) -> None:
    """A matrix as cells of size 1; one row of it is framed."""
    x, y = corner
    for i, line in enumerate(numbers(values)):
        for j, value in enumerate(line):
            at = (x + j, y + i)
            if tinted:
                cell(axes, at, (1, 1), BLUES(value), ec="white", lw=0.6)
            else:
                style = {"alpha": 1.0 if colour == PLATE else 0.45}
                cell(axes, at, (1, 1), colour, ec="white", lw=0.6, **style)
    if row is not None:
        size = (values.shape[1], 1)
        frame = {"ec": INK, "lw": 1.3, "zorder": 3}
        cell(axes, (x, y + row), size, "none", **frame)


def _title(axes, corner, name, values) -> None:
    """The name of a matrix above it, and its shape below."""
    (x, y), (rows, columns) = corner, values.shape
    middle = x + columns / 2
    colour = ROLE.get(name, INK)
    words(axes, (middle, y - 0.85), name, color=colour, weight="bold")
    shape, gid = f"{rows} × {columns}", f"shape {name}"
    words(axes, (middle, y + rows + 0.75), shape, fontsize=9, gid=gid)


FLOW = {
    "X": (4.6, 10),
    "Q": (11.5, 0.3),
    "K": (11.5, 10),
    "V": (10.5, 19.7),
    "scores": (18.6, 5),
    "weights": (28.6, 5),
    "context": (29.6, 19.7),
}
FLOW_ARROWS = [
    ((7.9, 11.4), (11.1, 4.2), "$W_q$", (8.1, 7.0)),
    ((7.9, 13.0), (11.1, 13.0), "$W_k$", (9.5, 12.2)),
    ((7.9, 14.6), (10.1, 21.6), "$W_v$", (7.8, 18.4)),
    ((13.9, 4.2), (18.2, 6.8), "", None),
    ((13.9, 13.0), (18.2, 9.4), "$QK^\\mathsf{T}$", (17.0, 12.4)),
    ((24.9, 8), (28.3, 8), "", None),
    ((31.6, 12.5), (31.6, 18.1), "", None),
    ((14.9, 22.7), (29.2, 22.7), "weights × V", (22, 21.9)),
]


def _steps(x, q, k, v) -> dict[str, Tensor]:
    """Every tensor of attention by its name."""
    scores = q @ k.T
    weights = torch.softmax(scores / q.shape[1] ** 0.5, dim=1)
    steps = {"X": x, "Q": q, "K": k, "V": v, "scores": scores}
    return steps | {"weights": weights, "context": weights @ v}


def flow(
    x: Tensor, qkv: tuple[Tensor, Tensor, Tensor], names: list[str], row: int
) -> Axes:
    """How x, q, k and v meet in attention, as tables.

    The rows of one word are framed. Shapes have the gid "shape <name>".
    """
    figure, axes = plt.subplots(figsize=(5.4, 4.1))
    tensors = _steps(x, *qkv)
    for start, end, text, at in FLOW_ARROWS:
        arrow(axes, start, end)
        if text:
            words(axes, at, text, fontsize=9)
    words(axes, (26.6, 4.0), "÷ $\\sqrt{d_k}$\nsoftmax", fontsize=9)
    for name, corner in FLOW.items():
        lit = None if name in ("K", "V") else row
        tinted = name == "weights"
        colour = ROLE.get(name, PLATE)
        _grid(axes, corner, tensors[name], colour, lit, tinted)
        _title(axes, corner, name, tensors[name])
    x, y = FLOW["X"]
    for i, name in enumerate(names):
        style = {"ha": "right", "fontsize": 9, "zorder": 3}
        weight = "bold" if i == row else "normal"
        words(axes, (x - 0.3, y + i + 0.5), name, weight=weight, **style)
    bare(axes, (0.2, 35.2), (27.6, -1.6))
    return axes


def letters(q: Tensor, k: Tensor, row: int, column: int) -> Axes:
    """`id,jd->ij` as three tables: which rows meet in one cell.

    The number in the lit cell has the gid "score".
    """
    figure, axes = plt.subplots(figsize=(5.4, 2.8))
    scores = q @ k.T
    parts = [("Q", q, 0.0, 1.6, row, "id"), ("K", k, 5.2, 1.6, column, "jd")]
    for name, table, left, wide, lit, axis in parts:
        for i, line in enumerate(numbers(table)):
            for d, value in enumerate(line):
                at, on = (left + d * wide, i), i == lit
                alpha = 0.45 if on else 0.15
                style = {"ec": "white", "alpha": alpha}
                cell(axes, at, (wide, 1), ROLE[name], **style)
                middle = (at[0] + wide / 2, i + 0.5)
                words(axes, middle, f"{value:.2f}", fontsize=9)
        _letters(axes, left, 2 * wide, axis, lit)
        place = (left + wide, 6.75)
        words(axes, place, name, color=ROLE[name], weight="bold")
    for i in range(len(q)):
        for j in range(len(k)):
            colour = BLUES(0.3) if (i, j) == (row, column) else PLATE
            cell(axes, (10.4 + 1.6 * j, i), (1.6, 1), colour, ec="white")
    at = (10.4 + 1.6 * (column + 0.5), row + 0.5)
    score = f"{float(scores[row, column]):.2f}"
    words(axes, at, score, fontsize=9, weight="bold", gid="score")
    _letters(axes, 10.4, 9.6, "ij", row)
    words(axes, (15.2, 6.75), "scores", weight="bold")
    for at, sign in ((4.2, ","), (9.4, "→")):
        words(axes, (at, 3), sign, fontsize=14)
    bare(axes, (-0.9, 20.2), (7.2, -1.0))
    return axes


def _letters(axes, left, width, axis, lit) -> None:
    """The letters of a table's axes, beside it and above it."""
    style = {"style": "italic", "weight": "bold", "family": "DejaVu Serif"}
    words(axes, (left - 0.45, lit + 0.5), axis[0], **style)
    words(axes, (left + width / 2, -0.55), axis[1], **style)


def wiring(weights: Tensor, names: list[str]) -> list[Axes]:
    """What each output is made of: by a linear layer, and by attention.

    An arrow's width is the weight; its gid is "from <j> to <i>".
    """
    figure, panels = plt.subplots(1, 2, figsize=(5.4, 2.6))
    straight = torch.eye(len(names))
    parts = {"linear layer": straight, "attention": weights}
    for axes, (title, table) in zip(panels, parts.items(), strict=True):
        for i, line in enumerate(numbers(table)):
            for j, weight in enumerate(line):
                if weight > 0:
                    colour = ACCENT if j == 0 else SECOND
                    style = {"lw": 0.4 + 3 * weight, "zorder": 1 + weight}
                    style |= {"arrowstyle": "-|>" if weight > 0.1 else "-"}
                    ends, gid = ((0.1, j), (1.9, i)), f"from {j} to {i}"
                    arrow(axes, *ends, colour, gid, **style)
        for i, name in enumerate(names):
            words(axes, (0, i), name, ha="right", fontsize=9)
            words(axes, (2, i), name, ha="left", fontsize=9)
        words(axes, (1, -0.9), title, fontsize=10.5)
        bare(axes, (-0.85, 2.85), (len(names) - 0.5, -1.3))
    return list(panels)


def picture(colours: Tensor, asked: dict[str, Tensor]) -> list[Axes]:
    """A picture of patches, and beside it where each word looks.

    Args:
        colours: (rows, columns, 3), from 0 to 1.
        asked: for each word, its weights on the patches, (rows, columns).
    """
    size = (5.4, 1.75)
    figure, panels = plt.subplots(1, 1 + len(asked), figsize=size)
    panels[0].imshow(numbers(colours))
    panels[0].set_title("the picture", fontsize=9.5)
    for axes, (word, weights) in zip(panels[1:], asked.items(), strict=True):
        axes.imshow(numbers(weights), vmin=0, vmax=1, cmap="Blues")
        axes.set_title(f"“{word}”", fontsize=9.5)
    for axes in panels:
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set(color=FAINT, visible=True)
    return list(panels)
