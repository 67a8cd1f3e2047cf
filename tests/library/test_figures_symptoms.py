"""kit.figures.bugs: what a bug looks like from outside."""

import pytest
import torch

from tests.library.draw import draws

CAUSAL = torch.ones(3, 3).tril() > 0
FAINT = torch.tensor([[1.0, 0.001, 0.0], [0.0, 1.0, 0.5], [1.0, 1.0, 1.0]])
POINTS = [
    [torch.linspace(-1, 1, 5), s * torch.linspace(-1, 1, 5)] for s in (1, 0.5)
]
DRAWN = {
    "hearing": ({"right": CAUSAL.float(), "wrong": FAINT}, CAUSAL),
    "too_good": ({"ours": [2.0, 1.5], "hers": [2.0, 0.5]}, 1.07),
    "slopes": (["one", "half"], POINTS),
    "verdicts": (
        ["a", "b"],
        ["x", "y"],
        [["holds", "fails"], ["note", "not offered"]],
    ),
    "consequences": (
        ["a", "b"],
        ["x", "y"],
        [{"x", "y"}, {"y"}],
        [{"x"}, {"y"}],
    ),
}


@draws("hearing")
def test_a_cell_says_whether_it_is_heard_and_should_be(drawn):
    right, wrong = ([p.get_gid() for p in ax.patches] for ax in drawn)
    assert right.count("heard") == 6 and right.count("silent") == 3
    assert wrong.count("leak") == 2 and wrong.count("lost") == 1
    faint = [p for p in drawn[1].patches if p.get_gid() == "leak"]
    assert sorted(p.get_alpha() for p in faint) == [0.45, 1.0]
    assert [t.get_text() for t in drawn[1].texts] == ["!", "×", "!"]
    assert [ax.get_title() for ax in drawn] == ["right", "wrong"]


@draws("too_good")
def test_the_curves_and_the_floor(drawn):
    lines = {line.get_gid(): list(line.get_ydata()) for line in drawn.lines}
    assert lines["ours"] == [2.0, 1.5] and lines["hers"] == [2.0, 0.5]
    assert lines["floor"] == [1.07, 1.07]
    assert "impossible" in [p.get_gid() for p in drawn.patches]


@draws("slopes")
def test_each_cloud_has_its_line(drawn):
    points = [
        line for line in drawn.lines if line.get_gid() in ("one", "half")
    ]
    assert len(points) == 2 and len(drawn.lines) == 4
    for line, slope in zip(drawn.lines[1::2], (1, 0.5), strict=True):
        (x_0, x_1), (y_0, y_1) = line.get_data()
        assert (y_1 - y_0) / (x_1 - x_0) == pytest.approx(slope)


@draws("consequences")
def test_a_filled_ring_is_the_cause(drawn):
    gids = {line.get_gid() for line in drawn.lines}
    assert gids == {"cause 0 0", "follows 0 1", "cause 1 1"}
    assert len(drawn.patches) == 4


@draws("verdicts")
def test_a_cell_shows_its_verdict(drawn):
    gids = [patch.get_gid() for patch in drawn.patches]
    assert gids == ["holds", "fails", "note", "not offered"]
    marks = [text.get_text() for text in drawn.texts]
    assert marks.count("×") == 1 and marks.count("n") == 1
