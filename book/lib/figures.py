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


def masks(
    panels: dict[str, Tensor], rows: list[str], columns: list[str]
) -> list[Axes]:
    """Boolean matrices, two in a row: blue with a dot = may attend."""
    lines = -(-len(panels) // 2)
    figure, grid = plt.subplots(lines, 2, figsize=(4.8, 0.5 + 2.4 * lines))
    for axes, (title, mask) in zip(grid.flat, panels.items(), strict=True):
        cells = mask.cpu().expand(len(rows), len(columns))
        axes.imshow(
            numbers(cells), vmin=0, vmax=1.6, cmap="Blues", aspect="auto"
        )
        for i, j in cells.nonzero().tolist():
            axes.plot(j, i, "o", color="white", markersize=3)
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        axes.set_title(title)
        axes.set_xticks([j + 0.5 for j in range(len(columns))], minor=True)
        axes.set_yticks([i + 0.5 for i in range(len(rows))], minor=True)
        axes.grid(which="minor", color="white", linewidth=1.5)
        axes.tick_params(which="both", length=0)
        axes.spines[:].set_visible(False)
    return list(grid.flat)


def cut(rows: Tensor, right: Tensor, wrong: Tensor) -> Axes:
    """Numbers (length, width), and two ways to cut them into heads.

    Every number keeps the colour of the head whose columns it stands in.
    `right` and `wrong` have the shape (heads, length, d_head).
    """
    figure, axes = plt.subplots(figsize=(4.8, 4.6))
    heads, length, width = right.shape
    colours = [QUERY, KEY, VALUE, OUTPUT]
    tables = [("one tensor", rows[None]), ("right", right), ("wrong", wrong)]
    for line, (name, table) in enumerate(tables):
        top = line * (length + 1.6)
        axes.text(0, top - 0.35, name, ha="left", va="bottom", weight="bold")
        for t, block in enumerate(table.tolist()):
            left = t * (width + 0.45)
            for i, row in enumerate(block):
                for j, number in enumerate(row):
                    head = number % (heads * width) // width
                    box = Rectangle(
                        (left + j, top + i),
                        1,
                        1,
                        ec="white",
                        alpha=0.3,
                        fc=colours[head],
                        gid=f"{name} {t} {head}",
                    )
                    axes.add_patch(box)
                    axes.text(
                        left + j + 0.5,
                        top + i + 0.5,
                        number,
                        ha="center",
                        va="center",
                        fontsize=9.5,
                    )
    axes.set(xlim=(-0.1, 9.5), ylim=(3 * (length + 1.6) - 1.3, -1.2))
    axes.axis("off")
    return axes


def head_colours(axes: Axes) -> dict[str, list[list[str]]]:
    """Of a figure by `cut`: the colours in each table, line by line."""
    found: dict[str, dict[str, list[str]]] = {}
    for patch in axes.patches:
        name, table, head = patch.get_gid().rsplit(" ", 2)
        found.setdefault(name, {}).setdefault(table, []).append(head)
    return {name: list(tables.values()) for name, tables in found.items()}


def sequence_of_curves(
    x: list, named: dict[str, Tensor], labels: tuple[str, str]
) -> Axes:
    """Many points a line, without markers; every second line is dashed."""
    figure, axes = plt.subplots()
    for i, (name, y) in enumerate(named.items()):
        style = "--" if i % 2 else "-"
        axes.plot(x, numbers(y), style, label=name)
    axes.set(xlabel=labels[0], ylabel=labels[1])
    axes.legend(ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1))
    return axes


def image(
    matrix: Tensor, labels: tuple[str, str], limits: tuple[float, float]
) -> Axes:
    """A large matrix of signed numbers as colours, with a scale beside it."""
    figure, axes = plt.subplots(figsize=(4.8, 3.2))
    low, high = limits
    drawn = axes.imshow(
        numbers(matrix), vmin=low, vmax=high, cmap="RdBu", aspect="auto"
    )
    figure.colorbar(drawn, ax=axes, shrink=0.9)
    axes.set(xlabel=labels[0], ylabel=labels[1])
    return axes


def norm_axes(positions: int, features: int) -> list[Axes]:
    """What LayerNorm and BatchNorm average: a row, or a column, is dark."""
    figure, both = plt.subplots(1, 2, figsize=(4.8, 2.9))
    for axes, title in zip(both, ("LayerNorm", "BatchNorm"), strict=True):
        for i in range(positions):
            for j in range(features):
                dark = i == 2 if title == "LayerNorm" else j == 1
                box = Rectangle(
                    (j, i),
                    1,
                    1,
                    fc=QUERY if dark else PLATE,
                    ec="white",
                    lw=2,
                    gid=f"{i} {j}" if dark else None,
                )
                axes.add_patch(box)
        axes.set(xlim=(0, features), ylim=(positions, 0), title=title)
        axes.set(xlabel="feature", ylabel="position")
        axes.set_aspect("equal")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_visible(False)
    return list(both)


def residual_paths() -> list[Axes]:
    """Post-norm and pre-norm: where the norm stands on the path of x."""
    figure, both = plt.subplots(1, 2, figsize=(4.8, 4.2))
    stations = {
        "post-norm": [("+", 1.6), ("norm", 2.4), ("+", 4.6), ("norm", 5.4)],
        "pre-norm": [("+", 2.4), ("+", 5.4)],
    }
    for axes, (title, path) in zip(both, stations.items(), strict=True):
        axes.plot([0, 0], [0, 6.3], color=QUERY, lw=3.5, zorder=0)
        for text, y in path:
            wide = 0.62 if text == "norm" else 0.3
            _station(axes, (0, y), wide, text, "on the path")
        for y in (0.4, 3.4):
            top = y + (1.2 if title == "post-norm" else 2.0)
            axes.plot(
                [0, 1.5, 1.5, 0], [y, y, top, top], color=FAINT, zorder=0
            )
            if title == "pre-norm":
                _station(axes, (1.5, y + 0.62), 0.62, "norm", "branch")
                _station(axes, (1.5, y + 1.4), 0.62, "f", "branch")
            else:
                _station(axes, (1.5, y + 0.6), 0.62, "f", "branch")
        axes.text(0, -0.1, "x", ha="center", va="top", color=INK)
        axes.set(xlim=(-0.9, 2.4), ylim=(-0.6, 6.5), title=title)
        axes.axis("off")
    return list(both)


def _station(axes, centre, half_width, text, gid) -> None:
    """A small box with a word, or a circle with a plus."""
    x, y = centre
    box = Rectangle(
        (x - half_width, y - 0.27),
        2 * half_width,
        0.54,
        fc="white",
        ec=FAINT,
        lw=1,
    )
    axes.add_patch(box)
    axes.text(x, y, text, ha="center", va="center", gid=gid)
