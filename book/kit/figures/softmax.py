"""Chapters 1 and 2: vectors as arrows, scores as shadows, shares as bars."""

import math

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from kit.figures.marks import (
    ACCENT,
    FAINT,
    INK,
    KEY,
    MAY,
    QUERY,
    SECOND,
    arrow,
    bare,
    frameless,
    numbers,
    words,
)

BOLD = {"mutation_scale": 14, "lw": 2.2}


def _foot(query, key) -> tuple[list[float], float]:
    """Where the shadow of `key` ends on the line of `query`; their score."""
    score = sum(q * k for q, k in zip(query, key, strict=True))
    square = sum(q * q for q in query)
    return [score / square * q for q in query], score


def _name(axes, tip, text, colour, side="center") -> None:
    """A word beyond the tip of an arrow from the origin."""
    above = tip[1] >= 0
    at = (tip[0], tip[1] + (0.12 if above else -0.12))
    style = {"weight": "bold", "va": "bottom" if above else "top", "ha": side}
    words(axes, at, text, color=colour, **style)


def _drop(axes, tip, end, name) -> None:
    """The dashed line from the tip of a key to the end of its shadow."""
    xs, ys = zip(tip, end, strict=True)
    axes.plot(xs, ys, "--", color=FAINT, lw=1.2, zorder=1, gid=f"drop {name}")


def _square(axes, end, tip) -> None:
    """The mark of a right angle between a shadow and the drop to it."""
    back = _unit([-x for x in end], 0.18)
    up = _unit([t - e for t, e in zip(tip, end, strict=True)], 0.18)
    both = [a + b for a, b in zip(back, up, strict=True)]
    xs, ys = zip(back, both, up, strict=True)
    xs, ys = [x + end[0] for x in xs], [y + end[1] for y in ys]
    axes.plot(xs, ys, color=FAINT, lw=1)


def _unit(vector, length=1.0) -> list[float]:
    """The vector's direction at the given length."""
    return [length * x / math.hypot(*vector) for x in vector]


def shadows(
    query: Tensor, keys: dict[str, Tensor], name: str = "query"
) -> list[Axes]:
    """One panel for each key: the shadow it casts on the query's line.

    The shadows have the gid "shadow"; a title computes the dot product.
    """
    q, tips = numbers(query), {w: numbers(k) for w, k in keys.items()}
    feet = {word: _foot(q, k) for word, k in tips.items()}
    ends = [q, [0, 0], *tips.values(), *(end for end, _ in feet.values())]
    xs, ys = zip(*ends, strict=True)
    figure, panels = plt.subplots(1, len(keys), figsize=(5.4, 2.9))
    figure.get_layout_engine().set(wspace=0.1)
    for axes, (word, k) in zip(panels, tips.items(), strict=True):
        end, score = feet[word]
        axes.axline((0, 0), q, color="#CCCCCC", lw=1, zorder=0)
        style = {"color": FAINT, "lw": 9, "alpha": 0.5, "zorder": 1}
        style |= {"solid_capstyle": "butt", "gid": "shadow"}
        axes.plot([0, end[0]], [0, end[1]], **style)
        _drop(axes, k, end, word)
        _square(axes, end, k)
        arrow(axes, (0, 0), q, QUERY, name, **BOLD)
        _name(axes, q, name, QUERY, "right")  # beside the line, not on it
        arrow(axes, (0, 0), k, KEY, word, **BOLD)
        _name(axes, k, word, KEY)
        axes.set_title(_product(math.hypot(*q), score, f"{name} · {word}"))
        axes.set_aspect("equal")
        span = [(min(p) - 0.4, max(p) + 0.4) for p in (xs, ys)]
        bare(axes, *span)
    return list(panels)


def _product(length, score, text) -> str:
    """The dot product as a length times a shadow, in two lines."""
    shadow = f"{score / length:.2f}"
    shadow = f"({shadow})" if score < 0 else shadow
    return _minus(f"{text}\n= {length:.2f} × {shadow} = {score:g}")


def _minus(text) -> str:
    """Numbers with a minus sign as long as a plus."""
    return str(text).replace("-", "−")


def ruler(
    query: Tensor, keys: dict[str, Tensor], name: str, axis_names: tuple
) -> Axes:
    """All keys at once: the query's line is a ruler that reads the scores.

    The end of a shadow on the ruler has the gid "foot" and the key's name.
    """
    q, tips = numbers(query), {w: numbers(k) for w, k in keys.items()}
    feet = {word: _foot(q, k) for word, k in tips.items()}
    figure, axes = plt.subplots(figsize=(5.4, 4.5))
    across = _unit([-q[1], q[0]])
    below = {
        round(score)
        for word, (end, score) in feet.items()
        if across[1] * (tips[word][1] - end[1]) < 0
    }
    _scale(axes, q, [score for _, score in feet.values()], across, below)
    for word, (end, _) in feet.items():
        _drop(axes, tips[word], end, word)
        axes.plot(*end, "o", color=KEY, ms=6, zorder=4, gid=f"foot {word}")
        arrow(axes, (0, 0), tips[word], KEY, word, lw=1.8, mutation_scale=12)
        _name(axes, tips[word], word, KEY)
    arrow(axes, (0, 0), q, QUERY, name, **BOLD)
    beyond = (q[0] + 0.1, q[1])
    words(axes, beyond, name, color=QUERY, weight="bold", ha="left")
    axes.set(aspect="equal", xlabel=axis_names[0], ylabel=axis_names[1])
    for where in ("axhline", "axvline"):
        getattr(axes, where)(0, color="#DDDDDD", lw=0.8, zorder=-1)
    axes.margins(0.1)
    return axes


def _scale(axes, q, scores, across, below) -> None:
    """The ruler: a tick and a number for every whole score."""
    square = sum(x * x for x in q)
    low, high = min(*scores, 0), max(*scores, square)
    ends = [[s / square * x for s in (low - 0.6, high + 0.9)] for x in q]
    axes.plot(*ends, color=QUERY, lw=1, alpha=0.6, zorder=0)
    for score in range(math.ceil(low), math.floor(high) + 1):
        x, y = (score / square * x for x in q)
        a, b = (0.06 * c for c in across)
        axes.plot([x - a, x + a], [y - b, y + b], color=QUERY, lw=1, zorder=0)
        side = 3.2 if score in below else -3.2
        at = (x + side * a, y + side * b)
        if score in scores or abs(score) > 1:  # the others lie under arrows
            words(axes, at, _minus(score), color=QUERY, fontsize=9)


def to_shares(
    names: list[str], scores: Tensor, steps: dict[str, Tensor]
) -> list[Axes]:
    """Scores, then one panel for each step that is applied to them.

    Every bar carries its number; arrows between panels name the step.
    """
    tables = {"score": scores} | steps
    figure, panels = plt.subplots(1, len(tables), figsize=(5.4, 2.5))
    rows = range(len(names))
    for axes, (title, values) in zip(panels, tables.items(), strict=True):
        widths = numbers(values)
        colour = FAINT if title == "score" else MAY
        axes.barh(rows, widths, 0.62, color=colour, gid=title)
        room = 0.42 * (max(widths) - min(*widths, 0))
        for i, value in enumerate(widths):
            text = f"{value:g}" if value == round(value) else f"{value:.2f}"
            side = {"ha": "left", "fontsize": 9.5}
            at = (max(value, 0) + 0.12 * room, i)
            words(axes, at, _minus(text), **side)
        axes.set_xlim(min(*widths, 0) - 0.05, max(widths) + room)
        axes.axvline(0, color=FAINT, lw=0.8)
        frameless(axes, ([], []), (rows, names if axes is panels[0] else []))
        axes.set_title(title)
        axes.invert_yaxis()
    for axes, panel in zip(panels, panels[1:], strict=False):
        style = {"arrowprops": {"arrowstyle": "-|>", "color": INK, "lw": 1.2}}
        ends = {"xycoords": panel.transAxes, "textcoords": axes.transAxes}
        panel.annotate("", (-0.12, 1.07), (0.8, 1.07), **ends, **style)
    return list(panels)


def spread(groups: dict[str, Tensor], label: str) -> list[Axes]:
    """How often each size occurs, on a logarithmic axis, one panel a group.

    The first bar counts all that is smaller than a millionth, too.
    Lines with the gids "median" and "mean" mark the two averages.
    """
    figure, panels = plt.subplots(len(groups), 1, sharex=True, sharey=True)
    figure.set_size_inches(5.4, 3.6)
    sizes = {name: numbers(values) for name, values in groups.items()}
    edges = [10 ** (e / 4) for e in range(-24, 8)]
    for axes, (name, values) in zip(panels, sizes.items(), strict=True):
        values = [max(value, edges[0]) for value in values]
        axes.hist(values, edges, color="#CCCCCC", ec="white", lw=0.8)
        middle = sorted(values)[(len(values) - 1) // 2]
        mean = sum(values) / len(values)
        for x, text, colour in (
            (middle, "median", ACCENT),
            (mean, "mean", SECOND),
        ):
            line = axes.axvline(x, color=colour, lw=2.2, gid=text)
            line.set_label(f"{text} {x:.2f}")
        axes.set_xscale("log")
        axes.minorticks_off()
        axes.set_title(name)
        axes.legend(loc="upper left")
    panels[-1].set_xlabel(label)
    figure.supylabel("queries", fontsize=10.5)
    return list(panels)
