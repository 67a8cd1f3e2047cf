"""Chapter 1: words, ids, tables of vectors, and where training puts them."""

import math

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from kit.figures.marks import (
    ACCENT,
    CENTRED,
    FAINT,
    INK,
    PLATE,
    SECOND,
    TOKEN,
    arrow,
    bare,
    cell,
    frameless,
    numbers,
    words,
)
from kit.figures.plots import curves

TINTS = ("C0", "C1", "C2", "C3", "C4", "C5")  # one for each of six words
DOTS = "osD^vP"
AROUND = [  # places for a label, beside its point first
    (math.cos(turn), math.sin(turn))
    for step in range(9)
    for turn in (step * math.pi / 8, math.pi + step * math.pi / 8)
]


def _entry(axes, centre, size, value) -> None:
    """A number in a cell: blue above zero, amber below, pale near it."""
    x, y = centre[0] - size[0] / 2, centre[1] - size[1] / 2
    strength = min(abs(value), 1.5) / 1.5
    colour = SECOND if value > 0 else ACCENT
    style = {"alpha": 0.12 + 0.6 * strength, "ec": "white"}
    cell(axes, (x, y), size, colour, **style)
    words(axes, centre, f"{value:.2f}", fontsize=9, gid="entry")


def road(
    sentence: str, ids: dict[str, int], vectors: list[list[float]]
) -> Axes:
    """A sentence becomes tokens, ids and vectors, from top to bottom."""
    figure, axes = plt.subplots(figsize=(5.4, 3.9))
    words(axes, (len(ids) / 2, -0.6), f"“{sentence}”", fontsize=13)
    for i, (token, index) in enumerate(ids.items()):
        cell(axes, (i + 0.06, 0), (0.88, 0.5), TOKEN)
        words(axes, (i + 0.5, 0.25), token, gid="token")
        arrow(axes, (i + 0.5, 0.55), (i + 0.5, 0.95))
        words(axes, (i + 0.5, 1.15), index, fontsize=12, gid="id")
        arrow(axes, (i + 0.5, 1.38), (i + 0.5, 1.78))
    for i, vector in enumerate(vectors):
        for j, value in enumerate(vector):
            middle = (i + 0.5, 2.05 + 0.42 * j)
            _entry(axes, middle, (0.88, 0.42), value)
    for y, text in ((0.25, "tokens"), (1.15, "ids"), (2.47, "vectors")):
        words(axes, (-0.1, y), text, ha="right", color=FAINT)
    bare(axes, (-0.95, len(ids)), (3.2, -0.9))
    return axes


def _strip(axes, corner, values, tint, name) -> None:
    """A row of a table, tinted in the colour of its word."""
    x, y = corner
    for j, value in enumerate(values):
        at = (x + 0.85 * j, y)
        cell(axes, at, (0.85, 0.86), tint, alpha=0.22, ec="white")
        middle = (at[0] + 0.425, y + 0.43)
        words(axes, middle, f"{value:.2f}", fontsize=9, gid=name)


def lookup(tokens: list[str], ids: list[int], table: Tensor) -> Axes:
    """ids -> table -> matrix: each id takes its row out of the table."""
    rows, length = numbers(table), len(ids)
    figure, axes = plt.subplots(figsize=(5.4, 3.7))
    for i, (token, index) in enumerate(zip(tokens, ids, strict=True)):
        tint = TINTS[i % 6]
        words(axes, (1.1, i + 0.43), token, ha="right")
        words(axes, (1.5, i + 0.43), index, gid="id")
        arrow(axes, (1.75, i + 0.43), (2.65, index + 0.43), tint, "asks")
        words(axes, (2.9, index + 0.43), index, color=FAINT, fontsize=9)
        _strip(axes, (3.1, index), rows[index], tint, "table")
        arrow(axes, (5.7, index + 0.43), (6.6, i + 0.43), tint, "takes")
        _strip(axes, (6.65, i), rows[index], tint, "matrix")
    words(axes, (4.37, length + 0.1), "⋮", color=FAINT)
    for x, text in (
        (0.75, "tokens"),
        (1.5, "ids"),
        (4.37, "table\n(vocab, d_model)"),
        (7.92, "matrix\n(length, d_model)"),
    ):
        words(axes, (x, -0.25), text, va="bottom")
    bare(axes, (-0.2, 9.25), (length + 0.4, -1.4))
    return axes


def token_grid(tokens: list[list[str]], faint: str) -> Axes:
    """A batch of sentences, one box for each token; `faint` ones are grey."""
    columns, rows = max(len(row) for row in tokens), len(tokens)
    figure, axes = plt.subplots(figsize=(5.4, 0.7 + 0.45 * rows))
    for i, row in enumerate(tokens):
        for j, token in enumerate(row):
            face, ink = (PLATE, FAINT) if token == faint else (TOKEN, INK)
            cell(axes, (j + 0.04, i + 0.06), (0.92, 0.88), face)
            words(axes, (j + 0.5, i + 0.5), token, fontsize=9, color=ink)
    axes.set(xlim=(0, columns), ylim=(rows, 0))
    middles = [[j + 0.5 for j in range(n)] for n in (columns, rows)]
    frameless(axes, (middles[0], range(columns)), (middles[1], range(rows)))
    axes.set(xlabel="position", ylabel="sentence")
    return axes


def shift(reads: list[str], says: list[str]) -> Axes:
    """What a model reads above what it must say: the same, one earlier."""
    figure, axes = plt.subplots(figsize=(5.4, 1.9))
    for y, row in ((0.3, reads), (1.9, says)):
        for i, token in enumerate(row):
            special = token.startswith("<")
            cell(axes, (i + 0.04, y), (0.92, 0.5), PLATE if special else TOKEN)
            name = "reads" if row is reads else "says"
            words(axes, (i + 0.5, y + 0.25), token, fontsize=9, gid=name)
    for i in range(len(reads)):
        words(axes, (i + 0.5, 0.08), i, fontsize=9, color=FAINT)
        arrow(axes, (i + 0.5, 0.85), (i + 0.5, 1.85), INK, "must say")
        if i:
            path = (i + 0.36, 0.85), (i - 0.36, 1.85)
            arrow(axes, *path, FAINT, "same", arrowstyle="-", ls=":")
    for y, text in ((0.55, "reads"), (2.15, "must say")):
        words(axes, (-0.1, y), text, ha="right", color=FAINT)
    bare(axes, (-1.25, len(reads)), (2.45, -0.1))
    return axes


def word_arrows(
    points: Tensor, labels: list[str], axis_names: tuple[str, str]
) -> Axes:
    """Each word as an arrow from the origin, in its colour of `lookup`."""
    figure, axes = plt.subplots(figsize=(5.4, 3.4))
    tips = numbers(points)
    for i, ((x, y), text) in enumerate(zip(tips, labels, strict=True)):
        arrow(axes, (0, 0), (x, y), TINTS[i % 6], lw=1.8)
        length = max((x * x + y * y) ** 0.5, 1e-9)
        offset = (9 * x / length, 9 * y / length)
        side = {"ha": "left" if x >= 0 else "right"}
        side |= {"va": "bottom" if y >= 0 else "top"}
        axes.annotate(text, (x, y), offset, textcoords="offset points", **side)
    axes.scatter(*zip(*tips, strict=True), s=0)
    axes.axhline(0, color="#DDDDDD", lw=0.8, zorder=0)
    axes.axvline(0, color="#DDDDDD", lw=0.8, zorder=0)
    axes.margins(0.15)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set(xlabel=axis_names[0], ylabel=axis_names[1])
    return axes


def word_map(
    panels: dict[str, Tensor], labels: list[str], kinds: dict[str, list[str]]
) -> list[Axes]:
    """Words as points of the plane, side by side; each kind has its mark."""
    figure, row = plt.subplots(1, len(panels), figsize=(5.4, 3.0))
    marks = {
        word: (DOTS[i % 6], f"C{i % 6}")
        for i, family in enumerate(kinds.values())
        for word in family
    }
    for axes, (title, vectors) in zip(row, panels.items(), strict=True):
        for point, label in zip(numbers(vectors), labels, strict=True):
            dot, colour = marks[label]
            axes.plot(*point, dot, ms=5, color=colour, gid=label)
        middle, half = _middle_and_half(numbers(vectors))
        axes.set(title=title, xticks=[], yticks=[], box_aspect=1)
        axes.set(xlim=(middle[0] - half, middle[0] + half))
        axes.set(ylim=(middle[1] - half, middle[1] + half))
        axes.spines[:].set(visible=True, color="#CCCCCC")
    figure.draw_without_rendering()  # so that the axes know their places
    for axes, vectors in zip(row, panels.values(), strict=True):
        _name_points(axes, numbers(vectors), labels)
    return list(row)


def _middle_and_half(points: list) -> tuple[list[float], float]:
    """Of a square around the points, with room for the labels."""
    ends = [(min(values), max(values)) for values in zip(*points, strict=True)]
    widest = max(high - low for low, high in ends)
    return [(low + high) / 2 for low, high in ends], 0.68 * widest


def _name_points(axes, points: list, labels: list[str]) -> None:
    """A label beside each point, in the frame, that covers no other."""
    scale = 72 / axes.figure.dpi
    frame = scale * axes.get_window_extent().get_points()
    at = [scale * axes.transData.transform(point) for point in points]
    taken = [(place, (4, 4)) for place in at]
    for place, point, text in zip(at, points, labels, strict=True):
        half = (2.9 * len(text) + 1, 5.5)
        middle = _free_place(taken, place, half, frame)
        taken.append((middle, half))
        style = CENTRED | {"textcoords": "offset points", "fontsize": 9}
        axes.annotate(text, point, middle - place, gid="label", **style)


def _free_place(taken: list, place, half, frame):
    """The middle of a label as near to a place as none is yet, in points."""
    for distance in range(5, 40, 2):
        for x, y in AROUND:
            middle = place + (
                x * (half[0] + distance),
                y * (half[1] + distance),
            )
            inside = (middle > frame[0] + half) & (middle < frame[1] - half)
            if inside.all() and not any(
                abs(middle[0] - other[0]) < half[0] + size[0]
                and abs(middle[1] - other[1]) < half[1] + size[1]
                for other, size in taken
            ):
                return middle
    return place


def lengths(widths: list[int], measured: Tensor) -> Axes:
    """Lengths of rows, of scaled rows and of positions, against the width."""
    root = r"$\sqrt{d_{\mathrm{model}}}$"
    names = ("row of the table", f"row × {root}", "position")
    named = dict(zip(names, measured.T, strict=True))
    return curves(widths, named, (r"$d_{\mathrm{model}}$", "length"), log="xy")
