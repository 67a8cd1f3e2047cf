"""Chapter 12: what a trained model looks at, needs, and was made of."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from torch import Tensor

from kit.figures.marks import (
    ACCENT,
    FAINT,
    INK,
    PLATE,
    SECOND,
    TINT,
    TOKEN,
    arrow,
    bare,
    box,
    cell,
    frameless,
    numbers,
    visible,
    words,
)

BROWN = "#553300"  # far from ACCENT, also when inverted
ISO_COLOURS = [SECOND] * 4 + [FAINT] + [ACCENT] * 2 + [FAINT] + [BROWN] * 2
NEED = LinearSegmentedColormap.from_list("need", ["white", ACCENT, BROWN])
STROKES = {  # three characters that the font lacks, in a square of 0 to 1
    "年": (
        "0.3 1 0.1 0.62",
        "0.25 0.85 0.9 0.85",
        "0.25 0.57 0.85 0.57",
        "0.28 0.57 0.28 0.28",
        "0.02 0.28 0.98 0.28",
        "0.55 0.85 0.55 0",
    ),
    "月": (
        "0.25 0.97 0.82 0.97 0.82 0.03 0.66 0.08",
        "0.25 0.97 0.25 0.35 0.08 0",
        "0.25 0.67 0.82 0.67",
        "0.25 0.38 0.82 0.38",
    ),
    "日": (
        "0.2 0.02 0.2 0.97 0.8 0.97 0.8 0.02",
        "0.2 0.52 0.8 0.52",
        "0.2 0.07 0.8 0.07",
    ),
}
PARTS = {"year": (0, 4), "month": (5, 7), "day": (8, 10)}  # of an ISO date


def meaning(source: list[str], pairs: dict[str, int]) -> Axes:
    """A date in words above, its ISO form below, an arrow for each part.

    `pairs` says at which word of the source a part (year, month, day) is
    read; the arrow has the part as gid.
    """
    figure, axes = plt.subplots(figsize=(5.4, 1.9))
    widths = [0.3 + 0.24 * len(word) for word in source]
    left, middles = 0.0, []
    for word, width in zip(source, widths, strict=True):
        middles.append(left + width / 2)
        box(axes, (middles[-1], 2.0), (width, 0.62), word, TOKEN, fontsize=12)
        left += width + 0.25
    total, shift = left - 0.25, (left - 0.25 - 10 * 0.4) / 2
    for i, character in enumerate("2019-03-03"):
        style = {"fontsize": 12, "weight": "bold", "color": ISO_COLOURS[i]}
        words(axes, (shift + 0.4 * i + 0.2, 0.0), character, **style)
    for part, word in pairs.items():
        start, stop = PARTS[part]
        end = (shift + 0.2 * (start + stop), 0.36)
        colour, style = ISO_COLOURS[start], {"lw": 2.6, "mutation_scale": 15}
        arrow(axes, (middles[word], 1.62), end, colour, part, **style)
        words(axes, (end[0], -0.5), part, color=colour, fontsize=10)
    bare(axes, (-0.1, total + 0.1), (-0.75, 2.35))
    return axes


def links(panels: dict[str, Tensor], isos: dict[str, str]) -> list[Axes]:
    """For each text the characters, above, that each digit, below, looks at.

    A panel holds the weights (t_len s_len) of the text that is its name. The
    thicker the line, the larger the weight; weights below 0.05 are left out.
    A line has the gid "t s".
    """
    size = (5.4, 1.75 * len(panels))
    figure, rows = plt.subplots(len(panels), 1, figsize=size, squeeze=False)
    widest = max(map(len, panels))
    for axes, (text, weights) in zip(rows.flat, panels.items(), strict=True):
        above = [j + (widest - len(text)) / 2 for j in range(len(text))]
        below = [1.5 * t + (widest - 15) / 2 + 0.25 for t in range(10)]
        for x, character in zip(above, text, strict=True):
            _character(axes, (x, 2.0), character)
        for t, character in enumerate(isos[text]):
            style = {"fontsize": 12, "weight": "bold"}
            words(axes, (below[t], 0), character, **style)
            for s, weight in enumerate(numbers(weights[t])):
                if weight >= 0.05:
                    ends = (above[s], 1.72), (below[t], 0.3)
                    _link(axes, ends, weight, ISO_COLOURS[t], f"{t} {s}")
        bare(axes, (-0.8, widest - 0.2), (-0.3, 2.3))
    return list(rows.flat)


def _character(axes, at, character) -> None:
    """A character of a text; three are drawn by strokes."""
    if character not in STROKES:
        words(axes, at, character, fontsize=11)
        return
    left, bottom = at[0] - 0.32, at[1] - 0.13
    for stroke in STROKES[character]:
        points = list(map(float, stroke.split()))
        xs = [left + 0.64 * x for x in points[::2]]
        ys = [bottom + 0.28 * y for y in points[1::2]]
        axes.plot(xs, ys, color=INK, lw=1.1, gid=character)


def _link(axes, ends, weight, colour, name) -> None:
    """A line that says by its thickness and strength how large a weight is."""
    style = {"lw": 0.4 + 4.6 * weight, "alpha": min(1.0, 0.25 + weight)}
    style["mutation_scale"] = 4 + 8 * weight
    arrow(axes, *ends, colour, name, **style)


def character_maps(
    panels: dict[str, Tensor], rows: str, columns: str
) -> list[Axes]:
    """Matrices from 0 to 1 one below the other, a row for each digit.

    The first panel shows weights in blue, the second losses in brown.
    Each is read back with `axes.images[0].get_array()`.
    """
    size = (5.4, 0.4 + 2.55 * len(panels))
    figure, drawn = plt.subplots(len(panels), 1, figsize=size)
    letters = list(map(visible, columns))
    colours = ("Blues", NEED)
    for axes, (title, matrix), colour in zip(
        drawn, panels.items(), colours, strict=False
    ):
        cells = numbers(matrix)
        axes.imshow(cells, vmin=0, vmax=1, cmap=colour, aspect="auto")
        ticks = (range(len(letters)), letters), (range(len(rows)), list(rows))
        frameless(axes, *ticks)
        axes.spines[:].set(color="#CCCCCC", visible=True)
        axes.set(title=title, ylabel="written")
        axes.tick_params(pad=2)
    drawn[-1].set_xlabel("character of the source")
    return list(drawn)


def splice(
    text: str, cut: tuple[int, int], donor: str, piece: tuple[int, int]
) -> Axes:
    """Two memories as rows of cells: a piece of one replaces one of the other.

    `cut` is the stretch that is taken out of the text, `piece` that of the
    donor that comes in. The letters of the new row have the gid "new".
    """
    figure, axes = plt.subplots(figsize=(5.4, 2.9))
    (a, b), (c, d) = cut, piece
    given, taken = [(x, TOKEN) for x in text], [(x, PLATE) for x in donor]
    given[a:b] = [(x, "white") for x in text[a:b]]
    taken[c:d] = [(x, ACCENT) for x in donor[c:d]]
    new = given[:a] + taken[c:d] + given[b:]
    _memory(axes, 5.2, "memory of the French text", given, "text")
    _memory(axes, 2.6, "what the decoder sees", new, "new")
    _memory(axes, 0.0, "memory of the English text", taken, "donor")
    style = {"lw": 2.2, "mutation_scale": 13}
    ends = ((c + d) / 2, 1.05), (a + (d - c) / 2, 2.5)
    arrow(axes, *ends, ACCENT, "piece", **style)
    arrow(axes, (a - 1.5, 5.1), (a - 1.5, 3.65), FAINT, "rest", **style)
    bare(axes, (-0.1, max(len(new), len(text), len(donor)) + 0.1), (-0.1, 7))
    return axes


def _memory(axes, bottom, title, cells, name) -> None:
    """A row of cells, one for each character and its vector."""
    words(axes, (0, bottom + 1.4), title, ha="left", fontsize=9.5)
    for i, (character, colour) in enumerate(cells):
        alpha = 0.5 if colour == ACCENT else 1.0
        style = {"ec": "white", "alpha": alpha}
        cell(axes, (i, bottom), (1, 1), colour, **style)
        ink = FAINT if colour in ("white", PLATE) else INK
        at = (i + 0.5, bottom + 0.47)
        words(axes, at, character, color=ink, gid=name, fontsize=10)


def month_table(
    shares: dict[str, list[float]],
    names: dict[str, list[str]],
    known: dict[str, list[bool]],
) -> Axes:
    """Twelve months in a row for each language, dark where they are right.

    A cell holds the first letters of the name, bold if the name is known.
    The shares are read back with `axes.images[0].get_array()`.
    """
    figure, axes = plt.subplots(figsize=(5.4, 0.6 + 0.33 * len(shares)))
    cells = list(shares.values())
    axes.imshow(cells, vmin=0, vmax=1, cmap=TINT, aspect="auto")
    axes.vlines([j + 0.5 for j in range(11)], -0.5, len(shares) - 0.5, "white")
    axes.hlines([i + 0.5 for i in range(len(shares) - 1)], -0.5, 11.5, "white")
    for i, language in enumerate(shares):
        for j in range(12):
            style = {"fontsize": 9}
            style["weight"] = "bold" if known[language][j] else "normal"
            style["gid"] = "known" if known[language][j] else "unknown"
            words(axes, (j, i), names[language][j][:3], **style)
    months = range(12)
    ticks = (months, [str(j + 1) for j in months])
    frameless(axes, ticks, (range(len(shares)), list(shares)))
    axes.set_xlabel("month")
    return axes


def differences(panels: dict[str, dict[str, Tensor]]) -> list[Axes]:
    """Paired differences, one row each: five seeds, mean and standard error.

    The panels stand one below the other, each with its own scale. Dots have
    the gid "seed", means "mean", and the lines of one standard error to each
    side "error".
    """
    rows = [len(panel) for panel in panels.values()]
    figure, drawn = plt.subplots(
        len(panels),
        1,
        figsize=(5.4, 1.0 * len(panels) + 0.25 * sum(rows)),
        gridspec_kw={"height_ratios": [n + 1.5 for n in rows]},
    )
    for axes, (title, named) in zip(drawn, panels.items(), strict=True):
        axes.axvline(0, color=FAINT, lw=1)
        for row, values in enumerate(named.values()):
            _difference(axes, row, values)
        axes.set_yticks(range(len(named)), list(named))
        axes.set_ylim(len(named) - 0.4, -0.6)
        axes.set_title(title)
        axes.grid(axis="x")
        axes.tick_params(axis="y", length=0)
    drawn[-1].set_xlabel("points of exact match gained")
    figure.get_layout_engine().set(hspace=0.08)
    return list(drawn)


def _difference(axes, row, values) -> None:
    """The dots of the seeds, and on them the mean with its error."""
    dots = numbers(values)
    middle = values.mean().item()
    error = (values.std() / len(dots) ** 0.5).item()
    axes.plot(
        dots, [row] * len(dots), "o", color=ACCENT, alpha=0.55, gid="seed"
    )
    ends = [middle - error, middle + error]
    axes.plot(ends, [row, row], color=INK, lw=2.2, gid="error")
    axes.plot([middle], [row], "|", color=INK, ms=11, mew=2.2, gid="mean")


def bag_shares(sizes: list[int], shares: Tensor) -> Axes:
    """Right dates (seeds sizes) by the number of days with the same bag.

    The curve is one in so many; it has the gid "luck", the dots "seed".
    """
    figure, axes = plt.subplots(figsize=(5.4, 3.0))
    every = [1 + i / 20 for i in range(20 * (max(sizes) - 1) + 1)]
    luck = [100 / k for k in every]
    axes.plot(every, luck, color=FAINT, gid="luck", label="one in so many")
    for i, row in enumerate(numbers(100 * shares)):
        label = "five trained models" if i == 0 else None
        style = {"color": ACCENT, "alpha": 0.6, "gid": "seed", "label": label}
        axes.plot(sizes, row, "o", **style)
    axes.set_xticks(sizes)
    axes.set(xlabel="days with the same characters", ylabel="right, in %")
    axes.set_ylim(0, 105)
    axes.grid(axis="y")
    axes.legend()
    return axes
