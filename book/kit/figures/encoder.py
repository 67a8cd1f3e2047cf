"""Chapter 8: the block of an encoder, and what a row of numbers looks at."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from kit.figures.marks import (
    ACCENT,
    FAINT,
    PLATE,
    SECOND,
    TINT,
    TOKEN,
    arrow,
    bare,
    box,
    cell,
    frameless,
    letter,
    line,
    numbers,
    station,
    words,
)

PATH, LEFT, RIGHT = 1.3, 2.7, 6.9  # of a block: x, and the sides of its boxes
BESIDE = (LEFT + RIGHT) / 2


def encoder_block(norm_first: bool = False) -> Axes:
    """An encoder block, bottom to top; gid "station" names its stations."""
    parts = {"self-attention": "padding\nmask", "feed-forward": ""}
    figure, axes = plt.subplots()
    low = y = 0.9
    behind = [cell(axes, (0.5 + s, low + s), (6.7, 1)) for s in (0.36, 0.18)]
    plates = [*behind, cell(axes, (0.5, low), (6.7, 1))]
    for plate in plates:
        plate.set(ec="white", lw=1.5)
    words(axes, (PATH, 0), "x", gid="station")
    start = 0.25
    for part, mask in parts.items():
        start, y = _sublayer(axes, (start, y), part, mask, norm_first)
    high = y + 0.25
    for plate in plates:
        plate.set_height(high - low)
    style = {"lw": 3.5, "mutation_scale": 15}
    arrow(axes, (PATH, start), (PATH, high + 0.8), ACCENT, **style)
    at = (7.65, high + 0.5)
    words(
        axes, at, "one block;\nthe next ones\nfollow", ha="left", gid="repeat"
    )
    figure.set_size_inches(5.4, (high + 1.5) / 2)
    bare(axes, (0, 9.9), (-0.3, high + 1.2))
    return axes


def _sublayer(axes, heights, part, mask, norm_first) -> tuple[float, float]:
    """A sub-layer beside the path, which comes from the first height.

    Gives where the path goes on, and the height where the sub-layer ends.
    """
    start, y = heights
    style = {"lw": 3.5, "mutation_scale": 15}
    leave = y + 0.35
    top = y = leave + 0.55
    if norm_first:
        arrow(axes, (BESIDE, leave), (BESIDE, leave + 0.35))
        station(axes, (BESIDE, leave + 0.62), 0.62, "norm", "station")
        top, y = leave + 0.89, leave + 1.6
    height = _inputs(axes, (leave, top, y), part, mask)
    centre, size = (BESIDE, y + height / 2), (RIGHT - LEFT, height)
    box(axes, centre, size, part, "white", "station")
    plus = y + height + 0.45
    bend = [BESIDE, BESIDE], [y + height, plus]
    line(axes, *bend)
    arrow(axes, (BESIDE, plus), (PATH + 0.3, plus))
    ends = (PATH, start), (PATH, plus - 0.27)
    arrow(axes, *ends, ACCENT, "residual", **style)
    station(axes, (PATH, plus), 0.3, "+", "station")
    y = plus + 0.27
    if not norm_first:
        arrow(axes, (PATH, y), (PATH, y + 0.45), ACCENT, **style)
        station(axes, (PATH, y + 0.72), 0.62, "norm", "station")
        y += 0.99
    return y, y


def _inputs(axes, heights, part, mask) -> float:
    """What flows into a sub-layer: from the path, and its mask.

    The heights: where the branch leaves the path, where it splits, and where
    the box starts. Gives the height of the box.
    """
    leave, split, y = heights
    line(axes, [PATH, BESIDE], [leave, leave])
    if split - leave < 0.6:  # no norm between
        split = leave
    if part == "feed-forward":
        arrow(axes, (BESIDE, split), (BESIDE, y))
        return 1.0
    ends, note = (BESIDE - 1.2, BESIDE, BESIDE + 1.2), y + 0.5
    line(axes, [ends[0], ends[2]], [split, split])
    for at, text in zip(ends, "QKV", strict=True):
        letter(axes, (at, split), (at, y), text, f"{part} {text}")
    words(axes, (8.9, note), mask, fontsize=9, gid="mask")
    arrow(axes, (8.0, note), (RIGHT, note), ls=":")
    return 1.0


HOPS = (ACCENT, SECOND, "#8C510A")  # no roles


def two_looks(row: list[int]) -> Axes:
    """From a row of numbers to its sorted order, from bottom to top.

    Every number reads itself and the smaller ones (gid "reads i j": i the
    place that reads), which makes its count (gid "count"). An arrow brings
    it to its place (gid "from to").
    """
    figure, axes = plt.subplots(figsize=(5.4, 3.9))
    counts = [sum(other < number for other in row) for number in row]
    for i, (number, count) in enumerate(zip(row, counts, strict=True)):
        box(axes, (i, 0), (0.8, 0.5), str(number), TOKEN, "number")
        for j in range(len(row)):
            style = {"lw": 0.8, "mutation_scale": 6}
            if row[j] <= number:
                reads = f"reads {i} {j}"
                arrow(axes, (j, 0.3), (i, 1.15), FAINT, reads, **style)
        box(axes, (i, 1.4), (0.8, 0.5), str(count), PLATE, "count")
        style = {"lw": 2.2, "mutation_scale": 13}
        arrow(axes, (i, 1.7), (count, 3.0), ACCENT, f"{i} {count}", **style)
        box(axes, (count, 3.25), (0.8, 0.5), str(number), TOKEN, f"at {count}")
        words(axes, (i, 3.68), i, fontsize=9, color=FAINT)
    edge = len(row) - 0.4
    for y, note in (
        (0.0, "the row"),
        (0.72, "first look:\ncount"),
        (1.4, "how many\nare smaller"),
        (2.35, "second look:\nfetch"),
        (3.25, "sorted"),
        (3.68, "place"),
    ):
        words(axes, (edge, y), note, ha="left", fontsize=9)
    bare(axes, (-0.5, edge + 1.4), (-0.3, 3.8))
    return axes


def looks(
    panels: dict[str, tuple[Tensor, list[str]]],
    rows: list[str],
    labels: tuple[str, str],
) -> list[Axes]:
    """Maps side by side, each with its own columns; the rows are shared.

    A map of at most 8 columns has its weights written in the cells. Another
    has shades from 0 to its largest weight. The weights are read back with
    `axes.images[0].get_array()`.
    """
    wide = [10 if len(columns) <= 8 else 12 for _, columns in panels.values()]
    size = 5.4, 1.3 + 0.29 * len(rows)
    style = {"gridspec_kw": {"width_ratios": wide, "wspace": 0.06}}
    figure, line = plt.subplots(
        1, len(panels), figsize=size, squeeze=False, **style
    )
    for axes, (title, (weights, columns)) in zip(
        line[0], panels.items(), strict=True
    ):
        cells, few = numbers(weights), len(columns) <= 8
        top = 1.0 if few else max(map(max, cells))
        colours = TINT if few else "Blues"
        axes.imshow(cells, vmin=0, vmax=top, cmap=colours, aspect="auto")
        first = axes is line[0, 0]
        across, down = range(len(columns)), range(len(rows))
        frameless(
            axes,
            (across, columns),
            (down, rows if first else [""] * len(rows)),
        )
        if not few:
            axes.set_xticks(across[::2], columns[::2])
        axes.set(xlabel=labels[1])
        axes.set_title(title, fontsize=10)
        if few:
            _weights(axes, cells)
    line[0, 0].set_ylabel(labels[0])
    return list(line[0])


def _weights(axes, cells) -> None:
    """The weight in each cell; what rounds to zero stays empty."""
    for i, row in enumerate(cells):
        for j, weight in enumerate(row):
            if weight >= 0.005:
                text = f"{weight:.2f}".removeprefix("0")
                words(axes, (j, i), text, fontsize=9)


def treasure_map(places: list[int], start: int, hops: int) -> Axes:
    """Places that hold the number of a place, and a walk from `start`.

    The arrow of a hop has the gid "hop from to".
    """
    figure, axes = plt.subplots(figsize=(5.4, 1.9))
    for i, place in enumerate(places):
        box(axes, (i, 0), (0.8, 0.55), str(place), TOKEN, "held")
        words(axes, (i, -0.5), i, fontsize=9, color=FAINT)
    words(axes, (-0.55, -0.5), "place", ha="right", fontsize=9, color=FAINT)
    words(axes, (-0.55, 0), "holds", ha="right", fontsize=9)
    here = start
    for hop in range(hops):
        there = places[here]
        ahead = 1 if there > here else -1
        bend = f"arc3,rad={-0.5 * ahead}"
        style = {"lw": 2.4, "mutation_scale": 14, "connectionstyle": bend}
        ends = (here + 0.1 * ahead, 0.32), (there - 0.1 * ahead, 0.32)
        arrow(axes, *ends, HOPS[hop], f"hop {here} {there}", **style)
        at = (here + there) / 2, 0.48 + 0.22 * abs(there - here)
        note = f"hop {hop + 1}: read {places[there]}"
        words(axes, at, note, fontsize=9)
        here = there
    bare(axes, (-1.2, len(places) - 0.4), (-0.7, 1.3))
    return axes


def runs(
    steps: list[int], named: dict[str, list[list[float]]], label: str
) -> Axes:
    """Several runs for each name: a thin line each, and their mean, thick.

    The lines have the gids "run NAME" and "mean NAME".
    """
    figure, axes = plt.subplots(figsize=(5.4, 3.3))
    for name, colour in zip(named, HOPS, strict=False):
        shares = named[name]
        style = {"color": colour, "lw": 0.9, "alpha": 0.6}
        for share in shares:
            axes.plot(steps, share, gid=f"run {name}", **style)
        mean = [sum(each) / len(shares) for each in zip(*shares, strict=True)]
        style = {"color": colour, "lw": 3, "label": name}
        axes.plot(steps, mean, gid=f"mean {name}", **style)
    axes.set(xlabel="training steps", ylabel=label, ylim=(0, 1.02))
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.set_xlim(0, steps[-1])
    axes.grid(axis="y")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return axes
