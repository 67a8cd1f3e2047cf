"""Chapter 5: attention in heads, and how vectors are cut into them."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from kit.figures.marks import (
    ACCENT,
    CENTRED,
    INK,
    KEY,
    OUTPUT,
    QUERY,
    SECOND,
    TINT,
    TOKEN,
    VALUE,
    arrow,
    bare,
    box,
    cell,
    frameless,
    numbers,
    words,
)

ROLES = (("q", QUERY, -0.8), ("k", KEY, 0.0), ("v", VALUE, 0.8))
HEADS = (ACCENT, SECOND, "#8C510A", "#4D4D4D")  # no roles
Pairs = list[tuple[int, int]]


def questions(sentence: list[str], asked: dict[str, Pairs]) -> Axes:
    """Arrows from each word to the word that answers its question.

    The pairs (from, to) of the first question are drawn above the words,
    those of the second below. An arrow has the gid "question from to".
    """
    figure, axes = plt.subplots(figsize=(5.4, 2.1))
    for i, word in enumerate(sentence):
        box(axes, (i, 0), (0.92, 0.5), word, TOKEN, fontsize=10)
    for side, (name, pairs) in enumerate(asked.items()):
        up = 1 - 2 * side
        for start, end in pairs:
            ahead = 1 if end > start else -1
            ends = [(i, 0.3 * up) for i in (start, end)]
            ends = [
                (x + s * 0.12 * ahead, y)
                for (x, y), s in zip(ends, (1, -1), strict=True)
            ]
            style = {"lw": 2.2, "mutation_scale": 13}
            style["connectionstyle"] = f"arc3,rad={-0.42 * ahead * up}"
            arrow(axes, *ends, HEADS[side], f"{name} {start} {end}", **style)
        at = (len(sentence) / 2 - 0.5, 0.95 * up)
        words(axes, at, name, fontsize=10, weight="bold")
    bare(axes, (-0.5, len(sentence) - 0.5), (-1.15, 1.15))
    return axes


def side_by_side(shapes: dict[str, tuple[int, int]]) -> Axes:
    """From X through two heads to the output; `shapes` are written on it.

    Its names: X, head, concat, W_O, output.
    """
    figure, axes = plt.subplots(figsize=(5.4, 3.9))
    text = {n: f"{n}  {a} × {b}" for n, (a, b) in shapes.items()}
    box(axes, (0, 0), (2.2, 0.5), text["X"], TOKEN)
    for h in range(2):
        _one_head(axes, 3 * h - 1.5, h, text["head"])
    place = {"ha": "right", "fontsize": 9}
    words(axes, (-0.2, 3.85), text["concat"], **place)
    arrow(axes, (0, 3.6), (0, 4.1))
    box(axes, (0, 4.35), (2.2, 0.5), text["W_O"].replace("W_O", "$W_O$"))
    arrow(axes, (0, 4.6), (0, 4.95))
    box(axes, (0, 5.2), (2.2, 0.5), text["output"], OUTPUT)
    bare(axes, (-3.1, 3.1), (-0.35, 5.55))
    return axes


def _one_head(axes, x, h, text) -> None:
    """Three matrices, attention, and a place beside the other head."""
    for role, colour, shift in ROLES:
        arrow(axes, (0, 0.25), (x + shift, 1.0), colour)
        name = f"$W_{role}^{h + 1}$"
        box(axes, (x + shift, 1.22), (0.68, 0.44), name, colour)
        arrow(axes, (x + shift, 1.44), (x + 0.8 * shift, 1.95), colour)
    box(axes, (x, 2.25), (2.3, 0.6), "attention")
    arrow(axes, (x, 2.55), (x, 3.1), HEADS[h], f"head {h}")
    words(axes, (x + 0.12, 2.8), text, ha="left", fontsize=9)
    corner, size = (x - 1.5, 3.1), (3, 0.5)
    cell(axes, corner, size, HEADS[h], alpha=0.35, ec="white")
    words(axes, (x, 3.35), f"head {h + 1}")


def cube(table: Tensor, heads: int) -> Axes:
    """One tensor (length, d_model), and the same cut into sheets, one a head.

    The number in a cell has the gid "plate h" or "sheet h".
    """
    figure, axes = plt.subplots(figsize=(5.4, 2.5))
    length, d_model = table.shape
    width, start = d_model // heads, d_model + 2.9
    for h in reversed(range(heads)):  # the hindmost sheet first
        part = numbers(table[:, h * width : (h + 1) * width])
        _sheet(axes, (h * width, 0), part, HEADS[h], f"plate {h}")
        corner = (start + 1.15 * h, 1.1 - 0.85 * h)
        _sheet(axes, corner, part, HEADS[h], f"sheet {h}")
    for y, way, name in ((0.8, 1, "split"), (2.6, -1, "merge")):
        middle = d_model + 1.2
        ends = (middle - way, y), (middle + way, y)
        arrow(axes, *ends, INK, name, lw=1.6)
        words(axes, (middle, y - 0.15), name, va="bottom")
    side = {"ha": "right", "rotation": 90}
    words(axes, (-0.15, length / 2), f"length {length}", **side)
    low, deep = length + 1.25, 1.15 * (heads - 1)
    words(axes, (d_model / 2, length + 0.15), f"d_model {d_model}", va="top")
    words(axes, (start + width / 2, low), f"d_head {width}", va="top")
    front = (start + width + 0.4, low - 0.2)
    arrow(axes, front, (front[0] + deep, front[1] - 0.85 * (heads - 1)))
    words(
        axes, (front[0] + 0.7 * deep, low - 0.9), f"heads {heads}", ha="left"
    )
    bare(axes, (-0.9, front[0] + deep + 1.2), (low + 0.8, -1.6))
    axes.set_aspect("equal")
    return axes


def _sheet(axes, corner, part, colour, name) -> None:
    """A small table on a white ground, in the colour of a head."""
    x0, y0 = corner
    front = {"zorder": 2}  # what is drawn later hides what was drawn before
    for i, row in enumerate(part):
        for j, number in enumerate(row):
            at = (x0 + j, y0 + i)
            cell(axes, at, (1, 1), "white", **front)
            cell(axes, at, (1, 1), colour, alpha=0.35, ec="white", **front)
            middle = (at[0] + 0.5, at[1] + 0.5)
            words(axes, middle, f"{number:g}", fontsize=9, gid=name, **front)


def cut(rows: Tensor, right: Tensor, wrong: Tensor) -> Axes:
    """Numbers (length, width), and two ways to cut them into heads.

    Every number keeps the colour of the head whose columns it stands in.
    `right` and `wrong` have the shape (heads, length, d_head).
    """
    figure, axes = plt.subplots(figsize=(5.4, 4.6))
    heads, length, width = right.shape
    pitch = length + 1.6
    tables = {"one tensor": rows[None], "right": right, "wrong": wrong}
    for line, (name, table) in enumerate(tables.items()):
        at = (0, line * pitch - 0.35)
        words(axes, at, name, ha="left", va="bottom", weight="bold")
        for t, i, j in (table == table).nonzero().tolist():
            number = table[t, i, j].item()
            head = number % (heads * width) // width
            x, y = t * (width + 0.45) + j, line * pitch + i
            colour, gid = HEADS[head], f"{name} {t} {head}"
            style = {"ec": "white", "alpha": 0.35, "gid": gid}
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


def head_maps(panels: dict[str, Tensor], labels: list[str]) -> list[Axes]:
    """The weights of two heads side by side, with numbers in the cells.

    A panel's weights are read back with `axes.images[0].get_array()`.
    """
    size = (5.4, 1.3 + 0.3 * len(labels))
    figure, row = plt.subplots(1, len(panels), figsize=size, sharey=True)
    places = range(len(labels))
    for axes, (title, weights) in zip(row, panels.items(), strict=True):
        cells = numbers(weights)
        axes.imshow(cells, vmin=0, vmax=1, cmap=TINT, aspect="auto")
        frameless(axes, (places, labels), (places, labels))
        axes.tick_params(axis="x", rotation=45)
        axes.set(title=title, xlabel="key")
        for i, line in enumerate(cells):
            for j, weight in enumerate(line):
                style = CENTRED | {"fontsize": 9}
                axes.text(j, i, f"{weight:.2f}", **style)
    row[0].set_ylabel("query")
    return list(row)
