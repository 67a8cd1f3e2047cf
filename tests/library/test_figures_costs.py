"""kit.figures.efficient: what grows with a text, and what can be left out."""

import math

import pytest
import torch

from lib.efficient import layer_operations
from tests.library.draw import draws

LENGTHS = [2**power for power in range(4, 12)]
COSTS = [layer_operations(n, 32, 128) for n in LENGTHS]
TIMES = {"square": [1.0, 4.0, 16.0, None], "line": [1.0, 2.0, 4.0, 8.0]}
SIZES = {
    "square": [2**20, 2**22, 2**24, None],
    "line": [2**20, 2**21, 2**22, 2**23],
}
MASKS = {
    "all": torch.ones(4, 4).tril() > 0,
    "itself": torch.eye(4) > 0,
}
DRAWN = {
    "meetings": ([2, 4],),
    "shares_of_layer": (LENGTHS, COSTS, {"here": 192}),
    "growth": ([8, 16, 32, 64], TIMES, SIZES, "here, today"),
    "row_in_blocks": ([[1.0, 3.0], [2.0, 5.0]], [[10.0, 20.0], [30.0, 40.0]]),
    "patterns": (MASKS,),
    "shared_heads": (4, [4, 2, 1]),
}


def gids(axes):
    return [p.get_gid() for p in axes.patches if p.get_gid()]


@draws("meetings")
def test_tokens_make_a_strip_and_pairs_a_square(drawn):
    found = gids(drawn)
    for n in (2, 4):
        assert len([g for g in found if g.startswith(f"token {n} ")]) == n
        assert len([g for g in found if g.startswith(f"pair {n} ")]) == n * n
    cells = [p for p in drawn.patches if (p.get_gid() or "")[:4] != "twic"]
    assert {(c.get_width(), c.get_height()) for c in cells} == {(1, 1)}
    assert len({c.get_xy() for c in cells}) == len(cells)
    assert [g for g in found if g.startswith("twice")] == ["twice 4"]
    texts = [t.get_text() for t in drawn.texts]
    assert texts == ["2 tokens\n4 pairs", "4 tokens\n16 pairs", "× 2"]


@draws("shares_of_layer")
def test_areas_are_the_shares_of_the_parts(drawn):
    kinds = ["projections", "feed-forward", "scores and means"]
    areas = drawn.collections
    assert [area.get_label() for area in areas] == kinds
    assert {t.get_text() for t in drawn.texts} == {*kinds, "here"}
    tops = []
    for area in areas:
        points = area.get_paths()[0].vertices
        tops.append(max(y for x, y in points if x == LENGTHS[-1]))
    last = COSTS[-1]
    total = sum(last.values())
    first = last["projections"] / total
    both = first + last["feed-forward"] / total
    assert tops == pytest.approx([first, both, 1])
    (line,) = drawn.lines
    assert line.get_gid() == "at here" and line.get_xdata()[0] == 192


@draws("growth")
def test_lines_stop_where_memory_did_not_suffice(drawn):
    for axes, rows in zip(drawn, (TIMES, SIZES), strict=True):
        assert axes.get_xscale() == axes.get_yscale() == "log"
        unit = 1 if rows is TIMES else 2**20
        for line in axes.lines:
            row = [y / unit for y in rows[line.get_label()] if y]
            assert [*line.get_ydata()] == row
            assert [*line.get_xdata()] == [8, 16, 32, 64][: len(row)]
    legend = drawn[0].figure.legends[0]
    assert [t.get_text() for t in legend.get_texts()] == list(TIMES)
    assert legend.get_title().get_text() == "here, today"


@draws("row_in_blocks")
def test_what_is_kept_from_block_to_block(drawn):
    texts = {t.get_gid(): t.get_text() for t in drawn.texts if t.get_gid()}
    assert texts["score 1 0"] == "2" and texts["value 0 1"] == "20"
    assert texts["kept 0"] == "m = 3\ns = 1.14\nc = 21.35"
    scores, values = (
        torch.tensor(x).flatten() for x in DRAWN["row_in_blocks"]
    )
    mean = (torch.softmax(scores, 0) * values).sum()
    assert texts["result"] == f"c / s\n{mean:.2f}"
    assert gids(drawn) == ["read 0", "fade 0", "read 1", "divide"]
    assert f"s, c × {math.exp(-2):.2f}" in [t.get_text() for t in drawn.texts]


@draws("patterns")
def test_each_pattern_counts_its_pairs(drawn):
    assert [axes.get_title(loc="center") for axes in drawn] == list(MASKS)
    for axes, mask in zip(drawn, MASKS.values(), strict=True):
        (image,) = axes.images
        assert (torch.tensor(image.get_array()) == mask).all()
        assert axes.get_xlabel() == f"{int(mask.sum())} of 16"


@draws("shared_heads")
def test_every_query_head_asks_the_head_of_its_group(drawn):
    keys = [t.get_gid() for t in drawn.texts if t.get_gid()]
    for r, kv_heads in enumerate((4, 2, 1)):
        mine = [key for key in keys if key.startswith(f"key {r} ")]
        assert len(mine) == kv_heads
        places = {
            t.get_gid(): t.get_position()[0]
            for t in drawn.texts
            if t.get_gid()
        }
        for arrow in drawn.patches:
            if str(arrow.get_gid()).startswith(f"ask {r} "):
                h = int(arrow.get_gid().split()[2])
                (start, _), (end, _) = arrow._posA_posB
                own = places[f"key {r} {h // (4 // kv_heads)}"]
                others = [abs(end - places[key]) for key in mine]
                assert start == h and abs(end - own) == min(others)
    names = {t.get_text() for t in drawn.texts}
    assert {"one each:\n4", "groups:\n2", "one for all:\n1"} <= names
