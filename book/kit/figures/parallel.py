"""Chapter 17: heads and batches shared by several workers."""

from .canvas import drawing, each, numbers, panels
from .colours import ACCENT, FAINT, INK, OUTPUT, PLATE, SECOND, TOKEN
from .kinds import Axes, Names, Panels, Tensor
from .marks import arrow, box, cell, entry, words

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
    axes = drawing(3.9, (-4.1, 4.7), (-0.35, 5.4))
    box(axes, (0, 0), (4.6, 0.55), "x: the whole sentence", TOKEN)
    for w, (asked, part) in enumerate(parts.items()):
        x, side = 3.2 * w - 1.6, 2 * w - 1
        cell(axes, (x - 1.4, 0.95), (2.8, 2.0), WORKERS[w], alpha=0.25)
        words(axes, (x, 2.73), f"worker {w}", 10, weight="bold")
        arrow(axes, (0.6 * side, 0.28), (x, 0.93), INK, f"copy {w}")
        words(axes, (x, 2.15), f"head {w + 1}\n{asked}", linespacing=1.4)
        words(axes, (x, 1.35), "times its rows of $W_O$", 9)
        arrow(axes, (x, 2.95), (0.3 * side, 3.85), WORKERS[w], lw=2.2)
        at = (x + 0.35 * side, 3.35)
        words(axes, at, _signed(part), 13, gid=f"part {w}")
    _node(axes, (0, 4.05), "+", 14, "white")
    arrow(axes, (2.5, 4.05), (0.35, 4.05), INK, "bias")
    words(axes, (2.6, 4.05), f"bias {_signed(bias)}, once", ha="left")
    arrow(axes, (0, 4.32), (0, 4.75), INK, "sum")
    total = _signed(sum(parts.values()) + bias)
    total = f"“eat”: {total}, on both workers"
    box(axes, (0, 5.03), (4.6, 0.55), total, OUTPUT, "total")
    return axes


def _node(axes, at, text, size, colour) -> None:
    """A sign in a circle that is as large as the sign."""
    style = {"boxstyle": "circle", "fc": colour, "ec": INK}
    words(axes, at, text, size, bbox=style)


def there_and_back(forward: Names, backward: Names) -> Axes:
    """One layer on two workers: x to y above, the gradient back below.

    Each list has four texts: at x, at worker 0, at worker 1, at y.
    """
    axes = drawing(4.4, (-4.95, 4.95), (-5.4, 1.8))
    ways = {"forward": (forward, 0), "backward": (backward, -3.6)}
    for name, (texts, y) in ways.items():
        words(axes, (-4.9, y + 1.5), name, 11, ha="left", weight="bold")
        box(axes, (-4.0, y), (1.9, 1.1), texts[0], TOKEN)
        box(axes, (4.0, y), (1.9, 1.1), texts[3], OUTPUT)
        for x, node in ((-1.95, "f"), (1.95, "g")):
            adds = (node == "g") == (name == "forward")
            _node(axes, (x, y), f"${node}$", 12, DONE if adds else "white")
            what = "all-reduce" if adds else "copy"
            gid = f"{name} {node} {what}"
            words(axes, (x, y - 0.85), what, 10, gid=gid)
        legs = [((-3.05, y), (-2.3, y)), ((2.3, y), (3.05, y))]
        for w in range(2):
            up = y + 0.85 - 1.7 * w
            box(axes, (0, up), (2.1, 1.1), texts[1 + w], WORKERS[w])
            legs.append(((-1.6, y), (-1.05, up)))
            legs.append(((1.05, up), (1.6, y)))
        for ends in legs:
            arrow(axes, *ends[:: 1 if name == "forward" else -1], INK)
    return axes


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
            adds = step < world - 1
            other = (w + 1) % world
            kept = before[other][piece] * adds
            after[other][piece] = before[w][piece] + kept
        counts.append(after)
    return counts, sends


def ring(world: int = 3) -> Axes:
    """An all-reduce on a ring, step by step from top to bottom.

    The number in a cell says how many workers' numbers are in it. An arrow
    has the gid "sent step worker piece".
    """
    counts, sends = ring_steps(world)
    pitch, down = world + 1.6, 2.1
    half = -(world - 1) * down
    xlim, ylim = (-2.1, world * pitch), (2 * half - 0.2, 1.6)
    axes = drawing(1.05 * len(counts), xlim, ylim)
    for t, w, row in each(counts):
        for piece, count in enumerate(row):
            at, gid = (w * pitch + piece, -t * down), f"count {t} {w} {piece}"
            style = {"ec": "white", "lw": 2, "look": {"fontsize": None}}
            shade = DONE if count == world else PLATE
            entry(axes, at, (1, 0.8), count, shade, gid, **style)
    for t, sent in enumerate(sends):
        for w, piece in sent:
            start = (w * pitch + piece + 0.5, -t * down)
            x, y = (w + 1) % world * pitch + piece + 0.5, 0.8 - (t + 1) * down
            name = f"sent {t} {w} {piece}"
            if w + 1 < world:
                arrow(axes, start, (x, y), INK, name)
            else:  # round the edge
                edge = (world * pitch - 0.6, start[1] - 0.55)
                arrow(axes, start, edge, FAINT, name)
                arrow(axes, (-1.0, y + 0.55), (x, y))
    for w in range(world):
        at = (w * pitch + world / 2, 1.25)
        words(axes, at, f"worker {w}", weight="bold")
    for y, text in ((half / 2 + 0.4, "add up"), (1.5 * half + 0.4, "hand on")):
        words(axes, (-1.6, y), text, rotation=90)
    return axes


def in_shards(stages: dict[str, list], columns: Names) -> Axes:
    """Two workers with two numbers, stage by stage from top to bottom.

    A stage has a row for each worker; what a worker does not have is None.
    The number of worker w in column c has the gid "stage w c".
    """
    down = 1.5
    low = -down * (len(stages) - 1)
    axes = drawing(4.4, (-3.6, 8.6), (low - 0.2, 2.1))
    for t, (stage, rows) in enumerate(stages.items()):
        y = -t * down
        words(axes, (-0.6, y + 0.45), stage, 10, ha="right")
        for w, c, number in each(rows):
            at, own = (4.6 * w + 1.9 * c, y), w == c
            shade = "white" if number is None else PLATE
            text = "" if number is None else f"{number:g}".replace("-", "−")
            if number is not None and own:
                shade = DONE
            gid = f"{stage} {w} {c}"
            style = {"ec": FAINT, "lw": 0.8, "look": {"fontsize": 11}}
            entry(axes, at, (1.8, 0.9), text, shade, gid, **style)
    for w in range(2):
        middle = 4.6 * w + 1.85
        words(axes, (middle, 1.85), f"worker {w}", 10, weight="bold")
        for c, name in enumerate(columns):
            words(axes, (4.6 * w + 1.9 * c + 0.9, 1.25), name, 9)
    return axes


def losses_together(single: Tensor, tokens: Tensor, workers: Tensor) -> Panels:
    """The loss of one process, and of two that weigh tokens or workers.

    On the left the losses; on the right what one process has is taken off.
    """
    both = panels(1, 2, 3.2, width_ratios=(1, 1.1))
    one, *two = (x.cpu().double() for x in (single, tokens, workers))
    dots = {"ls": "none", "marker": "o", "ms": 5, "mfc": "none"}
    lines = {
        "one process": (one, {"color": INK}),
        "two, tokens equal": (two[0], {"color": ACCENT} | dots),
        "two, workers equal": (two[1], {"color": SECOND, "lw": 2}),
    }
    for axes, less in zip(both, (0, one), strict=True):
        for name, (losses, style) in lines.items():
            steps = range(1, len(losses) + 1)
            axes.plot(steps, numbers(losses - less), label=name, **style)
        axes.set(xlabel="step")
        axes.grid(axis="y")
    both[0].set_title("loss")
    both[1].set_title("minus one process")
    both[0].legend(loc="upper right", fontsize=9)
    return both
