"""Chapter 14: what is computed again, and what is kept."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from kit.figures.marks import (
    ACCENT,
    BEHIND,
    FAINT,
    INK,
    KEY,
    OUTPUT,
    PLATE,
    QUERY,
    TINT,
    TOKEN,
    VALUE,
    arrow,
    bare,
    box,
    cell,
    numbers,
    words,
)


def rows_computed(tokens: list[str]) -> list[Axes]:
    """Step by step, what a decoder computes without a memory and with it.

    Step t reads t + 1 tokens. The gids, of rectangles: "computed t j", and
    "key t j" and "value t j" where they are only looked up; of arrows, from
    a token to its place in the next step: "next t".
    """
    many = len(tokens)
    size = (5.4, 0.75 + 0.27 * many)
    figure, panels = plt.subplots(1, 2, figsize=size)
    for axes, kept in zip(panels, (False, True), strict=True):
        for t in range(many):
            for j in range(t + 1):
                if kept and j < t:
                    _kept(axes, t, j)
                else:
                    _computed(axes, t, j, tokens[j], j == t)
            if t + 1 < many:
                start, end = (t + 0.98, t + 0.5), (t + 1.6, t + 1.02)
                curve = {"connectionstyle": "arc3,rad=-0.4"}
                style = {"mutation_scale": 7, "lw": 1} | curve
                arrow(axes, start, end, INK, f"next {t}", **style)
        rows = many if kept else many * (many + 1) // 2
        title = "with a cache" if kept else "without a cache"
        axes.set_title(f"{title}: {rows} rows", loc="center")
        bare(axes, (-1.6, many + 0.1), (many + 0.1, -0.1))
        words(axes, (-1.3, many / 2), "step", color=FAINT, rotation=90)
        for t in range(many):
            step = {"ha": "right", "color": FAINT, "fontsize": 9}
            words(axes, (-0.15, t + 0.5), f"{t + 1}", **step)
    return list(panels)


def _computed(axes, t, j, token, new) -> None:
    """A row of the decoder that step t computes."""
    style = {"ec": "white", "gid": f"computed {t} {j}"}
    cell(axes, (j, t), (1, 1), "white")
    cell(axes, (j, t), (1, 1), BEHIND, alpha=1.0 if new else 0.4, **style)
    style = {"fontsize": 9, "weight": "bold" if new else "normal"}
    words(axes, (j + 0.5, t + 0.5), token, **style)


def _kept(axes, t, j) -> None:
    """A key and a value that step t looks up."""
    parts = (("key", KEY, 0.12), ("value", VALUE, 0.52))
    for name, colour, down in parts:
        gid = f"{name} {t} {j}"
        style = {"alpha": 0.75, "gid": gid}
        cell(axes, (j + 0.12, t + down), (0.76, 0.32), colour, **style)


def one_step(tokens: list[str], weights: Tensor) -> Axes:
    """The newest token asks; keys and values of the others were kept.

    The gids: "key j", "value j" and "weight j" of words in boxes; of arrows
    "make q", "make k" and "make v" from the new token, "asks" along the
    keys, and "hand j" from the values to the context.
    """
    figure, axes = plt.subplots(figsize=(5.4, 4.1))
    last, shares = len(tokens) - 1, numbers(weights)
    for low, high in ((-0.1, 1.25), (3.65, 4.35)):
        cell(axes, (-0.5, low), (last, high - low), PLATE)
    for j, token in enumerate(tokens):
        _column(axes, j, token, shares[j])
        wide = {"lw": 0.6 + 4 * shares[j], "mutation_scale": 8}
        end = (last / 2 + 0.35 * (j - last / 2), 5.3)
        arrow(axes, (j, 4.25), end, VALUE, f"hand {j}", **wide)
    box(axes, (last / 2, 5.55), (2.4, 0.5), "context", OUTPUT)
    words(axes, ((last - 1) / 2, -0.45), "kept: in the bands")
    words(axes, (last + 1.1, -0.45), "computed now: all else")
    _new_token(axes, last, tokens[last])
    bare(axes, (-1.0, last + 2.7), (-0.75, 5.9))
    return axes


def _column(axes, j, token, share) -> None:
    """A key, its weight and its value, one above the other."""
    size = (0.84, 0.5)
    words(axes, (j, 0.2), token, fontsize=10)
    box(axes, (j, 0.9), size, f"$k_{{{j + 1}}}$", KEY, f"key {j}")
    box(axes, (j, 4.0), size, f"$v_{{{j + 1}}}$", VALUE, f"value {j}")
    arrow(axes, (j, 1.15), (j, 2.65), KEY, lw=1)
    arrow(axes, (j, 3.15), (j, 3.75), FAINT, lw=1)
    cell(axes, (j - 0.42, 2.65), size, TINT(share), ec=FAINT, lw=0.6)
    style = {"gid": f"weight {j}", "fontsize": 9}
    words(axes, (j, 2.9), f"{share:.2f}", **style)


def _new_token(axes, last, token) -> None:
    """What the new token makes: a query, which asks, a key and a value."""
    at, query = (last + 2.2, 1.9), last + 1.05
    box(axes, at, (0.7, 0.5), token, ACCENT, weight="bold")
    words(axes, (at[0], 1.45), "new", fontsize=9)
    box(axes, (query, 1.9), (0.8, 0.5), f"$q_{{{last + 1}}}$", QUERY)
    left = at[0] - 0.35
    arrow(axes, (left, 1.9), (query + 0.4, 1.9), QUERY, "make q")
    arrow(axes, (left, 1.7), (last + 0.42, 0.95), KEY, "make k")
    arrow(axes, (left, 2.1), (last + 0.42, 3.9), VALUE, "make v")
    arrow(axes, (query - 0.4, 1.9), (-0.4, 1.9), QUERY, "asks", lw=1.8)
    words(axes, (-0.62, 2.9), "weights", rotation=90, fontsize=9)


def buffers(steps: list[tuple[int, int]]) -> Axes:
    """A buffer that grows: for each step its length, and the room it has.

    The gids: "filled t j", "new t j" and "room t j" of cells, "copy t" of
    the arrow at a step that copies.
    """
    most = max(room for _, room in steps)
    figure, axes = plt.subplots(figsize=(5.4, 0.5 + 0.36 * len(steps)))
    room_before = length_before = 0
    for t, (length, room) in enumerate(steps):
        for j in range(room):
            kind = "filled" if j < length_before else "new"
            kind = kind if j < length else "room"
            _slot(axes, t, j, kind)
        side = {"ha": "right", "fontsize": 9.5}
        words(axes, (-0.3, t + 0.5), f"{length} token" + "s" * (t > 0), **side)
        if room > room_before and length_before:
            ends = (room_before + 0.3, t - 0.5), (room_before + 0.3, t + 0.1)
            arrow(axes, *ends, INK, f"copy {t}", lw=1.4)
            at, text = (
                (room_before + 0.55, t - 0.08),
                f"{length_before} copied",
            )
            place = {"ha": "left", "va": "bottom", "fontsize": 9.5}
            words(axes, at, text, gid=f"copied {t}", **place)
        room_before, length_before = room, length
    bare(axes, (-2.6, most + 0.2), (len(steps) + 0.1, -0.2))
    return axes


def _slot(axes, t, j, kind) -> None:
    """A place of the buffer: filled, newly filled, or free."""
    colour = {"filled": TOKEN, "new": BEHIND, "room": "white"}[kind]
    style = {"ec": FAINT, "lw": 0.8, "gid": f"{kind} {t} {j}"}
    if kind == "room":
        style["ls"] = ":"
    cell(axes, (j + 0.04, t + 0.12), (0.92, 0.76), colour, **style)
    if kind != "room":
        words(axes, (j + 0.5, t + 0.5), f"{j + 1}", fontsize=9)


def times_of_tokens(
    tokens: list[int], times: dict[str, list[float]], title: str
) -> Axes:
    """Time against the place of a token, both linear; areas are filled.

    The lines are labelled with the names of `times`, which stand beside them.
    """
    figure, axes = plt.subplots(figsize=(5.4, 3.4))
    for colour, (name, found) in zip(
        (FAINT, ACCENT), times.items(), strict=True
    ):
        axes.fill_between(tokens, found, color=colour, alpha=0.15, lw=0)
        style = {"color": colour, "marker": "o", "label": name}
        axes.plot(tokens, found, **style)
        middle = len(tokens) // 2
        at = (tokens[middle] - 8, found[middle] + 0.6)
        words(axes, at, name, ha="right", va="bottom", weight="bold")
    end = tokens[0] + tokens[-1]
    axes.set_xticks([round(end * part / 4) for part in range(5)])
    axes.set(xlim=(0, end), title=title)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("n: place of the token in the text")
    axes.set_ylabel("time of the n-th token\n(1 = mean with cache)")
    axes.grid(axis="y")
    return axes


def roofline(corner: float, points: dict[str, float]) -> Axes:
    """The share of a machine's arithmetic that can be used; log axes.

    `points` are operations for each byte that is fetched; up to `corner` the
    memory is the limit. A dot has its name as gid.
    """
    figure, axes = plt.subplots(figsize=(5.4, 3.5))
    low, high = 0.4, 40_000.0
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(1e-3, 3))
    axes.axvspan(low, corner, color=PLATE, zorder=0)
    ends = [low, corner, high]
    roof = [min(at / corner, 1.0) for at in ends]
    axes.plot(ends, roof, color=FAINT, lw=2, zorder=1)
    for i, (name, at) in enumerate(points.items()):
        _dot(axes, at, min(at / corner, 1.0), name, above=i % 2 == 1)
    axes.set_yticks([0.001, 0.01, 0.1, 1], ["0.1%", "1%", "10%", "100%"])
    places = [1, 10, 100, 1_000, 10_000]
    axes.set_xticks(places, [f"{place:,}" for place in places])
    axes.minorticks_off()
    axes.set_xlabel("operations for each byte fetched")
    axes.set_ylabel("arithmetic in use")
    style = {"fontsize": 9.5, "va": "top"}
    words(axes, (low * 1.2, 2.4), "waits for memory", ha="left", **style)
    words(axes, (high * 0.8, 2.4), "computes", ha="right", **style)
    return axes


def _dot(axes, at, share, name, above) -> None:
    """A dot on the roof, and its name beside or, at the top, under it."""
    axes.plot([at], [share], "o", color=ACCENT, markersize=5, gid=name)
    side, shift = ("right", "bottom"), (0.8, 1.12)
    if not above:
        side, shift = ("left", "top"), (1.25, 0.88)
    if share == 1.0:
        side, shift = ("center", "top"), (1.0, 0.75)
    style = {"ha": side[0], "va": side[1], "fontsize": 9.5}
    words(axes, (at * shift[0], share * shift[1]), name, **style)
