"""Chapter 13: the tree of all texts, and the ways through it."""

import math

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from kit.figures.marks import (
    ACCENT,
    FAINT,
    INK,
    SECOND,
    arrow,
    bare,
    cell,
    numbers,
    words,
)

Ranking = list[tuple[str, float]]
FATES = {  # face and edge of a candidate, colour of its words
    "kept": (SECOND, SECOND, INK),
    "ended": (ACCENT, ACCENT, INK),
    "pruned": ("white", "#BBBBBB", "#6B6B6B"),
}
CUT = "#A8A8A8"  # a bar that is left out
COLUMN = 1.36  # from one step to the next
BOX, ROW = 1.08, 0.86  # the size of a candidate


def name_tree(names: list[str]) -> Axes:
    """The tree of some names, letter by letter; each ends in a full stop.

    A letter to which only some names go on has their share beside it; behind
    a leaf stands the share of the whole name. Lines have the gid "greedy au"
    or "best ag" where the greedy or the commonest name passes, shares "share
    au", and the numbers at the leaves "leaf august.".
    """
    leaves = list(dict.fromkeys(names))
    share = _shares(names)
    taken = (_greedy(share), max(leaves, key=names.count))
    figure, axes = plt.subplots(figsize=(5.4, 0.42 * len(leaves) + 0.25))
    for text in share:
        place = _height(text, leaves)
        before = (len(text) - 1, _height(text[:-1], leaves))
        if len(text) > 1:
            _branch(axes, before, (len(text), place), text, taken)
        dot = {"fc": "white", "ec": "none", "boxstyle": "circle,pad=0.12"}
        at, last = (len(text), place), text[-1].replace(".", "■")
        size = 6 if text.endswith(".") else 11
        words(axes, at, last, bbox=dot, fontsize=size, zorder=3)
        if share[text] < 1:
            forks = sum(b[:-1] == text for b in share) > 1
            falls = place < before[1]
            side = "right" if forks else "left"  # where no line goes
            near = (len(text), place + (-0.36 if forks and falls else 0.36))
            style = {"fontsize": 9, "gid": f"share {text}", "ha": side}
            words(axes, near, f"{share[text]:.2f}", **style)
    longest = max(map(len, leaves))
    for row, name in enumerate(leaves):
        whole = f"{names.count(name) / len(names):.2f}"
        at = (longest + 0.9, -row)
        words(axes, at, whole, weight="bold", gid=f"leaf {name}")
        said = dict(zip(taken, ("greedy", "commonest"), strict=True))
        words(axes, (len(name) + 0.3, -row), said.get(name, ""), ha="left")
    bare(axes, (0.6, longest + 1.5), (0.5 - len(leaves), 0.5))
    return axes


def _shares(names: list[str]) -> dict[str, float]:
    """Of each beginning: its share among those that are one letter shorter."""
    begun = {name[:n] for name in names for n in range(1, len(name) + 1)}
    count = {b: sum(n.startswith(b) for n in names) for b in begun | {""}}
    return {b: count[b] / count[b[:-1]] for b in sorted(begun)}


def _greedy(share: dict[str, float]) -> str:
    """The name to which the largest share leads each time."""
    text = ""
    while not text.endswith("."):
        longer = [b for b in share if b[:-1] == text]
        text = max(longer, key=share.get)
    return text


def _height(beginning: str, leaves: list[str]) -> float:
    """In the middle of its leaves, which stand one below the other."""
    rows = [r for r, leaf in enumerate(leaves) if leaf.startswith(beginning)]
    return -sum(rows) / len(rows)


def _branch(axes, start, end, text, taken) -> None:
    """A line of the tree, coloured where the greedy or best text passes."""
    line = list(zip(start, end, strict=True))
    axes.plot(*line, color="#CCCCCC", lw=1, zorder=1)
    ways = zip(("greedy", "best"), (ACCENT, SECOND), taken, strict=True)
    for name, colour, path in ways:
        if path.startswith(text):
            style = {"color": colour, "gid": f"{name} {text}", "lw": 3}
            axes.plot(*line, zorder=2, **style)


def cuts(panels: dict[str, dict[str, float]], k: int, p: float) -> list[Axes]:
    """Next letters by falling probability, and what two cuts leave.

    Bars in the nucleus have the gid "in", the others "out"; the dashed line
    is behind the k-th bar and has the gid "top-k".
    """
    figure, row = plt.subplots(1, len(panels), figsize=(5.4, 2.8), sharey=True)
    for axes, (title, letters) in zip(row, panels.items(), strict=True):
        before = 0.0
        for i, share in enumerate(letters.values()):
            inside = before < p
            colour, gid = (SECOND, "in") if inside else (CUT, "out")
            axes.bar(i, share, 0.82, color=colour, gid=gid)
            before += share
        axes.axvline(k - 0.5, color=INK, lw=1.2, ls="--", gid="top-k")
        axes.text(k - 0.3, 0.93, f"top-k, k = {k}", fontsize=9.5)
        axes.set_xticks(range(len(letters)), letters)
        axes.tick_params(axis="x", length=0, labelcolor=INK)
        axes.set(title=title, ylim=(0, 1.02))
    row[0].set_ylabel("probability")
    inside = plt.Rectangle((0, 0), 1, 1, fc=SECOND)
    outside = plt.Rectangle((0, 0), 1, 1, fc=CUT)
    named = (f"top-p, p = {p:g}: kept", "cut off")
    figure.legend(
        (inside, outside), named, loc="outside lower center", ncols=2
    )
    return list(row)


def quality_and_variety(
    temperatures: list[float], real: list[float], different: list[int]
) -> list[Axes]:
    """The share of real names, and how many different ones, by temperature."""
    figure, row = plt.subplots(1, 2, figsize=(5.4, 2.5))
    named = {"share of real names": real, "different real names": different}
    for axes, (title, values) in zip(row, named.items(), strict=True):
        axes.plot(temperatures, values, "o-", color="C0")
        axes.set(title=title, xlabel="temperature", xlim=(0, None))
        axes.set_ylim(0, 1.12 * max(values))
        axes.grid(True, axis="y")
    return list(row)


def probabilities(groups: dict[str, Tensor], label: str) -> Axes:
    """For each group a histogram of its values, and a diamond at the mean.

    Bars are one wide; those of a group have its name as gid, its diamond has
    "mean <name>".
    """
    size = (5.4, 0.75 + 0.62 * len(groups))
    figure, axes = plt.subplots(figsize=size)
    for row, (name, values) in enumerate(groups.items()):
        found = numbers(values)
        floors = [math.floor(value) for value in found]
        most = max(map(floors.count, floors))
        for floor in sorted({*floors}):
            height = 0.75 * floors.count(floor) / most
            corner = (floor + 0.05, -row)
            cell(axes, corner, (0.9, height), "#BBBBBB", gid=name)
        mark = {"mfc": ACCENT, "mec": "white", "ms": 9, "gid": f"mean {name}"}
        axes.plot(sum(found) / len(found), -row, "D", **mark)
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
    figure, axes = plt.subplots(figsize=(5.4, 0.5 * tallest + 0.5))
    places: dict[str, tuple[float, float]] = {}
    for step, ranking in enumerate(steps):
        at = {t: (step * COLUMN, -i) for i, (t, _) in enumerate(ranking)}
        number = f"step {first + step}"
        words(axes, (step * COLUMN, 0.75), number, color=FAINT)
        for i, (text, p) in enumerate(ranking):
            fate = "ended" if text.endswith(".") else "kept"
            fate = fate if i < width else "pruned"
            parent = text if text in places else text[:-1]
            if parent in places:
                _onward(axes, places[parent], at[text], fate, (parent, text))
            _candidate(axes, at[text], text, p, fate)
        places = {text: at[text] for text, _ in ranking[:width]}
    for i, (fate, (face, edge, _)) in enumerate(FATES.items()):
        corner = ((0.15 + 0.3 * i) * right, -tallest - 0.16)
        cell(axes, corner, (0.4, 0.28), face, alpha=0.6, ec=edge)
        after = (corner[0] + 0.5, -tallest - 0.02)
        words(axes, after, fate, ha="left", fontsize=9.5)
    bare(axes, (-0.62, right + 0.62), (-tallest - 0.3, 1))
    return axes


def _candidate(axes, at, text, p, fate) -> None:
    """A box with the text and its probability."""
    face, edge, ink = FATES[fate]
    (x, y), size = at, (BOX, ROW)
    corner = (x - size[0] / 2, y - size[1] / 2)
    cell(axes, corner, size, "white", zorder=2)
    tint = 0.45 if fate != "pruned" else 1.0
    style = {"ec": edge, "alpha": tint, "zorder": 2, "gid": f"{fate} {text}"}
    cell(axes, corner, size, face, **style)
    small = {"color": ink, "zorder": 3}
    shown = text.replace(".", "▪")
    words(axes, (x, y + 0.2), shown, fontsize=11, **small)
    words(axes, (x, y - 0.2), f"{p:.3f}", fontsize=11, **small)


def _onward(axes, start, end, fate, texts) -> None:
    """An arrow from a text to its continuation; faint if it is pruned."""
    colour = "#CCCCCC" if fate == "pruned" else INK
    ends = (start[0] + BOX / 2, start[1]), (end[0] - BOX / 2, end[1])
    style = {"lw": 1.0, "mutation_scale": 6, "zorder": 1}
    arrow(axes, *ends, colour, "from {} to {}".format(*texts), **style)
