"""Chapters 10 and 12: paths between words, and texts as a tree."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from lib.figures.marks import (
    ACCENT,
    FAINT,
    INK,
    SECOND,
    bare,
    label,
    words,
)


def _shortest(edges, start, end) -> list:
    """The shortest way over directed edges, as a list of edges."""
    ways = {start: []}
    while end not in ways:
        ways |= {
            edge[1]: [*ways[edge[0]], edge]
            for edge in edges
            if edge[0] in ways and edge[1] not in ways
        }
    return ways[end]


def _connections(length: int) -> dict[str, tuple[list, int]]:
    """Of three networks: the directed edges, and the number of layers."""
    steps, positions = range(length - 1), range(length)
    recurrence = [((j, 0), (j, 1)) for j in positions]
    recurrence += [((j, 1), (j + 1, 1)) for j in steps]
    convolution = [
        ((j, layer), (i, layer + 1))
        for layer in steps
        for j in positions
        for i in positions
        if abs(i - j) <= 1
    ]
    attention = [((j, 0), (i, 1)) for j in positions for i in positions]
    return {
        "recurrent network": (recurrence, 1),
        "convolution of width 3": (convolution, length - 1),
        "self-attention": (attention, 1),
    }


def paths(length: int) -> list[Axes]:
    """From the first input to the last output, on the shortest way.

    Recurrent network, convolution of width 3, self-attention. The gid of the
    lines of the way is "path", of all other connections "connection"; a line
    leads from its first point to its second.
    """
    panels, last = _connections(length), length - 1
    heights = [layers + 0.9 for _, layers in panels.values()]
    size = (5.4, 1.0 + 0.5 * sum(heights))
    figure, stack = plt.subplots(3, 1, figsize=size, height_ratios=heights)
    on = {"color": ACCENT, "lw": 2.6, "zorder": 2, "gid": "path"}
    off = {"color": "#CCCCCC", "lw": 0.8, "gid": "connection"}
    circle = {"s": 60, "c": "white", "ec": INK, "zorder": 3}
    pairs = zip(stack, panels.items(), strict=True)
    for axes, (title, (edges, layers)) in pairs:
        way = _shortest(edges, (0, 0), (last, layers))
        for edge in edges:
            xs, ys = zip(*edge, strict=True)
            axes.plot(xs, ys, **(on if edge in way else off))
        circles = [(j, y) for y in range(layers + 1) for j in range(length)]
        axes.scatter(*zip(*circles, strict=True), **circle)
        for y, name in ((0, "input"), (layers, "output")):
            words(axes, (-0.25, y), name, ha="right", fontsize=9)
        plural = "s" if len(way) > 1 else ""
        axes.set_title(f"{title}: {len(way)} step{plural}")
        bare(axes, (-1.0, last + 0.2), (-0.35, layers + 0.35))
    return list(stack)


def decoding_tree(
    first: dict[str, float], second: dict[str, dict[str, float]]
) -> Axes:
    """All texts of two tokens, with their probabilities at the leaves.

    A leaf's gid is its text. Lines have the gid "greedy A" or "best B" where
    the greedy or the best text passes.
    """
    texts = {
        a + b: p * q for a, p in first.items() for b, q in second[a].items()
    }
    start = max(first, key=first.get)
    greedy = start + max(second[start], key=second[start].get)
    taken = (greedy, max(texts, key=texts.get))
    figure, axes = plt.subplots(figsize=(5.4, 0.5 + 0.42 * len(texts)))
    leaf = {text: (2, -i) for i, text in enumerate(texts)}
    node = {
        a: (1, sum(leaf[a + b][1] for b in second[a]) / len(second[a]))
        for a in first
    }
    root = (0, sum(y for _, y in node.values()) / len(node))
    for a, p in first.items():
        _branch(axes, root, node[a], a, taken)
        label(axes, node[a], f"{a}  {p:g}")
        for b, q in second[a].items():
            end = leaf[a + b]
            _branch(axes, node[a], end, a + b, taken)
            label(axes, end, f"{b}  {q:g}")
            value, at = f"{texts[a + b]:.2f}", (2.5, end[1])
            words(axes, at, value, ha="left", gid=a + b)
    label(axes, root, "start")
    bare(axes, (-0.25, 2.8), (0.6 - len(texts), 0.6))
    return axes


def _branch(axes, start, end, text, taken) -> None:
    """A line of the tree, coloured where the greedy or best text passes."""
    greedy, best = (path.startswith(text) for path in taken)
    colour = ACCENT if greedy else SECOND if best else FAINT
    name = f"greedy {text}" if greedy else f"best {text}" if best else None
    width = 1.0 if name is None else 2.5
    axes.plot(*zip(start, end, strict=True), color=colour, lw=width, gid=name)
