"""Diagrams that one chapter draws, in the order of the chapters."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from lib.figures.marks import (
    FAINT,
    INK,
    KEY,
    OUTPUT,
    PLATE,
    QUERY,
    TOKEN,
    VALUE,
    arrow,
    bare,
    cell,
    frameless,
    label,
    matrix,
    numbers,
    station,
    words,
)


def arrows(
    vectors: Tensor, labels: list[str], axis_names: tuple[str, str]
) -> Axes:
    """The first two coordinates of each vector as an arrow from the origin."""
    figure, axes = plt.subplots(figsize=(4.8, 3.6))
    points = [row[:2] for row in numbers(vectors)]
    for i, ((x, y), name) in enumerate(zip(points, labels, strict=True)):
        style = {"arrowstyle": "-|>", "color": f"C{i % 6}", "lw": 1.6}
        axes.annotate("", (x, y), (0, 0), arrowprops=style)
        length = max((x * x + y * y) ** 0.5, 1e-9)
        offset = (9 * x / length, 9 * y / length)
        side = {"ha": "left" if x >= 0 else "right"}
        side |= {"va": "bottom" if y >= 0 else "top"}
        axes.annotate(name, (x, y), offset, textcoords="offset points", **side)
    axes.scatter(*zip(*points, strict=True), s=0)
    axes.axhline(0, color="#DDDDDD", lw=0.8, zorder=0)
    axes.axvline(0, color="#DDDDDD", lw=0.8, zorder=0)
    axes.margins(0.22)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set(xlabel=axis_names[0], ylabel=axis_names[1])
    return axes


def token_grid(tokens: list[list[str]], faint: str, title: str = "") -> Axes:
    """A batch of sentences, one box for each token; `faint` ones are grey."""
    columns, rows = max(len(row) for row in tokens), len(tokens)
    figure, axes = plt.subplots(figsize=(4.8, 0.7 + 0.45 * rows))
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
    figure, axes = plt.subplots(figsize=(4.8, 3.4))
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
    figure, axes = plt.subplots(figsize=(4.8, 4.3))
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


def masks(
    panels: dict[str, Tensor], rows: list[str], columns: list[str]
) -> list[Axes]:
    """Boolean matrices, two in a row: blue with a dot = may attend."""
    lines, across, down = -(-len(panels) // 2), len(columns), len(rows)
    figure, grid = plt.subplots(lines, 2, figsize=(4.8, 0.5 + 2.4 * lines))
    for axes, (title, mask) in zip(grid.flat, panels.items(), strict=True):
        cells = mask.cpu().expand(down, across)
        style = {"vmin": 0, "vmax": 1.6, "cmap": "Blues", "aspect": "auto"}
        axes.imshow(numbers(cells), **style)
        for i, j in cells.nonzero().tolist():
            axes.plot(j, i, "o", color="white", markersize=3)
        axes.set_title(title)
        axes.set_xticks([j + 0.5 for j in range(across)], minor=True)
        axes.set_yticks([i + 0.5 for i in range(down)], minor=True)
        axes.grid(which="minor", color="white", linewidth=1.5)
        frameless(axes, (range(across), columns), (range(down), rows))
    return list(grid.flat)


def cut(rows: Tensor, right: Tensor, wrong: Tensor) -> Axes:
    """Numbers (length, width), and two ways to cut them into heads.

    Every number keeps the colour of the head whose columns it stands in.
    `right` and `wrong` have the shape (heads, length, d_head).
    """
    figure, axes = plt.subplots(figsize=(4.8, 4.6))
    heads, length, width = right.shape
    pitch, colours = length + 1.6, (QUERY, KEY, VALUE, OUTPUT)
    tables = {"one tensor": rows[None], "right": right, "wrong": wrong}
    for line, (name, table) in enumerate(tables.items()):
        at = (0, line * pitch - 0.35)
        words(axes, at, name, ha="left", va="bottom", weight="bold")
        for t, i, j in (table == table).nonzero().tolist():
            number = table[t, i, j].item()
            head = number % (heads * width) // width
            x, y = t * (width + 0.45) + j, line * pitch + i
            colour, gid = colours[head], f"{name} {t} {head}"
            style = {"ec": "white", "alpha": 0.3, "gid": gid}
            cell(axes, (x, y), (1, 1), colour, **style)
            words(axes, (x + 0.5, y + 0.5), number, fontsize=9.5)
    bare(axes, (-0.1, 9.5), (3 * pitch - 1.3, -1.2))
    return axes


def head_colours(axes: Axes) -> dict[str, list[list[str]]]:
    """Of a figure by `cut`: the colours in each table, line by line."""
    found: dict[str, dict[str, list[str]]] = {}
    for patch in axes.patches:
        name, table, head = patch.get_gid().rsplit(" ", 2)
        found.setdefault(name, {}).setdefault(table, []).append(head)
    return {name: list(tables.values()) for name, tables in found.items()}


def norm_axes(positions: int, features: int) -> list[Axes]:
    """What LayerNorm and BatchNorm average: a row, or a column, is dark."""
    figure, both = plt.subplots(1, 2, figsize=(4.8, 2.9))
    for axes, title in zip(both, ("LayerNorm", "BatchNorm"), strict=True):
        for i in range(positions):
            for j in range(features):
                dark = i == 2 if title == "LayerNorm" else j == 1
                face, gid = (QUERY, f"{i} {j}") if dark else (PLATE, None)
                cell(axes, (j, i), (1, 1), face, ec="white", lw=2, gid=gid)
        axes.set(xlim=(0, features), ylim=(positions, 0), title=title)
        axes.set(xlabel="feature", ylabel="position", aspect="equal")
        frameless(axes, ([], []), ([], []))
    return list(both)


def residual_paths() -> list[Axes]:
    """Post-norm and pre-norm: where the norm stands on the path of x."""
    figure, both = plt.subplots(1, 2, figsize=(4.8, 4.2))
    paths = {
        "post-norm": [("+", 1.6), ("norm", 2.4), ("+", 4.6), ("norm", 5.4)],
        "pre-norm": [("+", 2.4), ("+", 5.4)],
    }
    branches = {
        "post-norm": (1.2, [("f", 0.6)]),
        "pre-norm": (2.0, [("norm", 0.62), ("f", 1.4)]),
    }
    for axes, (title, path) in zip(both, paths.items(), strict=True):
        axes.plot([0, 0], [0, 6.3], color=QUERY, lw=3.5, zorder=0)
        for text, y in path:
            wide = 0.62 if text == "norm" else 0.3
            station(axes, (0, y), wide, text, "on the path")
        high, branch = branches[title]
        for y in (0.4, 3.4):
            xs, ys = [0, 1.5, 1.5, 0], [y, y, y + high, y + high]
            axes.plot(xs, ys, color=FAINT, zorder=0)
            for text, above in branch:
                station(axes, (1.5, y + above), 0.62, text, "branch")
        words(axes, (0, -0.1), "x", va="top")
        axes.set_title(title)
        bare(axes, (-0.9, 2.4), (-0.6, 6.5))
    return list(both)


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
    size = (4.8, 1.0 + 0.5 * sum(heights))
    figure, stack = plt.subplots(3, 1, figsize=size, height_ratios=heights)
    on = {"color": KEY, "lw": 2.6, "zorder": 2, "gid": "path"}
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
    figure, axes = plt.subplots(figsize=(4.8, 0.5 + 0.42 * len(texts)))
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
    colour = KEY if greedy else QUERY if best else FAINT
    name = f"greedy {text}" if greedy else f"best {text}" if best else None
    width = 1.0 if name is None else 2.5
    axes.plot(*zip(start, end, strict=True), color=colour, lw=width, gid=name)
