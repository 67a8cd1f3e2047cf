"""Plots that several chapters draw."""

from .canvas import each, frameless, numbers, plot
from .colours import BEHIND, FAINT, INK, TINT
from .kinds import Axes, Named, Names, Pair, Tensor
from .marks import arrow, entry, visible, words


def shaded(axes, cells, rows, columns, colours=TINT, top=1.0) -> None:
    """A matrix of numbers from 0 to `top` as colours, with names beside it."""
    axes.imshow(cells, vmin=0, vmax=top, cmap=colours, aspect="auto")
    frameless(axes, (range(len(columns)), columns), (range(len(rows)), rows))


def seams(axes, rows, columns, lw=1.5) -> None:
    """White lines between the cells of a matrix."""
    style = {"color": "white", "lw": lw}
    axes.hlines(
        [i + 0.5 for i in range(rows - 1)], -0.5, columns - 0.5, **style
    )
    axes.vlines(
        [j + 0.5 for j in range(columns - 1)], -0.5, rows - 0.5, **style
    )


def entries(axes, texts, size=None) -> None:
    """A text in each cell of a matrix."""
    for i, j, text in each(texts):
        words(axes, (j, i), text, size)


def informed(axes, knows: Tensor, tokens: Names, names: Names) -> None:
    """Which rows know of one token: a line of cells for each layer.

    `knows` is boolean, (layers, length), the input first. Cells have the gid
    "knows h j" or "not h j"; arrows lead from the last informed place to the
    next line, or, if that is called full, from the first.
    """
    style = {"ec": FAINT, "lw": 0.7, "look": {"fontsize": 9.5}}
    for h, row in enumerate(knows.tolist()):
        low = 1.5 * h
        words(axes, (-0.3, low + 0.5), names[h], 9.5, ha="right")
        for j, is_informed in enumerate(row):
            gid = f"{'knows' if is_informed else 'not'} {h} {j}"
            colour = BEHIND if is_informed else "white"
            where = (j + 0.06, low), (0.88, 1)
            entry(axes, *where, tokens[j], colour, gid=gid, **style)
        if h:
            below = knows[h - 1].nonzero()
            start = below.min() if names[h] == "full" else below.max()
            start = start.item()
            for end in range(start, len(row)):
                if row[end]:
                    ends = (start + 0.5, low - 0.5), (end + 0.5, low)
                    arrow(axes, *ends, INK, lw=0.7, head=6)


def two_digits(cells) -> list[Names]:
    return [[f"{number:.2f}" for number in row] for row in cells]


def heatmap(
    matrix: Tensor,
    rows: Names,
    columns: Names,
    title: str = "",
    axis_names: Pair = ("query", "key"),
) -> Axes:
    """A matrix of weights from 0 to 1; numbers in cells up to 8 x 8."""
    cells = numbers(matrix)
    axes = plot(1.4 + 0.42 * len(rows))
    few = max(len(rows), len(columns)) <= 8
    columns = list(map(visible, columns))
    shaded(axes, cells, rows, columns, TINT if few else "Blues")
    axes.set(title=title, ylabel=axis_names[0], xlabel=axis_names[1])
    if few:
        entries(axes, two_digits(cells))
    return axes


def powers_of_two(axes, ticks, form="g") -> None:
    """Ticks of a logarithmic x-axis."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [format(place, form) for place in ticks])
    axes.minorticks_off()


def curves(
    x: list, named: Named, labels: Pair, title: str = "", log: str = ""
) -> Axes:
    """One line for each name; a name that starts with "line:" is dashed."""
    axes = plot()
    for name, y in named.items():
        style = {"marker": "o", "zorder": 3}
        if name.startswith("line:"):  # wider, to be seen under another line
            style = {"ls": "--", "color": FAINT, "lw": 5, "alpha": 0.5}
        axes.plot(x, numbers(y), label=name.removeprefix("line:"), **style)
    if "x" in log:
        powers_of_two(axes, x)
    else:
        axes.set_xticks(x if len(x) < 9 else x[:: len(x) // 4])
    if "y" in log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
    elif all(min(numbers(y)) >= 0 for y in named.values()):
        axes.set_ylim(bottom=0)
    axes.set(xlabel=labels[0], ylabel=labels[1], title=title)
    axes.grid(axis="y")
    axes.legend()
    return axes


def bars(names: Names, groups: Named, label: str) -> Axes:
    """Side-by-side bars, one colour for each group."""
    axes, width = plot(), 0.8 / len(groups)
    for g, (group, heights) in enumerate(groups.items()):
        left = [i - 0.4 + (g + 0.5) * width for i in range(len(names))]
        axes.bar(left, numbers(heights), width * 0.92, label=group)
    axes.set_xticks(range(len(names)), names)
    axes.set_ylabel(label)
    axes.tick_params(axis="x", length=0)
    axes.legend()
    return axes
