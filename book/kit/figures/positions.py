"""Chapter 6: places as angles."""

import math

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Rectangle
from torch import Tensor

from kit.figures.marks import (
    ACCENT,
    FAINT,
    INK,
    KEY,
    PLATE,
    QUERY,
    SECOND,
    SIGNED,
    arrow,
    bare,
    cell,
    frameless,
    numbers,
    words,
)
from kit.figures.plots import image

RADIUS = 0.43  # of a clock face, where neighbours stand 1 apart


def _tip(centre, angle, length=1.0) -> tuple[float, float]:
    """Where a hand ends: it starts at twelve and turns clockwise."""
    x, y = centre
    length *= RADIUS
    return x + length * math.sin(angle), y + length * math.cos(angle)


def _face(axes, centre) -> None:
    """An empty clock with a mark at twelve."""
    axes.add_patch(Circle(centre, RADIUS, fc=PLATE, ec=FAINT, lw=0.8))
    marks = zip(_tip(centre, 0, 0.85), _tip(centre, 0), strict=True)
    axes.plot(*marks, color=FAINT, lw=1.2)


def _turn(axes, centre, angles, length, colour, **style) -> None:
    """A bent line from one angle to the next, with a head if it is long."""
    first, last = angles
    at = [first + (last - first) * step / 20 for step in range(21)]
    path = [_tip(centre, angle, length) for angle in at]
    axes.plot(*zip(*path, strict=True), lw=1, color=colour, **style)
    if abs(last - first) * length > 0.2 and not style:
        arrow(axes, *path[-2:], colour, mutation_scale=7, lw=1)


def clocks(labels: list[str], speeds: list[float]) -> Axes:
    """Places 0, 1, ... as columns of clocks, the fastest hand on top.

    A hand has the gid "hand <clock> <place>"; it leads from the middle to
    the tip. A bent arrow shows how far it has turned since the last place.
    """
    across, down = len(labels), len(speeds)
    figure, axes = plt.subplots(figsize=(5.4, 0.72 * (down + 0.7)))
    for i, speed in enumerate(speeds):
        words(axes, (-1.55, -i), f"one turn in\n{math.tau / speed:.0f} places")
        for p in range(across):
            angle, centre = speed * p, (p, -i)
            _face(axes, centre)
            if p:
                since = (angle - speed, angle)
                _turn(axes, centre, since, 0.6, FAINT)
            hand = zip(centre, _tip(centre, angle), strict=True)
            axes.plot(*hand, color=ACCENT, lw=2.4, gid=f"hand {i} {p}")
            axes.plot(*_tip(centre, angle), "o", color=ACCENT, ms=4)
    for p, label in enumerate(labels):
        words(axes, (p, 0.8), f"{label}\n{p}")
    axes.set_aspect("equal")
    bare(axes, (-2.2, across - 0.5), (0.5 - down, 1.05))
    return axes


def counter(digits: int) -> Axes:
    """The digits of a binary counter and waves of the same rhythm.

    The ones come first, on top; every line is 1 high and 1.35 from the next.
    The step has the gid "digit <j>", the wave "wave <j>".
    """
    count = 2**digits
    figure, axes = plt.subplots(figsize=(5.4, 0.75 * digits + 0.7))
    fine = [t / 20 for t in range(20 * count + 1)]
    for j in range(digits):
        low, turn = -1.35 * j, 2 ** (j + 1)
        bits = [p >> j & 1 for p in [*range(count), count - 1]]
        style = {"where": "post", "color": INK, "gid": f"digit {j}"}
        axes.step(range(count + 1), [low + bit for bit in bits], **style)
        wave = [0.5 - 0.5 * math.sin(math.tau * t / turn) for t in fine]
        style = {"color": ACCENT, "gid": f"wave {j}"}
        axes.plot(fine, [low + y for y in wave], **style)
        for p, bit in enumerate(bits[:-1]):
            words(axes, (p + 0.5, low + 0.5), bit, color=FAINT)
        words(axes, (-0.3, low + 0.5), f"{2**j}s", ha="right")
    middles = [p + 0.5 for p in range(count)]
    frameless(axes, (middles, range(count)), ([], []))
    axes.set_xlabel("number that the counter shows")
    return axes


def waves(table: Tensor, base: float = 10_000.0) -> Axes:
    """All entries of a table of sinusoids, and how long a turn takes."""
    d_model = table.shape[1]
    axes = image(table, ("dimension", "position"), (-1.0, 1.0))
    axes.figure.set_size_inches(5.4, 3.8)
    axes.images[0].colorbar.set_ticks([-1, 0, 1])
    places = [0, d_model // 4, d_model // 2, 3 * d_model // 4]
    turns = [math.tau * base ** (place / d_model) for place in places]
    top = axes.secondary_xaxis("top")
    top.set_xticks(places, [f"{turn:,.0f}" for turn in turns])
    top.set_xlabel("positions in one turn")
    top.spines["top"].set_visible(False)
    return axes


def pair_curves(table: Tensor, pairs: list[int]) -> list[Axes]:
    """Sine and cosine of some pairs along the positions, one panel a pair.

    The gid of a curve is its dimension; that of the arrow "turn".
    """
    (length, d_model), size = table.shape, (5.4, 1.5 * len(pairs) + 0.4)
    figure, stack = plt.subplots(len(pairs), 1, figsize=size, sharex=True)
    for i, axes in zip(pairs, stack, strict=True):
        for d, style in ((2 * i, "-"), (2 * i + 1, "--")):
            name, y = f"dimension {d}", numbers(table[:, d])
            axes.plot(range(length), y, style, label=name, gid=f"{d}")
        turn = math.tau * 10_000 ** (2 * i / d_model)
        ends = {"arrowstyle": "<|-|>", "name": "turn"}
        arrow(axes, (0, -1.25), (turn, -1.25), INK, **ends)
        note = f"one turn: {turn:.0f} positions"
        words(axes, (turn / 2, -1.6), note, fontsize=9)
        axes.set(ylim=(-1.95, 1.15), yticks=[-1, 0, 1], ylabel="entry")
        axes.legend(ncols=2, loc="lower right", bbox_to_anchor=(1, 0.95))
    stack[-1].set_xlabel("position")
    return list(stack)


def agreement(table: Tensor, places: list[int], reach: int) -> Axes:
    """Dot products of places with their neighbours, over the largest one.

    The first place is a line with the gid "sum", the others dots with the
    gid "place <p>"; thin lines with the gid "pair <i>" are single pairs.
    """
    figure, axes = plt.subplots()
    d_model, distances = table.shape[1], list(range(-reach, reach + 1))
    for i, style in zip((0, d_model // 8), ("-", "--"), strict=True):
        speed = 10_000 ** (-2 * i / d_model)
        x = [d / 10 for d in range(-10 * reach, 10 * reach + 1)]
        y = [math.cos(speed * d) for d in x]
        thin = {"lw": 0.9, "color": FAINT, "gid": f"pair {i}"}
        axes.plot(x, y, style, label=f"pair {i} alone", **thin)
    for p in places:
        near = table[p - reach : p + reach + 1] @ table[p] / (d_model / 2)
        if p == places[0]:
            thick = {"color": INK, "lw": 2.6, "gid": "sum"}
            axes.plot(distances, numbers(near), label=f"place {p}", **thick)
        else:
            dots = {"color": SECOND, "ms": 6, "gid": f"place {p}"}
            some = distances[::5], numbers(near)[::5]
            axes.plot(*some, "o", label=f"place {p}", **dots)
    axes.set(xlabel="distance", ylabel="dot product ÷ largest")
    axes.legend(ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1))
    return axes


def turning_together(q: Tensor, k: Tensor, places: list[tuple]) -> Axes:
    """A query and a key at several pairs of places: both turn on.

    Mathematics turns anticlockwise, from the right. Tips are marked by dots
    with the gids "query <frame>" and "key <frame>".
    """
    figure, axes = plt.subplots(figsize=(5.4, 2.5))
    arms = (("query", q, QUERY), ("key", k, KEY))
    for frame, at in enumerate(places):
        centre, between = (1.12 * frame, 0), []
        axes.add_patch(Circle(centre, RADIUS, fc=PLATE, ec=FAINT, lw=0.8))
        for (name, arm, colour), place in zip(arms, at, strict=True):
            x, y = numbers(arm)
            start = math.pi / 2 - math.atan2(y, x)
            angle, length = start - place, math.hypot(x, y)
            if place:
                _turn(axes, centre, (start, angle), 0.3, colour)
                faint = zip(centre, _tip(centre, start, length), strict=True)
                axes.plot(*faint, color=colour, lw=1, ls=":")
            tip = _tip(centre, angle, length)
            arrow(axes, centre, tip, colour, lw=2.4, mutation_scale=12)
            axes.plot(*tip, ".", ms=1, color=colour, gid=f"{name} {frame}")
            name_at = _tip(centre, angle, length + 0.22)
            words(axes, name_at, name[0], color=colour, weight="bold")
            between.append(angle)
        _turn(axes, centre, between, 0.62, INK, gid="between")
        text = f"query at {at[0]}\nkey at {at[1]}"
        words(axes, (centre[0], -0.68), text)
        if frame:
            x = centre[0] - 0.56
            arrow(axes, (x - 0.1, -0.68), (x + 0.1, -0.68))
    axes.set_aspect("equal")
    bare(axes, (-0.56, 1.12 * len(places) - 0.56), (-0.85, 0.58))
    return axes


def pairings(width: int) -> Axes:
    """Which entries turn together: neighbours, or one of each half.

    Above and below are the same numbers; an arrow with the gid "i j" leads
    from column i above to column j below. Partners share a colour and a
    bracket.
    """
    figure, axes = plt.subplots(figsize=(5.4, 2.9))
    order = [*range(0, width, 2), *range(1, width, 2)]
    rows = {"neighbours": (list(range(width)), 2.2), "halves": (order, 0)}
    for name, (entries, y) in rows.items():
        up = 1 if y else -1
        for column, entry in enumerate(entries):
            tint = {"ec": "white", "lw": 2, "alpha": 0.45}
            cell(axes, (column, y), (1, 0.7), f"C{entry // 2 % 6}", **tint)
            words(axes, (column + 0.5, y + 0.35), entry)
        for i in range(width // 2):
            ends = [entries.index(2 * i + side) + 0.5 for side in (0, 1)]
            low = y + 0.35 + up * 0.45
            high = low + up * (0.2 if y else 0.2 + 0.17 * i)
            xs = [ends[0], ends[0], ends[1], ends[1]]
            bracket = {"color": f"C{i % 6}", "lw": 1.6}
            axes.plot(xs, [low, high, high, low], **bracket)
        words(axes, (-0.2, y + 0.35), name, ha="right")
    for column, entry in enumerate(order):
        start, end = (entry + 0.5, 2.15), (column + 0.5, 0.75)
        arrow(axes, start, end, f"C{entry // 2 % 6}", f"{entry} {column}")
    bare(axes, (-1.75, width), (-1.1, 3.4))
    return axes


def place_maps(panels: dict[str, Tensor], trained: int) -> list[Axes]:
    """Shares by the places of A and B; a frame around what was trained.

    A panel's shares are read back with `axes.images[0].get_array()`.
    """
    size = (5.4, 3.9)
    figure, both = plt.subplots(1, len(panels), figsize=size, sharey=True)
    for axes, (title, shares) in zip(both, panels.items(), strict=True):
        style = {"vmin": 0, "vmax": 1, "cmap": SIGNED}
        drawn = axes.imshow(numbers(shares), **style)
        side = trained - 0.04
        for colour, width in (("white", 4.5), ("black", 1.6)):
            frame = {"fill": False, "ec": colour, "lw": width}
            axes.add_patch(Rectangle((-0.46, -0.46), side, side, **frame))
        axes.set(title=title, xlabel="place of B")
        ticks = range(0, len(shares), 5)
        axes.set(xticks=ticks, yticks=ticks)
    both[0].set_ylabel("place of A")
    bar = figure.colorbar(drawn, ax=both, location="bottom", shrink=0.5)
    bar.set_label("says “A first”")
    bar.set_ticks([0, 0.5, 1])
    return list(both)
