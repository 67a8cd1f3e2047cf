"""Chapter 15: what grows with a text, and what can be left out."""

import math

from .canvas import bare, drawing, frameless, numbers, panels, plot, titled
from .colours import ACCENT, HAIR, INK, KEY, OUTPUT, QUERY, SECOND, VALUE
from .kinds import Axes, Named, Numbers, Panels
from .marks import arrow, beside, box, cell, words
from .plots import powers_of_two


def meetings(lengths: list[int]) -> Axes:
    """For each text a strip of its tokens over the square of their pairs.

    The gids of cells: "token n i" and "pair n i j".
    """
    axes, left, gap, style = plot(3.7), 0.0, 3.4, {"ec": "white", "lw": 0.6}
    for n in lengths:
        for i in range(n):
            gid = f"token {n} {i}"
            cell(axes, (left + i, -2.4), (1, 1), ACCENT, gid=gid, **style)
            for j in range(n):
                gid = f"pair {n} {i} {j}"
                cell(axes, (left + i, j), (1, 1), SECOND, gid=gid, **style)
        text = f"{n} tokens\n{n * n} pairs"
        words(axes, (left + n / 2, n + 0.6), text, 9.5, va="top")
        if n != lengths[0]:
            ends = (left - gap + 0.4, -1.9), (left - 0.4, -1.9)
            arrow(axes, *ends, INK, lw=1.4)
            words(axes, (left - gap / 2, -2.8), "× 2", 9.5)
        left += n + gap
    bare(axes, (-0.3, left - gap + 0.3), (max(lengths) + 3.6, -3.6))
    axes.set_aspect("equal")
    return axes


def shares_of_layer(
    lengths: list[int], costs: list[dict[str, int]], marked: dict[str, int]
) -> Axes:
    """What share of a layer's operations each part has, as a text grows.

    `costs` are `lib.efficient.layer_operations` of the lengths. A dashed line
    stands at each length of `marked`, with its name.
    """
    axes, rows = plot(), []
    for cost in costs:
        first, *pairs, last = (x / sum(cost.values()) for x in cost.values())
        rows.append((first, last, sum(pairs)))
    kinds = "projections", "feed-forward", "scores and means"
    style = {"colors": ["#A8A8A8", HAIR, SECOND], "alpha": 0.8}
    parts = zip(*rows, strict=True)
    axes.stackplot(lengths, *parts, labels=kinds, **style)
    powers_of_two(axes, lengths[::2], ",")
    axes.set_yticks([0, 0.5, 1], ["0%", "50%", "100%"])
    axes.set(xlim=(lengths[0], lengths[-1]), ylim=(0, 1))
    axes.set(xlabel="n: tokens of the text", ylabel="share of operations")
    for name, at in marked.items():
        axes.axvline(at, color=INK, ls="--", lw=1.2)
        words(axes, (at, 1.05), name, 9.5)
    early = lengths[len(lengths) // 5]
    words(axes, (early, 0.15), kinds[0])
    words(axes, (early, 0.6), kinds[1])
    words(axes, (lengths[-1] / 1.1, 0.68), kinds[2], ha="right")
    return axes


def growth(
    lengths: list[int],
    times: dict[str, list],
    sizes: dict[str, list],
    title: str,
) -> Panels:
    """Time and memory against the length, all axes logarithmic.

    A line is labelled with its name. None is a length that did not fit.
    """
    time, memory = f"time (1 = SDPA, n = {lengths[0]})", "memory in MiB"
    parts = {time: (times, 1), memory: (sizes, 2**20)}
    both = panels(1, 2, 3.9)
    for axes, (rows, unit) in titled(both, parts, fontsize=10.5):
        for mark, (name, row) in zip("osD^", rows.items(), strict=False):
            y = [size / unit if size else math.nan for size in row]
            axes.plot(lengths, y, marker=mark, label=name)
        axes.set_yscale("log")
        powers_of_two(axes, lengths[::3], ",")
        axes.set_xlabel("n: tokens")
        axes.grid(axis="y")
        axes.yaxis.set_major_formatter("{x:,g}")
    style = {"loc": "outside upper left", "ncols": 2, "alignment": "left"}
    handles = both[0].get_lines()
    both[0].figure.legend(handles=handles, title=title, **style)
    return both


def row_in_blocks(scores: list[Numbers], values: list[Numbers]) -> Axes:
    """One query's scores in blocks, and what is kept from block to block.

    The gids: "kept b" of the numbers after block b, and "result".
    """
    wide = 3.6  # from one block to the next
    end = wide * (len(scores) - 1) + 0.45 * (len(scores[-1]) - 1) + 2.6
    axes = drawing(3.3, (-1.9, end + 0.8), (0.2, 3.7))
    beside(axes, -0.6, {"scores": 3.3, "values": 2.7, "kept": 1.1})
    m, s, c = -math.inf, 0.0, 0.0
    for b, (row, given) in enumerate(zip(scores, values, strict=True)):
        centre = wide * b + 0.45 * (len(row) - 1)
        for i, (score, value) in enumerate(zip(row, given, strict=True)):
            x, size = wide * b + 0.9 * i, (0.8, 0.5)
            box(axes, (x, 3.3), size, f"{score:g}", KEY)
            box(axes, (x, 2.7), size, f"{value:g}", VALUE)
        fade, m = math.exp(m - max(m, *row)), max(m, *row)
        if b:
            arrow(axes, (centre - 2.7, 1.1), (centre - 0.9, 1.1), INK, lw=1.4)
            words(axes, (centre - 1.8, 1.4), f"s, c × {fade:.2f}", 9.5)
        e = [math.exp(score - m) for score in row]
        s = s * fade + sum(e)
        c = c * fade + sum(x * v for x, v in zip(e, given, strict=True))
        text = f"m = {m:g}\ns = {s:.2f}\nc = {c:.2f}"
        arrow(axes, (centre, 2.4), (centre, 1.85), INK)
        at, size, style = (centre, 1.1), (1.7, 1.4), {"linespacing": 1.4}
        box(axes, at, size, text, ACCENT, f"kept {b}", fontsize=10, **style)
    arrow(axes, (centre + 0.9, 1.1), (end - 0.75, 1.1), INK)
    box(axes, (end, 1.1), (1.4, 0.7), f"c / s\n{c / s:.2f}", OUTPUT, "result")
    return axes


def patterns(masks: Named) -> Panels:
    """Who meets whom, a square for each way; blue = scored.

    The count of pairs stands under each.
    """
    row = panels(1, len(masks), 1.1 + 5.0 / len(masks))
    for axes, mask in titled(row, masks, fontsize=10.5, loc="center"):
        axes.imshow(numbers(mask), cmap="Blues", vmin=0, vmax=1.6)
        frameless(axes, ([], []), ([], []))
        axes.spines[:].set_visible(True)
        axes.set_xlabel(f"{int(mask.sum())} of {mask.numel()}", fontsize=10)
        for i in range(len(mask) + 1):
            axes.axvline(i - 0.5, color="white", lw=0.6)
            axes.axhline(i - 0.5, color="white", lw=0.6)
    row[0].set_ylabel("query")
    return row


def shared_heads(heads: int, shared: list[int]) -> Axes:
    """Query heads, and the key/value heads that they ask, a row for each.

    Keys have the gid "key r h".
    """
    many = len(shared)
    xlim, ylim = (-2.9, heads - 0.4), (1.9 - 2.3 * many, 1.6)
    axes = drawing(1.25 * many + 0.2, xlim, ylim)
    for r, kv_heads in enumerate(shared):
        low, group = -2.3 * r, heads // kv_heads
        for h in range(heads):
            box(axes, (h, low), (0.72, 0.5), f"$q_{{{h + 1}}}$", QUERY)
            middle = (h // group + 0.5) * group - 0.5
            to = (middle + (h - middle) * 0.8 / group, low + 0.95)
            arrow(axes, (h, low + 0.28), to, QUERY, lw=1)
        for h in range(kv_heads):
            middle = (h + 0.5) * group - 0.5
            for text, colour, at, gid in (
                ("k", KEY, middle - 0.21, f"key {r} {h}"),
                ("v", VALUE, middle + 0.21, None),
            ):
                label, size = f"${text}_{{{h + 1}}}$", (0.4, 0.5)
                style = {"name": gid, "fontsize": 9}
                box(axes, (at, low + 1.22), size, label, colour, **style)
        name = {heads: "one each", 1: "one for all"}.get(kv_heads, "groups")
        beside(axes, -0.7, {f"{name}:\n{kv_heads}": low + 0.6}, 10)
    return axes
