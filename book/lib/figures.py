"""Drawings for the chapters, in one vocabulary of shapes and colours.

Not taught. Every function draws one figure, takes tensors from any device and
returns the axes, so that the next cell can assert the figure's message on the
figure's own data.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle
from torch import Tensor

QUERY, KEY, VALUE, OUTPUT = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
INK, FAINT, PLATE = "#222222", "#888888", "#F2F2F2"

plt.style.use(Path(__file__).with_name("book.mplstyle"))


def numbers(data) -> list:
    """Plain Python numbers of a tensor on any device, or of a list."""
    return torch.as_tensor(data).detach().cpu().double().tolist()


def heatmap(
    matrix: Tensor,
    rows: list[str],
    columns: list[str],
    title: str = "",
    axis_names: tuple[str, str] = ("query", "key"),
) -> Axes:
    """A matrix of weights from 0 to 1; numbers in cells up to 8 x 8."""
    cells = numbers(matrix)
    figure, axes = plt.subplots(figsize=(4.8, 1.4 + 0.42 * len(rows)))
    axes.imshow(cells, vmin=0, vmax=1, cmap="Blues", aspect="auto")
    if len(columns) * max(map(len, columns)) <= 48:
        axes.set_xticks(range(len(columns)), columns)
    else:
        axes.set_xticks(range(len(columns)), columns, rotation=30, ha="right")
    axes.set_yticks(range(len(rows)), rows)
    axes.set(title=title, ylabel=axis_names[0], xlabel=axis_names[1])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    if max(len(rows), len(columns)) <= 8:
        for i, row in enumerate(cells):
            for j, weight in enumerate(row):
                ink = "white" if weight > 0.55 else INK
                text = f"{weight:.2f}"
                axes.text(j, i, text, ha="center", va="center", color=ink)
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
        style = {"ls": "--", "color": FAINT} if dashed else {"marker": "o"}
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
            axes.bar_label(drawn, fmt="%.2f", fontsize=8, padding=1)
    axes.set_xticks(range(len(names)), names)
    axes.set(ylabel=label, title=title)
    axes.tick_params(axis="x", length=0)
    if len(groups) > 1:
        axes.legend()
    return axes


def arrows(
    vectors: Tensor, labels: list[str], axis_names: tuple[str, str]
) -> Axes:
    """The first two coordinates of each vector as an arrow from the origin."""
    figure, axes = plt.subplots(figsize=(4.8, 3.6))
    points = [row[:2] for row in numbers(vectors)]
    for i, ((x, y), label) in enumerate(zip(points, labels, strict=True)):
        colour = f"C{i % 6}"
        axes.annotate(
            "",
            (x, y),
            (0, 0),
            arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.6},
        )
        length = max((x * x + y * y) ** 0.5, 1e-9)
        offset = (9 * x / length, 9 * y / length)
        axes.annotate(
            label,
            (x, y),
            offset,
            textcoords="offset points",
            ha="left" if x >= 0 else "right",
            va="bottom" if y >= 0 else "top",
        )
    axes.scatter(*zip(*points, strict=True), s=0)
    axes.axhline(0, color="#DDDDDD", lw=0.8, zorder=0)
    axes.axvline(0, color="#DDDDDD", lw=0.8, zorder=0)
    axes.margins(0.22)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set(xlabel=axis_names[0], ylabel=axis_names[1])
    return axes


def token_grid(tokens: list[list[str]], faint: str, title: str = "") -> Axes:
    """A batch of sentences, one box for each token; `faint` ones are grey."""
    columns = max(len(row) for row in tokens)
    figure, axes = plt.subplots(figsize=(4.8, 0.7 + 0.45 * len(tokens)))
    for i, row in enumerate(tokens):
        for j, token in enumerate(row):
            pad = token == faint
            face = PLATE if pad else "#DCEAF4"
            axes.add_patch(
                Rectangle((j + 0.04, i + 0.06), 0.92, 0.88, fc=face, ec="none")
            )
            ink = FAINT if pad else INK
            axes.text(
                j + 0.5,
                i + 0.5,
                token,
                ha="center",
                va="center",
                fontsize=8,
                color=ink,
            )
    axes.set(xlim=(0, columns), ylim=(len(tokens), 0), title=title)
    axes.set_xticks([j + 0.5 for j in range(columns)], range(columns))
    axes.set_yticks([i + 0.5 for i in range(len(tokens))], range(len(tokens)))
    axes.set(xlabel="position", ylabel="sentence")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return axes


def _matrix(axes, corner, values, cell, highlight=(), name=None) -> None:
    """A small table of numbers; highlighted rows are tinted.

    `name` becomes the gid of its texts, by which a page finds them.
    """
    x0, y0 = corner
    width, height = cell
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            face = QUERY if i in highlight else PLATE
            box = (x0 + j * width, y0 + i * height)
            alpha = 0.22 if i in highlight else 1.0
            axes.add_patch(
                Rectangle(box, width, height, fc=face, ec="white", alpha=alpha)
            )
            axes.text(
                box[0] + width / 2,
                box[1] + height / 2,
                f"{value:.2f}",
                ha="center",
                va="center",
                fontsize=8.8,
                gid=name,
            )


def _arrow(axes, start, end, colour=FAINT) -> None:
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=9,
            color=colour,
            lw=1.2,
            shrinkA=0,
            shrinkB=0,
        )
    )


def lookup(tokens: list[str], ids: list[int], table: Tensor) -> Axes:
    """ids -> table -> matrix: each id takes its row out of the table."""
    rows = numbers(table)
    taken = [rows[i] for i in ids]
    figure, axes = plt.subplots(figsize=(4.8, 3.4))
    width, height = 0.85, 1.0
    for i, (token, index) in enumerate(zip(tokens, ids, strict=True)):
        axes.text(1.25, i + 0.5, token, ha="right", va="center", fontsize=9)
        axes.text(1.75, i + 0.5, index, ha="center", va="center", color=QUERY)
    _matrix(axes, (2.9, 0), rows, (width, height))
    cell = (width, height)
    _matrix(axes, (6.7, 0), taken, cell, range(len(ids)), "matrix")
    for i, index in enumerate(ids):
        _arrow(axes, (2.0, i + 0.5), (2.55, index + 0.5))
        _arrow(axes, (5.5, index + 0.5), (6.65, i + 0.5))
    for i in range(len(rows)):
        axes.text(
            2.72, i + 0.5, i, ha="center", va="center", color=FAINT, fontsize=7
        )
    for x, text in (
        (0.95, "tokens"),
        (1.75, "ids"),
        (2.9 + 1.5 * width, "table\n(vocab, d_model)"),
        (6.7 + 1.5 * width, "matrix\n(length, d_model)"),
    ):
        axes.text(x, -0.35, text, ha="center", va="bottom", color=INK)
    axes.set(xlim=(0, 9.3), ylim=(max(len(rows), len(ids)) + 0.1, -1.4))
    axes.axis("off")
    return axes


def flow(sizes: dict[str, tuple[int, ...]]) -> Axes:
    """How tensors meet in attention, with the shape each one has.

    Args:
        sizes: the shapes of X, Q, K, V, scores, weights and context.
    """
    figure, axes = plt.subplots(figsize=(4.8, 4.3))
    place = {
        "X": (1.5, 0, PLATE),
        "Q": (0.3, 1.5, QUERY),
        "K": (1.5, 1.5, KEY),
        "V": (2.7, 1.5, VALUE),
        "scores": (0.9, 3.0, PLATE),
        "weights": (0.9, 4.5, PLATE),
        "context": (1.8, 6.0, OUTPUT),
    }
    steps = [
        ("X", "Q", "× W_q"),
        ("X", "K", "× W_k"),
        ("X", "V", "× W_v"),
        ("Q", "scores", ""),
        ("K", "scores", "× Kᵀ"),
        ("scores", "weights", "÷ √d_k, softmax"),
        ("weights", "context", ""),
        ("V", "context", "× V"),
    ]
    for start, end, label in steps:
        (x0, y0, _), (x1, y1, _) = place[start], place[end]
        _arrow(axes, (x0, y0 + 0.36), (x1, y1 - 0.38))
        if label:
            axes.text(
                (x0 + x1) / 2,
                (y0 + y1) / 2,
                label,
                fontsize=8,
                color="#555555",
                ha="center",
                va="center",
                bbox={"fc": "white", "ec": "none", "pad": 1.5},
            )
    for name, (x, y, colour) in place.items():
        alpha = 1.0 if colour == PLATE else 0.25
        axes.add_patch(
            Rectangle(
                (x - 0.5, y - 0.34),
                1.0,
                0.68,
                fc=colour,
                ec="none",
                alpha=alpha,
            )
        )
        shape = " × ".join(str(n) for n in sizes[name])
        axes.text(x, y - 0.13, name, ha="center", va="center", weight="bold")
        axes.text(x, y + 0.16, shape, ha="center", va="center", fontsize=8.5)
    axes.set(xlim=(-0.3, 3.5), ylim=(6.45, -0.45))
    axes.axis("off")
    return axes
