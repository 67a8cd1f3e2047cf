"""kit.figures.modern: the block of 2017 and that of today."""

import torch

from tests.library.draw import draws

KNOWS = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]]).bool()
LINES = {"steep": -torch.arange(20) / 2, "flat": -torch.arange(20) / 100}
STEPS = torch.tensor([0.5] * 8 + [-1.0] * 12)
DRAWN = {
    "two_blocks": (),
    "gate": (),
    "kept_angles": (list("abc"), 2),
    "reach": (KNOWS, list("abcd")),
    "biases": (LINES, STEPS, 12),
    "one_row": (list("hiB12"), ["", "", "1", "2", "E"]),
}


def named(axes):
    return {p.get_gid(): p for p in axes.patches if p.get_gid()}


def said(axes):
    return {t.get_gid(): t.get_text() for t in axes.texts if t.get_gid()}


@draws("two_blocks")
def test_the_changes_stand_at_the_block_of_today(drawn):
    old, new = map(said, drawn)
    numbers = {f"change {n}": f"{n}" for n in range(1, 8)}
    assert numbers.items() <= new.items()
    assert not any(gid.startswith("change") for gid in old)
    assert [axes.get_title(loc="center") for axes in drawn] == [
        "2017",
        "today",
    ]
    assert old["start"] == "x + position" and new["start"] == "x"


@draws("two_blocks")
def test_each_block_has_two_sums_and_two_norms(drawn):
    for axes, norm in zip(drawn, ("LayerNorm", "RMSNorm"), strict=True):
        texts = [t.get_text() for t in axes.texts]
        assert texts.count("+") == texts.count(norm) == 2
    path = [t.get_position()[0] for t in drawn[0].texts
            if t.get_text() == "LayerNorm"]  # fmt: skip
    aside = [t.get_position()[0] for t in drawn[1].texts
             if t.get_text() == "RMSNorm"]  # fmt: skip
    assert max(path) < 1 < min(aside)


@draws("gate")
def test_silu_is_a_relu_without_the_corner(drawn):
    _, right = drawn
    lines = {line.get_gid(): line.get_ydata() for line in right.lines}
    assert min(lines["relu"]) == 0 and -0.28 < min(lines["silu"]) < -0.27
    assert {"$W_1$", "$W_2$", "$W_3$", "silu", "product", "x"} <= set(
        said(drawn[0])
    )


@draws("kept_angles")
def test_keys_are_turned_by_their_places(drawn):
    assert {"key 0", "key 1", "query"} == set(named(drawn))
    assert [said(drawn)[f"place {j}"] for j in range(3)] == ["0", "1", "2"]


@draws("reach")
def test_cells_say_who_knows(drawn):
    gids = set(named(drawn))
    assert {f"knows {h} {j}" for h in range(3) for j in range(h + 1)} <= gids
    assert {f"not {h} {j}" for h in range(3) for j in range(h + 1, 4)} <= gids
    steps = [p for p in drawn.patches if "step" in str(p.get_gid())]
    assert len(steps) == 4


@draws("biases")
def test_lines_and_steps(drawn):
    lines = {line.get_gid(): line for line in drawn.lines}
    assert set(lines) == {"steep", "flat", "T5", "window"}
    assert list(lines["T5"].get_ydata()) == STEPS.tolist()
    assert lines["window"].get_xdata()[0] == 11.5


@draws("one_row")
def test_only_the_answer_must_be_said(drawn):
    texts = said(drawn)
    assert [texts[f"read {j}"] for j in range(5)] == list("hiB12")
    musts = {gid: t for gid, t in texts.items() if gid.startswith("must")}
    assert musts == {"must 2": "1", "must 3": "2", "must 4": "E"}
