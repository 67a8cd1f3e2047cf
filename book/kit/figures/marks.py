"""What drawings are made of: cells, words, boxes, arrows and paths.

`name` becomes the gid of a mark, by which a check cell finds it.
"""

from matplotlib.patches import Circle, FancyArrowPatch, Rectangle

from .colours import ACCENT, FAINT, INK, LEGIBLE, PLATE, ROLE, TOKEN


def visible(token: str | int) -> str:
    """The sign of a space, and every other token as it is."""
    return "␣" if token == " " else str(token)


def words(axes, at, text, size=None, **style):
    """A text, centred unless the style says otherwise."""
    style = {"ha": "center", "va": "center", "fontsize": size} | style
    if style.get("color") in LEGIBLE:
        style["color"] = LEGIBLE[style["color"]]
    return axes.text(*at, visible(text), **style)


def beside(axes, x, notes, size=None, **style) -> None:
    """Notes one above the other, {text: y}: they end at x, or begin there."""
    for text, y in notes.items():
        words(axes, (x, y), text, size, **{"ha": "right"} | style)


def cell(axes, corner, size, colour=PLATE, **style) -> Rectangle:
    """A rectangle without a word."""
    style = {"ec": "none"} | style
    return axes.add_patch(Rectangle(corner, *size, fc=colour, **style))


def entry(axes, corner, size, text, colour, name=None, look=None, **style):
    """A cell and a word in its middle; `look` is the word's, `style` its."""
    cell(axes, corner, size, colour, **style)
    at = (corner[0] + size[0] / 2, corner[1] + size[1] / 2)
    words(axes, at, text, **{"gid": name, "fontsize": 9} | (look or {}))


def box(axes, centre, size, text, colour=PLATE, name=None, **style):
    """A tinted box with a word in the middle, whose gid is `name`."""
    (x, y), (width, height) = centre, size
    corner = (x - width / 2, y - height / 2)
    is_pale = colour in (PLATE, TOKEN, "white")
    cell(axes, corner, size, "white")
    cell(axes, corner, size, colour, alpha=1.0 if is_pale else 0.25)
    words(axes, centre, text, gid=name, **style)


def sign(axes, at, text, size=None, colour="white", **style) -> None:
    """A small circle with a sign in it."""
    edge = INK if colour == "white" else "none"
    axes.add_patch(Circle(at, 0.2, fc=colour, ec=edge, lw=1))
    words(axes, at, text, size, **style)


def line(axes, *points, **style) -> None:
    """From point to point, faint unless the style says otherwise."""
    style = {"color": FAINT, "lw": 1.2, "zorder": 1} | style
    axes.plot(*zip(*points, strict=True), **style)


def arrow(axes, start, end, colour=FAINT, name=None, head=9, bend=0, **style):
    """From start to end; `head` is the size of its head."""
    style = {"arrowstyle": "-|>", "lw": 1.2, "mutation_scale": head} | style
    style |= {"color": colour, "shrinkA": 0, "shrinkB": 0, "gid": name}
    style = {"connectionstyle": f"arc3,rad={bend}"} | style
    axes.add_patch(FancyArrowPatch(start, end, **style))


def stop(axes, centre, half_width, text, name) -> None:
    """A small box with a word or a plus, on a path."""
    (x, y), size = centre, (2 * half_width, 0.54)
    cell(axes, (x - half_width, y - 0.27), size, "white", ec=FAINT, lw=1)
    words(axes, centre, text, gid=name)


def climb(axes, x, stations, top, wide, name=None, **style) -> None:
    """A residual path through its stations, {height: word}, to the top.

    Half the width of a station is `wide[word]`; its gid is `name`, or its
    word.
    """
    style = {"name": "path", "lw": 3.5, "head": 15} | style
    low = -0.15
    for y, text in stations.items():
        arrow(axes, (x, low), (x, y - 0.27), ACCENT, zorder=3, **style)
        stop(axes, (x, y), wide[text], text, name or text)
        low = y + 0.27
    arrow(axes, (x, low), (x, top), ACCENT, **style)


def detour(axes, x, low, high) -> None:
    """The way off a residual path, up beside it, and into the sum."""
    side = x + 0.72
    line(axes, (x, low), (side, low), (side, high), zorder=0)
    arrow(axes, (side, high), (x + 0.27, high))


def letter(axes, start, end, text, name, shift=(0.2, 0)) -> None:
    """An arrow in the colour of Q, K or V, with the letter beside it."""
    arrow(axes, start, end, ROLE[text], name)
    at = [(a + b) / 2 + s for a, b, s in zip(start, end, shift, strict=True)]
    words(axes, at, text, 9, color=ROLE[text], weight="bold")
