"""Chapter 3: who looks at whom."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from lib.figures.marks import (
    KEY,
    OUTPUT,
    PLATE,
    QUERY,
    VALUE,
    arrow,
    bare,
    cell,
    words,
)

FLOW = {
    "X": (1.5, 0, PLATE),
    "Q": (0.3, 1.5, QUERY),
    "K": (1.5, 1.5, KEY),
    "V": (2.7, 1.5, VALUE),
    "scores": (0.9, 3.0, PLATE),
    "weights": (0.9, 4.5, PLATE),
    "context": (1.8, 6.0, OUTPUT),
}
FLOW_STEPS = [
    ("X", "Q", "× W_q"),
    ("X", "K", "× W_k"),
    ("X", "V", "× W_v"),
    ("Q", "scores", ""),
    ("K", "scores", "× Kᵀ"),
    ("scores", "weights", "÷ √d_k, softmax"),
    ("weights", "context", ""),
    ("V", "context", "× V"),
]


def flow(sizes: dict[str, tuple[int, ...]]) -> Axes:
    """How tensors meet in attention, with the shape each one has.

    Args:
        sizes: the shapes of X, Q, K, V, scores, weights and context.
    """
    figure, axes = plt.subplots(figsize=(5.4, 4.3))
    note = {"fontsize": 8, "color": "#555555"}
    note["bbox"] = {"fc": "white", "ec": "none", "pad": 1.5}
    for start, end, text in FLOW_STEPS:
        (x0, y0, _), (x1, y1, _) = FLOW[start], FLOW[end]
        arrow(axes, (x0, y0 + 0.36), (x1, y1 - 0.38))
        if text:
            words(axes, ((x0 + x1) / 2, (y0 + y1) / 2), text, **note)
    for name, (x, y, colour) in FLOW.items():
        alpha = 1.0 if colour == PLATE else 0.25
        cell(axes, (x - 0.5, y - 0.34), (1.0, 0.68), colour, alpha=alpha)
        shape = " × ".join(str(n) for n in sizes[name])
        words(axes, (x, y - 0.13), name, weight="bold")
        words(axes, (x, y + 0.16), shape, fontsize=8.5)
    bare(axes, (-0.3, 3.5), (6.45, -0.45))
    return axes
