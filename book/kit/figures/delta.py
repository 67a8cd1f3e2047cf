"""Chapter 19: a memory that overwrites."""

from .canvas import drawing, numbers, plot
from .colours import ACCENT, FAINT, INK, KEY, OUTPUT, PLATE, QUERY, VALUE
from .kinds import Axes, Curves
from .marks import arrow, beside, box, line, words


def three_memories(log: list[tuple[str, float]], asked: str) -> Axes:
    """What is kept of a log after each line, by a cache and by two rules.

    The gids: "kept i" of the cache's lines, "adds i place" and "overwrites i
    place" of a number after line i, "answer adds" and "answer overwrites".
    """
    wide, end = 1.75, 1.75 * len(log) + 0.35
    axes = drawing(4.6, (-2.6, end + 0.6), (-5.2, 2.4))
    for i, (place, degrees) in enumerate(log):
        at, text = (wide * i, 1.1), f"{place} {degrees:g}°"
        words(axes, (at[0], 2.0), text, 9.5, weight="bold")
        box(axes, at, (1.6, 0.62), text, KEY, f"kept {i}", fontsize=9)
    beside(axes, -0.95, {"a cache\nkeeps all": 1.1}, 9.5)
    for rule, middle in (("adds", -1.0), ("overwrites", -3.9)):
        beside(axes, -0.95, {rule: middle}, 9.5)
        memory = dict.fromkeys((place for place, _degrees in log), 0.0)
        for i, (place, degrees) in enumerate(log):
            memory[place] = degrees + (rule == "adds") * memory[place]
            slate(axes, (wide * i, middle), memory, place, f"{rule} {i}")
            start, stop = (wide * i + 0.65, middle), (wide * i + 1.05, middle)
            arrow(axes, start, stop, INK if i < len(log) - 1 else QUERY)
        words(axes, (end, middle + 0.75), f"{asked}?", 9.5, color=QUERY)
        name, text = f"answer {rule}", f"{memory[asked]:g}°"
        box(axes, (end, middle), (0.9, 0.7), text, OUTPUT, name, fontsize=11)
    return axes


def slate(axes, centre, memory: dict, written: str, name: str) -> None:
    """A number for each place; a bar stands beside the one just written."""
    for i, (place, degrees) in enumerate(memory.items()):
        at = centre[0], centre[1] + 0.7 - 0.7 * i
        colour = VALUE if degrees else PLATE
        text, gid = f"{place[0].upper()} {degrees:g}", f"{name} {place}"
        box(axes, at, (1.2, 0.6), text, colour, gid, fontsize=9)
        if place == written:
            x, style = at[0] - 0.66, {"color": ACCENT, "lw": 3, "zorder": 4}
            line(axes, (x, at[1] - 0.3), (x, at[1] + 0.3), **style)


def how_much_fits(pairs: list[int], errors: Curves, d_head: int) -> Axes:
    """The error of each rule over the number of pairs that were written.

    The gid of a line is its name.
    """
    axes = plot(3.4)
    for mark, (name, row) in zip("s^oD", errors.items(), strict=False):
        axes.plot(pairs, numbers(row), marker=mark, label=name, gid=name)
    axes.axvline(d_head, color=FAINT, ls="--", lw=1.2)
    words(
        axes, (d_head + 0.5, 1.96), f"$d_{{head}}$ = {d_head}", 9.5, ha="left"
    )
    axes.set(
        xlabel="pairs that were written", ylabel="squared error of a value"
    )
    axes.set(ylim=(-0.05, 2.1), xlim=(0, pairs[-1] + 1))
    axes.legend(loc="upper left", fontsize=9.5)
    return axes


def bytes_of_caches(tokens: list[int], sizes: Curves) -> Axes:
    """What is kept of a text in GB, over its length; both logarithmic.

    The gid of a line is its name.
    """
    axes = plot(3.4)
    for mark, (name, row) in zip("os^", sizes.items(), strict=False):
        row = [size / 1e9 for size in numbers(row)]
        axes.plot(tokens, row, marker=mark, label=name, gid=name)
    axes.set(xscale="log", yscale="log")
    axes.set(xlabel="tokens of the text", ylabel="GB that are kept")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.grid(axis="y")
    axes.legend(loc="upper left", fontsize=9.5)
    return axes
