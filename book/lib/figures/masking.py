"""Chapter 4: what may be seen."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from lib.figures.marks import (
    frameless,
    numbers,
)


def masks(
    panels: dict[str, Tensor], rows: list[str], columns: list[str]
) -> list[Axes]:
    """Boolean matrices, two in a row: blue with a dot = may attend."""
    lines, across, down = -(-len(panels) // 2), len(columns), len(rows)
    figure, grid = plt.subplots(lines, 2, figsize=(5.4, 0.5 + 2.4 * lines))
    for axes, (title, mask) in zip(grid.flat, panels.items(), strict=True):
        cells = mask.cpu().expand(down, across)
        style = {"vmin": 0, "vmax": 1.6, "cmap": "Blues", "aspect": "auto"}
        axes.imshow(numbers(cells), **style)
        for i, j in cells.nonzero().tolist():
            axes.plot(j, i, "o", color="white", markersize=3)
        axes.set_title(title)
        axes.set_xticks([j + 0.5 for j in range(across)], minor=True)
        axes.set_yticks([i + 0.5 for i in range(down)], minor=True)
        axes.grid(which="minor", color="white", linewidth=1.5)
        frameless(axes, (range(across), columns), (range(down), rows))
    return list(grid.flat)
