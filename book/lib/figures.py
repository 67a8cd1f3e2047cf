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
TOKEN, MAY = "#DCEAF4", "#2F7FBC"

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
            face = PLATE if pad else TOKEN
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


def _arrow(axes, start, end, colour=FAINT, name=None) -> None:
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
            gid=name,
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


def attention_maps(
    panels: dict[str, Tensor], rows: list[str], columns: list[str]
) -> list[Axes]:
    """Matrices of weights from 0 to 1, two in a row, without numbers.

    A panel's weights are read back with `axes.images[0].get_array()`.
    """
    across = min(2, len(panels))
    lines = -(-len(panels) // 2)
    long = len(columns) * max(map(len, columns)) > 48 // across
    height = 0.8 + (0.36 - 0.06 * across) * len(rows)
    if long:
        height += 0.08 * max(map(len, columns))
    figure, grid = plt.subplots(
        lines, across, figsize=(4.8, height * lines), squeeze=False
    )
    for axes in grid.flat[len(panels) :]:
        axes.remove()
    drawn = list(grid.flat[: len(panels)])
    for axes, (title, matrix) in zip(drawn, panels.items(), strict=True):
        axes.imshow(
            numbers(matrix), vmin=0, vmax=1, cmap="Blues", aspect="auto"
        )
        axes.set_title(title)
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        axes.tick_params(length=0, labelsize=9, pad=2)
        axes.tick_params(axis="x", rotation=90 if long else 0)
        axes.spines[:].set_color("#CCCCCC")
        axes.spines[:].set_visible(True)
        axes.set_xlabel("key")
        if axes in grid[:, 0]:
            axes.set_ylabel("query")
        else:
            axes.tick_params(labelleft=False)
    return drawn


def _box(axes, centre, size, text, colour=PLATE, name=None) -> None:
    """A tinted box with a word in the middle; `name` is the word's gid."""
    (x, y), (width, height) = centre, size
    corner = (x - width / 2, y - height / 2)
    alpha = 1.0 if colour in (PLATE, TOKEN, "white") else 0.25
    axes.add_patch(Rectangle(corner, width, height, fc="white", ec="none"))
    axes.add_patch(
        Rectangle(corner, width, height, fc=colour, ec="none", alpha=alpha)
    )
    axes.text(x, y, text, ha="center", va="center", gid=name)


def _letter(axes, start, end, letter, name, shift=(0.2, 0)) -> None:
    """An arrow in the colour of Q, K or V, with the letter beside it."""
    colour = {"Q": QUERY, "K": KEY, "V": VALUE}[letter]
    _arrow(axes, start, end, colour, name)
    x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    axes.text(
        x + shift[0],
        y + shift[1],
        letter,
        ha="center",
        va="center",
        color=colour,
        fontsize=9,
        weight="bold",
    )


def _dotted(axes, start, end) -> None:
    _arrow(axes, start, end)
    axes.patches[-1].set_linestyle(":")


def _line(axes, xs, ys) -> None:
    axes.plot(xs, ys, color=FAINT, lw=1.2, zorder=1)


def _inputs(axes, x, y, left, part, mask) -> float:
    """What flows into a sub-layer whose box starts at the height `y`.

    Gives the height of the box, whose left edge is at `left`.
    """
    if part == "feed-forward":
        _arrow(axes, (x, y - 0.65), (x, y))
        return 1.0
    if part == "cross-attention":
        height, note = 1.9, y + 1.5
        _letter(axes, (x, y - 0.65), (x, y), "Q", f"{part} Q")
        centre = (0.95, y + 0.55)
        _box(axes, centre, (1.7, 1.1), "memory", OUTPUT, "memory")
        for letter, at in (("K", y + 0.25), ("V", y + 0.8)):
            start, end, gid = (1.8, at), (left, at), f"{part} {letter}"
            _letter(axes, start, end, letter, gid, (-0.2, 0.2))
    else:
        height, note = 1.0, y + 0.5
        _line(axes, [x - 1.2, x + 1.2], [y - 0.65] * 2)
        for at, letter in ((x - 1.2, "Q"), (x, "K"), (x + 1.2, "V")):
            start, end, gid = (at, y - 0.65), (at, y), f"{part} {letter}"
            _letter(axes, start, end, letter, gid)
    axes.text(
        1.0, note, mask, ha="center", va="center", fontsize=9, gid="mask"
    )
    _dotted(axes, (1.9, note), (left, note))
    return height


def _block(parts: dict[str, str], norm_first: bool) -> Axes:
    """One block, bottom to top: its sub-layers, each with its mask or ""."""
    x, left, right, low = 4.9, 3.0, 7.4, 0.9
    figure, axes = plt.subplots()
    plate = Rectangle((2.6, low), 5.4, 1, fc=PLATE, ec="none")
    axes.add_patch(plate)
    _arrow(axes, (x, 0.25), (x, low))
    axes.text(x, 0, "x", ha="center", va="center", gid="station")
    y = low
    for part, mask in parts.items():
        leave = y + 0.2
        _line(axes, [x, x], [y, y + 0.4])
        y += 0.4
        if norm_first:
            _arrow(axes, (x, y), (x, y + 0.3))
            _station(axes, (x, y + 0.57), 0.62, "norm", "station")
            _line(axes, [x, x], [y + 0.84, y + 1.1])
            y += 1.1
        y += 0.65
        height = _inputs(axes, x, y, left, part, mask)
        centre = (x, y + height / 2)
        _box(axes, centre, (2 * (x - left), height), part, "white", "station")
        y += height
        _arrow(axes, (x, y), (x, y + 0.35))
        y += 0.62
        _line(axes, [x, right, right], [leave, leave, y])
        _arrow(axes, (right, y), (x + 0.3, y), FAINT, "residual")
        _station(axes, (x, y), 0.3, "+", "station")
        y += 0.27
        if not norm_first:
            _arrow(axes, (x, y), (x, y + 0.35))
            _station(axes, (x, y + 0.62), 0.62, "norm", "station")
            y += 0.89
    high = y + 0.25
    plate.set_height(high - low)
    _arrow(axes, (x, y), (x, high + 0.5))
    brace = [8.15, 8.35, 8.35, 8.15]
    axes.plot(brace, [low, low, high, high], color=INK, lw=1.2)
    middle = (low + high) / 2
    axes.text(8.5, middle, "N\ntimes", va="center", gid="repeat")
    axes.set(xlim=(0, 9.6), ylim=(-0.3, high + 0.6))
    figure.set_size_inches(4.8, (high + 0.9) / 2)
    axes.axis("off")
    return axes


def encoder_block(norm_first: bool = False) -> Axes:
    """An encoder block, bottom to top; gid "station" names its stations."""
    parts = {"self-attention": "padding\nmask", "feed-forward": ""}
    return _block(parts, norm_first)


def decoder_block(norm_first: bool = False) -> Axes:
    """A decoder block, bottom to top; gid "station" names its stations."""
    parts = {
        "causal self-attention": "causal and\npadding\nmask",
        "cross-attention": "memory\nmask",
        "feed-forward": "",
    }
    return _block(parts, norm_first)


def three_attentions() -> Axes:
    """Encoder, decoder and cross-attention: where Q, K, V and masks are from.

    The last source token and the last target token are padding. An arrow's
    gid is attention, letter, origin, as in "cross K memory"; that of a cell
    of a mask is attention, "open" or "closed", query, key.
    """
    figure, axes = plt.subplots(figsize=(4.8, 4.2))
    names = {
        "encoder": ("encoder\nself-attention", "padding\nmask"),
        "decoder": ("decoder\nself-attention", "causal and\npadding mask"),
        "cross": ("decoder\ncross-attention", "memory\nmask"),
    }
    origins = {
        "encoder": dict.fromkeys("QKV", "source"),
        "decoder": dict.fromkeys("QKV", "target"),
        "cross": {"Q": "target", "K": "memory", "V": "memory"},
    }
    lengths = {"source": 4, "target": 5, "memory": 4}
    for column, (name, (title, mask)) in enumerate(names.items()):
        x, froms = 1.6 + 3.2 * column, origins[name]
        boxes = [(froms["Q"], 0, 2.9)]
        ends = (-1, 0, 1)
        if name == "cross":
            boxes = [("target", -0.85, 1.2), ("memory", 0.65, 1.6)]
            ends = (-0.85, 0.25, 1.05)
        for origin, at, wide in boxes:
            memory = origin == "memory"
            text = origin if memory else f"{origin}\nstates"
            colour = OUTPUT if memory else TOKEN
            _box(axes, (x + at, 0.6), (wide, 1.1), text, colour, "origin")
        for letter, at in zip("QKV", ends, strict=True):
            gid = f"{name} {letter} {froms[letter]}"
            start, end = (x + at, 1.15), (x + at, 2.25)
            _letter(axes, start, end, letter, gid)
        _box(axes, (x, 2.8), (2.9, 1.1), title, PLATE, "attention")
        axes.text(x, 4.25, mask, ha="center", va="center", gid="mask")
        _dotted(axes, (x, 3.85), (x, 3.35))
        rows, keys = lengths[froms["Q"]], lengths[froms["K"]]
        left, top = x - keys / 4, 4.8 + rows / 2
        for i in range(rows):
            for j in range(keys):
                seen = j < keys - 1 and (name != "decoder" or j <= i)
                box = Rectangle(
                    (left + j / 2, top - (i + 1) / 2),
                    0.5,
                    0.5,
                    fc=MAY if seen else PLATE,
                    ec="white",
                    lw=1.5,
                    gid=f"{name} {'open' if seen else 'closed'} {i} {j}",
                )
                axes.add_patch(box)
        note = {"ha": "center", "va": "center", "fontsize": 9}
        axes.text(x, top + 0.2, "key", **note)
        axes.text(left - 0.2, top - rows / 4, "query", rotation=90, **note)
    axes.set(xlim=(0, 9.6), ylim=(0, 7.7))
    axes.axis("off")
    return axes


def _chip(axes, left, middle, token, colour, name) -> float:
    """A token in a box as wide as its letters; gives its right edge."""
    width = 0.2 + 0.17 * max(2, len(token))
    _box(axes, (left + width / 2, middle), (width, 0.5), token, colour, name)
    axes.texts[-1].set_fontsize(8.5)
    return left + width


def decoding_steps(source: list[str], target: list[str]) -> Axes:
    """Encode once, then one run of the decoder for each token of `target`.

    Time runs downward. Gids, each on as many artists as there are: "source",
    "encoder run", "memory", and of step 1 "memory to step 1", "input 1",
    "decoder run 1" and "output 1". The first input is BOS.
    """
    figure, axes = plt.subplots()
    inputs = ["BOS", *target[:-1]]
    bar, pitch, right = 3.6, 1.35, 9.5
    fed = None
    for step, token in enumerate(target):
        top = -pitch * step
        middle = top - 0.37
        gid = f"memory to step {step + 1}"
        _arrow(axes, (2.98, middle), (bar, middle), OUTPUT, gid)
        plate = Rectangle((bar, top - 1.15), 1, 1.15, fc=PLATE, ec="none")
        axes.add_patch(plate)
        axes.text(
            bar + 0.12,
            top - 0.88,
            f"decoder, step {step + 1}",
            va="center",
            fontsize=8.5,
            gid=f"decoder run {step + 1}",
        )
        edge = bar + 0.06
        for given in inputs[: step + 1]:
            left = edge + 0.06
            gid = f"input {step + 1}"
            edge = _chip(axes, left, middle, given, TOKEN, gid)
        if fed:
            _arrow(axes, fed, ((left + edge) / 2, middle + 0.25))
        end = max(edge + 0.12, bar + 2.2)
        plate.set_width(end - bar)
        _arrow(axes, (end, middle), (end + 0.4, middle))
        gid = f"output {step + 1}"
        edge = _chip(axes, end + 0.4, middle, token, OUTPUT, gid)
        fed = (end + 0.4 + edge) / 2, middle - 0.25
        right = max(right, edge)
    y = 0.0
    for token in source:
        _box(axes, (1.0, y - 0.25), (1.7, 0.5), token, TOKEN, "source")
        axes.texts[-1].set_fontsize(8.5)
        y -= 0.56
    _arrow(axes, (1.0, y), (1.0, y - 0.5))
    y -= 1.0
    _box(axes, (1.0, y), (1.7, 1.0), "encoder", PLATE, "encoder run")
    _arrow(axes, (1.85, y), (2.38, y))
    bottom = min(y - 0.5, 0.2 - pitch * len(target))
    _box(axes, (2.68, bottom / 2), (0.6, -bottom), "memory", OUTPUT, "memory")
    axes.texts[-1].set_rotation(90)
    axes.set(xlim=(0, right + 0.1), ylim=(bottom - 0.1, 0.1))
    figure.set_size_inches((right + 0.1) / 2, (0.2 - bottom) / 2)
    axes.axis("off")
    return axes


def _shortest(edges, start, end) -> list:
    """The shortest way over directed edges, as a list of edges."""
    ways = {start: []}
    while end not in ways:
        ways |= {
            edge[1]: [*ways[edge[0]], edge]
            for edge in edges
            if edge[0] in ways and edge[1] not in ways
        }
    return ways[end]


def paths(length: int) -> list[Axes]:
    """From the first input to the last output, on the shortest way.

    Recurrent network, convolution of width 3, self-attention. The gid of the
    lines of the way is "path", of all other connections "connection"; a line
    leads from its first point to its second.
    """
    last = length - 1
    steps, positions = range(last), range(length)
    recurrence = [((j, 0), (j, 1)) for j in positions]
    recurrence += [((j, 1), (j + 1, 1)) for j in steps]
    convolution = [
        ((j, layer), (i, layer + 1))
        for layer in steps
        for j in positions
        for i in positions
        if abs(i - j) <= 1
    ]
    attention = [((j, 0), (i, 1)) for j in positions for i in positions]
    panels = {
        "recurrent network": (recurrence, 1),
        "convolution of width 3": (convolution, last),
        "self-attention": (attention, 1),
    }
    heights = [layers + 0.9 for _, layers in panels.values()]
    size = (4.8, 1.0 + 0.5 * sum(heights))
    figure, stack = plt.subplots(3, 1, figsize=size, height_ratios=heights)
    for axes, (title, (edges, layers)) in zip(
        stack, panels.items(), strict=True
    ):
        way = _shortest(edges, (0, 0), (last, layers))
        for edge in edges:
            xs, ys = zip(*edge, strict=True)
            if edge in way:
                style = {"color": KEY, "lw": 2.6, "zorder": 2, "gid": "path"}
            else:
                style = {"color": "#CCCCCC", "lw": 0.8, "gid": "connection"}
            axes.plot(xs, ys, **style)
        circles = [(j, y) for y in range(layers + 1) for j in positions]
        axes.scatter(
            *zip(*circles, strict=True), 60, "white", ec=INK, zorder=3
        )
        for y, name in ((0, "input"), (layers, "output")):
            axes.text(-0.25, y, name, ha="right", va="center", fontsize=9)
        plural = "s" if len(way) > 1 else ""
        axes.set_title(f"{title}: {len(way)} step{plural}")
        axes.set(xlim=(-1.0, last + 0.2), ylim=(-0.35, layers + 0.35))
        axes.axis("off")
    return list(stack)


def ranges(named: dict[str, Tensor], label: str) -> Axes:
    """For each name a line from the least to the most, a dot at the median.

    The lines have the gid "range", the dots "median".
    """
    figure, axes = plt.subplots(figsize=(4.8, 0.6 + 0.27 * len(named)))
    for row, values in enumerate(map(numbers, named.values())):
        middle = sorted(values)[len(values) // 2]
        ends = [min(values), max(values)]
        axes.plot(ends, [row, row], color=QUERY, lw=3, alpha=0.4, gid="range")
        axes.plot([middle], [row], "o", color=QUERY, gid="median")
    axes.set_yticks(range(len(named)), list(named))
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel(label)
    axes.grid(axis="x")
    axes.tick_params(axis="y", length=0)
    return axes


def decoding_tree(
    first: dict[str, float], second: dict[str, dict[str, float]]
) -> Axes:
    """All texts of two tokens, with their probabilities at the leaves.

    A leaf's gid is its text. Lines have the gid "greedy A" or "best B" where
    the greedy or the best text passes.
    """
    texts = {
        a + b: p * q for a, p in first.items() for b, q in second[a].items()
    }
    best = max(texts, key=texts.get)
    start = max(first, key=first.get)
    greedy = start + max(second[start], key=second[start].get)
    figure, axes = plt.subplots(figsize=(4.8, 0.5 + 0.42 * len(texts)))
    heights = {text: -i for i, text in enumerate(texts)}
    above = {
        a: sum(heights[a + b] for b in second[a]) / len(second[a])
        for a in first
    }
    root = sum(above.values()) / len(above)
    for a, p in first.items():
        _branch(axes, (0, root), (1, above[a]), a, (greedy, best))
        _label(axes, (1, above[a]), f"{a}  {p:g}")
        for b, q in second[a].items():
            end = (2, heights[a + b])
            _branch(axes, (1, above[a]), end, a + b, (greedy, best))
            _label(axes, end, f"{b}  {q:g}")
            value = f"{texts[a + b]:.2f}"
            axes.text(2.5, end[1], value, va="center", gid=a + b)
    _label(axes, (0, root), "start")
    axes.set(xlim=(-0.25, 2.8), ylim=(0.6 - len(texts), 0.6))
    axes.axis("off")
    return axes


def _branch(axes, start, end, text, taken) -> None:
    """A line of the tree, coloured where the greedy or best text passes."""
    greedy, best = (path.startswith(text) for path in taken)
    colour = KEY if greedy else QUERY if best else FAINT
    name = f"greedy {text}" if greedy else f"best {text}" if best else None
    width = 1.0 if name is None else 2.5
    axes.plot(*zip(start, end, strict=True), color=colour, lw=width, gid=name)


def _label(axes, at, text) -> None:
    box = {"fc": "white", "ec": FAINT, "boxstyle": "round,pad=0.3"}
    axes.text(*at, text, ha="center", va="center", bbox=box)
