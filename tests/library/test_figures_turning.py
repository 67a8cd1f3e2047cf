"""kit.figures.positions: places as angles."""

import math

import pytest
import torch
from matplotlib import pyplot as plt

from kit import figures
from lib.positions import sinusoidal_positions

TABLE = sinusoidal_positions(40, 16)
DRAWN = {
    "clocks": [(["a", "b"], [1.0, 0.1])],
    "counter": [(3,)],
    "waves": [(TABLE,)],
    "pair_curves": [(TABLE, [0, 1])],
    "agreement": [(TABLE, [10, 20], 10)],
    "turning_together": [(TABLE[0, :2], TABLE[1, :2], [(0, 1), (1, 2)])],
    "pairings": [(4,), (8,)],
    "place_maps": [({"a": TABLE[:5, :5], "b": TABLE[:5, :5]}, 3)],
}


@pytest.fixture(autouse=True)
def close():
    yield
    plt.gcf().canvas.draw()
    plt.close("all")


def gids(axes):
    """Every mark that has a gid, by it."""
    found = [*axes.lines, *axes.patches]
    return {mark.get_gid(): mark for mark in found if mark.get_gid()}


def test_hands_start_at_twelve_and_turn_clockwise():
    axes = figures.clocks(["a", "b", "c"], [math.pi / 2, 0.1])
    hands = gids(axes)
    assert len(hands) == 6
    ends = {
        name: (
            line.get_xdata()[1] - line.get_xdata()[0],
            line.get_ydata()[1] - line.get_ydata()[0],
        )
        for name, line in hands.items()
    }
    assert ends["hand 0 0"][0] == 0 < ends["hand 0 0"][1]
    assert ends["hand 0 1"][0] > 0.3 and abs(ends["hand 0 1"][1]) < 1e-9
    assert ends["hand 0 2"][1] < -0.3
    x, y = ends["hand 1 2"]
    assert math.atan2(x, y) == pytest.approx(0.2)


def test_the_ones_of_a_counter_change_at_every_step():
    lines = gids(figures.counter(2))
    ones, twos = (lines[f"digit {j}"].get_ydata() for j in (0, 1))
    assert [y - min(ones) for y in ones] == [0, 1, 0, 1, 1]
    assert [y - min(twos) for y in twos] == [0, 0, 1, 1, 1]
    assert lines["wave 0"].get_ydata()[30] == pytest.approx(1)


def test_waves_say_how_long_a_turn_takes():
    axes = figures.waves(sinusoidal_positions(5, 8), base=16.0)
    (top,) = axes.child_axes
    labels = [label.get_text() for label in top.get_xticklabels()]
    assert labels == ["6", "13", "25", "50"]
    assert axes.images[0].get_array().shape == (5, 8)


def test_a_panel_for_each_pair():
    panels = figures.pair_curves(sinusoidal_positions(9, 8), [0, 2])
    names = [[n for n in gids(axes) if n != "turn"] for axes in panels]
    assert names == [["0", "1"], ["4", "5"]]
    assert all("turn" in gids(axes) for axes in panels)


def test_all_hands_agree_at_distance_0_only():
    lines = gids(figures.agreement(TABLE, [10, 20], 10))
    total = list(lines["sum"].get_ydata())
    assert total.index(max(total)) == 10
    assert total[10] == pytest.approx(1)
    dots = list(lines["place 20"].get_ydata())
    assert dots == pytest.approx(total[::5], abs=1e-5)
    assert lines["pair 0"].get_ydata()[0] == pytest.approx(math.cos(10))
    assert "pair 2" in lines


def test_query_and_key_turn_together_anticlockwise():
    q, k = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
    axes = figures.turning_together(q, k, [(0, 0), (math.pi / 2, 2)])
    tips = gids(axes)
    places = [
        (tips[name].get_xdata()[0], tips[name].get_ydata()[0])
        for name in ("query 0", "key 0", "query 1")
    ]
    radius = 0.43
    assert places[0] == pytest.approx((radius, 0))
    assert places[1] == pytest.approx((0, radius))
    assert places[2] == pytest.approx((1.12, radius))


def test_the_arrows_lead_from_neighbours_to_halves():
    moves = [name for name in gids(figures.pairings(4)) if name]
    assert moves == ["0 0", "2 1", "1 2", "3 3"]


def test_a_map_for_each_panel_and_a_frame_around_the_training():
    shares = torch.rand(7, 7)
    panels = figures.place_maps({"a": shares, "b": shares}, 3)
    assert [axes.get_title(loc="left") for axes in panels] == ["a", "b"]
    for axes in panels:
        drawn = torch.as_tensor(axes.images[0].get_array())
        torch.testing.assert_close(drawn.float(), shares)
        assert axes.patches[0].get_width() == pytest.approx(2.96)
