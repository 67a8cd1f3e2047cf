"""Chapter 9: one sentence reads another."""

from .canvas import bare, drawing, each, numbers, panels
from .colours import ACCENT, FAINT, INK, MAY, OUTPUT, PLATE, SECOND, TOKEN
from .kinds import Axes, Named, Names, Numbers, Panels, Tensor
from .marks import arrow, beside, box, cell, climb, detour, letter, words

THIN = {"lw": 1.0, "head": 7}


def alignments(pairs: list[tuple[Names, Names, Tensor]]) -> Panels:
    """Source words above, written tokens below, arrows as wide as weights.

    A pair is source, target and the weights (target, source). The gid of an
    arrow is "look t s"; weights below 0.1 are left out.
    """
    rows = panels(len(pairs), 1, 2.0 * len(pairs))
    for axes, (source, target, weights) in zip(rows, pairs, strict=True):
        tops = _row(axes, source, 2, TOKEN)
        feet = _row(axes, target, 0, ACCENT)
        for t, s, weight in each(numbers(weights)):
            if weight >= 0.1:
                ends = (feet[t], 0.3), (tops[s], 1.7)
                style = {"lw": 0.5 + 4 * weight, "head": 9 + 6 * weight}
                style["alpha"] = 0.35 + weight / 2
                arrow(axes, *ends, ACCENT, f"look {t} {s}", **style)
        beside(axes, -0.75, {"source": 2, "target": 0}, color=FAINT)
        bare(axes, (-1.75, 5.0), (-0.4, 2.4))
    return rows


def _row(axes, tokens, y, colour) -> Numbers:
    """Boxes, spread over the same width however many; gives their middles."""
    wide = 4.4 / max(1, len(tokens) - 1)
    places = [i * wide for i in range(len(tokens))]
    for x, token in zip(places, tokens, strict=True):
        box(axes, (x, y), (0.35 + 0.13 * len(token), 0.5), token, colour)
    return places


def three_rows(source: Names, reads: Names, says: Names) -> Axes:
    """Source, decoder input and target: who reads what, who must say what.

    Gids: "reads t j" (position t reads input j), "says t", and "shift t"
    (what t says is read at t + 1).
    """
    many, middle, high = len(reads), 2.0, 3.4
    axes = drawing(3.7, (-3.0, many + 0.9), (-0.4, 3.8))
    cell(axes, (-0.6, middle - 0.4), (many + 0.2, 0.8))
    for t, (read, say) in enumerate(zip(reads, says, strict=True)):
        box(axes, (t, 0), (0.8, 0.55), read, TOKEN)
        box(axes, (t, high), (0.8, 0.55), say, ACCENT)
        for j in range(t + 1):
            ends = (j, 0.3), (t, middle - 0.24)
            arrow(axes, *ends, INK, f"reads {t} {j}", **THIN)
        arrow(axes, (t, middle + 0.24), (t, high - 0.3), ACCENT, f"says {t}")
        cell(axes, (t - 0.24, middle - 0.24), (0.48, 0.48), "white", ec=FAINT)
        words(axes, (t, middle), t + 1, 9, zorder=4)
        if t:
            ends = (t - 0.55, high - 0.3), (t - 0.32, 0.3)
            arrow(axes, *ends, FAINT, f"shift {t - 1}", ls=":", head=8)
    top = middle + 0.35 * (len(source) - 1)
    for i, word in enumerate(source):
        y = top - 0.7 * i
        box(axes, (-2.4, y), (1.0, 0.55), word, TOKEN)
        arrow(axes, (-1.88, y), (-1.1, middle), SECOND, arrowstyle="-")
    arrow(axes, (-1.1, middle), (-0.62, middle), SECOND)
    words(axes, (-2.4, top + 0.6), "source", 9, color=FAINT)
    note = {"ha": "left", "color": FAINT}
    words(axes, (many - 0.3, middle), "decoder", 9, **note)
    notes = {"target:\nmust be said": high, "decoder input:\nis read": 0}
    beside(axes, many - 0.5, notes, 9, **note)
    return axes


STATIONS = {2.8: "+", 3.6: "norm", 6.4: "+", 7.2: "norm"}
STATIONS |= {9.5: "+", 10.3: "norm"}


def decoder_layer(reads: Names, memory: Names) -> Axes:
    """Target positions through one decoder block, from bottom to top.

    Gids: "across" (from a position to itself or a later one), "Q", "K", "V"
    and "reads" of the cross-attention, "memory", and the stations.
    """
    places = [1.7 * i for i in range(len(reads))]
    left, edge = places[0] + 0.3, places[-1] + 1.3
    axes = drawing(6.1, (-3.0, edge + 2.3), (-0.8, 11.3))
    for middle, low, high in ((1.5, 0.3, 2.8), (5.05, 4.0, 6.4)):
        for x in places:
            detour(axes, x, low, high)
        centre = ((left + edge - 0.16) / 2, middle)
        box(axes, centre, (edge - 0.16 - left, 1.5), "", TOKEN)
    for i, x in enumerate(places):
        beside_it = x + 0.72
        for end in places[i:]:
            ends = (beside_it, 0.85), (end + 0.72, 2.15)
            arrow(axes, *ends, INK, "across", **THIN)
        ends = (beside_it, 4.0), (beside_it, 4.5)
        letter(axes, *ends, "Q", "Q", (0.22, -0.02))
        arrow(axes, (left, 5.05), (beside_it, 5.7), INK, "reads", **THIN)
        words(axes, (x, -0.25), reads[i], va="top")
        wide = {"+": 0.27, "norm": 0.48}
        climb(axes, x, STATIONS, 11.2, wide, lw=3.2, head=14)
        detour(axes, x, 7.8, 9.5)
        box(axes, (beside_it, 8.65), (0.84, 0.9), "feed\nfwd", fontsize=9)
    top = 5.05 + 0.35 * (len(memory) - 1)
    for i, word in enumerate(memory):
        box(axes, (-2.35, top - 0.7 * i), (1.15, 0.56), word, OUTPUT, "memory")
    words(axes, (-2.35, top + 0.62), "memory", 9.5, color=FAINT)
    for text, y in (("K", 5.35), ("V", 4.75)):
        letter(axes, (-1.72, y), (left, y), text, text, (-0.75, 0.22))
    notes = {"masked\nself-attention:\nlooks back": 1.5}
    notes |= {"cross-attention:\nlooks across": 5.05}
    notes |= {"feed-forward:\neach alone": 8.65}
    beside(axes, edge, notes, 9.5, ha="left")
    return axes


ORIGINS = {  # of Q, and of K and V
    "encoder self": ("source", "source"),
    "decoder self": ("decoder\ninput", "decoder\ninput"),
    "decoder cross": ("decoder\ninput", "memory"),
}


def three_masks(masks: Named, source: Names, target: Names) -> Panels:
    """Three attentions: where Q, K and V come from, and what may be seen.

    The masks are named as in `ORIGINS`. An arrow's gid is its letter and
    origin, as in "K memory"; a cell's is "open i j" or "closed i j".
    """
    three = panels(1, 3, 4.0)
    tokens = {"source": source, "memory": source}
    for axes, (name, mask) in zip(three, masks.items(), strict=True):
        asks, answers = ORIGINS[name]
        _mask(axes, mask, *(tokens.get(o, target) for o in (asks, answers)))
        words(axes, (2.0, 3.05), f"{name}-attention".replace(" ", "\n"), 10)
        if asks == answers:
            boxes, wide, ends = {asks: 2.0}, 3.4, (1.0, 2.0, 3.0)
        else:
            boxes, wide = {asks: 0.75, answers: 3.1}, 2.1
            ends = 0.75, 2.6, 3.6
        for origin, x in boxes.items():
            colour = OUTPUT if origin == "memory" else TOKEN
            box(axes, (x, 0.35), (wide, 1.0), origin, colour, fontsize=9.5)
        for text, x in zip("QKV", ends, strict=True):
            gid = f"{text} {asks if text == 'Q' else answers}"
            gid = gid.replace("\n", " ")
            letter(axes, (x, 0.85), (x, 2.25), text, gid, (0.32, 0))
        bare(axes, (-0.95, 4.8), (-0.2, 10.7))
    return three


def _mask(axes, mask: Tensor, rows: Names, columns: Names) -> None:
    """A mask, cell by cell, with queries in rows and keys in columns."""
    left, top = 2.2 - len(columns) / 2, 9.1
    for i, line in enumerate(mask.tolist()):
        words(axes, (left - 0.12, top - i - 0.5), rows[i], 9, ha="right")
        for j, seen in enumerate(line):
            gid = f"{'open' if seen else 'closed'} {i} {j}"
            style = {"ec": "white", "lw": 1.5, "gid": gid}
            at = (left + j, top - i - 1)
            cell(axes, at, (1, 1), MAY if seen else PLATE, **style)
    for j, text in enumerate(columns):
        at, style = (left + j + 0.5, top + 0.1), {"va": "bottom"}
        words(axes, at, text, 9, rotation=90, **style)
