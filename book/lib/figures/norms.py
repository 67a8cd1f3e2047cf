"""Chapter 7: norms and residual paths."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from lib.figures.marks import (
    FAINT,
    PLATE,
    QUERY,
    bare,
    cell,
    frameless,
    station,
    words,
)


def norm_axes(positions: int, features: int) -> list[Axes]:
    """What LayerNorm and BatchNorm average: a row, or a column, is dark."""
    figure, both = plt.subplots(1, 2, figsize=(5.4, 2.9))
    for axes, title in zip(both, ("LayerNorm", "BatchNorm"), strict=True):
        for i in range(positions):
            for j in range(features):
                dark = i == 2 if title == "LayerNorm" else j == 1
                face, gid = (QUERY, f"{i} {j}") if dark else (PLATE, None)
                cell(axes, (j, i), (1, 1), face, ec="white", lw=2, gid=gid)
        axes.set(xlim=(0, features), ylim=(positions, 0), title=title)
        axes.set(xlabel="feature", ylabel="position", aspect="equal")
        frameless(axes, ([], []), ([], []))
    return list(both)


def residual_paths() -> list[Axes]:
    """Post-norm and pre-norm: where the norm stands on the path of x."""
    figure, both = plt.subplots(1, 2, figsize=(5.4, 4.2))
    paths = {
        "post-norm": [("+", 1.6), ("norm", 2.4), ("+", 4.6), ("norm", 5.4)],
        "pre-norm": [("+", 2.4), ("+", 5.4)],
    }
    branches = {
        "post-norm": (1.2, [("f", 0.6)]),
        "pre-norm": (2.0, [("norm", 0.62), ("f", 1.4)]),
    }
    for axes, (title, path) in zip(both, paths.items(), strict=True):
        axes.plot([0, 0], [0, 6.3], color=QUERY, lw=3.5, zorder=0)
        for text, y in path:
            wide = 0.62 if text == "norm" else 0.3
            station(axes, (0, y), wide, text, "on the path")
        high, branch = branches[title]
        for y in (0.4, 3.4):
            xs, ys = [0, 1.5, 1.5, 0], [y, y, y + high, y + high]
            axes.plot(xs, ys, color=FAINT, zorder=0)
            for text, above in branch:
                station(axes, (1.5, y + above), 0.62, text, "branch")
        words(axes, (0, -0.1), "x", va="top")
        axes.set_title(title)
        bare(axes, (-0.9, 2.4), (-0.6, 6.5))
    return list(both)
