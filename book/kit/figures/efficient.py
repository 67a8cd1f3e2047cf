"""Chapter 15: what grows with a text, and what can be left out."""

import math

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from kit.figures.marks import (
    ACCENT,
    INK,
    KEY,
    OUTPUT,
    QUERY,
    SECOND,
    VALUE,
    arrow,
    bare,
    box,
    cell,
    frameless,
    numbers,
    words,
)


def meetings(lengths: list[int]) -> Axes:
    """For each text a strip of its tokens over the square of their pairs.

    The gids: "token n i" and "pair n i j" of cells, "twice n" of the arrow
    that leads to the text of length n.
    """
    figure, axes = plt.subplots(figsize=(5.4, 3.7))
    left, gap, tall = 0.0, 3.4, max(lengths)
    for n in lengths:
        for i in range(n):
            place = {"ec": "white", "lw": 0.6}
            at = (left + i, -2.4)
            cell(axes, at, (1, 1), ACCENT, gid=f"token {n} {i}", **place)
            for j in range(n):
                gid = f"pair {n} {i} {j}"
                cell(axes, (left + i, j), (1, 1), SECOND, gid=gid, **place)
        style = {"va": "top", "fontsize": 9.5}
        text = f"{n} tokens\n{n * n} pairs"
        words(axes, (left + n / 2, n + 0.6), text, **style)
        if n != lengths[0]:
            ends = (left - gap + 0.4, -1.9), (left - 0.4, -1.9)
            arrow(axes, *ends, INK, f"twice {n}", lw=1.4)
            words(axes, (left - gap / 2, -2.8), "× 2", fontsize=9.5)
        left += n + gap
    bare(axes, (-0.3, left - gap + 0.3), (tall + 3.6, -3.6))
    axes.set_aspect("equal")
    return axes


def shares_of_layer(
    lengths: list[int], costs: list[dict[str, int]], marked: dict[str, int]
) -> Axes:
    """What share of a layer's operations each part has, as a text grows.

    `costs` are `lib.efficient.layer_operations` of the lengths. A dashed line
    stands at each length of `marked`, with its name.
    """
    figure, axes = plt.subplots(figsize=(5.4, 3.3))
    kinds = "projections", "feed-forward", "scores and means"
    rows = [[], [], []]
    for cost in costs:
        first, *pairs, last = (x / sum(cost.values()) for x in cost.values())
        for row, share in zip(rows, (first, last, sum(pairs)), strict=True):
            row.append(share)
    colours = ["#A8A8A8", "#CCCCCC", SECOND]
    axes.stackplot(lengths, rows, labels=kinds, colors=colours, alpha=0.8)
    axes.set_xscale("log", base=2)
    ticks = lengths[::2]
    axes.set_xticks(ticks, [f"{n:,}" for n in ticks])
    axes.minorticks_off()
    axes.set_yticks([0, 0.5, 1], ["0%", "50%", "100%"])
    axes.set(xlim=(lengths[0], lengths[-1]), ylim=(0, 1))
    axes.set(xlabel="n: tokens of the text", ylabel="share of operations")
    for name, at in marked.items():
        axes.axvline(at, color=INK, ls="--", lw=1.2, gid=f"at {name}")
        words(axes, (at, 1.05), name, fontsize=9.5)
    early = lengths[len(lengths) // 5]
    for height, name in zip((0.15, 0.6), kinds, strict=False):
        words(axes, (early, height), name)
    words(axes, (lengths[-1] / 1.1, 0.68), kinds[2], ha="right")
    return axes


def growth(
    lengths: list[int],
    times: dict[str, list],
    sizes: dict[str, list],
    title: str,
) -> list[Axes]:
    """Time and memory against the length, all axes logarithmic.

    A line is labelled with its name. None is a length that did not fit.
    """
    figure, panels = plt.subplots(1, 2, figsize=(5.4, 3.9))
    mib = {
        name: [size and size / 2**20 for size in row]
        for name, row in sizes.items()
    }
    texts = f"time (1 = SDPA, n = {lengths[0]})", "memory in MiB"
    for axes, rows, text in zip(panels, (times, mib), texts, strict=True):
        for mark, (name, row) in zip("osD^", rows.items(), strict=False):
            known = [(n, y) for n, y in zip(lengths, row, strict=True) if y]
            axes.plot(*zip(*known, strict=True), marker=mark, label=name)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        ticks = lengths[::3]
        axes.set_xticks(ticks, [f"{n:,}" for n in ticks])
        axes.minorticks_off()
        axes.set_title(text, fontsize=10.5)
        axes.set_xlabel("n: tokens")
        axes.grid(axis="y")
        axes.yaxis.set_major_formatter("{x:,g}")
    handles, labels = panels[0].get_legend_handles_labels()
    style = {"loc": "outside upper left", "ncols": 2, "title": title}
    figure.legend(handles, labels, alignment="left", **style)
    return list(panels)


def row_in_blocks(
    scores: list[list[float]], values: list[list[float]]
) -> Axes:
    """One query's scores in blocks, and what is kept from block to block.

    The gids: "score b i" and "value b i" of words in boxes, "kept b" of the
    numbers after block b, "fade b" of the arrow to the next block.
    """
    figure, axes = plt.subplots(figsize=(5.4, 3.3))
    m, s, c = -math.inf, 0.0, 0.0
    for b, (row, given) in enumerate(zip(scores, values, strict=True)):
        _block(axes, row, given, b)
        largest = max(m, *row)
        fade = math.exp(m - largest)
        e = [math.exp(score - largest) for score in row]
        s = s * fade + sum(e)
        c = c * fade + sum(x * v for x, v in zip(e, given, strict=True))
        m, centre = largest, 3.6 * b + 0.45 * (len(row) - 1)
        text = f"m = {m:g}\ns = {s:.2f}\nc = {c:.2f}"
        arrow(axes, (centre, 2.4), (centre, 1.85), INK, f"read {b}")
        style = {"fontsize": 10, "linespacing": 1.4}
        box(
            axes, (centre, 1.1), (1.7, 1.4), text, ACCENT, f"kept {b}", **style
        )
        if b + 1 < len(scores):
            _fade(axes, centre, scores[b + 1], m, b)
    end = centre + 2.6
    arrow(axes, (centre + 0.9, 1.1), (end - 0.75, 1.1), INK, "divide")
    box(axes, (end, 1.1), (1.4, 0.7), f"c / s\n{c / s:.2f}", OUTPUT, "result")
    words(axes, (-0.6, 3.3), "scores", ha="right")
    words(axes, (-0.6, 2.7), "values", ha="right")
    words(axes, (-0.6, 1.1), "kept", ha="right")
    bare(axes, (-1.9, end + 0.8), (0.2, 3.7))
    return axes


def _block(axes, row, given, b) -> None:
    """The scores of a block over its values."""
    for i, (score, value) in enumerate(zip(row, given, strict=True)):
        x, size = 3.6 * b + 0.9 * i, (0.8, 0.5)
        box(axes, (x, 3.3), size, f"{score:g}", KEY, f"score {b} {i}")
        box(axes, (x, 2.7), size, f"{value:g}", VALUE, f"value {b} {i}")


def _fade(axes, centre, row, m, b) -> None:
    """The arrow to the next block, with the factor on what is carried."""
    fade = math.exp(m - max(m, *row))
    ends = (centre + 0.9, 1.1), (centre + 2.7, 1.1)
    arrow(axes, *ends, INK, f"fade {b}", lw=1.4)
    style = {"fontsize": 9.5}
    words(axes, (centre + 1.8, 1.4), f"s, c × {fade:.2f}", **style)


def patterns(masks: dict[str, Tensor]) -> list[Axes]:
    """Who meets whom, a square for each way; blue = scored.

    The count of pairs stands under each.
    """
    many = len(masks)
    figure, panels = plt.subplots(1, many, figsize=(5.4, 1.1 + 5.0 / many))
    for axes, (name, mask) in zip(panels, masks.items(), strict=True):
        n = mask.shape[-1]
        rows = numbers(mask)
        axes.imshow(rows, cmap="Blues", vmin=0, vmax=1.6)
        frameless(axes, ([], []), ([], []))
        axes.spines[:].set_visible(True)
        axes.set_title(name, fontsize=10.5, loc="center")
        pairs = f"{int(sum(map(sum, rows)))} of {n * n}"
        axes.set_xlabel(pairs, fontsize=10)
        for i in range(n + 1):
            axes.axvline(i - 0.5, color="white", lw=0.6)
            axes.axhline(i - 0.5, color="white", lw=0.6)
    panels[0].set_ylabel("query")
    return list(panels)


def shared_heads(heads: int, shared: list[int]) -> Axes:
    """Query heads, and the key/value heads that they ask, a row for each.

    The gids: "key r h" of boxes and "ask r h" of the arrow from query head h
    in row r.
    """
    figure, axes = plt.subplots(figsize=(5.4, 1.25 * len(shared) + 0.2))
    for r, kv_heads in enumerate(shared):
        low, group = -2.3 * r, heads // kv_heads
        for h in range(heads):
            box(axes, (h, low), (0.72, 0.5), f"$q_{{{h + 1}}}$", QUERY)
            middle = (h // group + 0.5) * group - 0.5
            to = (middle + (h - middle) * 0.8 / group, low + 0.95)
            arrow(axes, (h, low + 0.28), to, QUERY, f"ask {r} {h}", lw=1)
        for h in range(kv_heads):
            middle = (h + 0.5) * group - 0.5
            for text, colour, side in (("k", KEY, -1), ("v", VALUE, 1)):
                at = (middle + side * 0.21, low + 1.22)
                name = f"key {r} {h}" if text == "k" else None
                label = f"${text}_{{{h + 1}}}$"
                box(axes, at, (0.4, 0.5), label, colour, name, fontsize=9)
        name = {heads: "one each", 1: "one for all"}.get(kv_heads, "groups")
        style = {"ha": "right", "fontsize": 10}
        words(axes, (-0.7, low + 0.6), f"{name}:\n{kv_heads}", **style)
    bare(axes, (-2.9, heads - 0.4), (-2.3 * len(shared) + 1.9, 1.6))
    return axes
