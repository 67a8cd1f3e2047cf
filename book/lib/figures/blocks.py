"""Chapter 8: the block of an encoder."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from lib.figures.marks import (
    ACCENT,
    arrow,
    bare,
    box,
    cell,
    letter,
    line,
    station,
    words,
)

PATH, LEFT, RIGHT = 1.3, 2.7, 6.9  # of a block: x, and the sides of its boxes
BESIDE = (LEFT + RIGHT) / 2


def encoder_block(norm_first: bool = False) -> Axes:
    """An encoder block, bottom to top; gid "station" names its stations."""
    parts = {"self-attention": "padding\nmask", "feed-forward": ""}
    figure, axes = plt.subplots()
    low = y = 0.9
    behind = [cell(axes, (0.5 + s, low + s), (6.7, 1)) for s in (0.36, 0.18)]
    plates = [*behind, cell(axes, (0.5, low), (6.7, 1))]
    for plate in plates:
        plate.set(ec="white", lw=1.5)
    words(axes, (PATH, 0), "x", gid="station")
    start = 0.25
    for part, mask in parts.items():
        start, y = _sublayer(axes, (start, y), part, mask, norm_first)
    high = y + 0.25
    for plate in plates:
        plate.set_height(high - low)
    style = {"lw": 3.5, "mutation_scale": 15}
    arrow(axes, (PATH, start), (PATH, high + 0.8), ACCENT, **style)
    at = (7.65, high + 0.5)
    words(
        axes, at, "one block;\nthe next ones\nfollow", ha="left", gid="repeat"
    )
    figure.set_size_inches(5.4, (high + 1.5) / 2)
    bare(axes, (0, 9.9), (-0.3, high + 1.2))
    return axes


def _sublayer(axes, heights, part, mask, norm_first) -> tuple[float, float]:
    """A sub-layer beside the path, which comes from the first height.

    Gives where the path goes on, and the height where the sub-layer ends.
    """
    start, y = heights
    style = {"lw": 3.5, "mutation_scale": 15}
    leave = y + 0.35
    top = y = leave + 0.55
    if norm_first:
        arrow(axes, (BESIDE, leave), (BESIDE, leave + 0.35))
        station(axes, (BESIDE, leave + 0.62), 0.62, "norm", "station")
        top, y = leave + 0.89, leave + 1.6
    height = _inputs(axes, (leave, top, y), part, mask)
    centre, size = (BESIDE, y + height / 2), (RIGHT - LEFT, height)
    box(axes, centre, size, part, "white", "station")
    plus = y + height + 0.45
    bend = [BESIDE, BESIDE], [y + height, plus]
    line(axes, *bend)
    arrow(axes, (BESIDE, plus), (PATH + 0.3, plus))
    ends = (PATH, start), (PATH, plus - 0.27)
    arrow(axes, *ends, ACCENT, "residual", **style)
    station(axes, (PATH, plus), 0.3, "+", "station")
    y = plus + 0.27
    if not norm_first:
        arrow(axes, (PATH, y), (PATH, y + 0.45), ACCENT, **style)
        station(axes, (PATH, y + 0.72), 0.62, "norm", "station")
        y += 0.99
    return y, y


def _inputs(axes, heights, part, mask) -> float:
    """What flows into a sub-layer: from the path, and its mask.

    The heights: where the branch leaves the path, where it splits, and where
    the box starts. Gives the height of the box.
    """
    leave, split, y = heights
    line(axes, [PATH, BESIDE], [leave, leave])
    if split - leave < 0.6:  # no norm between
        split = leave
    if part == "feed-forward":
        arrow(axes, (BESIDE, split), (BESIDE, y))
        return 1.0
    ends, note = (BESIDE - 1.2, BESIDE, BESIDE + 1.2), y + 0.5
    line(axes, [ends[0], ends[2]], [split, split])
    for at, text in zip(ends, "QKV", strict=True):
        letter(axes, (at, split), (at, y), text, f"{part} {text}")
    words(axes, (8.9, note), mask, fontsize=9, gid="mask")
    arrow(axes, (8.0, note), (RIGHT, note), ls=":")
    return 1.0
