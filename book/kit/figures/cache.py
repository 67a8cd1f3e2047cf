"""Chapter 14: what is computed again, and what is kept."""

from .canvas import bare, drawing, numbers, panels, plot
from .colours import (
    ACCENT,
    BEHIND,
    FAINT,
    INK,
    OUTPUT,
    PLATE,
    ROLE,
    TINT,
    TOKEN,
)
from .kinds import Axes, Curves, Names, Panels, Tensor
from .marks import arrow, beside, box, cell, entry, words

KEPT = ("key", ROLE["K"], 0.12), ("value", ROLE["V"], 0.52)
SMALL = (0.76, 0.32)


def rows_computed(tokens: Names) -> Panels:
    """Step by step, what a decoder computes without a memory and with it.

    Step t reads t + 1 tokens. The gids, of rectangles: "computed t j", and
    "key t j" and "value t j" where they are only looked up; of arrows, from
    a token to its place in the next step: "next t".
    """
    many = len(tokens)
    both = panels(1, 2, 0.75 + 0.27 * many)
    for axes, kept in zip(both, (False, True), strict=True):
        for t in range(many):
            for j in range(t if kept else 0, t + 1):
                _computed(axes, t, j, tokens[j])
            for j in range(t if kept else 0):
                for name, colour, down in KEPT:
                    style = {"alpha": 0.75, "gid": f"{name} {t} {j}"}
                    cell(axes, (j + 0.12, t + down), SMALL, colour, **style)
            if t + 1 < many:
                ends = (t + 0.98, t + 0.5), (t + 1.6, t + 1.02)
                arrow(axes, *ends, INK, f"next {t}", lw=1, head=7, bend=-0.4)
        rows = many if kept else many * (many + 1) // 2
        title = "with a cache" if kept else "without a cache"
        axes.set_title(f"{title}: {rows} rows", loc="center")
        bare(axes, (-1.6, many + 0.1), (many + 0.1, -0.1))
        words(axes, (-1.3, many / 2), "step", color=FAINT, rotation=90)
        steps = {t + 1: t + 0.5 for t in range(many)}
        beside(axes, -0.15, steps, 9, color=FAINT)
    return both


def _computed(axes, t, j, token) -> None:
    """A row that step t computes; that of the newest token is dark."""
    alpha, weight = (1.0, "bold") if j == t else (0.4, "normal")
    cell(axes, (j, t), (1, 1), "white")
    style = {"ec": "white", "alpha": alpha, "look": {"weight": weight}}
    style["gid"] = f"computed {t} {j}"
    entry(axes, (j, t), (1, 1), token, BEHIND, **style)


def one_step(tokens: Names, weights: Tensor) -> Axes:
    """The newest token asks; keys and values of the others were kept.

    The gids: "weight j" of words; of arrows "make q", "make k" and "make v"
    from the new token, "asks" along the keys, and "hand j" from the values.
    """
    last, size = len(tokens) - 1, (0.84, 0.5)
    axes = drawing(4.1, (-1.0, last + 2.7), (-0.75, 5.9))
    cell(axes, (-0.5, -0.1), (last, 1.35))
    cell(axes, (-0.5, 3.65), (last, 0.7))
    for j, share in enumerate(numbers(weights)):
        words(axes, (j, 0.2), tokens[j], 10)
        box(axes, (j, 0.9), size, f"$k_{{{j + 1}}}$", ROLE["K"])
        box(axes, (j, 4.0), size, f"$v_{{{j + 1}}}$", ROLE["V"])
        arrow(axes, (j, 1.15), (j, 2.65), ROLE["K"], lw=1)
        arrow(axes, (j, 3.15), (j, 3.75), FAINT, lw=1)
        cell(axes, (j - 0.42, 2.65), size, TINT(share), ec=FAINT, lw=0.6)
        words(axes, (j, 2.9), f"{share:.2f}", 9, gid=f"weight {j}")
        ends, lw = ((j, 4.25), (0.325 * last + 0.35 * j, 5.3)), 0.6 + 4 * share
        arrow(axes, *ends, ROLE["V"], f"hand {j}", lw=lw, head=8)
    box(axes, (last / 2, 5.55), (2.4, 0.5), "context", OUTPUT)
    words(axes, ((last - 1) / 2, -0.45), "kept: in the bands")
    words(axes, (last + 1.1, -0.45), "computed now: all else")
    words(axes, (-0.62, 2.9), "weights", 9, rotation=90)
    new, query = last + 2.2, last + 1.05
    box(axes, (new, 1.9), (0.7, 0.5), tokens[last], ACCENT, weight="bold")
    words(axes, (new, 1.45), "new", 9)
    box(axes, (query, 1.9), (0.8, 0.5), f"$q_{{{last + 1}}}$", ROLE["Q"])
    for name, up, end in (
        ("q", 1.9, (query + 0.4, 1.9)),
        ("k", 1.7, (last + 0.42, 0.95)),
        ("v", 2.1, (last + 0.42, 3.9)),
    ):
        arrow(axes, (new - 0.35, up), end, ROLE[name.upper()], f"make {name}")
    arrow(axes, (query - 0.4, 1.9), (-0.4, 1.9), ROLE["Q"], "asks", lw=1.8)
    return axes


SLOTS = {"filled": (TOKEN, "-"), "new": (BEHIND, "-"), "room": ("white", ":")}


def buffers(steps: list[tuple[int, int]]) -> Axes:
    """A buffer that grows: for each step its length, and the room it has.

    What a step copies has the gid "copied t".
    """
    most = max(room for _, room in steps)
    xlim, ylim = (-2.6, most + 0.2), (len(steps) + 0.1, -0.2)
    axes = drawing(0.5 + 0.36 * len(steps), xlim, ylim)
    room_before = length_before = 0
    for t, (length, room) in enumerate(steps):
        for j in range(room):
            kind = "filled" if j < length_before else "new"
            colour, dash = SLOTS[kind if j < length else "room"]
            text, at = j + 1 if j < length else "", (j + 0.04, t + 0.12)
            style = {"ec": FAINT, "lw": 0.8, "ls": dash}
            entry(axes, at, (0.92, 0.76), text, colour, **style)
        beside(axes, -0.3, {f"{length} token" + "s" * (t > 0): t + 0.5}, 9.5)
        if room > room_before and length_before:
            x, copied = room_before + 0.3, f"{length_before} copied"
            arrow(axes, (x, t - 0.5), (x, t + 0.1), INK, lw=1.4)
            style = {"ha": "left", "va": "bottom", "gid": f"copied {t}"}
            words(axes, (x + 0.25, t - 0.08), copied, 9.5, **style)
        room_before, length_before = room, length
    return axes


def times_of_tokens(tokens: list[int], times: Curves, title: str) -> Axes:
    """Time against the place of a token, both linear; areas are filled.

    The lines are labelled with the names of `times`, which stand beside them.
    """
    axes, middle = plot(3.4), len(tokens) // 2
    for colour, name in zip((FAINT, ACCENT), times, strict=True):
        heights = times[name]
        axes.fill_between(tokens, heights, color=colour, alpha=0.15, lw=0)
        axes.plot(tokens, heights, color=colour, marker="o", label=name)
        at = (tokens[middle] - 8, heights[middle] + 0.6)
        words(axes, at, name, ha="right", va="bottom", weight="bold")
    end = tokens[0] + tokens[-1]
    axes.set_xticks([round(end * part / 4) for part in range(5)])
    axes.set(xlim=(0, end), ylim=(0, None), title=title)
    axes.set_xlabel("n: place of the token in the text")
    axes.set_ylabel("time of the n-th token\n(1 = mean with cache)")
    axes.grid(axis="y")
    return axes


BESIDE = {  # side of a name, and how far it is from its dot
    "left": ({"ha": "right", "va": "bottom"}, (0.8, 1.12)),
    "right": ({"ha": "left", "va": "top"}, (1.25, 0.88)),
    "below": ({"ha": "center", "va": "top"}, (1.0, 0.75)),
}


def roofline(corner: float, points: dict[str, float]) -> Axes:
    """The share of a machine's arithmetic that can be used; log axes.

    `points` are operations for each byte that is fetched; up to `corner` the
    memory is the limit. A dot has its name as gid.
    """
    axes, low, high = plot(3.5), 0.4, 40_000.0
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(1e-3, 3))
    axes.axvspan(low, corner, color=PLATE, zorder=0)
    roof = [low / corner, 1.0, 1.0]
    axes.plot([low, corner, high], roof, color=FAINT, lw=2, zorder=1)
    for i, (name, at) in enumerate(points.items()):
        share = min(at / corner, 1.0)
        side = "below" if share == 1.0 else ("right", "left")[i % 2]
        style, (right, up) = BESIDE[side]
        axes.plot([at], [share], "o", color=ACCENT, ms=5, gid=name)
        words(axes, (at * right, share * up), name, 9.5, **style)
    axes.set_yticks([0.001, 0.01, 0.1, 1], ["0.1%", "1%", "10%", "100%"])
    places = [1, 10, 100, 1_000, 10_000]
    axes.set_xticks(places, [f"{place:,}" for place in places])
    axes.minorticks_off()
    axes.set_xlabel("operations for each byte fetched")
    axes.set_ylabel("arithmetic in use")
    beside(
        axes, low * 1.2, {"waits for memory": 2.4}, 9.5, ha="left", va="top"
    )
    beside(axes, high * 0.8, {"computes": 2.4}, 9.5, va="top")
    return axes
