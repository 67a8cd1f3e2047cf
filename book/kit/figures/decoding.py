"""Chapter 13: the tree of all texts, and the ways through it."""

import math

import matplotlib.pyplot as plt

from .canvas import drawing, numbers, panels, plot, titled
from .colours import ACCENT, FAINT, GREY, HAIR, INK, SECOND
from .kinds import Axes, Named, Names, Numbers, Panels
from .marks import arrow, cell, line, words

Ranking = list[tuple[str, float]]
FATES = {  # of a candidate: face, how strong, edge, colour of its words
    "kept": (SECOND, 0.45, SECOND, INK),
    "ended": (ACCENT, 0.45, ACCENT, INK),
    "pruned": ("white", 1.0, GREY, "#6B6B6B"),
}
DOT = {"fc": "white", "ec": "none", "boxstyle": "circle,pad=0.12"}
CUT = "#A8A8A8"  # a bar that is left out
COLUMN = 1.36  # from one step to the next
BOX, ROW = 1.08, 0.86  # the size of a candidate


def name_tree(names: Names) -> Axes:
    """The tree of some names, letter by letter; each ends in a full stop.

    A letter to which only some names go on has their share beside it; behind
    a leaf stands the share of the whole name. Lines have the gid "greedy au"
    or "best ag" where the greedy or the commonest name passes, shares "share
    au", and the numbers at the leaves "leaf august.".
    """
    leaves = list(dict.fromkeys(names))
    longest, share = max(map(len, leaves)), _shares(names)
    ylim = (0.5 - len(leaves), 0.5)
    axes = drawing(0.42 * len(leaves) + 0.25, (0.6, longest + 1.5), ylim)
    greedy, best = _greedy(share), max(leaves, key=names.count)
    ways = ("greedy", ACCENT, greedy), ("best", SECOND, best)
    place = {}  # in the middle of its leaves, one below the other
    for text in share:
        rows = [r for r, x in enumerate(leaves) if x.startswith(text)]
        at = place[text] = (len(text), -sum(rows) / len(rows))
        if before := place.get(text[:-1]):
            line(axes, before, at, color=HAIR, lw=1)
            for name, colour, path in ways:
                if path.startswith(text):
                    style = {"color": colour, "gid": f"{name} {text}"}
                    line(axes, before, at, lw=3, zorder=2, **style)
        sign, size = ("■", 6) if text.endswith(".") else (text[-1], 11)
        words(axes, at, sign, size, bbox=DOT, zorder=3)
        if share[text] < 1:
            forks = sum(b[:-1] == text for b in share) > 1
            falls = before and at[1] < before[1]
            side = "right" if forks else "left"  # where no line goes
            near = (at[0], at[1] + (-0.36 if forks and falls else 0.36))
            style = {"gid": f"share {text}", "ha": side}
            words(axes, near, f"{share[text]:.2f}", 9, **style)
    for row, name in enumerate(leaves):
        whole, at = names.count(name) / len(names), (longest + 0.9, -row)
        words(axes, at, f"{whole:.2f}", weight="bold", gid=f"leaf {name}")
    for name, text in ((greedy, "greedy"), (best, "commonest")):
        words(axes, (len(name) + 0.3, -leaves.index(name)), text, ha="left")
    return axes


def _shares(names: Names) -> dict[str, float]:
    """Of each beginning: its share among those that are one letter shorter."""
    begun = {name[:n] for name in names for n in range(1, len(name) + 1)}
    count = {b: sum(n.startswith(b) for n in names) for b in begun | {""}}
    return {b: count[b] / count[b[:-1]] for b in sorted(begun)}


def _greedy(share: dict[str, float]) -> str:
    """The name to which the largest share leads each time."""
    text = ""
    while not text.endswith("."):
        text = max((b for b in share if b[:-1] == text), key=share.get)
    return text


def cuts(letters: dict[str, dict[str, float]], k: int, p: float) -> Panels:
    """Next letters by falling probability, and what two cuts leave.

    Bars in the nucleus have the gid "in", the others "out"; the dashed line
    is behind the k-th bar.
    """
    row = panels(1, len(letters), 2.8, sharey=True)
    kinds = {"in": SECOND, "out": CUT}
    for axes, shares in titled(row, letters):
        before = 0.0
        for i, share in enumerate(shares.values()):
            gid = "in" if before < p else "out"
            axes.bar(i, share, 0.82, color=kinds[gid], gid=gid)
            before += share
        axes.axvline(k - 0.5, color=INK, lw=1.2, ls="--")
        axes.text(k - 0.3, 0.93, f"top-k, k = {k}", fontsize=9.5)
        axes.set_xticks(range(len(shares)), shares)
        axes.tick_params(axis="x", length=0, labelcolor=INK)
        axes.set_ylim(0, 1.02)
    row[0].set_ylabel("probability")
    patches = [plt.Rectangle((0, 0), 1, 1, fc=c) for c in kinds.values()]
    named = (f"top-p, p = {p:g}: kept", "cut off")
    row[0].figure.legend(patches, named, loc="outside lower center", ncols=2)
    return row


def quality_and_variety(
    temperatures: Numbers, real: Numbers, different: list[int]
) -> Panels:
    """The share of real names, and how many different ones, by temperature."""
    both = panels(1, 2, 2.5)
    named = {"share of real names": real, "different real names": different}
    for axes, values in titled(both, named):
        axes.plot(temperatures, values, "o-", color="C0")
        axes.set(xlim=(0, None), ylim=(0, 1.12 * max(values)))
        axes.set_xlabel("temperature")
        axes.grid(True, axis="y")
    return both


def probabilities(groups: Named, label: str) -> Axes:
    """For each group a histogram of its values, and a diamond at the mean.

    Bars are one wide; a group's diamond has the gid "mean <name>".
    """
    axes = plot(0.75 + 0.62 * len(groups))
    for row, (name, values) in enumerate(groups.items()):
        floats = numbers(values)
        floors = [math.floor(value) for value in floats]
        most = max(map(floors.count, floors))
        for floor in sorted({*floors}):
            height = 0.75 * floors.count(floor) / most
            cell(axes, (floor + 0.05, -row), (0.9, height), GREY)
        mark = {"mfc": ACCENT, "mec": "white", "ms": 9, "gid": f"mean {name}"}
        axes.plot(sum(floats) / len(floats), -row, "D", **mark)
    axes.set_yticks([0.25 - row for row in range(len(groups))], list(groups))
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.spines["left"].set_visible(False)
    axes.set(xlabel=label, ylim=(0.75 - len(groups), 0.85))
    return axes


def beams(steps: list[Ranking], width: int, first: int = 1) -> Axes:
    """A search step by step: what is kept, what ended, what is pruned.

    Each step is a ranking of texts with their probabilities, of which the
    best `width` go on; a text that has ended has a full stop. It hangs on the
    text of the step before that it continues. `first` is the number of the
    first step. Boxes have the gid "kept okt", arrows "from ok to okt".
    """
    tallest, right = max(map(len, steps)), (len(steps) - 1) * COLUMN
    ylim = (-tallest - 0.3, 1)
    axes = drawing(0.5 * tallest + 0.5, (-0.62, right + 0.62), ylim)
    places: dict[str, tuple[float, float]] = {}
    for step, ranking in enumerate(steps):
        at = {t: (step * COLUMN, -i) for i, (t, _) in enumerate(ranking)}
        words(axes, (step * COLUMN, 0.75), f"step {first + step}", color=FAINT)
        for i, (text, p) in enumerate(ranking):
            fate = "ended" if text.endswith(".") else "kept"
            fate = fate if i < width else "pruned"
            parent = text if text in places else text[:-1]
            if parent in places:
                (x, y), (end, down) = places[parent], at[text]
                ends = (x + BOX / 2, y), (end - BOX / 2, down)
                colour = HAIR if fate == "pruned" else INK
                gid = f"from {parent} to {text}"
                arrow(axes, *ends, colour, gid, lw=1.0, head=6, zorder=1)
            _candidate(axes, at[text], text, p, fate)
        places = {text: at[text] for text, _ in ranking[:width]}
    for i, (fate, (face, _, edge, _)) in enumerate(FATES.items()):
        corner = ((0.15 + 0.3 * i) * right, -tallest - 0.16)
        cell(axes, corner, (0.4, 0.28), face, alpha=0.6, ec=edge)
        words(axes, (corner[0] + 0.5, -tallest - 0.02), fate, 9.5, ha="left")
    return axes


def _candidate(axes, at, text, p, fate) -> None:
    """A box with the text and its probability."""
    face, tint, edge, ink = FATES[fate]
    (x, y), style = at, {"ec": edge, "alpha": tint, "gid": f"{fate} {text}"}
    corner, size = (x - BOX / 2, y - ROW / 2), (BOX, ROW)
    cell(axes, corner, size, "white", zorder=2)
    cell(axes, corner, size, face, zorder=2, **style)
    small = {"color": ink, "zorder": 3}
    words(axes, (x, y + 0.2), text.replace(".", "▪"), 11, **small)
    words(axes, (x, y - 0.2), f"{p:.3f}", 11, **small)
