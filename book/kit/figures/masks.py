"""Chapter 4: what may be seen."""

from matplotlib.patches import ConnectionPatch

from .canvas import drawing, each, numbers, panels, titled
from .colours import ACCENT, FAINT, INK, TOKEN
from .kinds import Axes, Named, Names, Panels, Tensor
from .marks import arrow, box, cell, words
from .plots import seams, shaded, two_digits


def reads_and_says(reads: Names, says: Names) -> Axes:
    """Row t: the tokens up to t, the hidden ones, and what must be said."""
    many = len(reads)
    axes = drawing(0.5 + 0.42 * many, (-0.1, many + 2.1), (many - 0.35, -1.05))
    words(axes, (many / 2 - 0.05, -0.8), "reads", color=FAINT)
    words(axes, (many + 1.4, -0.8), "must say", color=FAINT)
    small = {"fontsize": 9}
    for t, must in enumerate(says):
        for j, token in enumerate(reads):
            at, corner, size = (j + 0.45, t), (j, t - 0.36), (0.9, 0.72)
            if j <= t:
                box(axes, at, size, token, TOKEN, **small)
            elif j == t + 1:
                words(axes, at, "?", 9, color=FAINT)
                cell(axes, corner, size, ec=ACCENT, ls=":", lw=1.5)
            else:
                cell(axes, corner, size)
        arrow(axes, (many + 0.08, t), (many + 0.75, t))
        box(axes, (many + 1.4, t), (1.15, 0.72), must, ACCENT, **small)
    return axes


def _table(axes, title, texts, shades, rows, columns) -> None:
    """A square of texts on shades of blue; an empty label is left out."""
    shaded(axes, shades, rows, columns)
    for i, j, text in each(texts):
        ink = FAINT if "∞" in text else INK
        words(axes, (j, i), text, 9, color=ink, gid=f"{i} {j}")
    axes.tick_params(labelsize=9, pad=1)
    axes.tick_params(axis="x", rotation=90)
    axes.tick_params(axis="y", pad=4)
    seams(axes, len(texts), len(texts))
    axes.set_title(title)


def masking_steps(
    scores: Tensor, mask: Tensor, weights: Tensor, names: Names
) -> Panels:
    """Scores plus a mask of 0 and -inf, their sum, and its softmax.

    The text of a cell has the gid "row column".
    """
    four = a, b, c, d = panels(2, 2, 5.5)
    a.figure.get_layout_engine().set(wspace=0.16, hspace=0.05)
    signed, shares = two_digits(numbers(scores)), numbers(weights)
    added = [["−∞" if m else "0" for m in row] for row in mask]
    both = [
        ["−∞" if m else s for m, s in zip(*pair, strict=True)]
        for pair in zip(mask, signed, strict=True)
    ]
    written = [[f"{p:.2f}" if p else "0" for p in row] for row in shares]
    seen, none = numbers(0.07 * ~mask), [""] * len(names)
    plain = [[0.07] * len(names)] * len(names)
    _table(a, "scores", signed, plain, names, none)
    _table(b, "mask", added, seen, none, none)
    _table(c, "scores + mask", both, seen, names, names)
    _table(d, "weights", written, shares, none, names)
    style = {"arrowstyle": "-|>", "mutation_scale": 12, "color": FAINT}
    for start, end, out, into in (
        (b, c, (-0.01, -0.01), (1.01, 1.01)),
        (c, d, (1.03, 0.5), (-0.03, 0.5)),
    ):
        where = {"coordsA": start.transAxes, "coordsB": end.transAxes}
        joint = ConnectionPatch(out, into, **where, **style, lw=1.3)
        joint.set_in_layout(False)
        a.figure.add_artist(joint)
    for axes, height, text in ((a, 0.5, "+"), (c, 0.6, "soft\nmax")):
        place = {"transform": axes.transAxes, "in_layout": False}
        words(axes, (1.1, height), text, **place)
    return four


def mask_panels(masks: Named, rows: Names, columns: Names) -> Panels:
    """Boolean matrices, two in a row: blue with a dot = may attend."""
    lines = -(-len(masks) // 2)
    grid = panels(lines, 2, 0.5 + 1.9 * lines)
    for axes, mask in titled(grid, masks):
        mask = mask.expand(len(rows), len(columns))
        shaded(axes, numbers(mask), rows, columns, "Blues", 1.6)
        i, j = mask.nonzero(as_tuple=True)
        axes.plot(j.tolist(), i.tolist(), "o", color="white", markersize=3)
        seams(axes, len(rows), len(columns))
        axes.label_outer()
    return grid


def nan_spreads(
    finite: list[Tensor], may_attend: Tensor, tokens: Names
) -> Axes:
    """Which rows are numbers, layer by layer; dashed: a NaN times weight 0.

    The gids are "nan layer token", "finite layer token" and, of the dashed
    arrows, "zero layer from to".
    """
    layers, many = len(finite), len(tokens)
    xlim, ylim = (-1.2, many - 0.55), (-0.35, layers - 0.65)
    axes = drawing(0.5 + 0.85 * layers, xlim, ylim)
    for layer, row in enumerate(finite):
        name = f"layer {layer}" if layer else "input"
        words(axes, (-1.15, layer), name, ha="left", color=FAINT)
        for j, alive in enumerate(row.tolist()):
            text = "finite" if layer else tokens[j]
            kind, colour = ("finite", TOKEN) if alive else ("nan", ACCENT)
            gid = f"{kind} {layer} {j}"
            shown = text if alive else "NaN"
            box(axes, (j, layer), (0.76, 0.4), shown, colour, gid)
    for layer, row in enumerate(finite[:-1]):
        low, high = layer + 0.22, layer + 0.78
        for i, j in may_attend.nonzero().tolist():
            arrow(axes, (j, low), (i, high))
        for j in (~row).nonzero().flatten().tolist():
            for i in row.nonzero().flatten().tolist():
                name = f"zero {layer} {j} {i}"
                arrow(axes, (j, low), (i, high), ACCENT, name, linestyle="--")
        if not row.all():
            words(axes, (0.15, layer + 0.57), "0 × NaN", color=FAINT)
    return axes
