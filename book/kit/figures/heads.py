"""Chapter 5: attention in heads, and how vectors are cut into them."""

from .canvas import drawing, each, numbers, panels, titled
from .colours import ACCENT, BROWN, INK, OUTPUT, QUIET, ROLE, SECOND, TOKEN
from .kinds import Axes, Named, Names, Panels, Tensor
from .marks import arrow, box, cell, entry, words
from .plots import entries, shaded, two_digits

HEADS = (ACCENT, SECOND, BROWN, QUIET)  # no roles
Pairs = list[tuple[int, int]]


def questions(sentence: Names, asked: dict[str, Pairs]) -> Axes:
    """Arrows from each word to the word that answers its question.

    The pairs (from, to) of the first question are drawn above the words,
    those of the second below. An arrow has the gid "question from to".
    """
    many = len(sentence)
    axes = drawing(2.1, (-0.5, many - 0.5), (-1.15, 1.15))
    for i, word in enumerate(sentence):
        box(axes, (i, 0), (0.92, 0.5), word, TOKEN, fontsize=10)
    for up, colour, (name, pairs) in zip(
        (1, -1), HEADS, asked.items(), strict=False
    ):
        for start, end in pairs:
            ahead = 1 if end > start else -1
            y, away, gid = 0.3 * up, 0.12 * ahead, f"{name} {start} {end}"
            style = {"lw": 2.2, "head": 13, "bend": -0.42 * ahead * up}
            arrow(
                axes, (start + away, y), (end - away, y), colour, gid, **style
            )
        words(axes, (many / 2 - 0.5, 0.95 * up), name, 10, weight="bold")
    return axes


def side_by_side(shapes: dict[str, tuple[int, int]]) -> Axes:
    """From X through two heads to the output; `shapes` are written on it.

    Its names: X, head, concat, W_O, output.
    """
    axes = drawing(3.9, (-3.1, 3.1), (-0.35, 5.55))
    text = {n: f"{n}  {a} × {b}" for n, (a, b) in shapes.items()}
    box(axes, (0, 0), (2.2, 0.5), text["X"], TOKEN)
    for h, x in enumerate((-1.5, 1.5)):
        for role, shift in zip("QKV", (-0.8, 0.0, 0.8), strict=True):
            arrow(axes, (0, 0.25), (x + shift, 1.0), ROLE[role])
            name = f"$W_{role.lower()}^{h + 1}$"
            box(axes, (x + shift, 1.22), (0.68, 0.44), name, ROLE[role])
            arrow(axes, (x + shift, 1.44), (x + 0.8 * shift, 1.95), ROLE[role])
        box(axes, (x, 2.25), (2.3, 0.6), "attention")
        arrow(axes, (x, 2.55), (x, 3.1), HEADS[h])
        words(axes, (x + 0.12, 2.8), text["head"], 9, ha="left")
        face = {"colour": HEADS[h], "alpha": 0.35, "ec": "white"}
        cell(axes, (x - 1.5, 3.1), (3, 0.5), **face)
        words(axes, (x, 3.35), f"head {h + 1}")
    words(axes, (-0.2, 3.85), text["concat"], 9, ha="right")
    arrow(axes, (0, 3.6), (0, 4.1))
    box(axes, (0, 4.35), (2.2, 0.5), text["W_O"].replace("W_O", "$W_O$"))
    arrow(axes, (0, 4.6), (0, 4.95))
    box(axes, (0, 5.2), (2.2, 0.5), text["output"], OUTPUT)
    return axes


def cube(table: Tensor, heads: int) -> Axes:
    """One tensor (length, d_model), and the same cut into sheets, one a head.

    The number in a cell has the gid "plate h" or "sheet h".
    """
    length, d_model = table.shape
    width, start, deep = d_model // heads, d_model + 2.9, heads - 1
    low, centre = length + 1.25, d_model + 1.2
    front = (start + width + 0.4, low - 0.2)
    back = (front[0] + 1.15 * deep, front[1] - 0.85 * deep)
    axes = drawing(2.5, (-0.9, back[0] + 1.2), (low + 0.8, -1.6))
    for h in reversed(range(heads)):  # the hindmost sheet first
        part = numbers(table[:, h * width : (h + 1) * width])
        _sheet(axes, (h * width, 0), part, HEADS[h], f"plate {h}")
        corner = (start + 1.15 * h, 1.1 - 0.85 * h)
        _sheet(axes, corner, part, HEADS[h], f"sheet {h}")
    for y, way, name in ((0.8, 1, "split"), (2.6, -1, "merge")):
        arrow(axes, (centre - way, y), (centre + way, y), INK, lw=1.6)
        words(axes, (centre, y - 0.15), name, va="bottom")
    side = {"ha": "right", "rotation": 90}
    words(axes, (-0.15, length / 2), f"length {length}", **side)
    words(axes, (d_model / 2, length + 0.15), f"d_model {d_model}", va="top")
    words(axes, (start + width / 2, low), f"d_head {width}", va="top")
    arrow(axes, front, back)
    at = (front[0] + 0.7 * 1.15 * deep, low - 0.9)
    words(axes, at, f"heads {heads}", ha="left")
    axes.set_aspect("equal")
    return axes


def _sheet(axes, corner, part, colour, name) -> None:
    """A small table on a white ground, in the colour of a head."""
    front = {"zorder": 2}  # what is drawn later hides what was drawn before
    style = {"alpha": 0.35, "ec": "white", "look": front} | front
    for i, j, number in each(part):
        at = (corner[0] + j, corner[1] + i)
        cell(axes, at, (1, 1), "white", **front)
        entry(axes, at, (1, 1), f"{number:g}", colour, name, **style)


def cut(rows: Tensor, right: Tensor, wrong: Tensor) -> Axes:
    """Numbers (length, width), and two ways to cut them into heads.

    Every number keeps the colour of the head whose columns it stands in.
    `right` and `wrong` have the shape (heads, length, d_head).
    """
    heads, length, width = right.shape
    pitch = length + 1.6
    axes = drawing(4.6, (-0.1, 9.5), (3 * pitch - 1.3, -1.2))
    tables = {"one tensor": rows[None], "right": right, "wrong": wrong}
    for line, (name, table) in enumerate(tables.items()):
        style = {"ha": "left", "va": "bottom", "weight": "bold"}
        words(axes, (0, line * pitch - 0.35), name, **style)
        for t, i, j in (table == table).nonzero().tolist():
            number = table[t, i, j].item()
            head = number % (heads * width) // width
            x, y = t * (width + 0.45) + j, line * pitch + i
            style = {"alpha": 0.35, "ec": "white", "look": {"fontsize": 9.5}}
            style["gid"] = f"{name} {t} {head}"
            entry(axes, (x, y), (1, 1), number, HEADS[head], **style)
    return axes


def head_colours(axes: Axes) -> dict[str, list[Names]]:
    """Of a figure by `cut`: the colours in each table, line by line."""
    by_table: dict[str, dict[str, Names]] = {}
    for patch in axes.patches:
        name, table, head = patch.get_gid().rsplit(" ", 2)
        by_table.setdefault(name, {}).setdefault(table, []).append(head)
    return {name: list(tables.values()) for name, tables in by_table.items()}


def head_maps(maps: Named, labels: Names) -> Panels:
    """The weights of two heads side by side, with numbers in the cells.

    A panel's weights are read back with `axes.images[0].get_array()`.
    """
    row = panels(1, len(maps), 1.3 + 0.3 * len(labels), sharey=True)
    for axes, weights in titled(row, maps):
        shaded(axes, numbers(weights), labels, labels)
        axes.tick_params(axis="x", rotation=45)
        axes.set_xlabel("key")
        entries(axes, two_digits(numbers(weights)), 9)
    row[0].set_ylabel("query")
    return row
