"""Diagrams of encoder and decoder: their blocks, and how they decode."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from lib.figures.marks import (
    FAINT,
    INK,
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

PATH, LEFT, RIGHT = 4.9, 3.0, 7.4  # of a block: x, its boxes, the residual


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
    plate = cell(axes, (2.6, low), (5.4, 1))
    arrow(axes, (PATH, 0.25), (PATH, low))
    words(axes, (PATH, 0), "x", gid="station")
    for part, mask in parts.items():
        y = _sublayer(axes, y, part, mask, norm_first)
    high = y + 0.25
    plate.set_height(high - low)
    arrow(axes, (PATH, y), (PATH, high + 0.5))
    brace = [8.15, 8.35, 8.35, 8.15]
    axes.plot(brace, [low, low, high, high], color=INK, lw=1.2)
    at = (8.5, (low + high) / 2)
    words(axes, at, "N\ntimes", ha="left", gid="repeat")
    figure.set_size_inches(5.4, (high + 0.9) / 2)
    bare(axes, (0, 9.6), (-0.3, high + 0.6))
    return axes


def _sublayer(axes, y, part, mask, norm_first) -> float:
    """A sub-layer with its residual; gives the height where it ends."""
    leave = y + 0.2
    line(axes, [PATH, PATH], [y, y + 0.4])
    y += 0.4
    if norm_first:
        top = _up(axes, y, 0.3, 0.62, "norm")
        y += 1.1
        line(axes, [PATH, PATH], [top, y])
    y += 0.65
    height = _inputs(axes, y, part, mask)
    centre, size = (PATH, y + height / 2), (2 * (PATH - LEFT), height)
    box(axes, centre, size, part, "white", "station")
    top = _up(axes, y + height, 0.35, 0.3, "+")
    y = top - 0.27
    line(axes, [PATH, RIGHT, RIGHT], [leave, leave, y])
    arrow(axes, (RIGHT, y), (PATH + 0.3, y), FAINT, "residual")
    return top if norm_first else _up(axes, top, 0.35, 0.62, "norm")


def _up(axes, y, gap, half_width, text) -> float:
    """An arrow up the path into a station; gives the station's top."""
    arrow(axes, (PATH, y), (PATH, y + gap))
    station(axes, (PATH, y + gap + 0.27), half_width, text, "station")
    return y + gap + 0.54


def _inputs(axes, y, part, mask) -> float:
    """What flows into a sub-layer whose box starts at the height `y`.

    Gives the height of the box.
    """
    low, around = y - 0.65, (PATH - 1.2, PATH, PATH + 1.2)
    if part == "feed-forward":
        arrow(axes, (PATH, low), (PATH, y))
        return 1.0
    height, note = 1.0, y + 0.5
    if part == "cross-attention":
        height, note = 1.9, y + 1.5
        letter(axes, (PATH, low), (PATH, y), "Q", f"{part} Q")
        box(axes, (0.95, y + 0.55), (1.7, 1.1), "memory", OUTPUT, "memory")
        for text, at in (("K", y + 0.25), ("V", y + 0.8)):
            ends, name = ((1.8, at), (LEFT, at)), f"{part} {text}"
            letter(axes, *ends, text, name, (-0.2, 0.2))
    else:
        line(axes, [around[0], around[2]], [low, low])
        for at, text in zip(around, "QKV", strict=True):
            letter(axes, (at, low), (at, y), text, f"{part} {text}")
    words(axes, (1.0, note), mask, fontsize=9, gid="mask")
    arrow(axes, (1.9, note), (LEFT, note), ls=":")
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
