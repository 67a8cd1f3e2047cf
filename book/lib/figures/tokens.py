"""Chapter 1: words, ids and the table."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from lib.figures.marks import (
    FAINT,
    INK,
    PLATE,
    QUERY,
    TOKEN,
    arrow,
    bare,
    cell,
    frameless,
    matrix,
    numbers,
    words,
)


def token_grid(tokens: list[list[str]], faint: str, title: str = "") -> Axes:
    """A batch of sentences, one box for each token; `faint` ones are grey."""
    columns, rows = max(len(row) for row in tokens), len(tokens)
    figure, axes = plt.subplots(figsize=(5.4, 0.7 + 0.45 * rows))
    for i, row in enumerate(tokens):
        for j, token in enumerate(row):
            face, ink = (PLATE, FAINT) if token == faint else (TOKEN, INK)
            cell(axes, (j + 0.04, i + 0.06), (0.92, 0.88), face)
            words(axes, (j + 0.5, i + 0.5), token, fontsize=8, color=ink)
    axes.set(xlim=(0, columns), ylim=(rows, 0), title=title)
    middles = [[j + 0.5 for j in range(n)] for n in (columns, rows)]
    frameless(axes, (middles[0], range(columns)), (middles[1], range(rows)))
    axes.set(xlabel="position", ylabel="sentence")
    return axes


def lookup(tokens: list[str], ids: list[int], table: Tensor) -> Axes:
    """ids -> table -> matrix: each id takes its row out of the table."""
    rows, size = numbers(table), (0.85, 1.0)
    figure, axes = plt.subplots(figsize=(5.4, 3.4))
    for i, (token, index) in enumerate(zip(tokens, ids, strict=True)):
        words(axes, (1.25, i + 0.5), token, ha="right", fontsize=9)
        words(axes, (1.75, i + 0.5), index, color=QUERY)
    matrix(axes, (2.9, 0), rows, size)
    taken = [rows[i] for i in ids]
    matrix(axes, (6.7, 0), taken, size, range(len(ids)), "matrix")
    for i, index in enumerate(ids):
        arrow(axes, (2.0, i + 0.5), (2.55, index + 0.5))
        arrow(axes, (5.5, index + 0.5), (6.65, i + 0.5))
    for i in range(len(rows)):
        words(axes, (2.72, i + 0.5), i, color=FAINT, fontsize=7)
    for x, text in (
        (0.95, "tokens"),
        (1.75, "ids"),
        (2.9 + 1.5 * size[0], "table\n(vocab, d_model)"),
        (6.7 + 1.5 * size[0], "matrix\n(length, d_model)"),
    ):
        words(axes, (x, -0.35), text, va="bottom")
    bare(axes, (0, 9.3), (max(len(rows), len(ids)) + 0.1, -1.4))
    return axes
