"""Chapter 20: what a bug looks like from outside."""

from .canvas import bare, each, numbers, panels, plot, titled
from .colours import ACCENT, BEHIND, BROWN, FAINT, INK, MAY, PLATE
from .kinds import Axes, Curves, Named, Names, Panels, Tensor
from .marks import cell, words

LABELS = {
    "1/√d_head": r"$1/\sqrt{d_\mathrm{head}}$",
    "1/√d_model": r"$1/\sqrt{d_\mathrm{model}}$",
}


def hearing(tables: Named, asked: Tensor) -> Panels:
    """Who hears whom: one panel for each attention, four in a row.

    A table holds how far output i moves if token j shouts; `asked` is True
    where i may hear j. A cell has the gid "heard", "silent", "leak" (heard
    though hidden) or "lost" (shown, yet not heard).
    """
    rows = len(tables) // 4
    grid = panels(rows, 4, 1.75 * rows)
    may, small = asked.tolist(), {"fontsize": 9, "pad": 3}
    for axes, table in titled(grid, tables, loc="center", **small):
        for i, j, share in each(numbers(table)):
            kind, colour, edge, mark = EARS[share > 1e-4, may[i][j]]
            style = {"alpha": 0.45 if 1e-4 < share <= 0.02 else 1.0}
            style |= {"ec": edge, "lw": 0.5, "gid": kind}
            cell(axes, (j, -i), (0.9, 0.9), colour, **style)
            words(axes, (j + 0.45, 0.43 - i), mark, 9)
        bare(axes, (-0.15, len(may) + 0.05), (0.15 - len(may), 1.2))
        axes.set_aspect("equal")
    return grid


EARS = {  # by what is heard, and what may be: gid, colour, edge, sign
    (True, True): ("heard", MAY, FAINT, ""),
    (True, False): ("leak", BEHIND, FAINT, "!"),
    (False, True): ("lost", "white", INK, "×"),
    (False, False): ("silent", "white", FAINT, ""),
}


def too_good(losses: Curves, floor: float) -> Axes:
    """Learning curves, and the loss below which nobody can be honest."""
    axes, last = plot(3.0), max(map(len, losses.values()))
    axes.axhspan(0, floor, color=ACCENT, alpha=0.16, lw=0)
    dashes = "-", "--", "-.", ":"
    for (name, loss), dash in zip(losses.items(), dashes, strict=False):
        (drawn,) = axes.plot(range(1, len(loss) + 1), loss, dash, gid=name)
        above = 0.08 if abs(loss[-1] - floor) < 0.1 else 0  # off the line
        at = (last * 1.02, loss[-1] + above)
        words(axes, at, name, 10, ha="left", color=drawn.get_color())
    axes.axhline(floor, color=INK, lw=0.8, gid="floor")
    words(axes, (last * 0.99, floor * 0.1), "impossible", ha="right")
    axes.set(xlim=(0, last * 1.18), ylim=(0, 2.5))
    axes.set(xlabel="step", ylabel="loss")
    return axes


def slopes(names: Names, points: list[list[Tensor]]) -> Axes:
    """Logs of weights against q · k, both without means of rows and columns.

    For each name the two tensors, as points with the line that fits them.
    """
    axes, looks = plot(3.1), ((INK, "o"), (ACCENT, "s"), (BROWN, "^"))
    for name, both, (colour, mark) in zip(names, points, looks, strict=True):
        dots, logs = (part.flatten() for part in both)
        slope, xs = (dots @ logs / (dots @ dots)).item(), numbers(dots)
        style = {"ls": "", "ms": 3.2, "alpha": 0.7, "color": colour}
        axes.plot(xs, numbers(logs), mark, gid=name, **style)
        ends = min(xs), max(xs)
        axes.plot(ends, [slope * x for x in ends], color=colour, lw=1)
        end = max(xs) + 0.2  # beside the last points
        at = (end, end * slope + (0.2 if slope > 0.3 else -0.28))
        words(axes, at, LABELS.get(name, name), 10, ha="left", color=colour)
    axes.set_xlim(right=3.5)
    axes.set(xlabel="q · k", ylabel="log of the weight")
    axes.grid()
    return axes


def _table(size, rows, columns, left, low, room, top) -> Axes:
    """Names of rows on the left, of columns above: a table without cells.

    A row is `size` inches high; the names of columns have room for so many.
    """
    axes = plot(size * (len(rows) + room))
    for i, name in enumerate(rows):
        words(axes, (-0.7, -i), name, 9, ha="right")
    for j, name in enumerate(columns):
        words(axes, (j, low), name, 9, rotation=90, va="bottom")
    bare(axes, (left, len(columns) - 0.4), (0.4 - len(rows), top))
    return axes


def consequences(
    bugs: Names,
    properties: Names,
    fails: list[set[str]],
    causes: list[set[str]],
) -> Axes:
    """Which checks fail for which bug; the one to mend first is filled."""
    axes = _table(0.225, bugs, properties, -11.2, 0.6, 8, 8.4)
    for i in range(len(bugs)):
        for j, name in enumerate(properties):
            cell(axes, (j - 0.46, -i - 0.46), (0.92, 0.92))
            if name in fails[i]:
                first = name in causes[i]
                style = {"ms": 7.5, "mew": 1.3, "color": BROWN}
                style["mfc"] = ACCENT if first else "none"
                kind = "cause" if first else "follows"
                axes.plot([j], [-i], "o", gid=f"{kind} {i} {j}", **style)
    return axes


VERDICTS = {  # colour, its strength, sign
    "holds": (MAY, 0.45, ""),
    "fails": (BEHIND, 1.0, "×"),
    "raises": (BEHIND, 1.0, "E"),
    "note": ("white", 1.0, "n"),
    "not offered": (PLATE, 1.0, ""),
}


def verdicts(names: Names, properties: Names, table: list[Names]) -> Axes:
    """What holds and what fails, one row for each way to call a package."""
    axes = _table(0.172, names, properties, -13, 0.7, 12, 11.5)
    for i, j, verdict in each(table):
        colour, alpha, mark = VERDICTS[verdict]
        style = {"ec": FAINT, "lw": 0.4, "alpha": alpha, "gid": verdict}
        cell(axes, (j - 0.44, -i - 0.44), (0.88, 0.88), colour, **style)
        words(axes, (j, -i), mark, 9)
    return axes
