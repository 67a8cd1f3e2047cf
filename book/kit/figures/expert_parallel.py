"""Chapter 18, deeper: tokens that travel to their experts and back."""

from .canvas import drawing
from .colours import FAINT, INK, OUTPUT, TOKEN
from .kinds import Axes, Names
from .marks import arrow, box, words
from .parallel import WORKERS

Counts = list[list[int]]


def dealt_out(
    tokens: Names, experts: Names, answers: Names, counts: Counts
) -> Axes:
    """Two workers with an expert each: the rows there, and the answers back.

    `counts[i][j]` rows go from worker i to the expert of worker j; the number
    on the arrow has the gid "go i j", and "back j i" on the way home.
    """
    axes = drawing(4.9, (-4.6, 4.6), (-0.95, 8.1))
    heights = {7.0: tokens, 3.5: experts, 0.0: answers}
    for w, colour in enumerate(WORKERS):
        x = 4.6 * w - 2.3
        words(axes, (x, 7.9), f"worker {w}", 10, weight="bold")
        shades = (TOKEN, colour, OUTPUT)
        for (y, texts), shade in zip(heights.items(), shades, strict=True):
            box(axes, (x, y), (3.0, 1.3), texts[w], shade, linespacing=1.4)
    for i in range(2):
        for j in range(2):
            _sent(axes, (i, j), 6.35, counts[i][j], f"go {i} {j}")
            _sent(axes, (j, i), 2.85, counts[i][j], f"back {j} {i}")
    return axes


def _sent(axes, pair, y, count, name) -> None:
    """An arrow from worker to worker, and how many rows go along it."""
    start, end = (4.6 * w - 2.3 for w in pair)
    apart = 0.25 * (end > start) - 0.25 * (end < start)
    start, end = start + apart, end - apart
    colour, style = (INK, "-") if count else (FAINT, ":")
    arrow(axes, (start, y), (end, y - 2.2), colour, name, ls=style)
    at = start + 0.28 * (end - start), y - 0.28 * 2.2
    plate = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none"}
    words(axes, at, str(count), 11, gid=name, bbox=plate)
