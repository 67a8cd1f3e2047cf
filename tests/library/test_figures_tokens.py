"""kit.figures.text: words, ids, tables and maps are drawn as they are."""

import pytest
import torch
from matplotlib import pyplot as plt

from kit import figures
from kit.figures.text import _free_place

WORDS = ["Life", "is", "short"]
TABLE = torch.tensor([[0.1, -0.2], [2.0, 0.0], [-0.5, 0.25]])


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def texts(axes, name):
    return [t.get_text() for t in axes.texts if t.get_gid() == name]


def test_the_road_from_words_to_vectors():
    axes = figures.road(
        "Life", {"Life": 0, "short": 2}, [[0.1, -2.0], [0.5, 0.25]]
    )
    assert texts(axes, "token") == ["Life", "short"]
    assert texts(axes, "id") == ["0", "2"]
    assert texts(axes, "entry") == ["0.10", "-2.00", "0.50", "0.25"]


def test_each_id_takes_its_row():
    axes = figures.lookup(WORDS, [2, 0, 1], TABLE)
    assert texts(axes, "id") == ["2", "0", "1"]
    taken = [f"{value:.2f}" for value in TABLE[[2, 0, 1]].flatten().tolist()]
    assert texts(axes, "matrix") == taken
    arrows = [patch.get_gid() for patch in axes.patches if patch.get_gid()]
    assert arrows == ["asks", "takes"] * 3


def test_arrows_end_at_the_vectors():
    axes = figures.word_arrows(TABLE, WORDS, ("x", "y"))
    tips = torch.tensor(axes.collections[0].get_offsets().tolist())
    torch.testing.assert_close(tips, TABLE)


def test_a_batch_has_a_box_for_each_token():
    axes = figures.token_grid([WORDS, ["a", "-"]], "-")
    shown = {t.get_text(): t.get_color() for t in axes.texts}
    assert [*shown] == [*WORDS, "a", "-"]
    assert shown["-"] == figures.LEGIBLE[figures.FAINT] != shown["a"]


def test_the_shift_joins_equal_tokens():
    axes = figures.shift(["<bos>", "a", "b"], ["a", "b", "<eos>"])
    assert texts(axes, "reads") == ["<bos>", "a", "b"]
    assert texts(axes, "says") == ["a", "b", "<eos>"]
    arrows = [patch.get_gid() for patch in axes.patches]
    assert arrows.count("must say") == 3 and arrows.count("same") == 2


def test_a_map_shows_each_word_at_its_vector():
    kinds = {"thing": ["Life"], "other": ["is", "short"]}
    panels = figures.word_map({"old": TABLE, "new": -TABLE}, WORDS, kinds)
    for axes, expected in zip(panels, (TABLE, -TABLE), strict=True):
        at = [line.get_xydata()[0].tolist() for line in axes.lines]
        torch.testing.assert_close(torch.tensor(at), expected)
        marks = {line.get_gid(): line.get_marker() for line in axes.lines}
        assert marks["is"] == marks["short"] != marks["Life"]


def test_no_label_covers_another():
    crowd = torch.zeros(6, 2) + torch.arange(6).unsqueeze(1) / 1000
    names = [f"word {i}" for i in range(6)]
    (axes, _) = figures.word_map(
        dict.fromkeys("ab", crowd), names, {"": names}
    )
    axes.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == 6
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_a_label_without_a_free_place_stays_at_its_point():
    everywhere, place = [((0, 0), (1000, 1000))], torch.zeros(2).numpy()
    frame = torch.tensor([[-99, -99], [99, 99]]).numpy()
    assert _free_place(everywhere, place, (5, 5), frame) is place


def test_a_label_stays_in_the_frame():
    corner = torch.tensor([98.0, 98.0]).numpy()
    frame = torch.tensor([[-99, -99], [99, 99]]).numpy()
    x, y = _free_place([], corner, (20, 5), frame)
    assert x + 20 < 99 and y + 5 < 99


def test_lengths_are_drawn_as_measured():
    measured = torch.tensor([[1.0, 4.0, 2.8], [1.0, 8.0, 5.7]])
    axes = figures.lengths([16, 64], measured)
    drawn = torch.tensor([line.get_ydata().tolist() for line in axes.lines])
    torch.testing.assert_close(drawn.T, measured)
    assert [line.get_xdata().tolist() for line in axes.lines] == [[16, 64]] * 3
