"""The figures of chapter 2 show what their captions say."""

import pytest
import torch
from matplotlib import pyplot as plt

from kit import figures

QUERY = torch.tensor([2.0, -1.0])
KEYS = {"near": torch.tensor([3.0, 2.0]), "far": torch.tensor([-1.0, 2.0])}
AXES = ("x", "y")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def marked(axes, gid):
    """The lines of a figure whose gid begins so."""
    return [x for x in axes.lines if (x.get_gid() or "").startswith(gid)]


def test_a_shadow_ends_below_the_tip_of_its_key():
    panels = figures.shadows(QUERY, KEYS, "asks")
    assert [axes.get_title("left") for axes in panels] == [
        "asks · near\n= 2.24 × 1.79 = 4",
        "asks · far\n= 2.24 × (−1.79) = −4",
    ]
    for axes, key in zip(panels, KEYS.values(), strict=True):
        (shadow,) = marked(axes, "shadow")
        start, end = torch.tensor(shadow.get_xydata())
        assert not start.any()
        assert abs((key - end) @ QUERY.double()) < 1e-6
        (drop,) = marked(axes, "drop")
        assert drop.get_xydata().tolist() == [key.tolist(), end.tolist()]


def test_the_ruler_reads_the_scores():
    axes = figures.ruler(QUERY, KEYS, "asks", AXES)
    feet = [mark.get_xydata()[0].tolist() for mark in marked(axes, "foot")]
    assert feet == [[1.6, -0.8], [-1.6, 0.8]]
    texts = [text.get_text() for text in axes.texts]
    assert texts == [
        *("−4", "−3", "−2", "2", "3", "4", "5"),
        *("near", "far", "asks"),
    ]
    assert (axes.get_xlabel(), axes.get_ylabel()) == AXES


def test_the_number_of_a_tick_stands_across_from_its_key():
    below = {"below": torch.tensor([1.0, -1.0])}
    for keys, sign in (({"above": torch.tensor([2.0, 1.0])}, -1), (below, 1)):
        axes = figures.ruler(QUERY, keys, "asks", AXES)
        (number,) = [text for text in axes.texts if text.get_text() == "3"]
        height = number.get_position()[1] - 3 / 5 * QUERY[1].item()
        assert height * sign > 0


def test_every_step_to_shares_carries_its_numbers():
    scores = torch.tensor([1.0, -1.0])
    panels = figures.to_shares(["a", "b"], scores, {"exp": scores.exp()})
    assert [axes.get_title("left") for axes in panels] == ["score", "exp"]
    assert [bar.get_width() for bar in panels[0].patches] == [1, -1]
    numbers = [text.get_text() for text in panels[1].texts if text.get_text()]
    assert numbers == ["2.72", "0.37"]
    assert [text.get_text() for text in panels[0].texts][:2] == ["1", "−1"]


def test_spread_marks_median_and_mean():
    sizes = torch.tensor([0.0, 1e-9, 0.01, 1.0, 9.0])
    first, second = figures.spread({"wide": sizes, "one": sizes + 1}, "size")
    (median,), (mean,) = marked(first, "median"), marked(first, "mean")
    assert median.get_xdata()[0] == pytest.approx(0.01)
    assert mean.get_xdata()[0] == pytest.approx(10.01 / 5, abs=1e-3)
    assert median.get_label() == "median 0.01"
    heights = [bar.get_height() for bar in first.patches]
    assert heights[0] == 2 and sum(heights) == 5  # the least share one bar
    assert second.get_xlabel() == "size" and first.get_title("left") == "wide"
