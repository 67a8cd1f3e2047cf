"""Chapter 17: heads and batches shared by several workers."""

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from torch import Tensor

from kit.figures.marks import (
    ACCENT,
    FAINT,
    INK,
    OUTPUT,
    SECOND,
    TOKEN,
    arrow,
    bare,
    box,
    cell,
    numbers,
    words,
)

WORKERS = (ACCENT, SECOND)
DONE = "#CFE3B4"  # a piece of which every summand has come
Sent = tuple[int, int]  # a worker, and the piece that it sends on


def _signed(number: float) -> str:
    """+1, or −3 with a proper minus."""
    return f"{number:+g}".replace("-", "−")


def two_workers(parts: dict[str, float], bias: float) -> Axes:
    """Two heads of one attention, each on a worker, and their sum.

    A part's number has the gid "part w", the sum's "total".
    """
    figure, axes = plt.subplots(figsize=(5.4, 3.9))
    box(axes, (0, 0), (4.6, 0.55), "x: the whole sentence", TOKEN)
    for w, (asked, part) in enumerate(parts.items()):
        x, side = 3.2 * w - 1.6, 2 * w - 1
        _worker(axes, (x, 1.95), (2.8, 2.0), w)
        arrow(axes, (0.6 * side, 0.28), (x, 0.93), INK, f"copy {w}")
        words(axes, (x, 2.15), f"head {w + 1}\n{asked}", linespacing=1.4)
        words(axes, (x, 1.35), "times its rows of $W_O$", fontsize=9)
        arrow(axes, (x, 2.95), (0.3 * side, 3.85), WORKERS[w], lw=2.2)
        at = (x + 0.35 * side, 3.35)
        words(axes, at, _signed(part), fontsize=13, gid=f"part {w}")
    style = {"boxstyle": "circle", "fc": "white", "ec": INK}
    words(axes, (0, 4.05), "+", fontsize=14, bbox=style)
    arrow(axes, (2.5, 4.05), (0.35, 4.05), INK, "bias")
    words(axes, (2.6, 4.05), f"bias {_signed(bias)}, once", ha="left")
    arrow(axes, (0, 4.32), (0, 4.75), INK, "sum")
    total = _signed(sum(parts.values()) + bias)
    total = f"“eat”: {total}, on both workers"
    box(axes, (0, 5.03), (4.6, 0.55), total, OUTPUT, "total")
    bare(axes, (-4.1, 4.7), (-0.35, 5.4))
    return axes


def _worker(axes, centre, size, w) -> None:
    """A plate in the colour of a worker, with its name."""
    (x, y), (width, height) = centre, size
    corner = (x - width / 2, y - height / 2)
    cell(axes, corner, size, WORKERS[w], alpha=0.25)
    at = (x, y + height / 2 - 0.22)
    words(axes, at, f"worker {w}", fontsize=10, weight="bold")


def there_and_back(forward: list[str], backward: list[str]) -> Axes:
    """One layer on two workers: x to y above, the gradient back below.

    Each list has four texts: at x, at worker 0, at worker 1, at y.
    """
    figure, axes = plt.subplots(figsize=(5.4, 4.4))
    names = ("forward", "backward")
    for row, texts in enumerate((forward, backward)):
        y, back = -3.6 * row, bool(row)
        at = (-4.9, y + 1.5)
        words(axes, at, names[row], ha="left", fontsize=11, weight="bold")
        box(axes, (-4.0, y), (1.9, 1.1), texts[0], TOKEN)
        box(axes, (4.0, y), (1.9, 1.1), texts[3], OUTPUT)
        for x, node, kinds in (
            (-1.95, "f", "copy add"),
            (1.95, "g", "add copy"),
        ):
            kind = kinds.split()[row]
            colour = DONE if kind == "add" else "white"
            style = {"boxstyle": "circle", "fc": colour, "ec": INK}
            words(axes, (x, y), f"${node}$", fontsize=12, bbox=style)
            what = "all-reduce" if kind == "add" else "copy"
            name = f"{names[row]} {node} {what}"
            words(axes, (x, y - 0.85), what, gid=name, fontsize=10)
        for w in range(2):
            up = y + 0.85 - 1.7 * w
            box(axes, (0, up), (2.1, 1.1), texts[1 + w], WORKERS[w])
            _leg(axes, (-1.6, y), (-1.05, up), back)
            _leg(axes, (1.05, up), (1.6, y), back)
        _leg(axes, (-3.05, y), (-2.3, y), back)
        _leg(axes, (2.3, y), (3.05, y), back)
    bare(axes, (-4.95, 4.95), (-5.4, 1.8))
    return axes


def _leg(axes, start, end, back) -> None:
    """An arrow, or the same the other way round."""
    ends = (end, start) if back else (start, end)
    arrow(axes, *ends, INK, "back" if back else "there")


def ring_steps(world: int) -> tuple[list[list[list[int]]], list[list[Sent]]]:
    """How many summands each piece has on each worker, and what is sent.

    First world - 1 steps in which the pieces are added up, each on another
    worker, then as many in which the sums go round.
    """
    counts, sends = [[[1] * world for _ in range(world)]], []
    for step in range(2 * (world - 1)):
        before = counts[-1]
        after = [list(row) for row in before]
        sends.append([(w, (w - step) % world) for w in range(world)])
        for w, piece in sends[-1]:
            other = (w + 1) % world
            fresh = before[w][piece]
            adds = step < world - 1
            after[other][piece] = fresh + before[other][piece] * adds
        counts.append(after)
    return counts, sends


def ring(world: int = 3) -> Axes:
    """An all-reduce on a ring, step by step from top to bottom.

    The number in a cell says how many workers' numbers are in it. An arrow
    has the gid "sent step worker piece".
    """
    counts, sends = ring_steps(world)
    figure, axes = plt.subplots(figsize=(5.4, 1.05 * len(counts)))
    pitch, down = world + 1.6, 2.1
    for t, rows in enumerate(counts):
        for w, row in enumerate(rows):
            for piece, count in enumerate(row):
                corner = (w * pitch + piece, -t * down)
                shade = DONE if count == world else "#F2F2F2"
                cell(axes, corner, (1, 0.8), shade, ec="white", lw=2)
                at = (corner[0] + 0.5, corner[1] + 0.4)
                words(axes, at, count, gid=f"count {t} {w} {piece}")
    for t, sent in enumerate(sends):
        for w, piece in sent:
            _send(axes, t, w, piece, world, pitch, down)
    for w in range(world):
        at = (w * pitch + world / 2, 1.25)
        words(axes, at, f"worker {w}", weight="bold")
    half = -(world - 1) * down
    for y, text in ((half / 2 + 0.4, "add up"), (1.5 * half + 0.4, "hand on")):
        words(axes, (-1.6, y), text, rotation=90)
    bare(axes, (-2.1, world * pitch), (2 * half - 0.2, 1.6))
    return axes


def _send(axes, t, w, piece, world, pitch, down) -> None:
    """From one worker's piece to the next; the last's goes round the edge."""
    start = (w * pitch + piece + 0.5, -t * down)
    end = ((w + 1) % world * pitch + piece + 0.5, -(t + 1) * down + 0.8)
    name = f"sent {t} {w} {piece}"
    if w + 1 < world:
        arrow(axes, start, end, INK, name)
        return
    right, left = world * pitch - 0.6, -1.0
    arrow(axes, start, (right, start[1] - 0.55), FAINT, name)
    arrow(axes, (left, end[1] + 0.55), end, FAINT, f"came {t}")


def losses_together(
    single: Tensor, tokens: Tensor, workers: Tensor
) -> list[Axes]:
    """The loss of one process, and of two that weigh tokens or workers.

    On the left the losses; on the right what one process has is taken off.
    """
    size = {"figsize": (5.4, 3.2), "width_ratios": (1, 1.1)}
    figure, row = plt.subplots(1, 2, **size)
    steps = range(1, len(single) + 1)
    base = torch.as_tensor(numbers(single), dtype=torch.float64)
    dots = {"ls": "none", "marker": "o", "ms": 5, "mfc": "none"}
    lines = {
        "one process": (single, {"color": INK}),
        "two, tokens equal": (tokens, {"color": ACCENT} | dots),
        "two, workers equal": (workers, {"color": SECOND, "lw": 2}),
    }
    for axes, title in zip(row, ("loss", "minus one process"), strict=True):
        for name, (losses, style) in lines.items():
            y = torch.as_tensor(numbers(losses), dtype=torch.float64)
            y = y if title == "loss" else y - base
            axes.plot(steps, numbers(y), label=name, **style)
        axes.set(xlabel="step")
        axes.set_title(title, loc="left")
        axes.grid(axis="y")
    row[0].legend(loc="upper right", fontsize=9)
    return list(row)
