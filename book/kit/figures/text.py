"""Chapter 1: words, ids, tables of vectors, and where training puts them."""

import math

from .canvas import drawing, each, frameless, numbers, panels, plot, titled
from .colours import ACCENT, FAINT, HAIR, INK, PLATE, SECOND, TOKEN
from .kinds import Axes, Named, Names, Numbers, Pair, Panels, Tensor
from .marks import arrow, beside, cell, entry, words
from .plots import curves

DOTS = "osD^vP"  # a mark and a colour for each kind of words
AROUND = [  # directions from a point to its label, beside it first
    (math.cos(turn), math.sin(turn))
    for step in range(9)
    for turn in (step * math.pi / 8, math.pi + step * math.pi / 8)
]


def road(sentence: str, ids: dict[str, int], vectors: list[Numbers]) -> Axes:
    """A sentence becomes tokens, ids and vectors, from top to bottom.

    The gids: "id" and "entry" of the numbers.
    """
    axes = drawing(3.9, (-0.95, len(ids)), (3.2, -0.9))
    words(axes, (len(ids) / 2, -0.6), f"“{sentence}”", 13)
    pairs = zip(ids.items(), vectors, strict=True)
    for i, ((token, index), vector) in enumerate(pairs):
        cell(axes, (i + 0.06, 0), (0.88, 0.5), TOKEN)
        words(axes, (i + 0.5, 0.25), token)
        arrow(axes, (i + 0.5, 0.55), (i + 0.5, 0.95))
        words(axes, (i + 0.5, 1.15), index, 12, gid="id")
        arrow(axes, (i + 0.5, 1.38), (i + 0.5, 1.78))
        for j, value in enumerate(vector):  # pale near zero
            alpha = 0.12 + 0.6 * min(abs(value), 1.5) / 1.5
            colour = SECOND if value > 0 else ACCENT
            at, size = (i + 0.06, 1.84 + 0.42 * j), (0.88, 0.42)
            style = {"alpha": alpha, "ec": "white"}
            entry(axes, at, size, f"{value:.2f}", colour, "entry", **style)
    notes = {"tokens": 0.25, "ids": 1.15, "vectors": 2.47}
    beside(axes, -0.1, notes, color=FAINT)
    return axes


def lookup(tokens: Names, ids: list[int], table: Tensor) -> Axes:
    """ids -> table -> matrix: each id takes its row out of the table.

    The numbers of the matrix have the gid "matrix".
    """
    rows, length = numbers(table), len(ids)
    axes = drawing(3.7, (-0.2, 9.25), (length + 0.4, -1.4))
    for i, (token, index) in enumerate(zip(tokens, ids, strict=True)):
        here, there, colour = i + 0.43, index + 0.43, f"C{i % 6}"
        words(axes, (1.1, here), token, ha="right")
        words(axes, (1.5, here), index)
        arrow(axes, (1.75, here), (2.65, there), colour)
        words(axes, (2.9, there), index, 9, color=FAINT)
        arrow(axes, (5.7, there), (6.6, here), colour)
        for name, x, y in (("table", 3.1, index), ("matrix", 6.65, i)):
            for j, value in enumerate(rows[index]):
                where, text = ((x + 0.85 * j, y), (0.85, 0.86)), f"{value:.2f}"
                entry(axes, *where, text, colour, name, alpha=0.22, ec="white")
    words(axes, (4.37, length + 0.1), "⋮", color=FAINT)
    for x, text in (
        (0.75, "tokens"),
        (1.5, "ids"),
        (4.37, "table\n(vocab, d_model)"),
        (7.92, "matrix\n(length, d_model)"),
    ):
        words(axes, (x, -0.25), text, va="bottom")
    return axes


def token_grid(tokens: list[Names], faint: str) -> Axes:
    """A batch of sentences, one box for each token; `faint` ones are grey."""
    columns, rows = max(len(row) for row in tokens), len(tokens)
    axes = plot(0.7 + 0.45 * rows)
    for i, j, token in each(tokens):
        face, ink = (PLATE, FAINT) if token == faint else (TOKEN, INK)
        at, look = (j + 0.04, i + 0.06), {"color": ink}
        entry(axes, at, (0.92, 0.88), token, face, look=look)
    axes.set(xlim=(0, columns), ylim=(rows, 0))
    across, down = ([i + 0.5 for i in range(n)] for n in (columns, rows))
    frameless(axes, (across, range(columns)), (down, range(rows)))
    axes.set(xlabel="position", ylabel="sentence")
    return axes


def shift(reads: Names, says: Names) -> Axes:
    """What a model reads above what it must say: the same, one earlier.

    The tokens have the gids "reads" and "says".
    """
    axes = drawing(1.9, (-1.25, len(reads)), (2.45, -0.1))
    for name, y, row in (("reads", 0.3, reads), ("says", 1.9, says)):
        for i, token in enumerate(row):
            colour = PLATE if token.startswith("<") else TOKEN
            entry(axes, (i + 0.04, y), (0.92, 0.5), token, colour, name)
    for i in range(len(reads)):
        words(axes, (i + 0.5, 0.08), i, 9, color=FAINT)
        arrow(axes, (i + 0.5, 0.85), (i + 0.5, 1.85), INK)
        if i:
            ends = (i + 0.36, 0.85), (i - 0.36, 1.85)
            arrow(axes, *ends, arrowstyle="-", ls=":")
    beside(axes, -0.1, {"reads": 0.55, "must say": 2.15}, color=FAINT)
    return axes


def word_arrows(points: Tensor, labels: Names, axis_names: Pair) -> Axes:
    """Each word as an arrow from the origin, in its colour of `lookup`."""
    axes, tips = plot(3.4), numbers(points)
    for i, ((x, y), text) in enumerate(zip(tips, labels, strict=True)):
        arrow(axes, (0, 0), (x, y), f"C{i % 6}", lw=1.8)
        away = 9 / math.hypot(x, y)
        style = {"ha": "left" if x >= 0 else "right"}
        style |= {"va": "bottom" if y >= 0 else "top"}
        style |= {"textcoords": "offset points"}
        axes.annotate(text, (x, y), (away * x, away * y), **style)
    axes.scatter(*zip(*tips, strict=True), s=0)
    axes.axhline(0, color="#DDDDDD", lw=0.8, zorder=0)
    axes.axvline(0, color="#DDDDDD", lw=0.8, zorder=0)
    axes.margins(0.15)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set(xlabel=axis_names[0], ylabel=axis_names[1])
    return axes


def word_map(maps: Named, labels: Names, kinds: dict[str, Names]) -> Panels:
    """Words as points of the plane, side by side; each kind has its mark."""
    row = panels(1, len(maps), 3.0)
    kind = {w: i % 6 for i, k in enumerate(kinds.values()) for w in k}
    for axes, vectors in titled(row, maps):
        points = numbers(vectors)
        for point, label in zip(points, labels, strict=True):
            mark, colour = DOTS[kind[label]], f"C{kind[label]}"
            axes.plot(*point, mark, ms=5, color=colour)
        ends = [(min(p), max(p)) for p in zip(*points, strict=True)]
        half = 0.68 * max(high - low for low, high in ends)  # with labels
        middles = [(low + high) / 2 for low, high in ends]
        xlim, ylim = ((m - half, m + half) for m in middles)
        axes.set(xlim=xlim, ylim=ylim, xticks=[], yticks=[], box_aspect=1)
        axes.spines[:].set(visible=True, color=HAIR)
    axes.figure.draw_without_rendering()  # so that the axes know their places
    for axes, vectors in zip(row, maps.values(), strict=True):
        _name_points(axes, numbers(vectors), labels)
    return row


def _name_points(axes, points: list, labels: Names) -> None:
    """A label beside each point, in the frame, that covers no other."""
    scale = 72 / axes.figure.dpi
    frame = scale * axes.get_window_extent().get_points()
    at = [scale * axes.transData.transform(point) for point in points]
    taken = [(place, (4, 4)) for place in at]
    for place, point, text in zip(at, points, labels, strict=True):
        half = (2.9 * len(text) + 1, 5.5)
        middle = _free_place(taken, place, half, frame)
        taken.append((middle, half))
        style = {"textcoords": "offset points", "fontsize": 9}
        style |= {"ha": "center", "va": "center"}
        axes.annotate(text, point, middle - place, **style)


def _free_place(taken: list, place, half, frame):
    """The middle of a label as near to a place as none is yet, in points."""
    for distance in range(5, 40, 2):
        for x, y in AROUND:
            away = x * (half[0] + distance), y * (half[1] + distance)
            middle = place + away
            inside = (middle > frame[0] + half) & (middle < frame[1] - half)
            if inside.all() and not any(
                abs(middle[0] - other[0]) < half[0] + size[0]
                and abs(middle[1] - other[1]) < half[1] + size[1]
                for other, size in taken
            ):
                return middle
    raise ValueError("a label finds no free place")


def lengths(widths: list[int], measured: Tensor) -> Axes:
    """Lengths of rows, of scaled rows and of positions, against the width."""
    root = r"$\sqrt{d_{\mathrm{model}}}$"
    names = ("row of the table", f"row × {root}", "position")
    named = dict(zip(names, measured.T, strict=True))
    return curves(widths, named, (r"$d_{\mathrm{model}}$", "length"), log="xy")
