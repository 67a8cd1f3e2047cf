"""Chapter 8: the block of an encoder, and what a row of numbers looks at."""

from .canvas import drawing, numbers, panels, plot, titled
from .colours import ACCENT, BROWN, FAINT, PLATE, SECOND, TOKEN
from .kinds import Axes, Names, Numbers, Pair, Panels, Tensor
from .marks import arrow, beside, box, cell, letter, line, stop, words
from .plots import entries, shaded

HOPS = (ACCENT, SECOND, BROWN)  # no roles


def encoder_block() -> Axes:
    """An encoder block, bottom to top; gid "station" names its stations."""
    low, high, part = 0.9, 8.37, 3.61  # of the block; the height of a part
    path, q, k, v, start = 1.3, 3.6, 4.8, 6.0, 0.25  # their x; its start
    axes = drawing((high + 1.5) / 2, (0, 9.9), (-0.3, high + 1.2))
    for shift in (0.36, 0.18, 0):  # two blocks behind this one
        corner, size = (0.5 + shift, low + shift), (6.7, high - low)
        cell(axes, corner, size, ec="white", lw=1.5)
    words(axes, (path, 0), "x", gid="station")
    residual = {"colour": ACCENT, "lw": 3.5, "head": 15}
    for y, name in ((low, "self-attention"), (low + part, "feed-forward")):
        leave, top, plus = y + 0.35, y + 0.9, y + 2.35
        line(axes, (path, leave), (k, leave))
        if name == "self-attention":
            line(axes, (q, leave), (v, leave))
            for x, text in ((q, "Q"), (k, "K"), (v, "V")):
                letter(axes, (x, leave), (x, top), text, None)
            words(axes, (8.9, top + 0.5), "padding\nmask", 9)
            arrow(axes, (8.0, top + 0.5), (6.9, top + 0.5), ls=":")
        else:
            arrow(axes, (k, leave), (k, top))
        box(axes, (k, top + 0.5), (4.2, 1.0), name, "white", "station")
        line(axes, (k, top + 1.0), (k, plus))
        arrow(axes, (k, plus), (path + 0.3, plus))
        arrow(axes, (path, start), (path, plus - 0.27), **residual)
        stop(axes, (path, plus), 0.3, "+", "station")
        arrow(axes, (path, plus + 0.27), (path, plus + 0.72), **residual)
        stop(axes, (path, plus + 0.99), 0.62, "norm", "station")
        start = plus + 1.26
    arrow(axes, (path, start), (path, high + 0.8), **residual)
    following = "one block;\nthe next ones\nfollow"
    words(axes, (7.65, high + 0.5), following, ha="left")
    return axes


def two_looks(row: list[int]) -> Axes:
    """From a row of numbers to its sorted order, from bottom to top.

    Every number reads itself and the smaller ones (gid "reads i j": i the
    place that reads), which makes its count (gid "count"). An arrow brings
    it to its place (gid "from to").
    """
    edge, size = len(row) - 0.4, (0.8, 0.5)
    axes = drawing(3.9, (-0.5, edge + 1.4), (-0.3, 3.8))
    for i, number in enumerate(row):
        count = sum(other < number for other in row)
        box(axes, (i, 0), size, str(number), TOKEN)
        for j, other in enumerate(row):
            if other <= number:
                gid = f"reads {i} {j}"
                arrow(axes, (j, 0.3), (i, 1.15), name=gid, lw=0.8, head=6)
        box(axes, (i, 1.4), size, str(count), PLATE, "count")
        ends = (i, 1.7), (count, 3.0)
        arrow(axes, *ends, ACCENT, f"{i} {count}", lw=2.2, head=13)
        box(axes, (count, 3.25), size, str(number), TOKEN)
        words(axes, (i, 3.68), i, 9, color=FAINT)
    notes = {
        "the row": 0.0,
        "first look:\ncount": 0.72,
        "how many\nare smaller": 1.4,
        "second look:\nfetch": 2.35,
        "sorted": 3.25,
        "place": 3.68,
    }
    beside(axes, edge, notes, 9, ha="left")
    return axes


def looks(
    maps: dict[str, tuple[Tensor, Names]], rows: Names, labels: Pair
) -> Panels:
    """Maps side by side, each with its own columns; the rows are shared.

    A map of at most 8 columns has its weights written in the cells. Another
    has shades from 0 to its largest weight. The weights are read back with
    `axes.images[0].get_array()`.
    """
    wide = [10 if len(columns) <= 8 else 12 for _, columns in maps.values()]
    style = {"gridspec_kw": {"width_ratios": wide, "wspace": 0.06}}
    line = panels(1, len(maps), 1.3 + 0.29 * len(rows), **style)
    for axes, (weights, columns) in titled(line, maps, fontsize=10):
        cells = numbers(weights)
        names = rows if axes is line[0] else [""] * len(rows)
        if len(columns) <= 8:
            shaded(axes, cells, names, columns)
            entries(axes, [[_share(w) for w in row] for row in cells], 9)
        else:
            shaded(axes, cells, names, columns, "Blues", max(map(max, cells)))
            axes.set_xticks(range(0, len(columns), 2), columns[::2])
        axes.set(xlabel=labels[1])
    line[0].set_ylabel(labels[0])
    return line


def _share(weight: float) -> str:
    """Two decimals; what rounds to zero stays empty."""
    return f"{weight:.2f}".removeprefix("0") if weight >= 0.005 else ""


def treasure_map(places: list[int], start: int, hops: int) -> Axes:
    """Places that hold the number of a place, and a walk from `start`."""
    axes = drawing(1.9, (-1.2, len(places) - 0.4), (-0.7, 1.3))
    for i, place in enumerate(places):
        box(axes, (i, 0), (0.8, 0.55), str(place), TOKEN)
        words(axes, (i, -0.5), i, 9, color=FAINT)
    beside(axes, -0.55, {"place": -0.5}, 9, color=FAINT)
    beside(axes, -0.55, {"holds": 0}, 9)
    here = start
    for hop in range(hops):
        there = places[here]
        ahead = 0.1 if there > here else -0.1
        ends = (here + ahead, 0.32), (there - ahead, 0.32)
        arrow(axes, *ends, HOPS[hop], lw=2.4, head=14, bend=-5 * ahead)
        at = (here + there) / 2, 0.48 + 0.22 * abs(there - here)
        words(axes, at, f"hop {hop + 1}: read {places[there]}", 9)
        here = there
    return axes


def runs(
    steps: list[int], named: dict[str, list[Numbers]], label: str
) -> Axes:
    """Several runs for each name: a thin line each, and their mean, thick.

    The lines have the gids "run NAME" and "mean NAME".
    """
    axes = plot()
    for (name, shares), colour in zip(named.items(), HOPS, strict=False):
        thin = {"color": colour, "lw": 0.9, "alpha": 0.6, "gid": f"run {name}"}
        for share in shares:
            axes.plot(steps, share, **thin)
        mean = [sum(each) / len(shares) for each in zip(*shares, strict=True)]
        thick = {"color": colour, "lw": 3, "gid": f"mean {name}"}
        axes.plot(steps, mean, label=name, **thick)
    axes.set(xlabel="training steps", ylabel=label)
    axes.set(xlim=(0, steps[-1]), ylim=(0, 1.02))
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.grid(axis="y")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return axes
