"""kit.figures: every drawing function draws, without a warning.

What a function is given stands in a table called DRAWN, below or in the tests
of its module: one tuple of arguments, or a list of them.
"""

import inspect
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from kit import figures
from tests.library.draw import contrast, dark

WORDS = list("abc")
SQUARE = torch.eye(3)
LINE = torch.tensor([1.0, 2.0, 4.0])
LONG = [f"word {i}" for i in range(9)]
SHADES = torch.arange(9.0).view(3, 3) / 8
XY = ("x", "y")
ROLES = (figures.QUERY, figures.KEY, figures.VALUE, figures.OUTPUT)
DRAWN = {
    "heatmap": [(SHADES, WORDS, WORDS), (torch.eye(9), LONG, LONG)],
    "curves": [
        ([1, 2], {"a": SQUARE[0, :2], "line:b": SQUARE[1, :2]}, XY),
        ([1, 2], {"a": -SQUARE[0, :2]}, XY),
        ([1, 2], {"a": SQUARE[0, :2] + 1}, XY, "", "xy"),
    ],
    "bars": [
        (WORDS, {"a": SQUARE[0]}, "y"),
        (WORDS, {"a": SQUARE[0], "b": SQUARE[1]}, "y"),
    ],
    "shadows": [(SQUARE[0, :2], dict.fromkeys(WORDS, 1 - SQUARE[0, :2] * 3))],
    "ruler": [(SQUARE[0, :2], {"a": 1 - SQUARE[0, :2] * 3}, "q", XY)],
    "to_shares": [(WORDS, SQUARE[0] - 0.5, {"exp": SQUARE[0]})],
    "spread": [({"a": SQUARE[0] + 0.1, "b": SQUARE[1] + 0.1}, "size")],
    "token_grid": [([WORDS, ["a", "-"]], "-")],
    "lookup": [(WORDS, [2, 0, 1], SQUARE)],
    "road": [("a b", {"a": 1, "b": 0}, [[0.5, -2.0]] * 2)],
    "shift": [(["<bos>", "a"], ["a", "<eos>"])],
    "word_arrows": [(SQUARE[:, :2] - 0.5, WORDS, XY)],
    "word_map": [
        ({"a": SQUARE[:, :2], "b": SQUARE[:, 1:]}, WORDS, {"k": WORDS})
    ],
    "lengths": [([16, 64, 256], SQUARE + 1)],
    "masks": [
        (dict.fromkeys(WORDS[:2], SQUARE > 0), WORDS, WORDS),
        (dict.fromkeys("abcd", SQUARE > 0), WORDS, WORDS),
    ],
    "reads_and_says": [(WORDS, WORDS)],
    "masking_steps": [(SQUARE, SQUARE == 0, SHADES, WORDS)],
    "nan_spreads": [([SQUARE[0] > 0] * 2, SQUARE > 0, WORDS)],
    "image": [(SQUARE, XY, (-1.0, 1.0))],
    "norm_axes": [(4, 3)],
    "norm_steps": [({"x": SQUARE[0], "y": SQUARE[1] - 0.5},)],
    "one_layer": [(WORDS,)],
    "by_layer": [
        ({"post-norm": LINE, "pre-norm": LINE + 1}, "size"),
        ({"plain": LINE}, "size", "{x:.0e}"),
    ],
    "memory": [(WORDS, {"a": (WORDS, SQUARE), "b": (WORDS, SQUARE)})],
    "residual_paths": [()],
    "encoder_block": [(), (True,)],
}


def tables():
    """What every module of tests draws."""
    yield DRAWN
    for path in sorted(Path(__file__).parent.glob("test_figures_*.py")):
        module = import_module(f"tests.library.{path.stem}")
        yield getattr(module, "DRAWN", {})


CALLS = [
    (name, args)
    for table in tables()
    for name, calls in table.items()
    for args in (calls if isinstance(calls, list) else [calls])
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "args"), CALLS)
def test_it_draws(name, args):
    drawn = getattr(figures, name)(*args)
    for axes in drawn if isinstance(drawn, list) else [drawn]:
        assert isinstance(axes, Axes)
        assert axes.has_data() or axes.patches or axes.texts
    figure = plt.gcf()
    assert figure.get_size_inches()[0] == pytest.approx(5.4)  # as the page
    texts = [text for axes in figure.axes for text in axes.texts]
    sizes = [t.get_fontsize() for t in texts if t.get_text() not in ("", "■")]
    assert min(sizes, default=9) >= 9
    assert too_faint(figure) == []
    plt.close("all")


def too_faint(figure):
    """The texts that cannot be read on what is behind them, light or dark.

    Letters in the colour of Q, K, V or the output keep it.
    """
    figure.set_dpi(100)
    figure.canvas.draw()
    shown = [t for t in figure.findobj(Text) if t.get_text().strip()]
    places = [text.get_window_extent() for text in shown]
    for text in shown:
        text.set_alpha(0)  # its plate stays
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[::-1, :, :3]
    found = []
    for text, box in zip(shown, places, strict=True):
        colour = text.get_color()
        rows, columns = (
            slice(max(int(low), 0), int(high) + 1)
            for low, high in (box.intervaly, box.intervalx)
        )
        behind = pixels[rows, columns].reshape(-1, 3)
        kinds, counts = np.unique(behind, axis=0, return_counts=True)
        for ground in kinds[counts > 0.15 * len(behind)] / 255:
            worst = min(
                contrast(seen(colour), seen(ground)) for seen in (to_rgb, dark)
            )
            if worst < 4.5 and colour not in ROLES:
                found.append((text.get_text(), colour, round(worst, 2)))
    return found


def test_what_cannot_be_read_is_noticed():
    axes = plt.subplots()[1]
    axes.imshow([[0.0, 0.6]], vmin=0, vmax=1, cmap="Blues")
    for column in (0, 1):
        axes.text(column, 0, ".5", color=figures.INK, ha="center")
    axes.text(0, 0.3, "QUERY", color=figures.QUERY)
    assert [text for text, _, _ in too_faint(axes.figure)] == [".5"]
    plt.close("all")


def gids(axes, *words):
    """The gids of a figure's artists that start with one of `words`."""
    found = [artist.get_gid() or "" for artist in axes.get_children()]
    plt.close("all")
    return [gid for gid in found if gid.startswith(words)]


@pytest.mark.parametrize(("norm_first", "order"), [(0, "f+n"), (1, "nf+")])
def test_the_stations_of_a_block(norm_first, order):
    axes = figures.encoder_block(bool(norm_first))
    stations = [t for t in axes.texts if t.get_gid() == "station"]
    stations.sort(key=lambda text: text.get_position()[1])
    names = {"+": "+", "n": "norm"}
    assert [text.get_text() for text in stations] == [
        "x",
        *(names.get(letter, "self-attention") for letter in order),
        *(names.get(letter, "feed-forward") for letter in order),
    ]
    assert gids(axes, "residual") == ["residual"] * 2


def test_no_drawing_function_has_the_name_of_a_module():
    """It would hide the module, or the module it."""
    folder = Path(figures.__file__).parent
    modules = {path.stem for path in folder.glob("*.py")}
    functions = dict(inspect.getmembers(figures, inspect.isfunction))
    assert not modules & functions.keys()
    for module in modules - {"__init__", "architecture"}:
        found = vars(import_module(f"kit.figures.{module}"))
        assert not modules & {n for n, v in found.items() if callable(v)}


def test_every_drawing_function_is_drawn():
    """Here, or in the tests of its module."""
    drawn = {name for table in tables() for name in table}
    public = {
        name
        for name, value in inspect.getmembers(figures, inspect.isfunction)
        if value.__module__.startswith("kit.figures.")
        and value.__module__ != "kit.figures.marks"
    }
    assert public - {"head_colours", "ring_steps"} == drawn
