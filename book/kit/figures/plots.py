"""Plots that several chapters draw."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from kit.figures.marks import (
    FAINT,
    SIGNED,
    TINT,
    frameless,
    numbers,
    visible,
    words,
)


def heatmap(
    matrix: Tensor,
    rows: list[str],
    columns: list[str],
    title: str = "",
    axis_names: tuple[str, str] = ("query", "key"),
) -> Axes:
    """A matrix of weights from 0 to 1; numbers in cells up to 8 x 8."""
    cells = numbers(matrix)
    figure, axes = plt.subplots(figsize=(5.4, 1.4 + 0.42 * len(rows)))
    few = max(len(rows), len(columns)) <= 8
    colours = TINT if few else "Blues"
    axes.imshow(cells, vmin=0, vmax=1, cmap=colours, aspect="auto")
    across, down = range(len(columns)), range(len(rows))
    frameless(axes, (across, list(map(visible, columns))), (down, rows))
    if len(columns) * max(map(len, columns)) > 48:
        axes.set_xticks(across, columns, rotation=30, ha="right")
    axes.set(title=title, ylabel=axis_names[0], xlabel=axis_names[1])
    if few:
        for i, row in enumerate(cells):
            for j, weight in enumerate(row):
                words(axes, (j, i), f"{weight:.2f}")
    return axes


def curves(
    x: list,
    named: dict[str, Tensor],
    labels: tuple[str, str],
    title: str = "",
    log: str = "",
) -> Axes:
    """One line for each name; a name that starts with "line:" is dashed."""
    figure, axes = plt.subplots()
    for name, y in named.items():
        dashed = name.startswith("line:")
        style = {"marker": "o", "zorder": 3}
        if dashed:  # wider, so that it is seen under another line
            style = {"ls": "--", "color": FAINT, "lw": 5, "alpha": 0.5}
        axes.plot(x, numbers(y), label=name.removeprefix("line:"), **style)
    if "x" in log:
        axes.set_xscale("log", base=2)
        axes.set_xticks(x, [f"{value:g}" for value in x])
        axes.minorticks_off()
    else:
        axes.set_xticks(x if len(x) < 9 else x[:: len(x) // 4])
    if "y" in log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
    elif min(min(numbers(y)) for y in named.values()) >= 0:
        axes.set_ylim(bottom=0)
    axes.set(xlabel=labels[0], ylabel=labels[1], title=title)
    axes.grid(axis="y")
    axes.legend()
    return axes


def bars(
    names: list[str],
    groups: dict[str, Tensor],
    label: str,
    title: str = "",
) -> Axes:
    """Side-by-side bars, one colour for each group."""
    figure, axes = plt.subplots()
    width = 0.8 / len(groups)
    for g, (group, heights) in enumerate(groups.items()):
        left = [i - 0.4 + (g + 0.5) * width for i in range(len(names))]
        drawn = axes.bar(left, numbers(heights), width * 0.92, label=group)
        if len(groups) == 1:
            axes.bar_label(drawn, fmt="%.2f", fontsize=9, padding=1)
    axes.set_xticks(range(len(names)), names)
    axes.set(ylabel=label, title=title)
    axes.tick_params(axis="x", length=0)
    if len(groups) > 1:
        axes.legend()
    return axes


def image(
    matrix: Tensor, labels: tuple[str, str], limits: tuple[float, float]
) -> Axes:
    """A large matrix of signed numbers as colours, with a scale beside it."""
    figure, axes = plt.subplots(figsize=(5.4, 3.2))
    style = {"vmin": limits[0], "vmax": limits[1], "cmap": SIGNED}
    drawn = axes.imshow(numbers(matrix), aspect="auto", **style)
    figure.colorbar(drawn, ax=axes, shrink=0.9)
    axes.set(xlabel=labels[0], ylabel=labels[1])
    return axes
