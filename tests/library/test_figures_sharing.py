"""kit.figures.parallel: heads and batches shared by several workers."""

import pytest
import torch

from kit import figures
from tests.library.draw import draws

LOSSES = torch.linspace(4, 3, 10)
FORWARD, BACKWARD = list("abcd"), list("efgh")
DRAWN = {
    "two_workers": ({"what?": -3.0, "when?": 1.0}, 1.0),
    "there_and_back": (FORWARD, BACKWARD),
    "ring": (3,),
    "losses_together": (LOSSES, LOSSES, LOSSES - 0.1),
}


def named(marks):
    return {mark.get_gid(): mark for mark in marks if mark.get_gid()}


@draws("two_workers")
def test_the_parts_and_the_bias_add_up(drawn):
    found = named(drawn.texts)
    assert found["part 0"].get_text() == "−3"
    assert found["part 1"].get_text() == "+1"
    assert "−1" in found["total"].get_text()
    shown = [text.get_text() for text in drawn.texts]
    assert "bias +1, once" in shown
    assert {"copy 0", "copy 1", "bias", "sum"} <= set(named(drawn.patches))


@draws("there_and_back")
def test_each_node_sums_in_one_direction(drawn):
    shown = [text.get_text() for text in drawn.texts]
    assert set(FORWARD + BACKWARD) <= set(shown)
    assert set(named(drawn.texts)) == {
        "forward f copy",
        "forward g all-reduce",
        "backward f all-reduce",
        "backward g copy",
    }
    for arrow in (p for p in drawn.patches if p.get_gid()):
        (start, _), (end, _) = arrow._posA_posB
        assert (start < end) == (arrow.get_gid() == "there")


@pytest.mark.parametrize("world", [1, 2, 3, 4, 7])
def test_after_a_ring_all_have_the_sum(world):
    counts, sends = figures.ring_steps(world)
    assert len(sends) == len(counts) - 1 == 2 * (world - 1)
    assert counts[0] == [[1] * world] * world
    assert counts[-1] == [[world] * world] * world
    for before, after, sent in zip(counts, counts[1:], sends, strict=False):
        assert [w for w, _ in sent] == list(range(world))
        changed = sum(
            old != new
            for rows in zip(before, after, strict=True)
            for old, new in zip(*rows, strict=True)
        )
        assert changed == world  # what is sent tells each something


@draws("ring")
def test_the_ring_shows_its_steps(drawn):
    counts, sends = figures.ring_steps(3)
    shown = {k: t.get_text() for k, t in named(drawn.texts).items()}
    for t, rows in enumerate(counts):
        for w, row in enumerate(rows):
            for piece, count in enumerate(row):
                assert shown[f"count {t} {w} {piece}"] == str(count)
    arrows = set(named(drawn.patches))
    for t, sent in enumerate(sends):
        assert {f"sent {t} {w} {piece}" for w, piece in sent} <= arrows
        assert f"came {t}" in arrows


@draws("losses_together")
def test_three_curves_of_losses_and_their_differences(drawn):
    found = []
    for axes in drawn:
        lines = {line.get_label(): line for line in axes.lines}
        assert list(lines) == [
            "one process",
            "two, tokens equal",
            "two, workers equal",
        ]
        found.append([torch.as_tensor(x.get_ydata()) for x in lines.values()])
    one, same, other = found[0]
    assert torch.equal(one, same) and (other < one).all()
    for line, difference in zip(found[0], found[1], strict=True):
        assert torch.equal(line - one, difference)
