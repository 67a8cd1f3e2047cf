"""Chapter 11: what a model is given, how it learns, and what it writes."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from kit.figures.marks import (
    ACCENT,
    FAINT,
    INK,
    PLATE,
    TOKEN,
    arrow,
    bare,
    cell,
    numbers,
    words,
)

WRONG = "#F6D08A"
LINES = {"training": INK, "validation": ACCENT}


def triple(source: list[str], given: list[str], wanted: list[str]) -> Axes:
    """What the encoder reads, what the decoder is given, what it must say.

    Arrows lead from each given token to the wanted one ("says i") and from
    this to where it is given next ("next i").
    """
    figure, axes = plt.subplots(figsize=(5.4, 3.3))
    wide = max(len(source), 1.55 * len(given))
    step = wide / len(given)
    places = [(i + 0.5) * step for i in range(len(given))]
    left = (wide - len(source)) / 2
    letters = [left + i + 0.5 for i in range(len(source))]
    _tokens(axes, letters, 0.5, source, 1.0, "source")
    _tokens(axes, places, 3.6, given, step, "given")
    _tokens(axes, places, 7.2, wanted, step, "wanted")
    cell(axes, (0, 5.05), (wide, 0.95), TOKEN)
    sign = {"bbox": {"fc": TOKEN, "ec": "none", "pad": 2}, "zorder": 4}
    words(axes, (wide / 2, 5.52), "Transformer", fontsize=10, **sign)
    for i, x in enumerate(places):
        arrow(axes, (x, 4.15), (x, 5.05))
        arrow(axes, (x, 6.0), (x, 6.65), INK, f"says {i}")
        if i + 1 < len(places):
            style = {"linestyle": (0, (3, 2)), "zorder": 3, "lw": 1.0}
            start, end = (x + 0.3 * step, 6.7), (places[i + 1] - 0.22, 4.15)
            arrow(axes, start, end, ACCENT, f"next {i}", **style)
    side = wide + 0.7
    axes.plot([wide / 2, wide / 2], [1.05, 1.75], color=FAINT, lw=1.2)
    axes.plot([wide / 2, side], [1.75, 1.75], color=FAINT, lw=1.2)
    axes.plot([side, side], [1.75, 5.52], color=FAINT, lw=1.2)
    arrow(axes, (side, 5.52), (wide, 5.52), name="memory")
    for y, text in ((1.35, "source"), (2.7, "decoder input"), (8.0, "target")):
        words(axes, (0, y), text, ha="left", fontsize=10, color="#555555")
    bare(axes, (-0.2, side + 0.2), (-0.15, 8.4))
    return axes


def _tokens(axes, places, y, tokens, step, name) -> None:
    """A row of tokens in cells; their texts have the gid "name i"."""
    for i, (x, token) in enumerate(zip(places, tokens, strict=True)):
        size = (0.86 * step, 1.05)
        cell(axes, (x - size[0] / 2, y - 0.52), size, PLATE)
        special = token.startswith("<")
        shown = token.strip("<>").upper() if special else token
        style = {"fontsize": 9 if special else 11, "gid": f"{name} {i}"}
        words(axes, (x, y), shown, **style)


def valley(slopes: tuple[float, float], paths: dict[str, Tensor]) -> Axes:
    """Ways down the loss slopes[0] · x² + slopes[1] · y².

    Each way is a line whose gid is its name, with a dot for each step.
    """
    figure, axes = plt.subplots(figsize=(5.4, 2.9))
    line = [i / 100 for i in range(-130, 131)]
    height = [
        [slopes[0] * x * x + slopes[1] * y * y for x in line] for y in line
    ]
    levels = [slopes[0] * 0.25 * 4**i for i in range(10)]
    style = {"levels": levels, "colors": "#DDDDDD", "linewidths": 0.8}
    axes.contour(line, line, height, **style)
    inks = {"ls": "-", "lw": 1.4, "marker": "o", "ms": 3.5}
    for (name, path), ink in zip(paths.items(), (INK, ACCENT), strict=True):
        xs, ys = zip(*numbers(path), strict=True)
        axes.plot(xs, ys, color=ink, label=name, gid=name, **inks)
    axes.plot([0], [0], "*", color=INK, ms=12, gid="least")
    axes.set(xlabel="first weight", ylabel="second weight")
    axes.legend(ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    return axes


def rates(named: dict[str, Tensor]) -> Axes:
    """The learning rate of every step, from 1; every second is dashed."""
    figure, axes = plt.subplots(figsize=(5.4, 2.9))
    for i, (name, y) in enumerate(named.items()):
        steps = range(1, len(y) + 1)
        ink, dash = (INK, "--") if i % 2 else (ACCENT, "-")
        axes.plot(steps, numbers(y), dash, color=ink, label=name, gid=name)
    axes.set(xlabel="step", ylabel="learning rate", ylim=(0, None))
    axes.grid(axis="y")
    axes.legend(ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    return axes


def wanted(tokens: list[str], groups: dict[str, Tensor]) -> Axes:
    """Probabilities that are wanted of each token, side by side."""
    figure, axes = plt.subplots(figsize=(5.4, 2.7))
    for i, (name, heights) in enumerate(groups.items()):
        left = [place - 0.2 + 0.4 * i for place in range(len(tokens))]
        ink = (FAINT, ACCENT)[i]
        drawn = axes.bar(left, numbers(heights), 0.37, label=name, color=ink)
        axes.bar_label(drawn, fmt="%.2f", fontsize=9, padding=1)
    axes.set_xticks(range(len(tokens)), tokens)
    axes.set(ylabel="wanted probability", ylim=(0, 1.15))
    axes.tick_params(axis="x", length=0)
    axes.legend()
    return axes


def learning(
    steps: list[int],
    losses: dict[str, list[float]],
    shares: dict[str, list[float]],
    levels: dict[str, float],
) -> list[Axes]:
    """Loss and exact match over the steps, side by side.

    Lines have the gids "training" and "validation"; `levels` are dashed
    lines across the losses, with their names beside them.
    """
    figure, panels = plt.subplots(1, 2, figsize=(5.4, 2.9))
    _learning(panels, steps, losses, shares, levels)
    return list(panels)


def _learning(panels, steps, losses, shares, levels) -> None:
    parts = ((losses, "loss of a character"), (shares, "exact match"))
    for axes, (named, title) in zip(panels, parts, strict=True):
        for name, y in named.items():
            style = {"color": LINES[name], "label": name, "gid": name}
            dash = "-" if name == "validation" else "--"
            axes.plot(steps, y, dash, **style)
        axes.set(xlabel="step", title=title, xlim=(0, steps[-1]))
        axes.set_ylim(bottom=0)
    for name, level in levels.items():
        panels[0].axhline(level, color=FAINT, ls=":", lw=1.2, gid=name)
        at = (steps[-1], level)
        style = {
            "ha": "right",
            "va": "bottom",
            "fontsize": 9,
            "color": "#555555",
        }
        words(panels[0], at, name, **style)
    panels[1].set_ylim(0, 1.03)
    panels[1].legend(loc="best")


def watched(
    history: tuple,
    texts: dict[int, list[str]],
    right: list[str],
) -> list[Axes]:
    """`learning` above, and what was written at some steps below.

    `history` holds the arguments of `learning`. A wrong token stands on
    amber and has the gid "wrong", a right one "right".
    """
    shape = [["loss", "match"], ["texts", "texts"]]
    style = {
        "figsize": (5.4, 2.9 + 0.34 * len(texts)),
        "layout": "constrained",
    }
    ratios = {"height_ratios": [2.5, 0.34 * len(texts) + 0.2]}
    figure, named = plt.subplot_mosaic(shape, gridspec_kw=ratios, **style)
    _learning([named["loss"], named["match"]], *history)
    axes = named["texts"]
    for row, (step, tokens) in enumerate(texts.items()):
        words(axes, (-0.2, -row), f"step {step:,}", ha="right", fontsize=10)
        for i, token in enumerate(tokens):
            is_right = i < len(right) and token == right[i]
            gid = "right" if is_right else "wrong"
            colour = PLATE if is_right else WRONG
            cell(axes, (i + 0.04, -row - 0.42), (0.92, 0.84), colour, gid=gid)
            shown = token.strip("<>").upper() if token[0] == "<" else token
            size = 9 if token[0] == "<" else 11
            words(axes, (i + 0.5, -row), shown, fontsize=size)
    bare(axes, (-2.2, len(right) + 0.1), (-len(texts) + 0.4, 0.6))
    return [named["loss"], named["match"], axes]
