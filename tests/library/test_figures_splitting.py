"""kit.figures.heads: heads, and the cut."""

import torch

from kit import figures
from tests.library.draw import draws

WORDS = list("abc")
NUMBERS = torch.arange(24).view(3, 8)
SHADES = torch.arange(9.0).view(3, 3) / 8
HEADS = NUMBERS.view(3, 2, 4).transpose(0, 1)
ASKED = {"what?": [(0, 2), (2, 1)], "when?": [(1, 0)]}
SHAPES = {
    "X": (3, 5),
    "head": (3, 1),
    "concat": (3, 2),
    "W_O": (2, 4),
    "output": (3, 4),
}
DRAWN = {
    "questions": (WORDS, ASKED),
    "side_by_side": (SHAPES,),
    "cube": (NUMBERS, 4),
    "cut": (NUMBERS, HEADS, HEADS.flip(0)),
    "head_maps": ({"a": torch.eye(3), "b": SHADES}, WORDS),
}


@draws("questions")
def test_an_arrow_leads_from_each_question_to_its_answer(drawn):
    arrows = {a.get_gid(): a for a in drawn.patches if a.get_gid()}
    assert set(arrows) == {"what? 0 2", "what? 2 1", "when? 1 0"}
    for gid, arrow in arrows.items():
        start, end = map(int, gid.split()[1:])
        (x_0, y_0), (x_1, _) = arrow._posA_posB
        assert abs(x_0 - start) < 0.2 and abs(x_1 - end) < 0.2
        assert (y_0 > 0) == gid.startswith("what?")
        path = arrow.get_path().vertices[:, 1]  # away from the words
        assert abs(path).min() >= 0.25


@draws("side_by_side")
def test_the_shapes_stand_on_the_drawing(drawn):
    shown = [text.get_text() for text in drawn.texts]
    assert {"X  3 × 5", "concat  3 × 2", "$W_O$  2 × 4"} <= set(shown)
    assert shown.count("head  3 × 1") == 2
    gids = {arrow.get_gid() for arrow in drawn.patches}
    assert {"head 0", "head 1"} <= gids


@draws("cube")
def test_plate_and_sheets_hold_the_same_strips(drawn):
    for h in range(4):
        strip = NUMBERS[:, 2 * h : 2 * h + 2].flatten().tolist()
        for part in ("plate", "sheet"):
            found = [t for t in drawn.texts if t.get_gid() == f"{part} {h}"]
            assert [int(text.get_text()) for text in found] == strip
    gids = {arrow.get_gid() for arrow in drawn.patches}
    assert {"split", "merge"} <= gids


@draws("cut")
def test_head_colours_reads_a_figure_back(drawn):
    found = figures.head_colours(drawn)
    assert found["right"] == [["0"] * 12, ["1"] * 12]
    assert found["wrong"] == [["1"] * 12, ["0"] * 12]


@draws("head_maps")
def test_each_map_shows_its_weights_as_colours_and_numbers(drawn):
    for axes, (title, weights) in zip(
        drawn, DRAWN["head_maps"][0].items(), strict=True
    ):
        assert axes.get_title(loc="left") == title
        assert (axes.images[0].get_array() == weights.numpy()).all()
        shown = [text.get_text() for text in axes.texts]
        assert shown == [f"{w:.2f}" for w in weights.flatten().tolist()]
