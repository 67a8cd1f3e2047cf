"""Chapter 16: the block of 2017 and that of today, and what changed."""

import math

import torch
from matplotlib.patches import Circle

from .canvas import bare, drawing, numbers, panels, plot
from .colours import ACCENT, FAINT, INK, PLATE, ROLE, SECOND, TOKEN
from .kinds import Axes, Named, Names, Panels, Tensor
from .marks import arrow, beside, box, cell, entry, line, sign, words
from .plots import informed

PATH, BRANCH = 0.75, 2.75  # where the residual path and its branches run


def two_blocks() -> Panels:
    """A decoder block of 2017 beside one of today, from bottom to top.

    The numbers 1 to 7 at the parts that changed have the gid "change n".
    """
    old, new = both = panels(1, 2, 4.6)
    _block(old, "2017", "x + position", 1.2, "FFN\nwith ReLU")
    for low in (0.55, 4.25):
        box(old, (PATH, low + 2.85), (1.9, 0.55), "LayerNorm")
    words(old, (BRANCH, 3.35), "with biases", 9, color=FAINT)
    _block(new, "today", "x", 1.75, "gated FFN\nSwiGLU")
    for low in (0.55, 4.25):
        box(new, (BRANCH, low + 0.6), (1.8, 0.5), "RMSNorm", ACCENT)
    words(new, (BRANCH + 0.4, 3.75), "no biases", 9, color=FAINT)
    notes = {"rotary": 2.8, "shared heads": 2.3, "window": 1.8}
    beside(new, BRANCH + 1.42, notes, 9, ha="left")
    for change, at in enumerate(CHANGES, start=1):
        style = {"color": "white", "weight": "bold"}
        sign(new, at, change, 9, INK, gid=f"change {change}", **style)
    return both


CHANGES = (  # where the number of each stands
    (BRANCH - 1.1, 0.85),
    (BRANCH + 1.2, 1.15),
    (BRANCH - 0.62, 3.75),
    (BRANCH + 1.2, 6.0),
    (BRANCH + 1.15, 2.8),
    (BRANCH + 1.15, 2.3),
    (BRANCH + 1.15, 1.8),
)


def _block(axes, title, start, height, network) -> None:
    """The residual path and two branches, `height` up to their parts."""
    axes.set_title(title, loc="center")
    arrow(axes, (PATH, -0.1), (PATH, 8.2), ACCENT, lw=3)
    words(axes, (PATH, -0.45), start)
    for low, part in ((0.55, "causal\nattention"), (4.25, network)):
        middle = low + height
        back = middle + (0.9 if title == "2017" else 1)
        line(axes, (PATH, low), (BRANCH, low))
        arrow(axes, (BRANCH, low), (BRANCH, middle - 0.45))
        box(axes, (BRANCH, middle), (1.8, 0.9), part, SECOND, fontsize=9.5)
        line(axes, (BRANCH, middle + 0.45), (BRANCH, back), zorder=2)
        arrow(axes, (BRANCH, back), (PATH + 0.2, back))
        sign(axes, (PATH, back), "+")
    bare(axes, (-0.3, 5.2), (-0.75, 8.3))


def gate() -> Panels:
    """A gated feed-forward network, and the curves of ReLU and SiLU.

    The lines have the gids "relu" and "silu".
    """
    left, right = both = panels(1, 2, 2.9, width_ratios=(1.15, 1))
    _gated(left)
    z = torch.linspace(-6, 4, 201)
    for name, colour, y in (
        ("relu", FAINT, torch.relu(z)),
        ("silu", ACCENT, z * torch.sigmoid(z)),
    ):
        right.plot(numbers(z), numbers(y), color=colour, gid=name, lw=2)
    words(right, (2.6, 3.0), "ReLU", color=FAINT, ha="right")
    words(right, (2.6, 1.3), "SiLU", color=ACCENT, weight="bold")
    right.axhline(0, color=FAINT, lw=0.6)
    right.set(xlabel="z", ylim=(-0.8, 4), xlim=(-6, 4))
    right.set_xticks([-6, -4, -2, 0, 2, 4])
    return both


def _gated(axes) -> None:
    """Two ways up from x that meet in a product."""
    size = (1.1, 0.5)
    for x, matrix in ((0.9, "$W_1$"), (3.1, "$W_3$")):
        arrow(axes, (2, 0.25), (x, 0.95))
        box(axes, (x, 1.2), size, matrix, SECOND)
    words(axes, (-0.35, 1.2), "how much", 9)
    words(axes, (4.0, 1.2), "what", 9)
    arrow(axes, (0.9, 1.45), (0.9, 2.05))
    box(axes, (0.9, 2.3), size, "silu", ACCENT)
    arrow(axes, (0.9, 2.55), (1.85, 3.2))
    arrow(axes, (3.1, 1.45), (2.15, 3.2))
    sign(axes, (2, 3.35), "⊙", 10)
    arrow(axes, (2, 3.55), (2, 4.05))
    box(axes, (2, 4.3), size, "$W_2$", SECOND)
    arrow(axes, (2, 4.55), (2, 5.0))
    words(axes, (2, 0.05), "x")
    bare(axes, (-1.1, 4.4), (-0.15, 5.05))


def kept_angles(tokens: Names, place: int) -> Axes:
    """Kept keys, each turned by its place, and a new query turned by `place`.

    The arrow of a key has the gid "key j".
    """
    last = len(tokens) - 1
    axes = drawing(1.75, (-2.3, last + 1.1), (-1.15, 1.05))
    cell(axes, (-0.55, -1.1), (last + 0.05, 1.75))
    for j, token in enumerate(tokens):
        x, turned, colour, name = j, j, ROLE["K"], f"key {j}"
        if j == last:
            x, turned, colour, name = j + 0.35, place, ROLE["Q"], "query"
        axes.add_patch(Circle((x, 0.1), 0.4, fc="white", ec=FAINT, lw=0.8))
        cos, sin = math.cos(0.3 * turned), math.sin(0.3 * turned)
        end = (x + 0.38 * cos, 0.1 + 0.38 * sin)
        arrow(axes, (x, 0.1), end, colour, name, lw=2, head=8)
        words(axes, (x, -0.55), turned)
        words(axes, (x, -0.92), token, 10, color=FAINT)
    words(axes, (-0.8, -0.55), "turned by", 9, ha="right")
    words(axes, (last / 2 - 0.5, 0.9), "kept keys", 9.5)
    words(axes, (last + 0.35, 0.9), "new query", 9.5)
    axes.set_aspect("equal")
    return axes


def reach(knows: Tensor, tokens: Names) -> Axes:
    """Which rows know of one token: a line of cells for each height.

    `knows` is boolean, (heights, length), the input first. Cells have the
    gid "knows h j" or "not h j"; arrows lead from one line to the next.
    """
    heights, length = knows.shape
    xlim, ylim = (-2.0, length + 0.1), (-0.15, 1.5 * heights - 0.4)
    axes = drawing(0.45 + 0.62 * heights, xlim, ylim)
    names = ["input", *(f"layer {h}" for h in range(1, heights))]
    informed(axes, knows, tokens, names)
    return axes


def biases(lines: Named, steps: Tensor, window: int) -> Axes:
    """What is added to a score, by the distance of query and key.

    `lines` are ALiBi's, one for each head, and `steps` a learnt bias with its
    buckets; beyond the window a dotted line.
    """
    axes, many = plot(3.0), len(steps)
    colours = (ACCENT, "#B8860B", "#8C6D31")
    for colour, (name, bias) in zip(colours, lines.items(), strict=False):
        y = numbers(bias)
        axes.plot(y, color=colour, lw=1.8)
        end = max(j for j, down in enumerate(y) if down > -6)  # in the picture
        words(axes, (end + 1.0, y[end]), name, 9.5, ha="left", color=ACCENT)
    axes.step(range(many), numbers(steps), color=SECOND, lw=2.2, where="mid")
    words(axes, (many * 0.3, 2.0), "T5 (to be learnt)", 9.5, color=SECOND)
    axes.axvline(window - 0.5, color=FAINT, ls=":")
    style = {"ha": "left", "color": FAINT}
    words(axes, (window, 2.3), "window ends: not seen", 9.5, **style)
    axes.set(xlim=(0, many * 1.28), ylim=(-6.3, 2.8))
    axes.set_xlabel("distance of query and key")
    axes.set_ylabel("added to the score")
    return axes


def one_row(ids: Names, targets: Names) -> Axes:
    """A row that is read and, below, what must be said; "" does not count."""
    axes = drawing(1.25, (-4.0, len(ids) + 0.1), (-0.1, 2.6))
    for j, (token, target) in enumerate(zip(ids, targets, strict=True)):
        colour = TOKEN if not target and token != "B" else PLATE
        entry(axes, (j + 0.04, 1.5), (0.92, 1), token, colour)
        if target:
            entry(axes, (j + 0.04, 0), (0.92, 1), target, ACCENT, alpha=0.55)
            arrow(axes, (j + 0.5, 1.45), (j + 0.5, 1.02), INK, lw=0.8)
    beside(axes, -0.3, {"reads": 2, "must say": 0.5}, 9.5)
    first = next(j for j, target in enumerate(targets) if target)
    words(axes, (first / 2, 0.5), "does not count", 9.5, color=FAINT)
    return axes
