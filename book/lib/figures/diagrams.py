"""Chapter 13: texts as a tree."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from lib.figures.marks import (
    ACCENT,
    FAINT,
    SECOND,
    bare,
    label,
    words,
)


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
