"""Chapter 12: what a trained model looks at, needs, and was made of."""

from matplotlib.colors import LinearSegmentedColormap

from .canvas import bare, drawing, numbers, panels, plot, titled
from .colours import ACCENT, FAINT, HAIR, INK, PLATE, SECOND, TOKEN
from .kinds import Axes, Curves, Named, Names, Panels, Tensor
from .marks import arrow, box, cell, line, visible, words
from .plots import seams, shaded

DARK = "#553300"  # far from ACCENT, also when inverted
ISO_COLOURS = [SECOND] * 4 + [FAINT] + [ACCENT] * 2 + [FAINT] + [DARK] * 2
NEED = LinearSegmentedColormap.from_list("need", ["white", ACCENT, DARK])
STROKES = {  # three characters that the font lacks, on a grid of 0 to 100
    "年": "30,100 10,62; 25,85 90,85; 25,57 85,57; 28,57 28,28; 2,28 98,28; "
    "55,85 55,0",
    "月": "25,97 82,97 82,3 66,8; 25,97 25,35 8,0; 25,67 82,67; 25,38 82,38",
    "日": "20,2 20,97 80,97 80,2; 20,52 80,52; 20,7 80,7",
}
PARTS = {"year": (0, 4), "month": (5, 7), "day": (8, 10)}  # of an ISO date


def meaning(source: Names, pairs: dict[str, int]) -> Axes:
    """A date in words above, its ISO form below, an arrow for each part.

    `pairs` says at which word of the source a part (year, month, day) is
    read.
    """
    widths = [0.3 + 0.24 * len(word) for word in source]
    total = sum(widths) + 0.25 * (len(widths) - 1)
    axes = drawing(1.9, (-0.1, total + 0.1), (-0.75, 2.35))
    left, middles = 0.0, []
    for word, width in zip(source, widths, strict=True):
        middles.append(left + width / 2)
        box(axes, (middles[-1], 2.0), (width, 0.62), word, TOKEN, fontsize=12)
        left += width + 0.25
    shift = (total - 10 * 0.4) / 2
    for i, character in enumerate("2019-03-03"):
        style = {"weight": "bold", "color": ISO_COLOURS[i]}
        words(axes, (shift + 0.4 * i + 0.2, 0.0), character, 12, **style)
    for part, word in pairs.items():
        start, stop = PARTS[part]
        end, colour = shift + 0.2 * (start + stop), ISO_COLOURS[start]
        ends = (middles[word], 1.62), (end, 0.36)
        arrow(axes, *ends, colour, lw=2.6, head=15)
        words(axes, (end, -0.5), part, 10, color=colour)
    return axes


def links(maps: Named, isos: dict[str, str]) -> Panels:
    """For each text the characters, above, that each digit, below, looks at.

    A map holds the weights (t_len s_len) of the text that is its name. The
    thicker the line, the larger the weight; weights below 0.05 are left out.
    A line has the gid "t s".
    """
    rows = panels(len(maps), 1, 1.75 * len(maps))
    widest = max(map(len, maps))
    for axes, (text, weights) in zip(rows, maps.items(), strict=True):
        above = [j + (widest - len(text)) / 2 for j in range(len(text))]
        for x, character in zip(above, text, strict=True):
            _character(axes, (x, 2.0), character)
        for t, character in enumerate(isos[text]):
            below = 1.5 * t + (widest - 15) / 2 + 0.25
            words(axes, (below, 0), character, 12, weight="bold")
            for s, weight in enumerate(numbers(weights[t])):
                if weight >= 0.05:
                    style = {"alpha": min(1.0, 0.25 + weight)}
                    style |= {"lw": 0.4 + 4.6 * weight, "head": 4 + 8 * weight}
                    ends = (above[s], 1.72), (below, 0.3)
                    arrow(axes, *ends, ISO_COLOURS[t], f"{t} {s}", **style)
        bare(axes, (-0.8, widest - 0.2), (-0.3, 2.3))
    return rows


def _character(axes, at, character) -> None:
    """A character of a text; three are drawn by strokes."""
    if character not in STROKES:
        words(axes, at, character, 11)
        return
    left, bottom = at[0] - 0.32, at[1] - 0.13
    for stroke in STROKES[character].split("; "):
        points = [map(int, point.split(",")) for point in stroke.split()]
        path = [(left + 0.0064 * x, bottom + 0.0028 * y) for x, y in points]
        line(axes, *path, color=INK, lw=1.1, zorder=2)


def character_maps(maps: Named, rows: str, columns: str) -> Panels:
    """Two matrices from 0 to 1, one below the other, a row for each digit.

    The first shows weights in blue, the second losses in brown. Each is read
    back with `axes.images[0].get_array()`.
    """
    both, letters = panels(2, 1, 5.5), list(map(visible, columns))
    for axes, matrix in titled(both, maps):
        colours = "Blues" if axes is both[0] else NEED
        shaded(axes, numbers(matrix), list(rows), letters, colours)
        axes.spines[:].set(color=HAIR, visible=True)
        axes.set_ylabel("written")
        axes.tick_params(pad=2)
    both[1].set_xlabel("character of the source")
    return both


def splice(
    text: str, cut: tuple[int, int], donor: str, piece: tuple[int, int]
) -> Axes:
    """Two memories as rows of cells: a piece of one replaces one of the other.

    `cut` is the stretch that is taken out of the text, `piece` that of the
    donor that comes in. The letters of the new row have the gid "new".
    """
    (a, b), (c, d) = cut, piece
    given, taken = [(x, TOKEN) for x in text], [(x, PLATE) for x in donor]
    given[a:b] = [(x, "white") for x in text[a:b]]
    taken[c:d] = [(x, ACCENT) for x in donor[c:d]]
    new = given[:a] + taken[c:d] + given[b:]
    widest = max(map(len, (given, new, taken)))
    axes = drawing(2.9, (-0.1, widest + 0.1), (-0.1, 7))
    _memory(axes, 5.2, "memory of the French text", given)
    _memory(axes, 2.6, "what the decoder sees", new, "new")
    _memory(axes, 0.0, "memory of the English text", taken)
    style = {"lw": 2.2, "head": 13}
    arrow(axes, ((c + d) / 2, 1.05), (a + (d - c) / 2, 2.5), ACCENT, **style)
    arrow(axes, (a - 1.5, 5.1), (a - 1.5, 3.65), FAINT, **style)
    return axes


def _memory(axes, bottom, title, cells, name=None) -> None:
    """A row of cells, one for each character and its vector."""
    words(axes, (0, bottom + 1.4), title, 9.5, ha="left")
    for i, (character, colour) in enumerate(cells):
        style = {"ec": "white", "alpha": 0.5 if colour == ACCENT else 1.0}
        cell(axes, (i, bottom), (1, 1), colour, **style)
        ink = FAINT if colour in ("white", PLATE) else INK
        at = (i + 0.5, bottom + 0.47)
        words(axes, at, character, 10, color=ink, gid=name)


def month_table(
    shares: Curves, names: dict[str, Names], known: dict[str, list[bool]]
) -> Axes:
    """Twelve months in a row for each language, dark where they are right.

    A cell holds the first letters of the name, bold if the name is known.
    The shares are read back with `axes.images[0].get_array()`.
    """
    axes, months = plot(0.6 + 0.33 * len(shares)), range(12)
    cells = list(shares.values())
    shaded(axes, cells, list(shares), [str(j + 1) for j in months])
    seams(axes, len(shares), 12, 1.8)
    for i, language in enumerate(shares):
        for j in months:
            weight = "bold" if known[language][j] else "normal"
            words(axes, (j, i), names[language][j][:3], 9, weight=weight)
    axes.set_xlabel("month")
    return axes


def differences(parts: dict[str, Named]) -> Panels:
    """Paired differences, one row each: five seeds, mean and standard error.

    The panels stand one below the other, each with its own scale. Means have
    the gid "mean".
    """
    many = [len(part) for part in parts.values()]
    height = 1.0 * len(parts) + 0.25 * sum(many)
    ratios = [n + 1.5 for n in many]
    drawn = panels(len(parts), 1, height, height_ratios=ratios)
    for axes, named in titled(drawn, parts):
        axes.axvline(0, color=FAINT, lw=1)
        for row, values in enumerate(named.values()):
            dots, mean = numbers(values), values.mean().item()
            error = (values.std() / len(dots) ** 0.5).item()
            axes.plot(dots, [row] * len(dots), "o", color=ACCENT, alpha=0.55)
            ends = (mean - error, row), (mean + error, row)
            line(axes, *ends, color=INK, lw=2.2, zorder=2)
            style = {"color": INK, "ms": 11, "mew": 2.2, "gid": "mean"}
            axes.plot([mean], [row], "|", **style)
        axes.set_yticks(range(len(named)), list(named))
        axes.set_ylim(len(named) - 0.4, -0.6)
        axes.grid(axis="x")
        axes.tick_params(axis="y", length=0)
    drawn[-1].set_xlabel("points of exact match gained")
    drawn[-1].figure.get_layout_engine().set(hspace=0.08)
    return drawn


def bag_shares(sizes: list[int], shares: Tensor) -> Axes:
    """Right dates (seeds sizes) by the number of days with the same bag.

    The curve is one in so many; the dots have the gid "seed".
    """
    axes = plot(3.0)
    every = [1 + i / 20 for i in range(20 * (max(sizes) - 1) + 1)]
    luck = [100 / k for k in every]
    axes.plot(every, luck, color=FAINT, label="one in so many")
    for i, row in enumerate(numbers(100 * shares)):
        label = None if i else "five trained models"
        style = {"color": ACCENT, "alpha": 0.6, "gid": "seed"}
        axes.plot(sizes, row, "o", label=label, **style)
    axes.set_xticks(sizes)
    axes.set(xlabel="days with the same characters", ylabel="right, in %")
    axes.set_ylim(0, 105)
    axes.grid(axis="y")
    axes.legend()
    return axes
