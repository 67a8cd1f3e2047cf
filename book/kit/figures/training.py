"""Chapter 11: what a model is given, how it learns, and what it writes."""

from itertools import pairwise

import matplotlib.pyplot as plt

from .canvas import bare, drawing, numbers, panels, plot
from .colours import ACCENT, FAINT, INK, PLATE, TOKEN
from .kinds import Axes, Curves, Named, Names, Panels
from .marks import arrow, cell, line, words

WRONG = "#F6D08A"
GREY = "#555555"
ABOVE = {"ncols": 2, "loc": "lower left", "bbox_to_anchor": (0, 1)}


def triple(source: Names, given: Names, wanted: Names) -> Axes:
    """What the encoder reads, what the decoder is given, what it must say.

    Arrows lead from each given token to the wanted one ("says i") and from
    this to where it is given next ("next i"). Tokens have the gids "source
    i", "given i" and "wanted i".
    """
    wide = max(len(source), 1.55 * len(given))
    step, side = wide / len(given), wide + 0.7
    axes = drawing(3.3, (-0.2, side + 0.2), (-0.15, 8.4))
    left = (wide - len(source)) / 2
    places = [(i + 0.5) * step for i in range(len(given))]
    letters = [left + i + 0.5 for i in range(len(source))]
    for name, y, xs, tokens, width in (
        ("source", 0.5, letters, source, 0.86),
        ("given", 3.6, places, given, 0.86 * step),
        ("wanted", 7.2, places, wanted, 0.86 * step),
    ):
        for i, (x, token) in enumerate(zip(xs, tokens, strict=True)):
            cell(axes, (x - width / 2, y - 0.52), (width, 1.05))
            _token(axes, (x, y), token, f"{name} {i}")
    cell(axes, (0, 5.05), (wide, 0.95), TOKEN)
    plate = {"bbox": {"fc": TOKEN, "ec": "none", "pad": 2}, "zorder": 4}
    words(axes, (wide / 2, 5.52), "Transformer", 10, **plate)
    for i, x in enumerate(places):
        arrow(axes, (x, 4.15), (x, 5.05))
        arrow(axes, (x, 6.0), (x, 6.65), INK, f"says {i}")
        if i + 1 < len(places):
            style = {"linestyle": (0, (3, 2)), "zorder": 3, "lw": 1.0}
            ends = (x + 0.3 * step, 6.7), (places[i + 1] - 0.22, 4.15)
            arrow(axes, *ends, ACCENT, f"next {i}", **style)
    middle = wide / 2
    bends = (middle, 1.05), (middle, 1.75), (side, 1.75), (side, 5.52)
    for ends in pairwise(bends):
        line(axes, *ends, zorder=2)
    arrow(axes, (side, 5.52), (wide, 5.52))
    for y, text in ((1.35, "source"), (2.7, "decoder input"), (8.0, "target")):
        words(axes, (0, y), text, 10, ha="left", color=GREY)
    return axes


def _token(axes, at, token, name=None) -> None:
    """A token; the name of a special one is smaller and in capitals."""
    special = token.startswith("<")
    shown = token.strip("<>").upper() if special else token
    words(axes, at, shown, 9 if special else 11, gid=name)


def valley(slopes: tuple[float, float], paths: Named) -> Axes:
    """Ways down the loss slopes[0] · x² + slopes[1] · y².

    Each way is a line whose gid is its name, with a dot for each step.
    """
    axes, at = plot(2.9), [i / 100 for i in range(-130, 131)]
    height = [[slopes[0] * x * x + slopes[1] * y * y for x in at] for y in at]
    levels = [slopes[0] * 0.25 * 4**i for i in range(10)]
    style = {"levels": levels, "colors": "#DDDDDD", "linewidths": 0.8}
    axes.contour(at, at, height, **style)
    style = {"lw": 1.4, "marker": "o", "ms": 3.5}
    for (name, path), ink in zip(paths.items(), (INK, ACCENT), strict=True):
        xs, ys = zip(*numbers(path), strict=True)
        axes.plot(xs, ys, color=ink, label=name, gid=name, **style)
    axes.plot([0], [0], "*", color=INK, ms=12)
    axes.set(xlabel="first weight", ylabel="second weight")
    axes.legend(**ABOVE)
    return axes


def rates(named: Named) -> Axes:
    """The learning rate of every step, from 1; the second is dashed."""
    axes, looks = plot(2.9), ((ACCENT, "-"), (INK, "--"))
    for (name, y), (ink, dash) in zip(named.items(), looks, strict=True):
        steps = range(1, len(y) + 1)
        axes.plot(steps, numbers(y), dash, color=ink, label=name)
    axes.set(xlabel="step", ylabel="learning rate", ylim=(0, None))
    axes.grid(axis="y")
    axes.legend(**ABOVE)
    return axes


def wanted(tokens: Names, groups: Named) -> Axes:
    """Probabilities that are wanted of each token, side by side."""
    axes = plot(2.7)
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
    losses: Curves,
    shares: Curves,
    levels: dict[str, float],
    both: Panels | None = None,
) -> Panels:
    """Loss and exact match over the steps, side by side.

    Lines have the gids "training" and "validation"; `levels` are dashed
    lines across the losses, with their names beside them.
    """
    both = both or panels(1, 2, 2.9)
    looks = {"training": (INK, "--"), "validation": (ACCENT, "-")}
    parts = ((losses, "loss of a character"), (shares, "exact match"))
    for axes, (named, title) in zip(both, parts, strict=True):
        for name, y in named.items():
            ink, dash = looks[name]
            axes.plot(steps, y, dash, color=ink, label=name, gid=name)
        axes.set(xlabel="step", title=title, xlim=(0, steps[-1]))
        axes.set_ylim(bottom=0)
    for name, level in levels.items():
        both[0].axhline(level, color=FAINT, ls=":", lw=1.2, gid=name)
        style = {"ha": "right", "va": "bottom", "color": GREY}
        words(both[0], (steps[-1], level), name, 9, **style)
    both[1].set_ylim(0, 1.03)
    both[1].legend(loc="best")
    return both


def watched(history: tuple, texts: dict[int, Names], right: Names) -> Panels:
    """`learning` above, and what was written at some steps below.

    `history` holds the arguments of `learning`. A wrong token stands on
    amber and has the gid "wrong", a right one "right".
    """
    many = len(texts)
    figure = plt.figure(figsize=(5.4, 2.9 + 0.34 * many))
    ratios = [2.5, 0.34 * many + 0.2]
    shape = [["loss", "match"], ["texts", "texts"]]
    *both, axes = figure.subplot_mosaic(shape, height_ratios=ratios).values()
    learning(*history, both)
    for row, (step, tokens) in enumerate(texts.items()):
        words(axes, (-0.2, -row), f"step {step:,}", 10, ha="right")
        for i, token in enumerate(tokens):
            is_right = i < len(right) and token == right[i]
            gid, colour = ("right", PLATE) if is_right else ("wrong", WRONG)
            cell(axes, (i + 0.04, -row - 0.42), (0.92, 0.84), colour, gid=gid)
            _token(axes, (i + 0.5, -row), token)
    bare(axes, (-2.2, len(right) + 0.1), (-many + 0.4, 0.6))
    return [*both, axes]
