"""The figures of chapter 3 say what their captions say."""

import torch
from matplotlib import pyplot as plt

from kit import figures
from tests.library.draw import draws

WORDS = list("abc")
SQUARE = torch.arange(9.0).view(3, 3)
PARTS = SQUARE[:, :2], SQUARE[:, :2] + 1, torch.ones(3, 4)
LOOKS = {"x": torch.eye(2), "y": 1 - torch.eye(2)}
DRAWN = {
    "dependencies": (WORDS, {"a": "c", "b": "a"}),
    "flow": (SQUARE, PARTS, WORDS, 1),
    "letters": (SQUARE[:, :2], SQUARE[:, 1:], 2, 0),
    "wiring": (torch.full((3, 3), 1 / 3), WORDS),
    "picture": (torch.zeros(2, 2, 3), LOOKS),
}


def gids(artists):
    return [artist.get_gid() for artist in artists if artist.get_gid()]


@draws("dependencies")
def test_an_arrow_from_each_word_to_the_one_it_needs(drawn):
    assert [text.get_text() for text in drawn.texts] == WORDS
    assert gids(drawn.patches) == ["needs a c", "needs b a"]


@draws("flow")
def test_the_flow_names_every_shape(drawn):
    shapes = {t.get_gid(): t.get_text() for t in drawn.texts if t.get_gid()}
    assert shapes == {
        "shape X": "3 × 3",
        "shape Q": "3 × 2",
        "shape K": "3 × 2",
        "shape V": "3 × 4",
        "shape scores": "3 × 3",
        "shape weights": "3 × 3",
        "shape context": "3 × 4",
    }
    bold = [t.get_text() for t in drawn.texts if t.get_fontweight() == "bold"]
    assert [word for word in bold if word in WORDS] == ["b"]


@draws("letters")
def test_the_lit_cell_holds_the_score_of_its_row_and_column(drawn):
    q, k, *_ = DRAWN["letters"]
    (score,) = [text for text in drawn.texts if text.get_gid() == "score"]
    assert score.get_text() == f"{(q[2] @ k[0]).item():.2f}"
    axes_letters = [
        t.get_text() for t in drawn.texts if t.get_style() != "normal"
    ]
    assert axes_letters == list("idjdij")


@draws("wiring")
def test_a_linear_layer_has_straight_arrows_only(drawn):
    linear, attention = drawn
    assert gids(linear.patches) == [f"from {i} to {i}" for i in range(3)]
    assert len(gids(attention.patches)) == 9


def test_the_wider_arrow_is_the_larger_weight():
    weights = torch.tensor([[0.9, 0.1], [0.0, 1.0]])
    _, attention = figures.wiring(weights, WORDS[:2])
    widths = {p.get_gid(): p.get_linewidth() for p in attention.patches}
    assert widths.keys() == {"from 0 to 0", "from 1 to 0", "from 1 to 1"}
    assert widths["from 1 to 0"] < widths["from 0 to 0"]
    plt.close("all")


@draws("picture")
def test_each_word_has_its_own_map_of_the_picture(drawn):
    _, *maps = drawn
    assert [axes.get_title(loc="left") for axes in maps] == ["“x”", "“y”"]
    for axes, weights in zip(maps, LOOKS.values(), strict=True):
        assert axes.images[0].get_array().tolist() == weights.tolist()
