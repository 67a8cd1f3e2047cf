"""Chapter 2: vectors as arrows."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from lib.figures.marks import (
    numbers,
)


def arrows(
    vectors: Tensor, labels: list[str], axis_names: tuple[str, str]
) -> Axes:
    """The first two coordinates of each vector as an arrow from the origin."""
    figure, axes = plt.subplots(figsize=(5.4, 3.6))
    points = [row[:2] for row in numbers(vectors)]
    for i, ((x, y), name) in enumerate(zip(points, labels, strict=True)):
        style = {"arrowstyle": "-|>", "color": f"C{i % 6}", "lw": 1.6}
        axes.annotate("", (x, y), (0, 0), arrowprops=style)
        length = max((x * x + y * y) ** 0.5, 1e-9)
        offset = (9 * x / length, 9 * y / length)
        side = {"ha": "left" if x >= 0 else "right"}
        side |= {"va": "bottom" if y >= 0 else "top"}
        axes.annotate(name, (x, y), offset, textcoords="offset points", **side)
    axes.scatter(*zip(*points, strict=True), s=0)
    axes.axhline(0, color="#DDDDDD", lw=0.8, zorder=0)
    axes.axvline(0, color="#DDDDDD", lw=0.8, zorder=0)
    axes.margins(0.22)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set(xlabel=axis_names[0], ylabel=axis_names[1])
    return axes
