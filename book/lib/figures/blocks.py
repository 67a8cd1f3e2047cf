"""Diagrams of encoder and decoder: their blocks, and how they decode."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from lib.figures.marks import (
    ACCENT,
    MAY,
    OUTPUT,
    PLATE,
    TOKEN,
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
    return _block(parts, norm_first)


def decoder_block(norm_first: bool = False) -> Axes:
    """A decoder block, bottom to top; gid "station" names its stations."""
    parts = {
        "causal self-attention": "causal and\npadding\nmask",
        "cross-attention": "memory\nmask",
        "feed-forward": "",
    }
    return _block(parts, norm_first)


def _block(parts: dict[str, str], norm_first: bool) -> Axes:
    """One block, bottom to top: its sub-layers, each with its mask or ""."""
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
    """What flows into a sub-layer: from the path, from the memory, its mask.

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
    height, note, ends = 1.0, y + 0.5, (BESIDE - 1.2, BESIDE, BESIDE + 1.2)
    if part == "cross-attention":
        height, note = 1.9, y + 1.5
        letter(axes, (BESIDE, split), (BESIDE, y), "Q", f"{part} Q")
        centre = (8.9, y + 0.45)
        box(axes, centre, (1.7, 1.1), "memory", OUTPUT, "memory")
        for text, at in (("K", y + 0.15), ("V", y + 0.7)):
            ends, name = ((8.05, at), (RIGHT, at)), f"{part} {text}"
            letter(axes, *ends, text, name, (0.1, 0.2))
    else:
        line(axes, [ends[0], ends[2]], [split, split])
        for at, text in zip(ends, "QKV", strict=True):
            letter(axes, (at, split), (at, y), text, f"{part} {text}")
    words(axes, (8.9, note), mask, fontsize=9, gid="mask")
    arrow(axes, (8.0, note), (RIGHT, note), ls=":")
    return height


def three_attentions() -> Axes:
    """Encoder, decoder and cross-attention: where Q, K, V and masks are from.

    The last source token and the last target token are padding. An arrow's
    gid is attention, letter, origin, as in "cross K memory"; that of a cell
    of a mask is attention, "open" or "closed", query, key.
    """
    figure, axes = plt.subplots(figsize=(5.4, 4.2))
    names = {
        "encoder": ("encoder\nself-attention", "padding\nmask"),
        "decoder": ("decoder\nself-attention", "causal and\npadding mask"),
        "cross": ("decoder\ncross-attention", "memory\nmask"),
    }
    origins = {
        "encoder": ("source", "source", "source"),
        "decoder": ("target", "target", "target"),
        "cross": ("target", "memory", "memory"),
    }
    for column, (name, (title, mask)) in enumerate(names.items()):
        x = 1.6 + 3.2 * column
        _origin_boxes(axes, x, name, origins[name])
        box(axes, (x, 2.8), (2.9, 1.1), title, PLATE, "attention")
        words(axes, (x, 4.25), mask, gid="mask")
        arrow(axes, (x, 3.85), (x, 3.35), ls=":")
        _small_mask(axes, x, name, origins[name])
    bare(axes, (0, 9.6), (0, 7.7))
    return axes


def _origin_boxes(axes, x, name, origins) -> None:
    """Where Q, K and V come from, and their arrows."""
    boxes, ends = [(origins[0], 0, 2.9)], (-1, 0, 1)
    if name == "cross":
        boxes = [("target", -0.85, 1.2), ("memory", 0.65, 1.6)]
        ends = (-0.85, 0.25, 1.05)
    for origin, at, wide in boxes:
        memory = origin == "memory"
        text = origin if memory else f"{origin}\nstates"
        colour = OUTPUT if memory else TOKEN
        box(axes, (x + at, 0.6), (wide, 1.1), text, colour, "origin")
    for text, at, origin in zip("QKV", ends, origins, strict=True):
        gid = f"{name} {text} {origin}"
        letter(axes, (x + at, 1.15), (x + at, 2.25), text, gid)


def _small_mask(axes, x, name, origins) -> None:
    """The mask of one attention, cell by cell."""
    lengths = {"source": 4, "target": 5, "memory": 4}
    rows, keys = lengths[origins[0]], lengths[origins[1]]
    left, top = x - keys / 4, 4.8 + rows / 2
    for i in range(rows):
        for j in range(keys):
            seen = j < keys - 1 and (name != "decoder" or j <= i)
            corner = (left + j / 2, top - (i + 1) / 2)
            gid = f"{name} {'open' if seen else 'closed'} {i} {j}"
            style = {"ec": "white", "lw": 1.5, "gid": gid}
            cell(axes, corner, (0.5, 0.5), MAY if seen else PLATE, **style)
    words(axes, (x, top + 0.2), "key", fontsize=9)
    at = (left - 0.2, top - rows / 4)
    words(axes, at, "query", rotation=90, fontsize=9)


def _chip(axes, left, middle, token, colour, name) -> float:
    """A token in a box as wide as its letters; gives its right edge."""
    width = 0.2 + 0.17 * max(2, len(token))
    centre = (left + width / 2, middle)
    box(axes, centre, (width, 0.5), token, colour, name, fontsize=8.5)
    return left + width


BAR, PITCH = 3.6, 1.35  # of the steps: their left edge, their distance


def decoding_steps(source: list[str], target: list[str]) -> Axes:
    """Encode once, then one run of the decoder for each token of `target`.

    Time runs downward. Gids, each on as many artists as there are: "source",
    "encoder run", "memory", and of step 1 "memory to step 1", "input 1",
    "decoder run 1" and "output 1". The first input is BOS.
    """
    figure, axes = plt.subplots()
    inputs, fed, right = ["BOS", *target[:-1]], None, 9.5
    for step, token in enumerate(target, start=1):
        fed, edge = _decoder_run(axes, step, inputs[:step], token, fed)
        right = max(right, edge)
    y = _encoder_run(axes, source)
    bottom = min(y - 0.5, 0.2 - PITCH * len(target))
    middle, size = (2.68, bottom / 2), (0.6, -bottom)
    box(axes, middle, size, "memory", OUTPUT, "memory", rotation=90)
    figure.set_size_inches((right + 0.1) / 2, (0.2 - bottom) / 2)
    bare(axes, (0, right + 0.1), (bottom - 0.1, 0.1))
    return axes


def _decoder_run(axes, step, inputs, token, fed) -> tuple[tuple, float]:
    """One run; gives where its output goes on from, and its right edge."""
    top = PITCH * (1 - step)
    middle = top - 0.37
    gid = f"memory to step {step}"
    arrow(axes, (2.98, middle), (BAR, middle), OUTPUT, gid)
    plate = cell(axes, (BAR, top - 1.15), (1, 1.15))
    style = {"ha": "left", "fontsize": 8.5, "gid": f"decoder run {step}"}
    words(axes, (BAR + 0.12, top - 0.88), f"decoder, step {step}", **style)
    edge = BAR + 0.06
    for given in inputs:
        left = edge + 0.06
        edge = _chip(axes, left, middle, given, TOKEN, f"input {step}")
    if fed:
        arrow(axes, fed, ((left + edge) / 2, middle + 0.25))
    end = max(edge + 0.12, BAR + 2.2)
    plate.set_width(end - BAR)
    arrow(axes, (end, middle), (end + 0.4, middle))
    edge = _chip(axes, end + 0.4, middle, token, OUTPUT, f"output {step}")
    return ((end + 0.4 + edge) / 2, middle - 0.25), edge


def _encoder_run(axes, source: list[str]) -> float:
    """The source and the encoder; gives the height of its middle."""
    y = 0.0
    for token in source:
        at, size = (1.0, y - 0.25), (1.7, 0.5)
        box(axes, at, size, token, TOKEN, "source", fontsize=8.5)
        y -= 0.56
    arrow(axes, (1.0, y), (1.0, y - 0.5))
    y -= 1.0
    box(axes, (1.0, y), (1.7, 1.0), "encoder", PLATE, "encoder run")
    arrow(axes, (1.85, y), (2.38, y))
    return y
