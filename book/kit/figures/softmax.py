"""Chapters 1 and 2: vectors as arrows, scores as shadows, shares as bars."""

import math

import numpy as np

from .canvas import bare, frameless, numbers, panels, plot, titled
from .colours import ACCENT, FAINT, HAIR, INK, KEY, MAY, QUERY, SECOND
from .kinds import Axes, Named, Names, Panels, Tensor
from .marks import arrow, line, words

BOLD = {"head": 14, "lw": 2.2}


def _feet(query, keys: Named) -> tuple[np.ndarray, dict, dict]:
    """The query, and of each key the tip, and where its shadow ends on the
    query's line, with their score."""
    q = np.array(numbers(query))
    tips = {word: np.array(numbers(key)) for word, key in keys.items()}
    feet = {w: (q @ k / (q @ q) * q, q @ k) for w, k in tips.items()}
    return q, tips, feet


def _name(axes, tip, text, colour, side="center") -> None:
    """A word beyond the tip of an arrow from the origin."""
    up, va = (0.12, "bottom") if tip[1] >= 0 else (-0.12, "top")
    style = {"weight": "bold", "va": va, "ha": side, "color": colour}
    words(axes, (tip[0], tip[1] + up), text, **style)


def _square(axes, end, tip) -> None:
    """The mark of a right angle between a shadow and the drop to it."""
    back, up = 0.18 * _unit(-end), 0.18 * _unit(tip - end)
    line(axes, end + back, end + back + up, end + up, lw=1, zorder=2)


def _unit(vector) -> np.ndarray:
    """The vector's direction."""
    return vector / np.hypot(*vector)


def shadows(query: Tensor, keys: Named, name: str = "query") -> Panels:
    """One panel for each key: the shadow it casts on the query's line.

    The shadows have the gid "shadow"; a title computes the dot product.
    """
    q, tips, feet = _feet(query, keys)
    ends = [q, [0, 0], *tips.values(), *(end for end, _ in feet.values())]
    spans = [(min(p) - 0.4, max(p) + 0.4) for p in zip(*ends, strict=True)]
    row = panels(1, len(keys), 2.9)
    row[0].figure.get_layout_engine().set(wspace=0.1)
    for axes, (word, k) in zip(row, tips.items(), strict=True):
        end, score = feet[word]
        axes.axline((0, 0), q, color=HAIR, lw=1, zorder=0)
        style = {"lw": 9, "alpha": 0.5, "solid_capstyle": "butt"}
        line(axes, (0, 0), end, gid="shadow", **style)
        line(axes, k, end, ls="--")
        _square(axes, end, k)
        arrow(axes, (0, 0), q, QUERY, **BOLD)
        _name(axes, q, name, QUERY, "right")  # beside the line, not on it
        arrow(axes, (0, 0), k, KEY, **BOLD)
        _name(axes, k, word, KEY)
        axes.set_title(_product(math.hypot(*q), score, f"{name} · {word}"))
        axes.set_aspect("equal")
        bare(axes, *spans)
    return row


def _product(length, score, text) -> str:
    """The dot product as a length times a shadow, in two lines."""
    shadow = f"{score / length:.2f}"
    shadow = f"({shadow})" if score < 0 else shadow
    return _minus(f"{text}\n= {length:.2f} × {shadow} = {score:g}")


def _minus(text) -> str:
    """Numbers with a minus sign as long as a plus."""
    return str(text).replace("-", "−")


def ruler(query: Tensor, keys: Named, name: str, axis_names: tuple) -> Axes:
    """All keys at once: the query's line is a ruler that reads the scores.

    The end of a shadow on the ruler has the gid "foot" and the key's name.
    """
    axes, (q, tips, feet) = plot(4.5), _feet(query, keys)
    across = _unit(np.array([-q[1], q[0]]))
    below = {
        round(score)
        for word, (end, score) in feet.items()
        if across[1] * (tips[word][1] - end[1]) < 0
    }
    _scale(axes, q, [score for _, score in feet.values()], across, below)
    for word, (end, _) in feet.items():
        line(axes, tips[word], end, ls="--")
        axes.plot(*end, "o", color=KEY, ms=6, zorder=4, gid=f"foot {word}")
        arrow(axes, (0, 0), tips[word], KEY, lw=1.8, head=12)
        _name(axes, tips[word], word, KEY)
    arrow(axes, (0, 0), q, QUERY, **BOLD)
    bold = {"weight": "bold", "ha": "left", "color": QUERY}
    words(axes, (q[0] + 0.1, q[1]), name, **bold)
    axes.set(aspect="equal", xlabel=axis_names[0], ylabel=axis_names[1])
    axes.axhline(0, color="#DDDDDD", lw=0.8, zorder=-1)
    axes.axvline(0, color="#DDDDDD", lw=0.8, zorder=-1)
    axes.margins(0.1)
    return axes


def _scale(axes, q, scores, across, below) -> None:
    """The ruler: a tick and a number for every whole score."""
    one, style = q / (q @ q), {"color": QUERY, "lw": 1, "zorder": 0}
    low, high = min(*scores, 0), max(*scores, q @ q)
    line(axes, (low - 0.6) * one, (high + 0.9) * one, alpha=0.6, **style)
    for score in range(math.ceil(low), math.floor(high) + 1):
        at, tick = score * one, 0.06 * across
        line(axes, at - tick, at + tick, **style)
        at = at + tick * (3.2 if score in below else -3.2)
        if score in scores or abs(score) > 1:  # the others lie under arrows
            words(axes, at, _minus(score), 9, color=QUERY)


def to_shares(names: Names, scores: Tensor, steps: Named) -> Panels:
    """Scores, then one panel for each step that is applied to them.

    Every bar carries its number; arrows between panels name the step.
    """
    tables = {"score": scores} | steps
    row, places = panels(1, len(tables), 2.5), range(len(names))
    for axes, (title, values) in zip(row, tables.items(), strict=True):
        widths = numbers(values)
        low, high = min(*widths, 0), max(widths)
        room = 0.42 * (high - low)
        colour = FAINT if title == "score" else MAY
        axes.barh(places, widths, 0.62, color=colour)
        for i, value in enumerate(widths):
            text = f"{value:g}" if value == round(value) else f"{value:.2f}"
            at = (max(value, 0) + 0.12 * room, i)
            words(axes, at, _minus(text), 9.5, ha="left")
        axes.set_xlim(low - 0.05, high + room)
        axes.axvline(0, color=FAINT, lw=0.8)
        left = names if axes is row[0] else [""] * len(names)
        frameless(axes, ([], []), (places, left))
        axes.set_title(title)
        axes.invert_yaxis()
    for axes, after in zip(row, row[1:], strict=False):
        style = {"arrowprops": {"arrowstyle": "-|>", "color": INK, "lw": 1.2}}
        ends = {"xycoords": after.transAxes, "textcoords": axes.transAxes}
        after.annotate("", (-0.12, 1.07), (0.8, 1.07), **ends, **style)
    return row


def spread(groups: Named, label: str) -> Panels:
    """How often each size occurs, on a logarithmic axis, one panel a group.

    The first bar counts all that is smaller than a millionth, too.
    Lines with the gids "median" and "mean" mark the two averages.
    """
    stack = panels(len(groups), 1, 3.6, sharex=True, sharey=True)
    edges = [10 ** (e / 4) for e in range(-24, 8)]
    for axes, values in titled(stack, groups):
        sizes = values.cpu().double().clamp(min=edges[0])
        axes.hist(numbers(sizes), edges, color=HAIR, ec="white", lw=0.8)
        for text, colour in (("median", ACCENT), ("mean", SECOND)):
            x = getattr(sizes, text)().item()
            style = {"label": f"{text} {x:.2f}", "gid": text}
            axes.axvline(x, color=colour, lw=2.2, **style)
        axes.set_xscale("log")
        axes.minorticks_off()
        axes.legend(loc="upper left")
    stack[-1].set_xlabel(label)
    axes.figure.supylabel("queries", fontsize=10.5)
    return stack
