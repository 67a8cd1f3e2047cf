"""Chapter 4: what may be seen."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import ConnectionPatch
from torch import Tensor

from kit.figures.marks import (
    ACCENT,
    FAINT,
    INK,
    TINT,
    TOKEN,
    arrow,
    bare,
    box,
    cell,
    frameless,
    numbers,
    words,
)


def reads_and_says(reads: list[str], says: list[str]) -> Axes:
    """Row t: the tokens up to t, the hidden ones, and what must be said.

    The gids are "reads t j", "hidden t j" and "says t".
    """
    many = len(reads)
    figure, axes = plt.subplots(figsize=(5.4, 0.5 + 0.42 * many))
    bare(axes, (-0.1, many + 2.1), (many - 0.35, -1.05))
    words(axes, (many / 2 - 0.05, -0.8), "reads", color=FAINT)
    words(axes, (many + 1.4, -0.8), "must say", color=FAINT)
    for t in range(many):
        for j in range(many):
            if j <= t:
                middle, name = (j + 0.45, t), f"reads {t} {j}"
                box(
                    axes,
                    middle,
                    (0.9, 0.72),
                    reads[j],
                    TOKEN,
                    name,
                    fontsize=9,
                )
                continue
            style = {"gid": f"hidden {t} {j}"}
            if j == t + 1:
                style |= {"ec": ACCENT, "ls": ":", "lw": 1.5}
                words(axes, (j + 0.45, t), "?", color=FAINT, fontsize=9)
            cell(axes, (j, t - 0.36), (0.9, 0.72), **style)
        arrow(axes, (many + 0.08, t), (many + 0.75, t))
        middle = (many + 1.4, t)
        box(
            axes,
            middle,
            (1.15, 0.72),
            says[t],
            ACCENT,
            f"says {t}",
            fontsize=9,
        )
    return axes


def _seams(axes, down: int, across: int) -> None:
    """White lines between the cells of a table."""
    style = {"color": "white", "linewidth": 1.5}
    axes.hlines(
        [i + 0.5 for i in range(down - 1)], -0.5, across - 0.5, **style
    )
    axes.vlines(
        [j + 0.5 for j in range(across - 1)], -0.5, down - 0.5, **style
    )


def _table(axes, title, entries, shades, rows, columns) -> None:
    """A square of entries on shades of blue; an empty label is left out."""
    axes.imshow(shades, vmin=0, vmax=1, cmap=TINT, aspect="auto")
    for i, row in enumerate(entries):
        for j, entry in enumerate(row):
            ink = FAINT if "∞" in entry else INK
            words(axes, (j, i), entry, color=ink, fontsize=9, gid=f"{i} {j}")
    many = range(len(entries))
    frameless(axes, (many, columns), (many, rows))
    axes.tick_params(labelsize=9, pad=1)
    axes.tick_params(axis="x", rotation=90)
    axes.tick_params(axis="y", pad=4)
    _seams(axes, len(entries), len(entries))
    axes.set_title(title)


def masking_steps(
    scores: Tensor, mask: Tensor, weights: Tensor, words_: list[str]
) -> list[Axes]:
    """Scores plus a mask of 0 and -inf, their sum, and its softmax.

    The text of a cell has the gid "row column".
    """
    figure, grid = plt.subplots(2, 2, figsize=(5.4, 5.5))
    given, hidden = numbers(scores), numbers(mask)
    signed = [[f"{s:.2f}" for s in row] for row in given]
    added = [["−∞" if m else "0" for m in row] for row in hidden]
    shares = numbers(weights)
    both = [
        ["−∞" if m else s for m, s in zip(*pair, strict=True)]
        for pair in zip(hidden, signed, strict=True)
    ]
    plain = [[0.07] * len(words_) for _ in words_]
    seen = [[0.0 if m else 0.07 for m in row] for row in hidden]
    written = [[f"{p:.2f}" if p else "0" for p in row] for row in shares]
    none = [""] * len(words_)
    figure.get_layout_engine().set(wspace=0.16, hspace=0.05)
    a, b, c, d = grid.flat
    _table(a, "scores", signed, plain, words_, none)
    _table(b, "mask", added, seen, none, none)
    _table(c, "scores + mask", both, seen, words_, words_)
    _table(d, "weights", written, shares, none, words_)
    return _joined([a, b, c, d])


def _joined(panels: list[Axes]) -> list[Axes]:
    """The signs and arrows between four panels."""
    a, b, c, d = panels
    style = {"arrowstyle": "-|>", "mutation_scale": 12, "color": FAINT}
    for start, end, out, into in (
        (b, c, (-0.01, -0.01), (1.01, 1.01)),
        (c, d, (1.03, 0.5), (-0.03, 0.5)),
    ):
        where = {"coordsA": start.transAxes, "coordsB": end.transAxes}
        joint = ConnectionPatch(out, into, **where, **style, lw=1.3)
        joint.set_in_layout(False)
        start.figure.add_artist(joint)
    for axes, height, text in ((a, 0.5, "+"), (c, 0.6, "soft\nmax")):
        style = {"transform": axes.transAxes, "in_layout": False}
        words(axes, (1.1, height), text, color=INK, **style)
    return panels


def mask_panels(
    panels: dict[str, Tensor], rows: list[str], columns: list[str]
) -> list[Axes]:
    """Boolean matrices, two in a row: blue with a dot = may attend."""
    lines, across, down = -(-len(panels) // 2), len(columns), len(rows)
    figure, grid = plt.subplots(lines, 2, figsize=(5.4, 0.5 + 1.9 * lines))
    for axes, (title, mask) in zip(grid.flat, panels.items(), strict=True):
        cells = mask.cpu().expand(down, across)
        style = {"vmin": 0, "vmax": 1.6, "cmap": "Blues", "aspect": "auto"}
        axes.imshow(numbers(cells), **style)
        i, j = cells.nonzero(as_tuple=True)
        axes.plot(j.tolist(), i.tolist(), "o", color="white", markersize=3)
        axes.set_title(title)
        _seams(axes, down, across)
        frameless(axes, (range(across), columns), (range(down), rows))
        axes.label_outer()
    return list(grid.flat)


def nan_spreads(
    finite: list[Tensor], may_attend: Tensor, tokens: list[str]
) -> Axes:
    """Which rows are numbers, layer by layer; dashed: a NaN times weight 0.

    The gids are "nan layer token", "finite layer token" and, of the dashed
    arrows, "zero layer from to".
    """
    layers, many = len(finite), len(tokens)
    figure, axes = plt.subplots(figsize=(5.4, 0.5 + 0.85 * layers))
    bare(axes, (-1.2, many - 0.55), (-0.35, layers - 0.65))
    for layer, row in enumerate(finite):
        name = f"layer {layer}" if layer else "input"
        words(axes, (-1.15, layer), name, ha="left", color=FAINT)
        for j, alive in enumerate(row.tolist()):
            text = (tokens[j] if layer == 0 else "finite") if alive else "NaN"
            name = f"{'finite' if alive else 'nan'} {layer} {j}"
            colour = TOKEN if alive else ACCENT
            box(axes, (j, layer), (0.76, 0.4), text, colour, name)
    for layer, row in enumerate(finite[:-1]):
        for i, j in may_attend.nonzero().tolist():
            arrow(axes, (j, layer + 0.22), (i, layer + 0.78), FAINT)
        for j in (~row).nonzero().flatten().tolist():
            for i in row.nonzero().flatten().tolist():
                ends = (j, layer + 0.22), (i, layer + 0.78)
                name = f"zero {layer} {j} {i}"
                arrow(axes, *ends, ACCENT, name, linestyle="--")
        if not row.all():
            words(axes, (0.15, layer + 0.57), "0 × NaN", color=FAINT)
    return axes
