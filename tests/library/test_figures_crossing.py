"""kit.figures.decoder: one sentence reads another."""

import pytest
import torch

from tests.library.draw import draws

SOURCE, TARGET = list("abc"), list("wxyz")
WEIGHTS = torch.tensor([[0.0, 0.1, 0.9], [1.0, 0.0, 0.0]])
SEEN = torch.tensor([True, True, False])
DRAWN = {
    "alignments": (
        [(SOURCE, TARGET[:2], WEIGHTS), (["a"], ["b"], WEIGHTS[1:, :1])],
    ),
    "three_rows": (SOURCE, TARGET[:3], [*TARGET[1:3], "end"]),
    "decoder_layer": (TARGET, SOURCE),
    "three_masks": (
        {
            "encoder self": SEEN.expand(3, 3),
            "decoder self": torch.ones(4, 4).tril() > 0,
            "decoder cross": SEEN.expand(4, 3),
        },
        SOURCE,
        TARGET,
    ),
}


def arrows(axes):
    """The arrows by gid; of several with one gid the last."""
    return {p.get_gid(): p for p in axes.patches if p.get_gid()}


def ends(arrow):
    return arrow._posA_posB


def texts(axes, gid):
    return [t.get_text() for t in axes.texts if t.get_gid() == gid]


@draws("alignments")
def test_arrows_are_as_wide_as_weights_and_small_ones_are_left_out(drawn):
    first, second = map(arrows, drawn)
    assert set(first) == {"look 0 1", "look 0 2", "look 1 0"}
    assert set(second) == {"look 0 0"}
    widths = [first[f"look {at}"].get_linewidth() for at in ("0 1", "0 2")]
    assert widths == pytest.approx([0.9, 4.1])
    (_, low), (_, high) = ends(first["look 1 0"])
    assert low < high  # from the target below to the source above
    assert texts(drawn[0], "source") == SOURCE
    assert texts(drawn[0], "target") == TARGET[:2]


@draws("three_rows")
def test_a_position_reads_up_to_itself_and_says_the_next(drawn):
    found = arrows(drawn)
    reads = {gid for gid in found if gid.startswith("reads")}
    assert reads == {f"reads {t} {j}" for t in range(3) for j in range(t + 1)}
    assert {"says 0", "says 1", "says 2", "hears"} <= set(found)
    shifts = {gid for gid in found if gid.startswith("shift")}
    assert shifts == {"shift 0", "shift 1"}
    assert texts(drawn, "decoder input") == TARGET[:3]
    assert texts(drawn, "target") == [*TARGET[1:3], "end"]
    assert texts(drawn, "source") == SOURCE


@draws("decoder_layer")
def test_a_block_looks_back_and_reads_the_memory(drawn):
    back = [p for p in drawn.patches if p.get_gid() == "across"]
    assert len(back) == 4 * 5 // 2
    assert all(ends(p)[0][0] <= ends(p)[1][0] for p in back)
    gids = [p.get_gid() for p in drawn.patches]
    counts = {name: gids.count(name) for name in ("Q", "K", "V", "reads")}
    assert counts == {"Q": 4, "K": 1, "V": 1, "reads": 4}
    assert texts(drawn, "memory") == SOURCE
    assert texts(drawn, "position") == TARGET
    assert len(texts(drawn, "+")) == len(texts(drawn, "norm")) == 12


@draws("three_masks")
def test_each_attention_shows_its_mask_and_its_origins(drawn):
    expected = DRAWN["three_masks"][0].values()
    origins = (
        ("source", "source"),
        ("decoder input", "decoder input"),
        ("decoder input", "memory"),
    )
    for axes, mask, (asks, answers) in zip(
        drawn, expected, origins, strict=True
    ):
        found = set(arrows(axes))
        assert {f"Q {asks}", f"K {answers}", f"V {answers}"} <= found
        for i, row in enumerate(mask.tolist()):
            for j, seen in enumerate(row):
                state = "open" if seen else "closed"
                assert f"{state} {i} {j}" in found
