"""Chapter 10: the model from afar, its table, and ways between words."""

import matplotlib.pyplot as plt
import torch
from matplotlib.ticker import LogFormatterMathtext

from .canvas import bare, drawing, numbers, panels, plot
from .colours import (
    ACCENT,
    FAINT,
    GREY,
    HAIR,
    INK,
    OUTPUT,
    PLATE,
    QUIET,
    ROLE,
    SECOND,
    SIGNED,
    TOKEN,
)
from .kinds import Axes, Curves, Names, Panels, Tensor
from .marks import arrow, box, cell, line, words
from .plots import curves


def from_afar(source: Names, read: Names, said: Names) -> Axes:
    """Encoder and decoder as towers; what goes in, and what comes out.

    The tokens that come out have the gid "said".
    """
    axes = drawing(3.9, (0, 9.15), (-0.55, 6.0))
    left, right = 1.75, 6.9  # the middles of the towers
    box(axes, (left, 5.15), (3.2, 0.6), "memory", OUTPUT)
    _tower(axes, left, 3.2, "encoder", source)
    for letter, up, x, end, away in (
        ("K", 5.05, 3.85, 3.05, -0.2),
        ("V", 5.27, 4.1, 3.45, 0.22),
    ):
        style = {"color": ROLE[letter], "lw": 1.6, "zorder": 2}
        line(axes, (3.37, up), (x, up), (x, end), **style)
        arrow(axes, (x, end), (4.72, end), ROLE[letter], lw=1.6)
        style = {"color": ROLE[letter], "weight": "bold"}
        words(axes, (x + away, 4.4), letter, 10, **style)
    _tower(axes, right, 4.3, "decoder", read)
    for x, token in _places(right, said):
        box(axes, (x, 5.15), (0.95, 0.6), token, OUTPUT, "said")
    for x, y, note in (
        (left, -0.3, "source"),
        (right, -0.3, "written so far"),
        (right, 5.75, "what comes next?"),
    ):
        words(axes, (x, y), note, 10, color=QUIET)
    return axes


def _places(middle: float, tokens: Names) -> list[tuple[float, str]]:
    """Tokens side by side, each with the middle of its box."""
    first = middle - 1.05 * (len(tokens) - 1) / 2
    return [(first + 1.05 * i, token) for i, token in enumerate(tokens)]


def _tower(axes, x, width, name, tokens) -> None:
    """Tokens, a table, positions and six blocks, of which three are drawn."""
    for at, token in _places(x, tokens):
        box(axes, (at, 0.3), (0.95, 0.55), token, TOKEN)
        arrow(axes, (at, 0.6), (at, 1.05))
    box(axes, (x, 1.35), (width, 0.55), "table + positions", fontsize=10)
    arrow(axes, (x, 1.63), (x, 1.98))
    for sheet in (2, 1, 0):
        corner = (x - width / 2 + 0.12 * sheet, 2.0 + 0.14 * sheet)
        cell(axes, corner, (width - 0.24, 1.8), ec=FAINT, lw=0.8)
    for at, _ in _places(x, tokens):
        arrow(axes, (at, 4.1), (at, 4.83))
    words(axes, (x - 0.12, 2.9), f"{name}\n6 blocks")


def tied_table(table: Tensor, names: Names, read: int, scores: Tensor) -> Axes:
    """A table from which one row is read, and by which all are scored.

    The frame of the row that is read has the gid "read".
    """
    rows, most = len(table), float(table.abs().max())
    axes = plot(3.7)
    style = {"cmap": SIGNED, "vmin": -most, "vmax": most, "zorder": 0}
    where = (0, 6, rows, 0)
    axes.imshow(numbers(table), extent=where, aspect="auto", **style)
    cell(axes, (0, read), (6, 1), "none", ec=INK, lw=2, gid="read")
    thick = {"colour": INK, "lw": 1.6}
    arrow(axes, (-2.1, read + 0.5), (-1.2, read + 0.5), **thick)
    arrow(axes, (3, read), (3, -0.9), **thick)
    box(axes, (5.3, -1.4), (7, 0.9), "decoder")
    arrow(axes, (8, -0.95), (8, -0.1), **thick)
    words(axes, (3.2, -0.45), "its row", 10, ha="left", color=QUIET)
    words(axes, (8.2, -0.5), "state", 10, ha="left", color=QUIET)
    words(axes, (3.0, rows + 0.5), "the table", 10, color=QUIET)
    words(axes, (8.2, rows + 0.5), "each row · state", 10, color=QUIET)
    words(axes, (-1.65, read + 0.1), "read", 10, color=QUIET)
    _scores(axes, names, numbers(scores))
    bare(axes, (-2.4, 10.2), (rows + 0.9, -2))
    return axes


def _scores(axes, names, scores) -> None:
    """A name and a bar from 0 for each row; the longest bar is coloured."""
    low, best = min(*scores, 0), max(scores)
    unit = 2.5 / (best - low)
    zero = 6.55 - low * unit
    line(axes, (zero, 0), (zero, len(names)), lw=1, zorder=2)
    for i, (name, score) in enumerate(zip(names, scores, strict=True)):
        words(axes, (-0.15, i + 0.5), name, 10, ha="right")
        colour = SECOND if score == best else GREY
        cell(axes, (zero, i + 0.18), (score * unit, 0.64), colour)
        at = (zero + max(score, 0) * unit + 0.1, i + 0.5)
        words(axes, at, f"{score:.1f}", 10, ha="left")
        arrow(axes, (6.05, i + 0.5), (6.5, i + 0.5))


def parameter_shares(parts: dict[str, dict[str, int]]) -> Axes:
    """One bar for each part, cut into what it is made of; in millions.

    A piece has the gid "part, piece".
    """
    axes = plot(2.2)
    names = list(dict.fromkeys(n for made in parts.values() for n in made))
    colours = dict(zip(names, ("#9A86C8", ACCENT, SECOND), strict=True))
    for y, (part, made) in enumerate(parts.items()):
        left = 0.0
        for name, count in made.items():
            corner, size = (left, y - 0.36), (count / 1e6, 0.72)
            style = {"ec": "white", "lw": 1, "gid": f"{part}, {name}"}
            cell(axes, corner, size, colours[name], **style)
            left += count / 1e6
        words(axes, (left + 0.4, y), f"{left:.1f}", 10, ha="left")
    handles = [plt.Rectangle((0, 0), 1, 1, fc=c) for c in colours.values()]
    at = {"loc": "lower center", "bbox_to_anchor": (0.45, 1.0)}
    axes.legend(handles, names, ncols=3, **at)
    axes.set(xlim=(0, 28), ylim=(len(parts) - 0.5, -0.5))
    axes.set_xlabel("millions of parameters")
    axes.set_yticks(range(len(parts)), list(parts))
    axes.tick_params("y", length=0)
    return axes


def paths(length: int) -> Panels:
    """From the first input to the last output, on the shortest way.

    Recurrent network, convolution of width 3, self-attention. The gid of the
    lines of the way is "path"; a line leads from its first point to its
    second.
    """
    nets, last = _connections(length), length - 1
    heights = [0.45 * layers + 0.9 for _, layers in nets.values()]
    stack = panels(3, 1, 0.9 + 0.66 * sum(heights), height_ratios=heights)
    circle = {"s": 60, "c": "white", "ec": INK, "zorder": 3}
    for axes, (title, (edges, layers)) in zip(
        stack, nets.items(), strict=True
    ):
        way = _shortest(edges, (0, 0), (last, layers))
        for edge in edges:
            _edge(axes, edge, edge in way)
        circles = [(j, y) for y in range(layers + 1) for j in range(length)]
        axes.scatter(*zip(*circles, strict=True), **circle)
        for y, name in ((0, "input"), (layers, "output")):
            words(axes, (-0.25, y), name, 10, ha="right")
        plural = "s" if len(way) > 1 else ""
        axes.set_title(f"{title}: {len(way)} step{plural}")
        bare(axes, (-1.0, last + 0.2), (-0.35, layers + 0.35))
    return stack


def _edge(axes, edge, is_way) -> None:
    """A connection; on the way it is thick, with a tip in the middle."""
    if not is_way:
        line(axes, *edge, color=HAIR, lw=0.8)
        return
    line(axes, *edge, color=ACCENT, lw=2.6, zorder=2, gid="path")
    (x, y), (end, top) = edge
    tip = (x + 0.62 * (end - x), y + 0.62 * (top - y))
    arrow(axes, (x, y), tip, ACCENT, lw=0, head=16, zorder=2)


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


def _connections(length: int) -> dict[str, tuple[list, int]]:
    """Of three networks: the directed edges, and the number of layers."""
    steps, every = range(length - 1), range(length)
    pairs = [(j, i) for j in every for i in every]
    recurrence = [((j, 0), (j, 1)) for j in every]
    recurrence += [((j, 1), (j + 1, 1)) for j in steps]
    near = [pair for pair in pairs if abs(pair[0] - pair[1]) <= 1]
    convolution = [((j, y), (i, y + 1)) for y in steps for j, i in near]
    attention = [((j, 0), (i, 1)) for j, i in pairs]
    return {
        "recurrent network": (recurrence, 1),
        "convolutions of width 3": (convolution, length - 1),
        "self-attention": (attention, 1),
    }


def writing(source: Names, target: Names) -> Axes:
    """Encode once, then one run of the decoder for each token of `target`.

    Time runs downward. Gids: "encoder run", and of step 1 "decoder run 1",
    "input 1" (on the token that is new) or "again 1" (on those that an
    earlier step has read), and "output 1".
    """
    many, row = len(target), 1.45  # the distance of the steps
    right, bottom = 3.4 + 0.97 * many + 1.75, 0.25 - row * many
    axes = drawing(0.57 * row * many, (0, right), (bottom - 0.1, 0.1))
    inputs, fed = ["BOS", *target[:-1]], None
    for step, token in enumerate(target, start=1):
        fed = _run(axes, step, row * (1 - step), inputs[:step], token, fed)
    for i, token in enumerate(source):
        box(axes, (0.95, -0.28 - 0.64 * i), (1.7, 0.56), token, TOKEN)
    y = -0.64 * len(source)
    arrow(axes, (0.95, y), (0.95, y - 0.55))
    box(axes, (0.95, y - 1.1), (1.7, 1.1), "encoder", PLATE, "encoder run")
    arrow(axes, (1.8, y - 1.1), (2.25, y - 1.1))
    middle, size = (2.55, bottom / 2), (0.6, -bottom)
    box(axes, middle, size, "memory", OUTPUT, rotation=90)
    return axes


def _run(axes, step, top, inputs, token, fed) -> tuple[float, float]:
    """One run of the decoder; gives the place where its output goes on."""
    left, middle, size = 3.4, top - 0.8, (0.87, 0.56)
    width = 0.97 * max(step, 2) + 0.15
    arrow(axes, (2.85, middle), (left, middle), OUTPUT)
    cell(axes, (left, top - 1.2), (width, 1.2))
    style = {"ha": "left", "gid": f"decoder run {step}"}
    words(axes, (left + 0.12, top - 0.25), f"step {step}", 9.5, **style)
    for i, given in enumerate(inputs, start=1):
        x, gid = left + 0.56 + 0.97 * (i - 1), f"again {step}"
        style, colour = {"color": FAINT, "fontsize": 10}, "white"
        if i == step:
            style, colour, gid = {"fontsize": 10}, TOKEN, f"input {step}"
        box(axes, (x, middle), size, given, colour, gid, **style)
    if fed:
        arrow(axes, fed, (x, middle + 0.3))
    end = left + width
    arrow(axes, (end, middle), (end + 0.45, middle))
    at, gid = (end + 0.9, middle), f"output {step}"
    box(axes, at, size, token, OUTPUT, gid, fontsize=10)
    return end + 0.9, middle - 0.3


def by_distance(lengths: list[int], named: Curves, label: str) -> Axes:
    """Curves against the length, on two logarithmic axes, powers of ten."""
    exact = {name: torch.tensor(y).double() for name, y in named.items()}
    axes = curves(lengths, exact, ("length", label), log="xy")
    axes.yaxis.set_major_formatter(LogFormatterMathtext())
    return axes
