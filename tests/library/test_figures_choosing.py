"""kit.figures.decoding: the tree, the cuts, and the beams."""

import torch
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

from kit import figures
from tests.library.draw import draws

NAMES = ["ab.", "ac.", "acc.", "d.", "d."]
STEPS = [
    [("a", 0.6), ("b", 0.3), ("c", 0.1)],
    [("aa", 0.3), ("b.", 0.2), ("ab", 0.2), ("ba", 0.1)],
    [("b.", 0.2), ("aab", 0.1), ("aaa", 0.1)],
]
DRAWN = {
    "name_tree": (NAMES,),
    "cuts": (
        {
            "sure": {"a": 0.8, "b": 0.15, "c": 0.05},
            "not sure": {"a": 0.4, "b": 0.3, "c": 0.25},
        },
        2,
        0.75,
    ),
    "quality_and_variety": ([0.5, 1.0, 2.0], [0.9, 0.5, 0.1], [3, 7, 2]),
    "probabilities": (
        {
            "drawn": torch.tensor([-3.0, -1.0, -0.5]),
            "real": torch.tensor([-2.0]),
        },
        "log p",
    ),
    "beams": (STEPS, 2, 4),
}


@draws("name_tree")
def test_the_tree_has_the_shares_of_the_names(drawn):
    shown = {t.get_gid(): t.get_text() for t in drawn.texts if t.get_gid()}
    assert shown == {
        "share a": "0.60",
        "share d": "0.40",
        "share ab": "0.33",
        "share ac": "0.67",
        "share ac.": "0.50",
        "share acc": "0.50",
        "leaf ab.": "0.20",
        "leaf ac.": "0.20",
        "leaf acc.": "0.20",
        "leaf d.": "0.40",
    }


@draws("name_tree")
def test_two_ways_through_the_tree_are_marked(drawn):
    ways = {line.get_gid() for line in drawn.lines}
    ways.discard(None)
    marked = {gid for gid in ways if gid.startswith(("greedy", "best"))}
    assert marked == {"greedy ac", "greedy ac.", "best d."}
    labels = {t.get_text(): t.get_position()[1] for t in drawn.texts}
    rows = {t.get_gid(): t.get_position()[1] for t in drawn.texts}
    assert labels["greedy"] == rows["leaf ac."]
    assert labels["commonest"] == rows["leaf d."]


def test_a_share_stands_at_its_letter_and_on_no_line():
    drawn = figures.name_tree(["ax.", "ay.", "azb.", "azc.", "azc."])
    drawn.figure.draw_without_rendering()
    letter = {"ax": "x", "ay": "y", "az": "z", "azb": "b", "azc": "c"}
    shares = {
        text.get_gid().removeprefix("share "): text
        for text in drawn.texts
        if (text.get_gid() or "").startswith("share")
    }
    assert shares.keys() == letter.keys()
    for name, share in shares.items():
        box = share.get_window_extent()
        [written] = [t for t in drawn.texts if t.get_text() == letter[name]]
        of = written.get_window_extent()
        over, under = box.y0 - of.y1, of.y0 - box.y1
        assert 0 < max(over, under) < of.height
        for line in drawn.lines:
            way = line.get_path().transformed(line.get_transform())
            assert not way.intersects_bbox(box, filled=False)


@draws("cuts")
def test_the_nucleus_is_coloured_and_top_k_is_a_line(drawn):
    inside = [[bar.get_gid() for bar in axes.patches] for axes in drawn]
    assert inside == [["in", "out", "out"], ["in", "in", "in"]]
    for axes, title in zip(drawn, DRAWN["cuts"][0], strict=True):
        assert axes.get_title(loc="left") == title
        (line,) = (x for x in axes.lines if x.get_gid() == "top-k")
        assert list(line.get_xdata()) == [1.5, 1.5]
        colours = {to_hex(bar.get_facecolor()) for bar in axes.patches}
        gids = {bar.get_gid() for bar in axes.patches}
        assert len(colours) == len(gids)
        letters = [label.get_text() for label in axes.get_xticklabels()]
        assert letters == ["a", "b", "c"]


@draws("quality_and_variety")
def test_two_curves_over_the_temperature(drawn):
    temperatures, real, different = DRAWN["quality_and_variety"]
    for axes, values in zip(drawn, (real, different), strict=True):
        (line,) = axes.lines
        assert list(line.get_xdata()) == temperatures
        assert list(line.get_ydata()) == values
        assert axes.get_xlabel() == "temperature"
        assert axes.get_ylim()[0] == 0 < max(values) < axes.get_ylim()[1]


@draws("probabilities")
def test_each_group_is_a_histogram_with_its_mean(drawn):
    bars: dict[str, list] = {}
    for bar in drawn.patches:
        place = (bar.get_x(), round(bar.get_height(), 3))
        bars.setdefault(bar.get_gid(), []).append(place)
    assert bars == {
        "drawn": [(-2.95, 0.375), (-0.95, 0.75)],
        "real": [(-1.95, 0.75)],
    }
    means = {line.get_gid(): line.get_xdata()[0] for line in drawn.lines}
    assert means == {"mean drawn": -1.5, "mean real": -2.0}


@draws("beams")
def test_each_text_has_its_fate(drawn):
    gids = [p.get_gid() for p in drawn.patches if p.get_gid()]
    boxes = {gid for gid in gids if not gid.startswith("from")}
    assert boxes == {
        *("kept a", "kept b", "pruned c"),
        *("kept aa", "ended b.", "pruned ab", "pruned ba"),
        *("kept aab", "pruned aaa"),
    }
    assert gids.count("ended b.") == 2


@draws("beams")
def test_arrows_lead_from_kept_texts_to_what_continues_them(drawn):
    arrows = {p.get_gid() for p in drawn.patches if p.get_gid()}
    assert {gid for gid in arrows if gid.startswith("from")} == {
        *("from a to aa", "from b to b.", "from a to ab", "from b to ba"),
        *("from b. to b.", "from aa to aab", "from aa to aaa"),
    }
    shown = [text.get_text() for text in drawn.texts]
    assert {"step 4", "step 5", "step 6", "0.600", "b▪"} <= set(shown)


def test_a_step_without_a_parent_has_no_arrow():
    axes = figures.beams([[("ab", 0.5)], [("xyz", 0.2)]], 1)
    gids = {p.get_gid() or "" for p in axes.patches}
    assert not any(gid.startswith("from") for gid in gids)
    plt.close("all")
