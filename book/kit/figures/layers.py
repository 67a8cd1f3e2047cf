"""Chapter 7: norms, residual paths and the feed-forward network."""

from .canvas import bare, drawing, each, frameless, numbers, panels, plot
from .colours import ACCENT, BROWN, FAINT, INK, PLATE, SECOND, TOKEN
from .kinds import Axes, Named, Names, Panels
from .marks import arrow, beside, box, cell, climb, detour, line, stop, words

# The ways to join a layer to the path, in one colour each.
INKS = {
    "plain": BROWN,
    "residual": INK,
    "no norm": INK,
    "post-norm": ACCENT,
    "pre-norm": SECOND,
}


def one_layer(names: Names) -> Axes:
    """Words side by side through one layer, from bottom to top.

    The arrows between words have the gid "across".
    """
    places = [1.7 * i for i in range(len(names))]
    edge, last = places[-1] + 1.4, places[-1]
    axes = drawing(5.0, (-0.7, edge + 1.7), (-0.8, 7.8))
    for x in places:
        detour(axes, x, 0.3, 2.8)
    box(axes, (last / 2 + 0.72, 1.5), (last + 0.84, 1.5), "", TOKEN)
    stations = {2.8: "+", 3.6: "norm", 6.0: "+", 6.8: "norm"}
    for x, name in zip(places, names, strict=True):
        for end in places:
            ends = (x + 0.72, 0.85), (end + 0.72, 2.15)
            arrow(axes, *ends, INK, "across", lw=1.0, head=7)
        words(axes, (x, -0.25), name, va="top")
        climb(axes, x, stations, 7.7, {"+": 0.27, "norm": 0.48})
        detour(axes, x, 4.2, 6.0)
        box(axes, (x + 0.72, 5.1), (0.84, 0.9), "feed\nfwd", fontsize=9)
    notes = {"attention:\nwords read\nwords": 1.5, "each alone": 5.1}
    beside(axes, edge, notes, 9.5, ha="left")
    return axes


def by_layer(named: Named, label: str, log: str = "") -> Axes:
    """One line for each name, from the first layer to the last.

    `log` is the form of the numbers on a logarithmic axis, or "10^n".
    """
    axes = plot()
    for name, values in named.items():
        y, style = numbers(values), {"lw": 2.4, "color": INKS[name]}
        axes.plot(range(1, len(y) + 1), y, label=name, **style)
    axes.set(xlabel="layer", ylabel=label, xlim=(1, len(y)))
    if log:
        axes.set_yscale("log")
        if log != "10^n":  # which is the form that such an axis has
            axes.yaxis.set_major_formatter(log)
        axes.minorticks_off()
    else:
        axes.set_ylim(bottom=0)
    axes.grid(axis="y")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(named))
    return axes


def norm_steps(rows: Named) -> Axes:
    """The entries of a vector on a line, step after step.

    Every dot has the gid "step entry"; arrows lead it to the next line.
    """
    axes, steps = plot(3.2), [numbers(row) for row in rows.values()]
    last, plate = len(steps) - 1, {"fc": "white", "ec": "none", "pad": 1}
    axes.axvline(0, color=FAINT, lw=0.8, zorder=0)
    for i, values in enumerate(steps):
        axes.axhline(-i, color="#D0D0D0", lw=1.0, zorder=0)
        for j, value in enumerate(values):
            axes.plot([value], [-i], "o", color=ACCENT, ms=8, gid=f"{i} {j}")
            near = [v for v in values if 0 < abs(v - value) < 0.7]
            lower = j % 2 if near else 0  # beside one another is no room
            above = 0.2 if i < last else -0.2 - 0.24 * lower
            text = f"{value + 0.0:.2f}".removesuffix(".00").replace("-", "−")
            words(axes, (value, above - i), text, 9, bbox=plate)
            if i < last:
                end = (steps[i + 1][j], -i - (0.9 if i + 1 == last else 0.66))
                arrow(axes, (value, -i - 0.1), end)
    low, high = min(map(min, steps)), max(map(max, steps))
    axes.set(xlim=(low - 0.5, high + 0.5), ylim=(-last - 0.6, 0.4))
    frameless(axes, ([], []), ([-i for i in range(len(steps))], list(rows)))
    return axes


def _squares(axes, dark) -> None:
    """A table in which some cells are dark; they have the gid "row column"."""
    for i, j, is_dark in each(dark):
        face, gid = (ACCENT, f"{i} {j}") if is_dark else (PLATE, None)
        cell(axes, (j, i), (1, 1), face, ec="white", lw=2, gid=gid)
    axes.set(xlim=(0, len(dark[0])), ylim=(len(dark), 0))


def norm_axes(positions: int, features: int) -> Panels:
    """What LayerNorm and BatchNorm average: a row, or a column, is dark."""
    both = panels(1, 2, 2.9)
    rows, columns = range(positions), range(features)
    dark = {
        "LayerNorm": [[i == 2 for _ in columns] for i in rows],
        "BatchNorm": [[j == 1 for j in columns] for _ in rows],
    }
    for axes, (title, table) in zip(both, dark.items(), strict=True):
        _squares(axes, table)
        axes.set(xlabel="feature", ylabel="position", aspect="equal")
        axes.set_title(title)
        frameless(axes, ([], []), ([], []))
    return both


def memory(rows: Names, parts: dict[str, tuple]) -> Panels:
    """What words hold, which units fire, what these write; arrows between.

    Each part is (names of the columns, matrix of 0 and 1). A full cell has
    the gid "row column".
    """
    wide = [len(columns) for columns, _ in parts.values()]
    row = panels(1, len(parts), 3.6, width_ratios=wide)
    for axes, (title, (columns, matrix)) in zip(
        row, parts.items(), strict=True
    ):
        _squares(axes, numbers(matrix))
        axes.set_title(title, fontsize=10)
        middles = [j + 0.5 for j in range(len(columns))]
        lines = [i + 0.5 for i in range(len(rows))]
        left = rows if axes is row[0] else [""] * len(rows)
        frameless(axes, (middles, columns), (lines, left))
        axes.tick_params(axis="x", rotation=90, labelsize=9.5)
    for axes in row[:-1]:
        style = {"clip_on": False, "transform": axes.transAxes}
        arrow(axes, (1.02, 0.5), (1.02 + 0.6 / wide[0], 0.5), INK, **style)
    return row


NORMS = {  # stations on the path of x, and beside it, by their height
    "post-norm": ({1.75: "+", 2.7: "norm"}, {0.75: "$f$"}, 1.75),
    "pre-norm": ({2.7: "+"}, {0.65: "norm", 1.5: "$f$"}, 2.7),
}


def residual_paths() -> Panels:
    """Post-norm and pre-norm: where the norm stands on the path of x."""
    both, far = panels(1, 2, 4.6), 3.2
    for axes, (title, parts) in zip(both, NORMS.items(), strict=True):
        on_path, branch, plus = parts
        stations = on_path | {y + far: text for y, text in on_path.items()}
        climb(axes, 0, stations, 6.75, {"norm": 0.62, "+": 0.3}, "on the path")
        for shift in (0.35, 0.35 + far):
            line(axes, (0, shift), (1.5, shift), zorder=0)
            low, end = shift, shift + plus - 0.35
            for above, text in branch.items():
                y = shift + above
                arrow(axes, (1.5, low), (1.5, y - 0.27))
                stop(axes, (1.5, y), 0.62, text, "branch")
                low = y + 0.27
            line(axes, (1.5, low), (1.5, end), zorder=0)
            arrow(axes, (1.5, end), (0.3, end))
        words(axes, (0, -0.25), "$x$", va="top")
        axes.set_title(title)
        bare(axes, (-0.9, 2.4), (-0.7, 6.85))
    return both
