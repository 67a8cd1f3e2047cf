"""Chapter 10: the model from afar, its table, and ways between words."""

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.ticker import LogFormatterMathtext
from torch import Tensor

from kit.figures.marks import (
    ACCENT,
    FAINT,
    INK,
    KEY,
    OUTPUT,
    PLATE,
    SECOND,
    SIGNED,
    TOKEN,
    VALUE,
    arrow,
    bare,
    box,
    cell,
    numbers,
    words,
)
from kit.figures.plots import curves

QUIET = "#4D4D4D"


def from_afar(source: list[str], read: list[str], said: list[str]) -> Axes:
    """Encoder and decoder as towers; what goes in, and what comes out.

    Gids of the tokens: "source", "read" and "said"; of the arrows from the
    memory: "memory K" and "memory V"; an arrow from a token to the decoder
    and on to what is said has the gid "place 0", and so on.
    """
    figure, axes = plt.subplots(figsize=(5.4, 3.9))
    left, right = _places(1.75, len(source)), _places(6.9, len(read))
    for x, token in zip(left, source, strict=True):
        box(axes, (x, 0.3), (0.95, 0.55), token, TOKEN, "source")
        arrow(axes, (x, 0.6), (x, 1.05))
    _tower(axes, 1.75, 3.2, "encoder")
    box(axes, (1.75, 5.15), (3.2, 0.6), "memory", OUTPUT, "memory")
    for x in left:
        arrow(axes, (x, 4.1), (x, 4.83))
    for letter, colour, y in (("K", KEY, 5.05), ("V", VALUE, 5.27)):
        points = [3.37, 3.85 + (letter == "V") * 0.25], [y, y]
        _bent(axes, points, 3.05 + (letter == "V") * 0.4, colour, letter)
    _tower(axes, 6.9, 4.3, "decoder")
    for i, (x, old, new) in enumerate(zip(right, read, said, strict=True)):
        box(axes, (x, 0.3), (0.95, 0.55), old, TOKEN, "read")
        arrow(axes, (x, 0.6), (x, 1.05), FAINT, f"place {i}")
        arrow(axes, (x, 4.1), (x, 4.83), FAINT, f"place {i}")
        box(axes, (x, 5.15), (0.95, 0.6), new, OUTPUT, "said")
    words(axes, (1.75, -0.3), "source", fontsize=10, color=QUIET)
    words(axes, (6.9, -0.3), "written so far", fontsize=10, color=QUIET)
    words(axes, (6.9, 5.75), "what comes next?", fontsize=10, color=QUIET)
    bare(axes, (0, 9.15), (-0.55, 6.0))
    return axes


def _places(middle: float, count: int) -> list[float]:
    """The middles of boxes side by side."""
    return [middle + 1.05 * (i - (count - 1) / 2) for i in range(count)]


def _tower(axes, x, width, name) -> None:
    """A table, positions and six blocks, of which three are drawn."""
    low = (x, 1.35)
    box(axes, low, (width, 0.55), "table + positions", PLATE, fontsize=10)
    arrow(axes, (x, 1.63), (x, 1.98))
    for sheet in (2, 1, 0):
        corner = (x - width / 2 + 0.12 * sheet, 2.0 + 0.14 * sheet)
        size = (width - 0.24, 1.8)
        cell(axes, corner, size, PLATE, ec=FAINT, lw=0.8)
    words(axes, (x - 0.12, 2.9), f"{name}\n6 blocks", gid=name)


def _bent(axes, points, end, colour, letter) -> None:
    """From the memory to the right, down, and into the decoder."""
    (x_0, x_1), (y, _) = points
    axes.plot([x_0, x_1, x_1], [y, y, end], color=colour, lw=1.6)
    arrow(axes, (x_1, end), (4.72, end), colour, f"memory {letter}", lw=1.6)
    style = {"color": colour, "fontsize": 10, "weight": "bold"}
    words(
        axes, (x_1 + (0.22 if letter == "V" else -0.2), 4.4), letter, **style
    )


def tied_table(
    table: Tensor, names: list[str], read: int, scores: Tensor
) -> Axes:
    """A table from which one row is read, and by which all are scored.

    The gid of a name, of a score and of its bar is "name i", "score i" or
    "bar i"; of the frame of the row that is read, "read"; of the arrows,
    "row" and "state".
    """
    figure, axes = plt.subplots(figsize=(5.4, 3.7))
    rows, most = len(table), float(table.abs().max())
    style = {"cmap": SIGNED, "vmin": -most, "vmax": most, "zorder": 0}
    where = (0, 6, rows, 0)
    axes.imshow(numbers(table), extent=where, aspect="auto", **style)
    frame = {"ec": INK, "lw": 2, "gid": "read", "fill": False}
    cell(axes, (0, read), (6, 1), **frame)
    arrow(axes, (-2.1, read + 0.5), (-1.2, read + 0.5), INK, lw=1.6)
    arrow(axes, (3, read), (3, -0.9), INK, "row", lw=1.6)
    box(axes, (5.3, -1.4), (7, 0.9), "decoder", PLATE, "decoder")
    arrow(axes, (8, -0.95), (8, -0.1), INK, "state", lw=1.6)
    place = {"ha": "left", "fontsize": 10, "color": QUIET}
    words(axes, (3.2, -0.45), "its row", **place)
    words(axes, (8.2, -0.5), "state", **place)
    _scores(axes, names, numbers(scores))
    notes = {"the table": 3.0, "each row · state": 8.2}
    for note, x in notes.items():
        words(axes, (x, rows + 0.5), note, fontsize=10, color=QUIET)
    words(axes, (-1.65, read + 0.1), "read", fontsize=10, color=QUIET)
    bare(axes, (-2.4, 10.2), (rows + 0.9, -2))
    return axes


def _scores(axes, names, scores) -> None:
    """A name and a bar from 0 for each row; the longest bar is coloured."""
    low, best = min(*scores, 0), max(scores)
    unit = 2.5 / (best - low)
    zero = 6.55 - low * unit
    axes.plot([zero, zero], [0, len(names)], color=FAINT, lw=1)
    for i, (name, score) in enumerate(zip(names, scores, strict=True)):
        at = (-0.15, i + 0.5)
        words(axes, at, name, ha="right", fontsize=10, gid=f"name {i}")
        colour = SECOND if score == best else "#BBBBBB"
        place = (zero, i + 0.18), (score * unit, 0.64)
        cell(axes, *place, colour, gid=f"bar {i}")
        style = {"ha": "left", "fontsize": 10, "gid": f"score {i}"}
        end = zero + max(score, 0) * unit
        words(axes, (end + 0.1, i + 0.5), f"{score:.1f}", **style)
        arrow(axes, (6.05, i + 0.5), (6.5, i + 0.5))


def parameter_shares(parts: dict[str, dict[str, int]]) -> Axes:
    """One bar for each part, cut into what it is made of; in millions.

    A piece has the gid "part, piece".
    """
    figure, axes = plt.subplots(figsize=(5.4, 2.2))
    names = list(dict.fromkeys(n for made in parts.values() for n in made))
    colours = dict(zip(names, ("#9A86C8", ACCENT, SECOND), strict=True))
    for y, (part, made) in enumerate(parts.items()):
        left = 0.0
        for name, count in made.items():
            corner, size = (left, y - 0.36), (count / 1e6, 0.72)
            style = {"ec": "white", "lw": 1, "gid": f"{part}, {name}"}
            cell(axes, corner, size, colours[name], **style)
            left += count / 1e6
        words(axes, (left + 0.4, y), f"{left:.1f}", ha="left", fontsize=10)
    handles = [plt.Rectangle((0, 0), 1, 1, fc=colours[n]) for n in names]
    at = {"loc": "lower center", "bbox_to_anchor": (0.45, 1.0)}
    axes.legend(handles, names, ncols=3, **at)
    axes.set(xlim=(0, 28), ylim=(len(parts) - 0.5, -0.5))
    axes.set_xlabel("millions of parameters")
    axes.set_yticks(range(len(parts)), list(parts))
    axes.tick_params("y", length=0)
    return axes


def paths(length: int) -> list[Axes]:
    """From the first input to the last output, on the shortest way.

    Recurrent network, convolution of width 3, self-attention. The gid of the
    lines of the way is "path", of all other connections "connection"; a line
    leads from its first point to its second.
    """
    panels, last = _connections(length), length - 1
    heights = [0.45 * layers + 0.9 for _, layers in panels.values()]
    size = (5.4, 0.9 + 0.66 * sum(heights))
    figure, stack = plt.subplots(3, 1, figsize=size, height_ratios=heights)
    circle = {"s": 60, "c": "white", "ec": INK, "zorder": 3}
    pairs = zip(stack, panels.items(), strict=True)
    for axes, (title, (edges, layers)) in pairs:
        way = _shortest(edges, (0, 0), (last, layers))
        for edge in edges:
            _edge(axes, edge, edge in way)
        circles = [(j, y) for y in range(layers + 1) for j in range(length)]
        axes.scatter(*zip(*circles, strict=True), **circle)
        for y, name in ((0, "input"), (layers, "output")):
            words(axes, (-0.25, y), name, ha="right", fontsize=10)
        plural = "s" if len(way) > 1 else ""
        axes.set_title(f"{title}: {len(way)} step{plural}")
        bare(axes, (-1.0, last + 0.2), (-0.35, layers + 0.35))
    return list(stack)


def _edge(axes, edge, is_way) -> None:
    """A connection; on the way it is thick, with a tip in the middle."""
    on = {"color": ACCENT, "lw": 2.6, "zorder": 2, "gid": "path"}
    off = {"color": "#CCCCCC", "lw": 0.8, "zorder": 1, "gid": "connection"}
    (x_0, x_1), (y_0, y_1) = zip(*edge, strict=True)
    axes.plot([x_0, x_1], [y_0, y_1], **(on if is_way else off))
    if is_way:
        tip = (x_0 + 0.62 * (x_1 - x_0), y_0 + 0.62 * (y_1 - y_0))
        style = {"mutation_scale": 16, "lw": 0, "zorder": 2}
        arrow(axes, (x_0, y_0), tip, ACCENT, "tip", **style)


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
    steps, positions = range(length - 1), range(length)
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
    return {
        "recurrent network": (recurrence, 1),
        "convolutions of width 3": (convolution, length - 1),
        "self-attention": (attention, 1),
    }


ROW = 1.45  # the distance of the steps in `writing`


def writing(source: list[str], target: list[str]) -> Axes:
    """Encode once, then one run of the decoder for each token of `target`.

    Time runs downward. Gids: "source", "encoder run", "memory", and of step 1
    "memory to step 1", "decoder run 1", "input 1" (on the token that is new)
    or "again 1" (on those that an earlier step has read), and "output 1".
    """
    inputs, fed = ["BOS", *target[:-1]], None
    figure, axes = plt.subplots(figsize=(5.4, 0.57 * ROW * len(target)))
    for step, token in enumerate(target, start=1):
        fed = _run(axes, step, inputs[:step], token, fed)
    y = 0.0
    for token in source:
        box(axes, (0.95, y - 0.28), (1.7, 0.56), token, TOKEN, "source")
        y -= 0.64
    arrow(axes, (0.95, y), (0.95, y - 0.55))
    box(axes, (0.95, y - 1.1), (1.7, 1.1), "encoder", PLATE, "encoder run")
    arrow(axes, (1.8, y - 1.1), (2.25, y - 1.1))
    bottom = 0.25 - ROW * len(target)
    middle, size = (2.55, bottom / 2), (0.6, -bottom)
    box(axes, middle, size, "memory", OUTPUT, "memory", rotation=90)
    right = 3.4 + 0.97 * len(target) + 1.75
    bare(axes, (0, right), (bottom - 0.1, 0.1))
    return axes


def _run(axes, step, inputs, token, fed) -> tuple[float, float]:
    """One run of the decoder; gives the place where its output goes on."""
    top, left = ROW * (1 - step), 3.4
    width, middle = 0.97 * max(len(inputs), 2) + 0.15, top - 0.8
    arrow(
        axes, (2.85, middle), (left, middle), OUTPUT, f"memory to step {step}"
    )
    cell(axes, (left, top - 1.2), (width, 1.2))
    style = {"ha": "left", "fontsize": 9.5, "gid": f"decoder run {step}"}
    words(axes, (left + 0.12, top - 0.25), f"step {step}", **style)
    for i, given in enumerate(inputs, start=1):
        x = left + 0.56 + 0.97 * (i - 1)
        colour, name = (TOKEN, "input") if i == step else ("white", "again")
        style = {"color": INK if i == step else FAINT, "fontsize": 10}
        gid = f"{name} {step}"
        box(axes, (x, middle), (0.87, 0.56), given, colour, gid, **style)
    if fed:
        arrow(axes, fed, (left + 0.56 + 0.97 * (step - 1), middle + 0.3))
    end = left + width
    arrow(axes, (end, middle), (end + 0.45, middle))
    at, size = (end + 0.9, middle), (0.87, 0.56)
    box(axes, at, size, token, OUTPUT, f"output {step}", fontsize=10)
    return end + 0.9, middle - 0.3


def by_distance(
    lengths: list[int], named: dict[str, list[float]], label: str
) -> Axes:
    """Curves against the length, on two logarithmic axes, powers of ten."""
    exact = {name: torch.tensor(y).double() for name, y in named.items()}
    axes = curves(lengths, exact, ("length", label), log="xy")
    axes.yaxis.set_major_formatter(LogFormatterMathtext())
    return axes
