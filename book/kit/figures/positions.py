"""Chapter 6: places as angles."""

import math

from matplotlib.patches import Circle

from .canvas import drawing, frameless, numbers, panels, plot, titled
from .colours import ACCENT, FAINT, INK, KEY, PLATE, QUERY, SECOND, SIGNED
from .kinds import Axes, Named, Names, Numbers, Panels, Tensor
from .marks import arrow, cell, line, words

RADIUS = 0.43  # of a clock face, where neighbours stand 1 apart


def _tip(centre, angle, length=1.0) -> tuple[float, float]:
    """Where a hand ends: it starts at twelve and turns clockwise."""
    (x, y), length = centre, length * RADIUS
    return x + length * math.sin(angle), y + length * math.cos(angle)


def _face(axes, centre) -> None:
    axes.add_patch(Circle(centre, RADIUS, fc=PLATE, ec=FAINT, lw=0.8))


def _turn(axes, centre, angles, length, colour, **style) -> None:
    """A bent line from one angle to the next, with a head if it is long."""
    first, last = angles
    at = [first + (last - first) * step / 20 for step in range(21)]
    path = [_tip(centre, angle, length) for angle in at]
    line(axes, *path, color=colour, lw=1, zorder=2, **style)
    if abs(last - first) * length > 0.2 and not style:
        arrow(axes, *path[-2:], colour, head=7, lw=1)


def clocks(labels: Names, speeds: Numbers) -> Axes:
    """Places 0, 1, ... as columns of clocks, the fastest hand on top.

    A hand has the gid "hand <clock> <place>"; it leads from the middle to
    the tip. A bent arrow shows how far it has turned since the last place.
    """
    across, down = len(labels), len(speeds)
    ylim = (0.5 - down, 1.05)
    axes = drawing(0.72 * (down + 0.7), (-2.2, across - 0.5), ylim)
    for i, speed in enumerate(speeds):
        words(axes, (-1.55, -i), f"one turn in\n{math.tau / speed:.0f} places")
        for p in range(across):
            angle, centre = speed * p, (p, -i)
            _face(axes, centre)
            line(axes, _tip(centre, 0, 0.85), _tip(centre, 0), zorder=2)
            if p:
                _turn(axes, centre, (angle - speed, angle), 0.6, FAINT)
            tip, gid = _tip(centre, angle), f"hand {i} {p}"
            line(axes, centre, tip, gid=gid, color=ACCENT, lw=2.4, zorder=2)
            axes.plot(*tip, "o", color=ACCENT, ms=4)
    for p, label in enumerate(labels):
        words(axes, (p, 0.8), f"{label}\n{p}")
    axes.set_aspect("equal")
    return axes


def counter(digits: int) -> Axes:
    """The digits of a binary counter and waves of the same rhythm.

    The ones come first, on top; every line is 1 high and 1.35 from the next.
    The step has the gid "digit <j>", the wave "wave <j>".
    """
    count = 2**digits
    axes = plot(0.75 * digits + 0.7)
    fine = [t / 20 for t in range(20 * count + 1)]
    for j in range(digits):
        low, turn = -1.35 * j, 2 ** (j + 1)
        bits = [p >> j & 1 for p in [*range(count), count - 1]]
        style = {"where": "post", "color": INK, "gid": f"digit {j}"}
        axes.step(range(count + 1), [low + bit for bit in bits], **style)
        wave = [low + 0.5 - 0.5 * math.sin(math.tau * t / turn) for t in fine]
        axes.plot(fine, wave, color=ACCENT, gid=f"wave {j}")
        for p, bit in enumerate(bits[:-1]):
            words(axes, (p + 0.5, low + 0.5), bit, color=FAINT)
        words(axes, (-0.3, low + 0.5), f"{2**j}s", ha="right")
    frameless(axes, ([p + 0.5 for p in range(count)], range(count)), ([], []))
    axes.set_xlabel("number that the counter shows")
    return axes


def waves(table: Tensor) -> Axes:
    """All entries of a table of sinusoids, and how long a turn takes."""
    axes, d_model = plot(3.8), table.shape[1]
    style = {"vmin": -1, "vmax": 1, "cmap": SIGNED, "aspect": "auto"}
    drawn = axes.imshow(numbers(table), **style)
    bar = axes.figure.colorbar(drawn, ax=axes, shrink=0.9)
    bar.set_ticks([-1, 0, 1])
    axes.set(xlabel="dimension", ylabel="position")
    places = [0, d_model // 4, d_model // 2, 3 * d_model // 4]
    turns = [math.tau * 10_000 ** (place / d_model) for place in places]
    top = axes.secondary_xaxis("top")
    top.set_xticks(places, [f"{turn:,.0f}" for turn in turns])
    top.set_xlabel("positions in one turn")
    top.spines["top"].set_visible(False)
    return axes


def pair_curves(table: Tensor, pairs: list[int]) -> Panels:
    """Sine and cosine of some pairs along the positions, one panel a pair.

    The gid of a curve is its dimension.
    """
    (length, d_model), many = table.shape, len(pairs)
    stack = panels(many, 1, 1.5 * many + 0.4, sharex=True)
    for i, axes in zip(pairs, stack, strict=True):
        for d, dash in ((2 * i, "-"), (2 * i + 1, "--")):
            style = {"label": f"dimension {d}", "gid": f"{d}"}
            axes.plot(range(length), numbers(table[:, d]), dash, **style)
        turn = math.tau * 10_000 ** (2 * i / d_model)
        arrow(axes, (0, -1.25), (turn, -1.25), INK, arrowstyle="<|-|>")
        words(axes, (turn / 2, -1.6), f"one turn: {turn:.0f} positions", 9)
        axes.set(ylim=(-1.95, 1.15), yticks=[-1, 0, 1], ylabel="entry")
        axes.legend(ncols=2, loc="lower right", bbox_to_anchor=(1, 0.95))
    stack[-1].set_xlabel("position")
    return stack


def agreement(table: Tensor, places: list[int], reach: int) -> Axes:
    """Dot products of places with their neighbours, over the largest one.

    The first place is a line with the gid "sum", the others dots with the
    gid "place <p>"; thin lines with the gid "pair <i>" are single pairs.
    """
    axes = plot()
    d_model, distances = table.shape[1], list(range(-reach, reach + 1))
    for i, dash in zip((0, d_model // 8), ("-", "--"), strict=True):
        speed = 10_000 ** (-2 * i / d_model)
        x = [d / 10 for d in range(-10 * reach, 10 * reach + 1)]
        y = [math.cos(speed * d) for d in x]
        thin = {"lw": 0.9, "color": FAINT, "gid": f"pair {i}"}
        axes.plot(x, y, dash, label=f"pair {i} alone", **thin)
    for p in places:
        near = table[p - reach : p + reach + 1] @ table[p] / (d_model / 2)
        style, every = {"color": INK, "lw": 2.6, "gid": "sum"}, 1
        if p != places[0]:
            style = {"color": SECOND, "ms": 6, "ls": "", "marker": "o"}
            style, every = style | {"gid": f"place {p}"}, 5
        some = distances[::every], numbers(near)[::every]
        axes.plot(*some, label=f"place {p}", **style)
    axes.set(xlabel="distance", ylabel="dot product ÷ largest")
    axes.legend(ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1))
    return axes


def turning_together(q: Tensor, k: Tensor, places: list[tuple]) -> Axes:
    """A query and a key at several pairs of places: both turn on.

    Mathematics turns anticlockwise, from the right. Tips are marked by dots
    with the gids "query <frame>" and "key <frame>".
    """
    axes = drawing(2.5, (-0.56, 1.12 * len(places) - 0.56), (-0.85, 0.58))
    arms = (("query", q, QUERY), ("key", k, KEY))
    for frame, at in enumerate(places):
        centre, between = (1.12 * frame, 0), []
        _face(axes, centre)
        for (name, arm, colour), place in zip(arms, at, strict=True):
            x, y = numbers(arm)
            start, length = math.atan2(x, y), math.hypot(x, y)
            angle = start - place
            if place:
                _turn(axes, centre, (start, angle), 0.3, colour)
                old = _tip(centre, start, length)
                line(axes, centre, old, color=colour, lw=1, ls=":", zorder=2)
            tip = _tip(centre, angle, length)
            arrow(axes, centre, tip, colour, lw=2.4, head=12)
            axes.plot(*tip, ".", ms=1, color=colour, gid=f"{name} {frame}")
            name_at = _tip(centre, angle, length + 0.22)
            words(axes, name_at, name[0], color=colour, weight="bold")
            between.append(angle)
        _turn(axes, centre, between, 0.62, INK, gid="between")
        words(axes, (centre[0], -0.68), f"query at {at[0]}\nkey at {at[1]}")
        if frame:
            x = centre[0] - 0.56
            arrow(axes, (x - 0.1, -0.68), (x + 0.1, -0.68))
    axes.set_aspect("equal")
    return axes


def pairings(width: int) -> Axes:
    """Which entries turn together: neighbours, or one of each half.

    Above and below are the same numbers; an arrow with the gid "i j" leads
    from column i above to column j below. Partners share a colour and a
    bracket.
    """
    axes = drawing(2.9, (-1.75, width), (-1.1, 3.4))
    order = [*range(0, width, 2), *range(1, width, 2)]
    for name, entries, y, up, more in (
        ("neighbours", list(range(width)), 2.2, 1, 0),
        ("halves", order, 0, -1, 0.17),
    ):
        for column, entry in enumerate(entries):
            tint = {"ec": "white", "lw": 2, "alpha": 0.45}
            cell(axes, (column, y), (1, 0.7), f"C{entry // 2 % 6}", **tint)
            words(axes, (column + 0.5, y + 0.35), entry)
        for i in range(width // 2):
            x, end = (entries.index(2 * i + side) + 0.5 for side in (0, 1))
            low = y + 0.35 + up * 0.45
            high = low + up * (0.2 + more * i)
            bracket = (x, low), (x, high), (end, high), (end, low)
            line(axes, *bracket, color=f"C{i % 6}", lw=1.6, zorder=2)
        words(axes, (-0.2, y + 0.35), name, ha="right")
    for column, entry in enumerate(order):
        start, end = (entry + 0.5, 2.15), (column + 0.5, 0.75)
        arrow(axes, start, end, f"C{entry // 2 % 6}", f"{entry} {column}")
    return axes


def place_maps(maps: Named, trained: int) -> Panels:
    """Shares by the places of A and B; a frame around what was trained.

    A panel's shares are read back with `axes.images[0].get_array()`.
    """
    both = panels(1, len(maps), 3.9, sharey=True)
    for axes, shares in titled(both, maps):
        drawn = axes.imshow(numbers(shares), vmin=0, vmax=1, cmap=SIGNED)
        for colour, width in (("white", 4.5), ("black", 1.6)):
            size, frame = (trained - 0.04,) * 2, {"ec": colour, "lw": width}
            cell(axes, (-0.46, -0.46), size, "none", **frame)
        ticks = range(0, len(shares), 5)
        axes.set(xticks=ticks, yticks=ticks, xlabel="place of B")
    both[0].set_ylabel("place of A")
    bar = axes.figure.colorbar(drawn, ax=both, location="bottom", shrink=0.5)
    bar.set_label("says “A first”")
    bar.set_ticks([0, 0.5, 1])
    return both
