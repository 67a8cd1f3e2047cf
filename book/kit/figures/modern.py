"""Chapter 16: the block of 2017 and that of today, and what changed."""

import math

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Circle
from torch import Tensor

from kit.figures.marks import (
    ACCENT,
    BEHIND,
    FAINT,
    INK,
    KEY,
    PLATE,
    QUERY,
    SECOND,
    TOKEN,
    arrow,
    bare,
    box,
    cell,
    numbers,
    words,
)

PATH = 0.75  # where the residual path runs
BRANCH = 2.75


def two_blocks() -> list[Axes]:
    """A decoder block of 2017 beside one of today, from bottom to top.

    Gids: "change n" of the numbers 1 to 7 at the parts that changed; boxes
    have the words in them as gid.
    """
    figure, panels = plt.subplots(1, 2, figsize=(5.4, 4.6))
    _of_2017(panels[0])
    _of_today(panels[1])
    for axes in panels:
        bare(axes, (-0.3, 5.2), (-0.75, 8.3))
    return list(panels)


def _of_2017(axes) -> None:
    axes.set_title("2017", loc="center")
    _path(axes, "x + position")
    for low, part in ((0.55, "causal\nattention"), (4.25, "FFN\nwith ReLU")):
        _branch(axes, low, low + 1.2, part)
        _plus(axes, low + 2.1)
        box(axes, (PATH, low + 2.85), (1.9, 0.55), "LayerNorm", PLATE)
    words(axes, (BRANCH, 3.35), "with biases", color=FAINT, fontsize=9)


def _of_today(axes) -> None:
    axes.set_title("today", loc="center")
    _path(axes, "x")
    parts = (0.55, "causal\nattention"), (4.25, "gated FFN\nSwiGLU")
    for low, part in parts:
        _branch(axes, low, low + 1.75, part)
        box(axes, (BRANCH, low + 0.6), (1.8, 0.5), "RMSNorm", ACCENT)
        _plus(axes, low + 2.75)
    _number(axes, 1, (BRANCH - 1.1, 0.85))
    _number(axes, 2, (BRANCH + 1.2, 1.15))
    _number(axes, 3, (BRANCH - 0.62, 3.75))
    words(axes, (BRANCH + 0.4, 3.75), "no biases", color=FAINT, fontsize=9)
    _number(axes, 4, (BRANCH + 1.2, 6.0))
    for change, down in ((5, 0.5), (6, 0), (7, -0.5)):
        _number(axes, change, (BRANCH + 1.15, 2.3 + down))
    names = "rotary", "shared heads", "window"
    for name, down in zip(names, (0.5, 0, -0.5), strict=True):
        style = {"ha": "left", "fontsize": 9, "color": INK, "gid": name}
        words(axes, (BRANCH + 1.42, 2.3 + down), name, **style)


def _path(axes, start) -> None:
    """The residual path, from the words at the bottom to the top."""
    arrow(axes, (PATH, -0.1), (PATH, 8.2), ACCENT, "path", lw=3)
    words(axes, (PATH, -0.45), start, gid="start")


def _branch(axes, low, middle, text) -> None:
    """Out of the path, through a part, and back."""
    axes.plot([PATH, BRANCH], [low, low], color=FAINT, lw=1.2, zorder=1)
    arrow(axes, (BRANCH, low), (BRANCH, middle - 0.45))
    box(axes, (BRANCH, middle), (1.8, 0.9), text, SECOND, text, fontsize=9.5)
    back = low + 2.1 if middle - low < 1.5 else low + 2.75
    axes.plot([BRANCH, BRANCH], [middle + 0.45, back], color=FAINT, lw=1.2)
    arrow(axes, (BRANCH, back), (PATH + 0.2, back))


def _plus(axes, y) -> None:
    style = {"fc": "white", "ec": INK, "lw": 1, "zorder": 3}
    axes.add_patch(Circle((PATH, y), 0.2, **style))
    words(axes, (PATH, y), "+", gid="plus", zorder=4)


def _number(axes, change, at) -> None:
    """A change, by its number in the chapter."""
    axes.add_patch(Circle(at, 0.2, fc=INK, ec="none", zorder=3))
    style = {"color": "white", "fontsize": 9, "weight": "bold", "zorder": 4}
    words(axes, at, f"{change}", gid=f"change {change}", **style)


def gate() -> list[Axes]:
    """A gated feed-forward network, and the curves of ReLU and SiLU.

    The lines have the gids "relu" and "silu", the boxes their words.
    """
    style = {"figsize": (5.4, 2.9), "width_ratios": (1.15, 1)}
    kinds = {k: style.pop(k) for k in ("width_ratios",)}
    figure, (left, right) = plt.subplots(1, 2, gridspec_kw=kinds, **style)
    _gated(left)
    z = torch.linspace(-6, 4, 201)
    curves = {"relu": torch.relu(z), "silu": z * torch.sigmoid(z)}
    for colour, (name, y) in zip((FAINT, ACCENT), curves.items(), strict=True):
        look = {"color": colour, "gid": name, "lw": 2}
        right.plot(numbers(z), numbers(y), **look)
    words(right, (2.6, 3.0), "ReLU", color=FAINT, ha="right")
    words(right, (2.6, 1.3), "SiLU", color=ACCENT, weight="bold")
    right.axhline(0, color=FAINT, lw=0.6)
    right.set(xlabel="z", ylim=(-0.8, 4), xlim=(-6, 4))
    right.set_xticks([-6, -4, -2, 0, 2, 4])
    return [left, right]


def _gated(axes) -> None:
    """Two ways up from x that meet in a product."""
    for x, name, matrix in (
        (0.9, "how much", "$W_1$"),
        (3.1, "what", "$W_3$"),
    ):
        arrow(axes, (2, 0.25), (x, 0.95))
        box(axes, (x, 1.2), (1.1, 0.5), matrix, SECOND, matrix)
        words(axes, (x + (0.9 if x > 2 else -1.25), 1.2), name, fontsize=9)
    arrow(axes, (0.9, 1.45), (0.9, 2.05))
    box(axes, (0.9, 2.3), (1.1, 0.5), "silu", ACCENT, "silu")
    arrow(axes, (0.9, 2.55), (1.85, 3.2))
    arrow(axes, (3.1, 1.45), (2.15, 3.2))
    axes.add_patch(Circle((2, 3.35), 0.2, fc="white", ec=INK, lw=1))
    words(axes, (2, 3.35), "⊙", gid="product", fontsize=10)
    arrow(axes, (2, 3.55), (2, 4.05))
    box(axes, (2, 4.3), (1.1, 0.5), "$W_2$", SECOND, "$W_2$")
    arrow(axes, (2, 4.55), (2, 5.0))
    words(axes, (2, 0.05), "x", gid="x")
    bare(axes, (-1.1, 4.4), (-0.15, 5.05))


def kept_angles(tokens: list[str], place: int) -> Axes:
    """Kept keys, each turned by its place, and a new query turned by `place`.

    The gids, of arrows: "key j" and "query"; of a text: "turned", which says
    by which place the query is turned.
    """
    figure, axes = plt.subplots(figsize=(5.4, 1.75))
    last = len(tokens) - 1
    cell(axes, (-0.55, -1.1), (last + 0.05, 1.75), PLATE)
    for j, token in enumerate(tokens):
        kept = j < last
        turned = j if kept else place
        colour, name = (KEY, f"key {j}") if kept else (QUERY, "query")
        at = (j + (0 if kept else 0.35), 0.1)
        axes.add_patch(Circle(at, 0.4, fc="white", ec=FAINT, lw=0.8))
        end = [at[i] + 0.38 * f(0.3 * turned) for i, f in
               enumerate((math.cos, math.sin))]  # fmt: skip
        arrow(axes, at, tuple(end), colour, name, lw=2, mutation_scale=8)
        words(axes, (at[0], -0.55), f"{turned}", gid=f"place {j}")
        words(axes, (at[0], -0.92), token, fontsize=10, color=FAINT)
    words(axes, (-0.8, -0.55), "turned by", ha="right", fontsize=9)
    words(axes, (last / 2 - 0.5, 0.9), "kept keys", fontsize=9.5)
    words(axes, (last + 0.35, 0.9), "new query", fontsize=9.5)
    bare(axes, (-2.3, last + 1.1), (-1.15, 1.05))
    axes.set_aspect("equal")
    return axes


def reach(knows: Tensor, tokens: list[str]) -> Axes:
    """Which rows know of one token: a line of cells for each height.

    `knows` is boolean, (heights, length), the input first. Cells have the
    gid "knows h j" or "not h j"; arrows lead from one line to the next.
    """
    heights, length = knows.shape
    figure, axes = plt.subplots(figsize=(5.4, 0.45 + 0.62 * heights))
    for h in range(heights):
        name = "input" if h == 0 else f"layer {h}"
        style = {"ha": "right", "fontsize": 9.5}
        words(axes, (-0.3, 1.5 * h + 0.5), name, **style)
        for j in range(length):
            informed = bool(knows[h, j])
            gid = f"{'knows' if informed else 'not'} {h} {j}"
            colour = BEHIND if informed else "white"
            look = {"ec": FAINT, "lw": 0.7, "gid": gid}
            cell(axes, (j + 0.06, 1.5 * h), (0.88, 1), colour, **look)
            words(axes, (j + 0.5, 1.5 * h + 0.5), tokens[j], fontsize=9.5)
    for h in range(1, heights):
        for start, end in _sources(knows, h):
            ends = (start + 0.5, 1.5 * h - 0.5), (end + 0.5, 1.5 * h)
            arrow(axes, *ends, INK, f"step {h}", lw=0.7, mutation_scale=6)
    bare(axes, (-2.0, length + 0.1), (-0.15, 1.5 * heights - 0.4))
    return axes


def _sources(knows, h) -> list[tuple[int, int]]:
    """From the last informed place below to every newly informed one."""
    below = [j for j, known in enumerate(knows[h - 1]) if known]
    return [(below[-1], j) for j, known in enumerate(knows[h])
            if known and j >= below[-1]]  # fmt: skip


def biases(lines: dict[str, Tensor], steps: Tensor, window: int) -> Axes:
    """What is added to a score, by the distance of query and key.

    `lines` are ALiBi's, one for each head, and `steps` a learnt bias with its
    buckets; beyond the window a dotted line. Lines have their names as gid.
    """
    figure, axes = plt.subplots(figsize=(5.4, 3.0))
    colours = ("#E69F00", "#B8860B", "#8C6D31")
    for colour, (name, line) in zip(colours, lines.items(), strict=False):
        axes.plot(numbers(line), color=colour, gid=name, lw=1.8)
        words(axes, _end(line), name, ha="left", color=ACCENT, fontsize=9.5)
    look = {"color": SECOND, "gid": "T5", "lw": 2.2, "where": "mid"}
    axes.step(range(len(steps)), numbers(steps), **look)
    style = {"color": SECOND, "fontsize": 9.5}
    words(axes, (len(steps) * 0.3, 2.0), "T5 (to be learnt)", **style)
    axes.axvline(window - 0.5, color=FAINT, ls=":", gid="window")
    style = {"ha": "left", "color": FAINT, "fontsize": 9.5}
    words(axes, (window, 2.3), "window ends: not seen", **style)
    axes.set(xlim=(0, len(steps) * 1.28), ylim=(-6.3, 2.8))
    axes.set_xlabel("distance of query and key")
    axes.set_ylabel("added to the score")
    return axes


def _end(line: Tensor) -> tuple[float, float]:
    """A place beside the last point that is still in the picture."""
    inside = [j for j, y in enumerate(numbers(line)) if y > -6]
    return inside[-1] + 1.0, float(line[inside[-1]])


def one_row(ids: list[str], targets: list[str]) -> Axes:
    """A row that is read and, below, what each place must say; "" counts not.

    The gids: "read j", and "must j" where a target counts.
    """
    many = len(ids)
    figure, axes = plt.subplots(figsize=(5.4, 1.25))
    for j, (token, target) in enumerate(zip(ids, targets, strict=True)):
        colour = TOKEN if not target and token != "B" else PLATE
        cell(axes, (j + 0.04, 1.5), (0.92, 1), colour)
        words(axes, (j + 0.5, 2), token, gid=f"read {j}", fontsize=9)
        if target:
            cell(axes, (j + 0.04, 0), (0.92, 1), "white")
            cell(axes, (j + 0.04, 0), (0.92, 1), ACCENT, alpha=0.55)
            words(axes, (j + 0.5, 0.5), target, gid=f"must {j}", fontsize=9)
            arrow(axes, (j + 0.5, 1.45), (j + 0.5, 1.02), INK, lw=0.8)
    style = {"ha": "right", "fontsize": 9.5}
    words(axes, (-0.3, 2), "reads", **style)
    words(axes, (-0.3, 0.5), "must say", **style)
    first = next(j for j, target in enumerate(targets) if target)
    style = {"color": FAINT, "fontsize": 9.5}
    words(axes, (first / 2, 0.5), "does not count", **style)
    bare(axes, (-4.0, many + 0.1), (-0.1, 2.6))
    return axes
