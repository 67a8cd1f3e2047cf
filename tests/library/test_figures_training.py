"""kit.figures.training: one date, paths, schedules, curves and texts."""

import pytest
import torch

from tests.library.draw import draws

ISO = list("19-3")
HISTORY = (
    [0, 5, 10],
    {"training": [4.0, 1.0, 0.5], "validation": [4.0, 2.0, 3.0]},
    {"training": [0.0, 0.5, 1.0], "validation": [0.0, 0.0, 0.25]},
    {"guessing": 2.7},
)
TEXTS = {0: ["<bos>"] * 5, 10: ["1", "8", "-", "3", "<eos>", "3"]}
PATH = torch.tensor([[1.0, 1.0], [0.5, -0.5], [0.0, 0.1]])
DRAWN = {
    "triple": (list("a␣b"), ["<bos>", *ISO], [*ISO, "<eos>"]),
    "valley": ((1.0, 20.0), {"descent": PATH, "Adam": -PATH}),
    "rates": ({"a": PATH[:, 0], "b": PATH[:, 1] ** 2},),
    "wanted": (list("ab"), {"p": PATH[1], "q": PATH[2]}),
    "learning": HISTORY,
    "watched": (HISTORY, TEXTS, [*ISO, "<eos>"]),
}


def gids(artists):
    return [a.get_gid() for a in artists if a.get_gid()]


@draws("triple")
def test_three_rows_and_the_arrows_between_them(drawn):
    shown = {t.get_gid(): t.get_text() for t in drawn.texts if t.get_gid()}
    assert [shown[f"source {i}"] for i in range(3)] == list("a␣b")
    assert [shown[f"given {i}"] for i in range(5)] == ["BOS", *ISO]
    assert [shown[f"wanted {i}"] for i in range(5)] == [*ISO, "EOS"]
    arrows = gids(drawn.patches)
    assert arrows.count("memory") == 1
    assert {f"says {i}" for i in range(5)} <= set(arrows)
    assert [a for a in arrows if a.startswith("next")] == [
        f"next {i}" for i in range(4)
    ]


@draws("triple")
def test_a_dashed_arrow_leads_from_a_wanted_token_to_where_it_is_given(drawn):
    at = {t.get_gid(): t.get_position() for t in drawn.texts if t.get_gid()}
    for patch in drawn.patches:
        if (patch.get_gid() or "").startswith("next"):
            i = int(patch.get_gid().split()[1])
            (x_0, y_0), (x_1, y_1) = patch._posA_posB
            assert abs(x_0 - at[f"wanted {i}"][0]) < 0.5
            assert abs(x_1 - at[f"given {i + 1}"][0]) < 0.5
            assert at[f"given {i}"][1] < y_1 < y_0 < at[f"wanted {i}"][1]


@draws("valley")
def test_the_paths_are_those_that_were_given(drawn):
    lines = {line.get_gid(): line for line in drawn.lines}
    assert set(lines) == {"descent", "Adam", "least"}
    xs, ys = lines["descent"].get_data()
    assert list(xs) == pytest.approx(PATH[:, 0].tolist())
    assert list(ys) == pytest.approx(PATH[:, 1].tolist())


@draws("rates")
def test_rates_begin_at_step_1(drawn):
    assert [line.get_gid() for line in drawn.lines] == ["a", "b"]
    assert list(drawn.lines[0].get_xdata()) == [1, 2, 3]
    assert drawn.lines[0].get_linestyle() != drawn.lines[1].get_linestyle()


@draws("wanted")
def test_bars_stand_side_by_side_with_their_numbers(drawn):
    heights = [bar.get_height() for bar in drawn.patches]
    assert heights == pytest.approx([0.5, -0.5, 0.0, 0.1])
    assert [text.get_text() for text in drawn.texts][:2] == ["0.50", "-0.50"]


@draws("learning")
def test_losses_left_and_exact_match_right(drawn):
    for axes, named in zip(drawn, HISTORY[1:3], strict=True):
        lines = {line.get_gid(): line for line in axes.lines}
        for name, values in named.items():
            assert list(lines[name].get_ydata()) == values
    assert "guessing" in gids(drawn[0].lines)


@draws("watched")
def test_wrong_tokens_are_marked(drawn):
    assert len(drawn) == 3
    marks = gids(drawn[2].patches)
    assert marks[:5] == ["wrong"] * 5
    assert marks[5:] == ["right", "wrong", "right", "right", "right", "wrong"]
