"""Chapter 7: norms, residual paths and the feed-forward network."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from kit.figures.marks import (
    ACCENT,
    FAINT,
    INK,
    PLATE,
    SECOND,
    TOKEN,
    arrow,
    bare,
    box,
    cell,
    frameless,
    numbers,
    station,
    words,
)

# The ways to join a layer to the path, in one colour each.
INKS = {
    "plain": "#8C510A",
    "residual": INK,
    "no norm": INK,
    "post-norm": ACCENT,
    "pre-norm": SECOND,
}
PATH = {"colour": ACCENT, "lw": 3.5, "mutation_scale": 15}


def one_layer(names: list[str]) -> Axes:
    """Words side by side through one layer, from bottom to top.

    The arrows of the paths have the gid "path", those between words "across".
    """
    figure, axes = plt.subplots(figsize=(5.4, 5.0))
    places = [1.7 * i for i in range(len(names))]
    _attention(axes, places)
    for x, name in zip(places, names, strict=True):
        words(axes, (x, -0.25), name, va="top")
        low = -0.15
        for text, y in (("+", 2.8), ("norm", 3.6), ("+", 6.0), ("norm", 6.8)):
            style = PATH | {"zorder": 3}
            arrow(axes, (x, low), (x, y - 0.27), name="path", **style)
            station(axes, (x, y), 0.48 if text == "norm" else 0.27, text, text)
            low = y + 0.27
        arrow(axes, (x, low), (x, 7.7), name="path", **PATH)
        _branch(axes, x, (4.2, 6.0))
        box(axes, (x + 0.72, 5.1), (0.84, 0.9), "feed\nfwd", fontsize=9)
    edge = places[-1] + 1.4
    for y, note in (
        (1.5, "attention:\nwords read\nwords"),
        (5.1, "each alone"),
    ):
        words(axes, (edge, y), note, ha="left", fontsize=9.5)
    bare(axes, (-0.7, edge + 1.7), (-0.8, 7.8))
    return axes


def _branch(axes, x, heights) -> None:
    """The way off the path, up beside it, and into the sum."""
    (low, high), side = heights, x + 0.72
    axes.plot([x, side, side], [low, low, high], color=FAINT, lw=1.2, zorder=0)
    arrow(axes, (side, high), (x + 0.27, high))


def _attention(axes, places) -> None:
    """One box for all words; every branch reads from every other."""
    sides = [x + 0.72 for x in places]
    middle, width = (sides[0] + sides[-1]) / 2, sides[-1] - sides[0] + 0.84
    for x in places:
        _branch(axes, x, (0.3, 2.8))
    box(axes, (middle, 1.5), (width, 1.5), "", TOKEN)
    for start in sides:
        for end in sides:
            style = {"lw": 1.0, "mutation_scale": 7}
            arrow(axes, (start, 0.85), (end, 2.15), INK, "across", **style)


def by_layer(named: dict[str, Tensor], label: str, log: str = "") -> Axes:
    """One line for each name, from the first layer to the last.

    `log` is the form of the numbers on a logarithmic axis, or "10^n".
    """
    figure, axes = plt.subplots()
    for name, values in named.items():
        y, style = numbers(values), {"lw": 2.4, "color": INKS[name]}
        axes.plot(range(1, len(y) + 1), y, label=name, **style)
    axes.set(xlabel="layer", ylabel=label, xlim=(1, len(y)))
    if log:
        axes.set_yscale("log")
        if log != "10^n":  # which is the form that such an axis has
            axes.yaxis.set_major_formatter(log)
        axes.minorticks_off()
    else:
        axes.set_ylim(bottom=0)
    axes.grid(axis="y")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(named))
    return axes


def norm_steps(rows: dict[str, Tensor]) -> Axes:
    """The entries of a vector on a line, step after step.

    Every dot has the gid "step entry"; arrows lead it to the next line.
    """
    figure, axes = plt.subplots(figsize=(5.4, 3.2))
    steps = [numbers(row) for row in rows.values()]
    last = len(steps) - 1
    axes.axvline(0, color=FAINT, lw=0.8, zorder=0)
    for i, values in enumerate(steps):
        axes.axhline(-i, color="#D0D0D0", lw=1.0, zorder=0)
        for j, value in enumerate(values):
            style = {"color": ACCENT, "ms": 8, "gid": f"{i} {j}"}
            axes.plot([value], [-i], "o", **style)
            near = [v for v in values if 0 < abs(v - value) < 0.7]
            lower = j % 2 if near else 0  # beside one another is no room
            above = 0.2 if i < last else -0.2 - 0.24 * lower
            _number(axes, (value, above - i), value)
            if i < last:
                end = (steps[i + 1][j], -i - (0.9 if i + 1 == last else 0.66))
                arrow(axes, (value, -i - 0.1), end, FAINT)
    low, high = min(map(min, steps)), max(map(max, steps))
    axes.set(xlim=(low - 0.5, high + 0.5), ylim=(-last - 0.6, 0.4))
    frameless(axes, ([], []), ([-i for i in range(len(steps))], list(rows)))
    return axes


def _number(axes, at, value) -> None:
    """A number, for which the line at zero makes room."""
    text = f"{value + 0.0:.2f}".removesuffix(".00").replace("-", "−")
    plate = {"fc": "white", "ec": "none", "pad": 1}
    words(axes, at, text, fontsize=9, bbox=plate)


def norm_axes(positions: int, features: int) -> list[Axes]:
    """What LayerNorm and BatchNorm average: a row, or a column, is dark."""
    figure, both = plt.subplots(1, 2, figsize=(5.4, 2.9))
    for axes, title in zip(both, ("LayerNorm", "BatchNorm"), strict=True):
        for i in range(positions):
            for j in range(features):
                dark = i == 2 if title == "LayerNorm" else j == 1
                face, gid = (ACCENT, f"{i} {j}") if dark else (PLATE, None)
                cell(axes, (j, i), (1, 1), face, ec="white", lw=2, gid=gid)
        axes.set(xlim=(0, features), ylim=(positions, 0), title=title)
        axes.set(xlabel="feature", ylabel="position", aspect="equal")
        frameless(axes, ([], []), ([], []))
    return list(both)


def memory(rows: list[str], panels: dict[str, tuple]) -> list[Axes]:
    """What words hold, which units fire, what these write; arrows between.

    Each panel is (names of the columns, matrix of 0 and 1). A full cell has
    the gid "row column".
    """
    wide = [len(columns) for columns, _ in panels.values()]
    style = {"figsize": (5.4, 3.6), "width_ratios": wide}
    figure, row = plt.subplots(1, len(panels), **style)
    for axes, (title, (columns, matrix)) in zip(
        row, panels.items(), strict=True
    ):
        for i, values in enumerate(numbers(matrix)):
            for j, value in enumerate(values):
                face, gid = (ACCENT, f"{i} {j}") if value else (PLATE, None)
                cell(axes, (j, i), (1, 1), face, ec="white", lw=2, gid=gid)
        axes.set(xlim=(0, len(columns)), ylim=(len(rows), 0))
        axes.set_title(title, fontsize=10)
        middles = [j + 0.5 for j in range(len(columns))]
        lines = [i + 0.5 for i in range(len(rows))]
        left = rows if axes is row[0] else [""] * len(rows)
        frameless(axes, (middles, columns), (lines, left))
        axes.tick_params(axis="x", rotation=90, labelsize=9.5)
    for axes in row[:-1]:
        style = {"clip_on": False, "transform": axes.transAxes}
        arrow(axes, (1.02, 0.5), (1.02 + 0.6 / wide[0], 0.5), INK, **style)
    return list(row)


def residual_paths() -> list[Axes]:
    """Post-norm and pre-norm: where the norm stands on the path of x."""
    figure, both = plt.subplots(1, 2, figsize=(5.4, 4.6))
    on_path = {
        "post-norm": (("+", 1.75), ("norm", 2.7)),
        "pre-norm": (("+", 2.7),),
    }
    beside = {
        "post-norm": (("$f$", 1.1),),
        "pre-norm": (("norm", 1.0), ("$f$", 1.85)),
    }
    for axes, title in zip(both, on_path, strict=True):
        low = -0.15
        for shift in (0, 3.2):
            for text, above in on_path[title]:
                y, wide = above + shift, 0.62 if text == "norm" else 0.3
                arrow(axes, (0, low), (0, y - 0.27), name="path", **PATH)
                station(axes, (0, y), wide, text, "on the path")
                low = y + 0.27
            end = shift + on_path[title][0][1]
            _side(axes, shift + 0.35, beside[title], end)
        arrow(axes, (0, low), (0, 6.75), name="path", **PATH)
        words(axes, (0, -0.25), "$x$", va="top")
        axes.set_title(title)
        bare(axes, (-0.9, 2.4), (-0.7, 6.85))
    return list(both)


def _side(axes, start, stations, end) -> None:
    """A branch: off the path, through its stations, and into the sum."""
    axes.plot([0, 1.5], [start, start], color=FAINT, lw=1.2, zorder=0)
    low = start
    for text, above in stations:
        y = start - 0.35 + above
        arrow(axes, (1.5, low), (1.5, y - 0.27))
        station(axes, (1.5, y), 0.62, text, "branch")
        low = y + 0.27
    axes.plot([1.5, 1.5], [low, end], color=FAINT, lw=1.2, zorder=0)
    arrow(axes, (1.5, end), (0.3, end), name="into the sum")
