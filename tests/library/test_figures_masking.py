"""kit.figures.masks: what may be read, and how it is hidden."""

import pytest
import torch
from matplotlib import pyplot as plt

from kit import figures

CAUSAL = torch.ones(3, 3).tril() == 1
WORDS = list("abc")


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def written(axes):
    return {text.get_gid(): text.get_text() for text in axes.texts}


def test_a_row_reads_up_to_its_own_place_and_says_the_next():
    axes = figures.reads_and_says(WORDS, ["b", "c", "d"])
    texts = written(axes)
    read = [gid for gid in texts if gid and gid.startswith("reads ")]
    assert sorted(read) == [
        f"reads {t} {j}" for t in range(3) for j in range(t + 1)
    ]
    assert [texts[f"says {t}"] for t in range(3)] == ["b", "c", "d"]
    boxes = {patch.get_gid() for patch in axes.patches}
    assert {"hidden 0 1", "hidden 0 2", "hidden 1 2"} <= boxes


def test_scores_and_mask_and_their_sum_and_its_softmax():
    scores = torch.tensor([[1.0, 2.0, 3.0]] * 3)
    weights = scores.masked_fill(~CAUSAL, -torch.inf).softmax(dim=-1)
    panels = figures.masking_steps(scores, ~CAUSAL, weights, WORDS)
    assert len(panels) == 4
    middle = [written(axes)["1 1"] for axes in panels]
    assert middle == ["2.00", "0", "2.00", "0.73"]
    corner = [written(axes)["0 2"] for axes in panels]
    assert corner == ["3.00", "−∞", "−∞", "0"]
    assert written(panels[0])[None] == "+"


def test_only_the_outer_masks_have_labels():
    grid = figures.mask_panels(dict.fromkeys("abcd", CAUSAL), WORDS, WORDS)
    plt.gcf().canvas.draw()
    across = [[t.get_text() for t in a.get_xticklabels()] for a in grid]
    assert across == [[], [], WORDS, WORDS]


def test_a_finite_row_next_to_nan_has_dashed_arrows():
    mask = CAUSAL & torch.tensor([False, True, True])
    finite = torch.tensor([False, True, True])
    axes = figures.nan_spreads([finite | True, finite, ~finite], mask, WORDS)
    dashed = {p.get_gid() for p in axes.patches if p.get_gid()}
    assert dashed == {"zero 1 0 1", "zero 1 0 2"}
    texts = written(axes)
    assert texts["nan 1 0"] == "NaN" and texts["finite 0 0"] == "a"
