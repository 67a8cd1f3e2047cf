"""kit.figures.layers: what the drawings of chapter 7 say."""

import pytest
import torch
from matplotlib import pyplot as plt

from kit import figures


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def named(artists, name):
    return [artist for artist in artists if artist.get_gid() == name]


def test_words_meet_in_attention_only():
    axes = figures.one_layer(["a", "b", "c", "d"])
    assert len(named(axes.patches, "across")) == 16
    assert len(named(axes.patches, "path")) == 4 * 5
    for station in ("+", "norm"):
        assert len(named(axes.texts, station)) == 8


def test_a_way_to_join_keeps_its_colour():
    y = torch.tensor([1.0, 2.0, 3.0])
    axes = figures.by_layer({"no norm": y, "pre-norm": 2 * y}, "size")
    other = figures.by_layer({"pre-norm": y, "post-norm": y}, "size")
    free, pre = axes.lines
    assert free.get_color() != pre.get_color() == other.lines[0].get_color()
    assert list(pre.get_xdata()) == [1, 2, 3]
    assert list(pre.get_ydata()) == [2, 4, 6]
    assert axes.get_yscale() == "linear" and axes.get_ylim()[0] == 0


def test_a_logarithmic_axis_has_one_form_of_numbers():
    line = torch.tensor([1e-6, 1e-3, 1.0])
    axes = figures.by_layer({"plain": line}, "y", log="{x:.0e}")
    plt.gcf().canvas.draw()
    ticks = [text.get_text() for text in axes.get_yticklabels()]
    assert axes.get_yscale() == "log"
    assert all("e" in tick for tick in ticks if tick)
    axes = figures.by_layer({"plain": line}, "y", log="10^n")
    plt.gcf().canvas.draw()
    ticks = [text.get_text() for text in axes.get_yticklabels()]
    assert all("10^{" in tick for tick in ticks if tick)


def test_every_entry_is_followed_from_step_to_step():
    rows = {"x": torch.tensor([1.0, 3.0]), "y": torch.tensor([-1.0, 1.0])}
    axes = figures.norm_steps(rows)
    dots = {
        line.get_gid(): (line.get_xdata()[0], line.get_ydata()[0])
        for line in axes.lines
        if (line.get_gid() or "").replace(" ", "").isdigit()
    }
    assert dots == {
        "0 0": (1, 0),
        "0 1": (3, 0),
        "1 0": (-1, -1),
        "1 1": (1, -1),
    }
    assert [text.get_text() for text in axes.texts] == ["1", "3", "−1", "1"]


def test_layer_norm_takes_a_row_and_batch_norm_a_column():
    row, column = (
        {patch.get_gid() for patch in axes.patches if patch.get_gid()}
        for axes in figures.norm_axes(4, 3)
    )
    assert row == {"2 0", "2 1", "2 2"}
    assert column == {"0 1", "1 1", "2 1", "3 1"}


def test_a_memory_shows_its_ones():
    ones = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    panels = {"held": (["p", "q"], ones), "fired": (["u", "v"], 1 - ones)}
    first, second = figures.memory(["a", "b", "c"], panels)
    full = [
        {p.get_gid() for p in axes.patches if p.get_gid()}
        for axes in (first, second)
    ]
    assert full == [{"0 0", "1 1"}, {"0 1", "1 0", "2 0", "2 1"}]
    names = [text.get_text() for text in first.get_yticklabels()]
    assert names == ["a", "b", "c"]


def test_the_path_of_pre_norm_meets_no_norm():
    for axes, expected in zip(
        figures.residual_paths(),
        (["+", "norm", "+", "norm"], ["+", "+"]),
        strict=True,
    ):
        stations = named(axes.texts, "on the path")
        assert [text.get_text() for text in stations] == expected
        assert len(named(axes.patches, "into the sum")) == 2
        assert len(named(axes.patches, "path")) == len(expected) + 1
