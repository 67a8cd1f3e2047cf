"""Chapter 19: what is drafted, what is accepted, and what is drawn anew."""

from functools import partial

import matplotlib.pyplot as plt

from .canvas import frameless, numbers, plot
from .colours import BEHIND, FAINT, INK
from .kinds import Axes, Names, Tensor
from .marks import arrow, entry, words

PALE = "#AADAF5"  # blue with words on it
FACES = {"accepted": PALE, "rejected": "white", "drawn anew": BEHIND}
COLUMN, GROUP, WIDE = 1.08, 2.6, 0.96  # steps to the right; a column's width


def moved_mass(tokens: Names, p: Tensor, q: Tensor) -> Axes:
    """For each token a column of what q drafts, and one of what is written.

    What both have in common is accepted. The rest of a draft is rejected, and
    as much is drawn anew for other tokens. Cells have the gid "accepted hot"
    (in the draft), "kept hot" (in the text), "rejected cold" and "drawn anew
    hot"; arrows lead "from cold to hot".
    """
    axes, starts, ends = plot(3.5), {}, {}
    p, q = numbers(p), numbers(q)
    for i, token in enumerate(tokens):
        x, least = GROUP * i, min(p[i], q[i])
        rejected, anew = q[i] - least, p[i] - least
        _share(axes, x, 0, least, "accepted", f"accepted {token}")
        _share(axes, x + COLUMN, 0, least, "accepted", f"kept {token}")
        if rejected > 0:
            _share(axes, x, least, rejected, "rejected", f"rejected {token}")
            starts[token] = x, least + rejected / 2
        if anew > 0:
            name = f"drawn anew {token}"
            _share(axes, x + COLUMN, least, anew, "drawn anew", name)
            ends[token] = x + COLUMN, least + anew / 2
        words(axes, (x + COLUMN / 2, -0.105), token, 12, weight="bold")
    for (a, start), (b, end) in (
        (s, e) for s in starts.items() for e in ends.items()
    ):
        side = WIDE / 2 if end > start else -WIDE / 2
        tail, head = (start[0] + side, start[1]), (end[0] - side, end[1])
        arrow(axes, tail, head, INK, f"from {a} to {b}", lw=1.4, zorder=3)
    places = [GROUP * i + x for i in range(len(tokens)) for x in (0, COLUMN)]
    labels = ["drafted", "written"] * len(tokens)
    frameless(axes, (places, labels), ([], []))
    axes.tick_params(axis="x", labelsize=9, labelcolor=INK)
    top = 1.04 * max(*p, *q)
    axes.set(xlim=(-WIDE / 2, places[-1] + WIDE / 2), ylim=(0, top))
    _key(axes)
    return axes


def _share(axes, x, bottom, height, kind, name) -> None:
    """A part of a column, with its number."""
    edge = {"ec": FAINT, "lw": 1, "ls": "--" if kind == "rejected" else "-"}
    corner, size = (x - WIDE / 2, bottom), (WIDE, height)
    style = {"gid": name, **edge}
    entry(axes, corner, size, f"{height:.2f}", FACES[kind], **style)


def _key(axes) -> None:
    """What the three faces mean."""
    square = partial(plt.Rectangle, (0, 0), 1, 1, ec=FAINT)
    faces = [square(fc=colour) for colour in FACES.values()]
    style = {"loc": "outside upper center", "ncols": 3}
    axes.figure.legend(faces, list(FACES), **style)
