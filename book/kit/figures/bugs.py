"""Chapter 18: what a bug looks like from outside."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from kit.figures.marks import (
    ACCENT,
    BEHIND,
    FAINT,
    INK,
    MAY,
    PLATE,
    SECOND,
    bare,
    cell,
    numbers,
    words,
)

BROWN = "#8C510A"
LABELS = {
    "1/√d_head": r"$1/\sqrt{d_\mathrm{head}}$",
    "1/√d_model": r"$1/\sqrt{d_\mathrm{model}}$",
}


def hearing(tables: dict[str, Tensor], asked: Tensor) -> list[Axes]:
    """Who hears whom: one panel for each attention, four in a row.

    A table holds how far output i moves if token j shouts; `asked` is True
    where i may hear j. A cell has the gid "heard", "silent", "leak" (heard
    though hidden) or "lost" (shown, yet not heard).
    """
    rows = -(-len(tables) // 4)
    figure, grid = plt.subplots(rows, 4, figsize=(5.4, 1.75 * rows))
    for axes in grid.flat[len(tables) :]:
        axes.remove()
    may = asked.tolist()
    for axes, (name, table) in zip(grid.flat, tables.items(), strict=False):
        for i, row in enumerate(numbers(table)):
            for j, share in enumerate(row):
                _ear(axes, (j, -i), share, may[i][j])
        bare(axes, (-0.15, len(may) + 0.05), (0.15 - len(may), 1.2))
        axes.set_aspect("equal")
        axes.set_title(name, fontsize=9, loc="center", pad=3)
    return list(grid.flat[: len(tables)])


def _ear(axes, corner, share, allowed) -> None:
    """One cell: the stronger the colour, the more is heard."""
    is_heard = share > 1e-4
    kind = {True: "heard", False: "leak"}[allowed] if is_heard else "silent"
    if allowed and not is_heard:
        kind = "lost"
    colour = {"heard": MAY, "leak": BEHIND}.get(kind, "white")
    strength = 1.0 if share > 0.02 else 0.45
    style = {"ec": INK if kind == "lost" else FAINT, "lw": 0.5, "gid": kind}
    alpha = strength if is_heard else 1.0
    cell(axes, corner, (0.9, 0.9), colour, alpha=alpha, **style)
    if kind in ("leak", "lost"):
        at = (corner[0] + 0.45, corner[1] + 0.43)
        words(axes, at, "×" if kind == "lost" else "!", fontsize=9)


def too_good(losses: dict[str, list[float]], floor: float) -> Axes:
    """Learning curves, and the loss below which nobody can be honest."""
    figure, axes = plt.subplots(figsize=(5.4, 3.0))
    last = max(map(len, losses.values()))
    axes.axhspan(0, floor, color=ACCENT, alpha=0.16, lw=0, gid="impossible")
    styles = {"ls": "-"}, {"ls": "--"}, {"ls": "-."}, {"ls": ":"}
    for (name, loss), style in zip(losses.items(), styles, strict=False):
        drawn = axes.plot(range(1, len(loss) + 1), loss, gid=name, **style)
        above = 0.08 if abs(loss[-1] - floor) < 0.1 else 0  # off the line
        at = (last * 1.02, loss[-1] + above)
        ink = drawn[0].get_color()
        words(axes, at, name, ha="left", color=ink, fontsize=10)
    axes.axhline(floor, color=INK, lw=0.8, gid="floor")
    words(axes, (last * 0.99, floor * 0.1), "impossible", ha="right")
    axes.set(xlim=(0, last * 1.18), ylim=(0, 2.5))
    axes.set(xlabel="step", ylabel="loss")
    return axes


def slopes(names: list[str], points: list[list[Tensor]]) -> Axes:
    """Logs of weights against q · k, both without means of rows and columns.

    For each name the two tensors, as points with the line that fits them.
    """
    figure, axes = plt.subplots(figsize=(5.4, 3.1))
    styles = zip((INK, ACCENT, BROWN, SECOND), "os^D", strict=True)
    for name, (dots, logs), (colour, mark) in zip(
        names, points, styles, strict=False
    ):
        xs, ys = numbers(dots.flatten()), numbers(logs.flatten())
        style = {"ls": "", "ms": 3.2, "alpha": 0.7, "color": colour}
        axes.plot(xs, ys, mark, gid=name, **style)
        slope = ((dots * logs).sum() / (dots * dots).sum()).item()
        ends = min(xs), max(xs)
        axes.plot(ends, [slope * x for x in ends], color=colour, lw=1)
        style = {"ha": "left", "color": colour, "fontsize": 10}
        end = max(xs) + 0.2  # beside the last points
        at = (end, end * slope + (0.2 if slope > 0.3 else -0.28))
        words(axes, at, LABELS.get(name, name), **style)
    axes.set_xlim(right=3.5)
    axes.set(xlabel="q · k", ylabel="log of the weight")
    axes.grid()
    return axes


def consequences(
    bugs: list[str],
    properties: list[str],
    fails: list[set[str]],
    causes: list[set[str]],
) -> Axes:
    """Which checks fail for which bug; the one to mend first is filled."""
    size = (5.4, 0.225 * (8 + len(bugs)))
    figure, axes = plt.subplots(figsize=size)
    for i, bug in enumerate(bugs):
        words(axes, (-0.7, -i), bug, ha="right", fontsize=9)
        for j, name in enumerate(properties):
            cell(axes, (j - 0.46, -i - 0.46), (0.92, 0.92), PLATE)
            if name in fails[i]:
                first = name in causes[i]
                style = {"marker": "o", "ms": 7.5, "mew": 1.3, "color": BROWN}
                style["mfc"] = ACCENT if first else "none"
                kind = "cause" if first else "follows"
                axes.plot([j], [-i], gid=f"{kind} {i} {j}", **style)
    for j, name in enumerate(properties):
        style = {"rotation": 90, "va": "bottom", "fontsize": 9}
        words(axes, (j, 0.6), name, **style)
    bare(axes, (-11.2, len(properties) - 0.4), (-len(bugs) + 0.4, 8.4))
    return axes


def verdicts(
    names: list[str], properties: list[str], table: list[list[str]]
) -> Axes:
    """What holds and what fails, one row for each way to call a package."""
    size = (5.4, 0.172 * (len(names) + 12))
    figure, axes = plt.subplots(figsize=size)
    looks = {
        "holds": (MAY, ""),
        "fails": (BEHIND, "×"),
        "raises": (BEHIND, "E"),
        "note": ("white", "n"),
        "not offered": (PLATE, ""),
    }
    for i, name in enumerate(names):
        words(axes, (-0.7, -i), name, ha="right", fontsize=9)
        for j, verdict in enumerate(table[i]):
            colour, mark = looks[verdict]
            style = {"ec": FAINT, "lw": 0.4, "gid": verdict}
            alpha = 0.45 if verdict == "holds" else 1.0
            corner = (j - 0.44, -i - 0.44)
            cell(axes, corner, (0.88, 0.88), colour, alpha=alpha, **style)
            words(axes, (j, -i), mark, fontsize=9)
    for j, name in enumerate(properties):
        style = {"rotation": 90, "va": "bottom", "fontsize": 9}
        words(axes, (j, 0.7), name, **style)
    bare(axes, (-13, len(properties) - 0.4), (-len(names) + 0.4, 11.5))
    return axes
