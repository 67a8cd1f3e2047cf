"""What drawings are made of: colours, cells, words, boxes and arrows.

`name` becomes the gid of a mark, by which a page finds it.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import FancyArrowPatch, Rectangle

QUERY, KEY, VALUE, OUTPUT = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
INK, FAINT, PLATE = "#222222", "#888888", "#F2F2F2"
TOKEN, MAY = "#DCEAF4", "#2F7FBC"
ACCENT, SECOND = "#E69F00", "#56B4E9"  # no role
BEHIND = "#F1CA73"  # an accent with words on it, legible when inverted
LEGIBLE = {  # their words on white
    ACCENT: "#8F6200",
    SECOND: "#1F6E9C",
    FAINT: "#6B6B6B",
}
CENTRED = {"ha": "center", "va": "center"}
# For shares from 0 to 1 in cells with words: INK is legible on every shade,
# also when the site turns the lightness.
TINT = LinearSegmentedColormap.from_list("tint", ["#F7FBFF", "#84BCFA"])
# For numbers from -1 to 1: the darker ends of the map are left out, because
# turned they would be two pale colours.
SIGNED = LinearSegmentedColormap.from_list(
    "signed", plt.get_cmap("PuOr")([0.2 + 0.006 * i for i in range(101)])
)

plt.style.use(Path(__file__).with_name("book.mplstyle"))


def numbers(data) -> list:
    """Plain Python numbers of a tensor on any device, or of a list."""
    return torch.as_tensor(data).detach().cpu().double().tolist()


def bare(axes, xlim, ylim) -> None:
    """No frame and no ticks, for drawings that have no axes."""
    axes.set(xlim=xlim, ylim=ylim)
    axes.axis("off")


def frameless(axes, *ticks) -> None:
    """Ticks at the given places, x first, without lines or a frame."""
    for which, (places, labels) in zip("xy", ticks, strict=False):
        getattr(axes, f"set_{which}ticks")(places, labels)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)


def visible(token: str | int) -> str:
    """The sign of a space, and every other token as it is."""
    return "␣" if token == " " else str(token)


def words(axes, at, text, **style):
    """A text, centred unless the style says otherwise."""
    style = CENTRED | style
    if style.get("color") in LEGIBLE:
        style["color"] = LEGIBLE[style["color"]]
    return axes.text(*at, visible(text), **style)


def cell(axes, corner, size, colour=PLATE, **style) -> Rectangle:
    """A rectangle without a word."""
    style = {"ec": "none"} | style
    return axes.add_patch(Rectangle(corner, *size, fc=colour, **style))


def box(axes, centre, size, text, colour=PLATE, name=None, **style):
    """A tinted box with a word in the middle, whose gid is `name`."""
    (x, y), (width, height) = centre, size
    corner = (x - width / 2, y - height / 2)
    alpha = 1.0 if colour in (PLATE, TOKEN, "white") else 0.25
    cell(axes, corner, size, "white")
    cell(axes, corner, size, colour, alpha=alpha)
    words(axes, centre, text, gid=name, **style)


def station(axes, centre, half_width, text, name) -> None:
    """A small box with a word or a plus, on a path."""
    x, y = centre
    corner, size = (x - half_width, y - 0.27), (2 * half_width, 0.54)
    cell(axes, corner, size, "white", ec=FAINT, lw=1)
    words(axes, centre, text, gid=name)


def line(axes, xs, ys) -> None:
    axes.plot(xs, ys, color=FAINT, lw=1.2, zorder=1)


def arrow(axes, start, end, colour=FAINT, name=None, **style) -> None:
    style = {"arrowstyle": "-|>", "mutation_scale": 9, "lw": 1.2} | style
    style |= {"color": colour, "shrinkA": 0, "shrinkB": 0, "gid": name}
    axes.add_patch(FancyArrowPatch(start, end, **style))


def letter(axes, start, end, text, name, shift=(0.2, 0)) -> None:
    """An arrow in the colour of Q, K or V, with the letter beside it."""
    colour = {"Q": QUERY, "K": KEY, "V": VALUE}[text]
    arrow(axes, start, end, colour, name)
    at = [(a + b) / 2 + s for a, b, s in zip(start, end, shift, strict=True)]
    words(axes, at, text, color=colour, fontsize=9, weight="bold")
