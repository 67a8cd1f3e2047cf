"""Chapter 9: one sentence reads another."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from kit.figures.marks import (
    ACCENT,
    FAINT,
    INK,
    MAY,
    OUTPUT,
    PLATE,
    SECOND,
    TOKEN,
    arrow,
    bare,
    box,
    cell,
    letter,
    numbers,
    station,
    words,
)

PATH = {"colour": ACCENT, "lw": 3.2, "mutation_scale": 14}  # of a position


def alignments(pairs: list[tuple[list[str], list[str], Tensor]]) -> list[Axes]:
    """Source words above, written tokens below, arrows as wide as weights.

    A pair is source, target and the weights (target, source). The gid of an
    arrow is "look t s"; weights below 0.1 are left out.
    """
    size = (5.4, 2.0 * len(pairs))
    figure, grid = plt.subplots(len(pairs), 1, figsize=size, squeeze=False)
    for axes, (source, target, weights) in zip(grid.flat, pairs, strict=True):
        tops = _row(axes, source, 2, TOKEN, "source")
        feet = _row(axes, target, 0, ACCENT, "target")
        for t, row in enumerate(numbers(weights)):
            for s, weight in enumerate(row):
                if weight >= 0.1:
                    ends = (feet[t], 0.3), (tops[s], 1.7)
                    style = {"lw": 0.5 + 4 * weight}
                    style["alpha"] = 0.35 + weight / 2
                    style["mutation_scale"] = 9 + 6 * weight
                    arrow(axes, *ends, ACCENT, f"look {t} {s}", **style)
        for y, text in ((2, "source"), (0, "target")):
            words(axes, (-0.75, y), text, ha="right", color=FAINT)
        bare(axes, (-1.75, 5.0), (-0.4, 2.4))
    return list(grid.flat)


def _row(axes, tokens, y, colour, name) -> list[float]:
    """Boxes, spread over the same width however many; gives their middles."""
    wide = 4.4 / max(1, len(tokens) - 1)
    places = [i * wide for i in range(len(tokens))]
    for x, token in zip(places, tokens, strict=True):
        size = (0.35 + 0.13 * len(token), 0.5)
        box(axes, (x, y), size, token, colour, name)
    return places


LOW, MIDDLE, HIGH = 0.0, 2.0, 3.4  # decoder input, decoder, target
NOTE = {"ha": "left", "fontsize": 9, "color": FAINT}


def three_rows(source: list[str], reads: list[str], says: list[str]) -> Axes:
    """Source, decoder input and target: who reads what, who must say what.

    Gids: "reads t j" (position t reads input j), "hears" (all read the
    source), "says t", and "shift t" (what t says is read at t + 1).
    """
    figure, axes = plt.subplots(figsize=(5.4, 3.7))
    many = len(reads)
    cell(axes, (-0.6, MIDDLE - 0.4), (many + 0.2, 0.8), PLATE)
    for t, (read, say) in enumerate(zip(reads, says, strict=True)):
        box(axes, (t, LOW), (0.8, 0.55), read, TOKEN, "decoder input")
        box(axes, (t, HIGH), (0.8, 0.55), say, ACCENT, "target")
        _position(axes, t)
    _heard(axes, source)
    words(axes, (many - 0.3, MIDDLE), "decoder", **NOTE)
    words(axes, (many - 0.5, HIGH), "target:\nmust be said", **NOTE)
    words(axes, (many - 0.5, LOW), "decoder input:\nis read", **NOTE)
    bare(axes, (-3.0, many + 0.9), (-0.4, 3.8))
    return axes


def _position(axes, t) -> None:
    """What one position of the decoder reads and says."""
    for j in range(t + 1):
        ends = (j, LOW + 0.3), (t, MIDDLE - 0.24)
        style = {"mutation_scale": 7, "lw": 1.0}
        arrow(axes, *ends, INK, f"reads {t} {j}", **style)
    arrow(axes, (t, MIDDLE + 0.24), (t, HIGH - 0.3), ACCENT, f"says {t}")
    cell(axes, (t - 0.24, MIDDLE - 0.24), (0.48, 0.48), "white", ec=FAINT)
    words(axes, (t, MIDDLE), t + 1, fontsize=9, zorder=4, gid="position")
    if t:
        path = (t - 0.55, HIGH - 0.3), (t - 0.32, LOW + 0.3)
        style = {"ls": ":", "mutation_scale": 8}
        arrow(axes, *path, FAINT, f"shift {t - 1}", **style)


def _heard(axes, source) -> None:
    """The source, all of which goes to every position."""
    top = MIDDLE + 0.35 * (len(source) - 1)
    for i, word in enumerate(source):
        y = top - 0.7 * i
        box(axes, (-2.4, y), (1.0, 0.55), word, TOKEN, "source")
        arrow(axes, (-1.88, y), (-1.1, MIDDLE), SECOND, arrowstyle="-")
    arrow(axes, (-1.1, MIDDLE), (-0.62, MIDDLE), SECOND, "hears")
    words(axes, (-2.4, top + 0.6), "source", fontsize=9, color=FAINT)


STATIONS = ("+", 2.8), ("norm", 3.6), ("+", 6.4), ("norm", 7.2)
STATIONS += ("+", 9.5), ("norm", 10.3)


def decoder_layer(reads: list[str], memory: list[str]) -> Axes:
    """Target positions through one decoder block, from bottom to top.

    Gids: "path", "across" (from a position to itself or a later one), "Q",
    "K", "V" and "reads" of the cross-attention, "memory", and the stations.
    """
    figure, axes = plt.subplots(figsize=(5.4, 6.1))
    places = [1.7 * i for i in range(len(reads))]
    _look_back(axes, places)
    _look_across(axes, places, memory)
    for x, name in zip(places, reads, strict=True):
        words(axes, (x, -0.25), name, va="top", gid="position")
        _upwards(axes, x)
        _branch(axes, x, (7.8, 9.5))
        box(axes, (x + 0.72, 8.65), (0.84, 0.9), "feed\nfwd", fontsize=9)
    edge = places[-1] + 1.3
    for y, note in (
        (1.5, "masked\nself-attention:\nlooks back"),
        (5.05, "cross-attention:\nlooks across"),
        (8.65, "feed-forward:\neach alone"),
    ):
        words(axes, (edge, y), note, ha="left", fontsize=9.5)
    bare(axes, (-3.0, edge + 2.3), (-0.8, 11.3))
    return axes


def _upwards(axes, x) -> None:
    """The path of one position through its stations."""
    low = -0.15
    for text, y in STATIONS:
        arrow(axes, (x, low), (x, y - 0.27), name="path", zorder=3, **PATH)
        station(axes, (x, y), 0.48 if text == "norm" else 0.27, text, text)
        low = y + 0.27
    arrow(axes, (x, low), (x, 11.2), name="path", **PATH)


def _branch(axes, x, heights) -> None:
    """The way off the path, up beside it, and into the sum."""
    (low, high), side = heights, x + 0.72
    axes.plot([x, side, side], [low, low, high], color=FAINT, lw=1.2, zorder=0)
    arrow(axes, (side, high), (x + 0.27, high))


def _wide_box(axes, places, y) -> float:
    """One box for all positions; gives its left edge."""
    left, right = places[0] + 0.3, places[-1] + 1.14
    box(axes, ((left + right) / 2, y), (right - left, 1.5), "", TOKEN)
    return left


def _look_back(axes, places) -> None:
    """Self-attention: every branch reads from itself and from its left."""
    for x in places:
        _branch(axes, x, (0.3, 2.8))
    _wide_box(axes, places, 1.5)
    for i, start in enumerate(places):
        for end in places[i:]:
            ends = (start + 0.72, 0.85), (end + 0.72, 2.15)
            style = {"lw": 1.0, "mutation_scale": 7}
            arrow(axes, *ends, INK, "across", **style)


def _look_across(axes, places, memory) -> None:
    """Cross-attention: queries from below, keys and values from the side."""
    for x in places:
        _branch(axes, x, (4.0, 6.4))
    left = _wide_box(axes, places, 5.05)
    for x in places:
        letter(axes, (x + 0.72, 4.0), (x + 0.72, 4.5), "Q", "Q", (0.22, -0.02))
        style = {"lw": 1.0, "mutation_scale": 7}
        arrow(axes, (left, 5.05), (x + 0.72, 5.7), INK, "reads", **style)
    top = 5.05 + 0.35 * (len(memory) - 1)
    for i, word in enumerate(memory):
        at, size = (-2.35, top - 0.7 * i), (1.15, 0.56)
        box(axes, at, size, word, OUTPUT, "memory")
    words(axes, (-2.35, top + 0.62), "memory", color=FAINT, fontsize=9.5)
    for text, y in (("K", 5.35), ("V", 4.75)):
        letter(axes, (-1.72, y), (left, y), text, text, (-0.75, 0.22))


ORIGINS = {
    "encoder self": ("source", "source"),
    "decoder self": ("decoder\ninput", "decoder\ninput"),
    "decoder cross": ("decoder\ninput", "memory"),
}


def three_masks(
    panels: dict[str, Tensor], source: list[str], target: list[str]
) -> list[Axes]:
    """Three attentions: where Q, K and V come from, and what may be seen.

    The panels are masks named as in `ORIGINS`. An arrow's gid is its letter
    and origin, as in "K memory"; a cell's is "open i j" or "closed i j".
    """
    figure, row = plt.subplots(1, 3, figsize=(5.4, 4.0))
    tokens = {"source": source, "memory": source}
    for axes, (name, mask) in zip(row, panels.items(), strict=True):
        asks, answers = ORIGINS[name]
        rows, columns = (tokens.get(o, target) for o in (asks, answers))
        _mask(axes, mask, rows, columns)
        title = f"{name}-attention".replace(" ", "\n")
        words(axes, (2.0, 3.05), title, fontsize=10)
        _origins(axes, asks, answers)
        bare(axes, (-0.95, 4.8), (-0.2, 10.7))
    return list(row)


def _origins(axes, asks, answers) -> None:
    """Where queries come from, and where keys and values come from."""
    boxes, wide = {asks: 2.0}, 3.4
    ends = {"Q": 1.0, "K": 2.0, "V": 3.0}
    if asks != answers:
        boxes, wide = {asks: 0.75, answers: 3.1}, 2.1
        ends = {"Q": 0.75, "K": 2.6, "V": 3.6}
    for origin, x in boxes.items():
        colour = OUTPUT if origin == "memory" else TOKEN
        at, size = (x, 0.35), (wide, 1.0)
        box(axes, at, size, origin, colour, "origin", fontsize=9.5)
    for text, x in ends.items():
        gid = f"{text} {asks if text == 'Q' else answers}"
        gid = gid.replace("\n", " ")
        letter(axes, (x, 0.85), (x, 2.25), text, gid, (0.32, 0))


def _mask(axes, mask: Tensor, rows: list[str], columns: list[str]) -> None:
    """A mask, cell by cell, with queries in rows and keys in columns."""
    left, top = 2.2 - len(columns) / 2, 9.1
    for i, line in enumerate(mask.cpu().tolist()):
        style = {"ha": "right", "fontsize": 9}
        words(axes, (left - 0.12, top - i - 0.5), rows[i], **style)
        for j, seen in enumerate(line):
            gid = f"{'open' if seen else 'closed'} {i} {j}"
            style = {"ec": "white", "lw": 1.5, "gid": gid}
            at = (left + j, top - i - 1)
            cell(axes, at, (1, 1), MAY if seen else PLATE, **style)
    for j, text in enumerate(columns):
        style = {"va": "bottom", "rotation": 90, "fontsize": 9}
        words(axes, (left + j + 0.5, top + 0.1), text, **style)
