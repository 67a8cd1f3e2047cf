"""lib.figures: every drawing function draws, without a warning."""

import inspect

import pytest
import torch
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from lib import figures

WORDS = list("abc")
SQUARE = torch.eye(3)
LONG = [f"word {i}" for i in range(9)]
SHAPES = ("X", "Q", "K", "V", "scores", "weights", "context")
HEADS = torch.arange(24).view(3, 2, 4).transpose(0, 1)
XY = ("x", "y")
DRAWN = {
    "heatmap": [(SQUARE, WORDS, WORDS), (torch.eye(9), LONG, LONG)],
    "curves": [
        ([1, 2], {"a": SQUARE[0, :2], "line:b": SQUARE[1, :2]}, XY),
        ([1, 2], {"a": -SQUARE[0, :2]}, XY),
        ([1, 2], {"a": SQUARE[0, :2] + 1}, XY, "", "xy"),
    ],
    "bars": [
        (WORDS, {"a": SQUARE[0]}, "y"),
        (WORDS, {"a": SQUARE[0], "b": SQUARE[1]}, "y"),
    ],
    "arrows": [(SQUARE - 0.5, WORDS, XY)],
    "token_grid": [([WORDS, ["a", "-"]], "-")],
    "lookup": [(WORDS, [2, 0, 1], SQUARE)],
    "flow": [(dict.fromkeys(SHAPES, (3, 2)),)],
    "masks": [(dict.fromkeys(WORDS[:2], SQUARE > 0), WORDS, WORDS)],
    "cut": [(torch.arange(24).view(3, 8), HEADS, HEADS.flip(0))],
    "sequence_of_curves": [(WORDS, {"a": SQUARE[0]}, XY)],
    "image": [(SQUARE, XY, (-1.0, 1.0))],
    "norm_axes": [(4, 3)],
    "residual_paths": [()],
}
CALLS = [(name, args) for name, calls in DRAWN.items() for args in calls]


@pytest.mark.parametrize(("name", "args"), CALLS)
def test_it_draws(name, args):
    drawn = getattr(figures, name)(*args)
    for axes in drawn if isinstance(drawn, list) else [drawn]:
        assert isinstance(axes, Axes)
        assert axes.has_data() or axes.patches
    plt.gcf().canvas.draw()
    plt.close("all")


def test_head_colours_reads_a_figure_back():
    (args,) = DRAWN["cut"]
    found = figures.head_colours(figures.cut(*args))
    plt.close("all")
    assert found["right"] == [["0"] * 12, ["1"] * 12]
    assert found["wrong"] == [["1"] * 12, ["0"] * 12]


def test_every_drawing_function_is_here():
    public = {
        name
        for name, value in inspect.getmembers(figures, inspect.isfunction)
        if value.__module__ == "lib.figures" and not name.startswith("_")
    }
    assert public - {"numbers", "head_colours"} == set(DRAWN)
