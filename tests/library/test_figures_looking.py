"""kit.figures.learnt: what a trained model looks at, needs, was made of."""

import torch

from tests.library.draw import draws

TEXT, ISO = "3 mai 2019", "2019-05-03"
WEIGHTS = torch.eye(10)
SEEDS = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])
DRAWN = {
    "meaning": (["3", "mai", "2019"], {"year": 2, "month": 1, "day": 0}),
    "links": (
        {TEXT: WEIGHTS * 0.9 + 0.04, "2019年5月3日": torch.ones(10, 9) / 9},
        {TEXT: ISO, "2019年5月3日": ISO},
    ),
    "character_maps": ({"a": WEIGHTS, "b": WEIGHTS / 2}, ISO, TEXT),
    "splice": ("3 mai 2019", (2, 5), "7 April 2020", (2, 7)),
    "month_table": (
        {"A": torch.linspace(0, 1, 12).tolist(), "B": [0.0] * 12},
        {"A": ["enero"] * 12, "B": ["maj"] * 12},
        {"A": [True] * 6 + [False] * 6, "B": [False] * 12},
    ),
    "differences": ({"large": {"a": SEEDS}, "small": {"b": -SEEDS}},),
    "bag_shares": ([1, 2, 6], torch.tensor([[1.0, 0.4, 0.1]] * 2)),
}


@draws("meaning")
def test_an_arrow_leads_to_each_part(drawn):
    ends = {a.get_gid(): a._posA_posB for a in drawn.patches if a.get_gid()}
    assert set(ends) == {"year", "month", "day"}
    starts = [ends[part][0][0] for part in ("day", "month", "year")]
    stops = [ends[part][1][0] for part in ("year", "month", "day")]
    assert starts == sorted(starts) and stops == sorted(stops)


@draws("links")
def test_every_weight_of_a_twentieth_and_more_is_a_line(drawn):
    first, second = (
        {p.get_gid(): p.get_linewidth() for p in axes.patches if p.get_gid()}
        for axes in drawn
    )
    assert set(first) == {f"{t} {t}" for t in range(10)}
    assert len(second) == 90
    assert min(first.values()) > max(second.values())


@draws("links")
def test_characters_that_the_font_lacks_are_strokes(drawn):
    strokes = [line.get_gid() for line in drawn[1].lines]
    assert set(strokes) == {"年", "月", "日"}
    shown = [text.get_text() for text in drawn[0].texts]
    assert "".join(shown[: len(TEXT)]) == TEXT.replace(" ", "␣")
    assert not drawn[0].lines


@draws("character_maps")
def test_the_maps_hold_the_matrices(drawn):
    for axes, factor in zip(drawn, (1, 0.5), strict=True):
        shown = torch.tensor(axes.images[0].get_array())
        torch.testing.assert_close(shown.float(), factor * WEIGHTS)
        letters = [label.get_text() for label in axes.get_yticklabels()]
        assert "".join(letters) == ISO


@draws("splice")
def test_the_new_row_has_the_piece_of_the_donor(drawn):
    rows = {}
    for text in drawn.texts:
        if text.get_gid():
            rows.setdefault(text.get_gid(), []).append(text.get_text())
    assert "".join(rows["new"]) == "3␣April␣2019"
    assert "".join(rows["text"]) == TEXT.replace(" ", "␣")
    assert {"piece", "rest"} <= {p.get_gid() for p in drawn.patches}


@draws("month_table")
def test_known_names_are_bold(drawn):
    weight = {
        text.get_gid(): text.get_fontweight()
        for text in drawn.texts
        if text.get_gid()
    }
    assert weight == {"known": "bold", "unknown": "normal"}
    assert {text.get_text() for text in drawn.texts} == {"ene", "maj"}
    assert drawn.images[0].get_array()[0, -1] == 1


@draws("differences")
def test_the_mean_stands_between_its_errors(drawn):
    for axes, sign in zip(drawn, (1, -1), strict=True):
        marks = {line.get_gid(): line.get_xdata() for line in axes.lines}
        assert list(marks["seed"]) == (sign * SEEDS).tolist()
        assert marks["mean"][0] == 3 * sign
        half = (marks["error"][1] - marks["error"][0]) / 2
        assert abs(half - (2.5 / 5) ** 0.5) < 1e-5


@draws("bag_shares")
def test_the_curve_is_one_in_so_many(drawn):
    lines = {line.get_gid(): line for line in drawn.lines}
    x, y = lines["luck"].get_xdata(), lines["luck"].get_ydata()
    assert x[0] == 1 and y[0] == 100 and abs(y[-1] - 100 / 6) < 1e-9
    assert abs(lines["seed"].get_ydata()[1] - 40) < 1e-4
    assert [line.get_gid() for line in drawn.lines].count("seed") == 2
