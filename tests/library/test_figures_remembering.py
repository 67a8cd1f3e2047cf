"""kit.figures.cache: what is computed again, and what is kept."""

import torch

from tests.library.draw import draws

TOKENS = list("abcd")
WEIGHTS = torch.tensor([0.1, 0.6, 0.3])
STEPS = [(1, 2), (2, 2), (3, 6), (7, 14)]
TIMES = {"slow": [1.0, 3.0, 5.0, 7.0], "fast": [1.0, 1.0, 1.0, 1.0]}
DRAWN = {
    "rows_computed": (TOKENS,),
    "one_step": (TOKENS[:3], WEIGHTS),
    "buffers": (STEPS,),
    "roofline": (300.0, {"one": 3.0, "two": 30.0, "many": 3_000.0}),
    "times_of_tokens": ([8, 24, 40, 56], TIMES, "here, today"),
}


def gids(axes):
    return [p.get_gid() for p in axes.patches if p.get_gid()]


@draws("rows_computed")
def test_a_triangle_is_computed_or_a_diagonal(drawn):
    without, kept = map(gids, drawn)
    triangle = [(t, j) for t in range(4) for j in range(t + 1)]
    nexts = {f"next {t}" for t in range(3)}
    computed = {f"computed {t} {j}" for t, j in triangle}
    assert set(without) == computed | nexts
    old = [(t, j) for t, j in triangle if j < t]
    assert set(kept) == nexts | {
        *(f"computed {t} {t}" for t in range(4)),
        *(f"key {t} {j}" for t, j in old),
        *(f"value {t} {j}" for t, j in old),
    }
    titles = [axes.get_title(loc="center") for axes in drawn]
    assert titles == ["without a cache: 10 rows", "with a cache: 4 rows"]


@draws("rows_computed")
def test_an_arrow_leads_from_each_token_to_the_next_step(drawn):
    for axes in drawn:
        for arrow in axes.patches:
            if not str(arrow.get_gid()).startswith("next"):
                continue
            t = int(arrow.get_gid().split()[1])
            (x_0, y_0), (x_1, y_1) = arrow._posA_posB
            assert t < x_0 < t + 1 < x_1 < t + 2
            assert t < y_0 < t + 1 < y_1 < t + 2


@draws("one_step")
def test_one_query_asks_and_arrows_are_as_thick_as_weights(drawn):
    made = {"make q", "make k", "make v", "asks"}
    hands = {f"hand {j}": p for j, p in enumerate(WEIGHTS.tolist())}
    arrows = {p.get_gid(): p for p in drawn.patches if p.get_gid()}
    assert set(arrows) == made | set(hands)
    widths = [arrows[name].get_linewidth() for name in hands]
    assert sorted(widths) == [widths[0], widths[2], widths[1]]
    shown = {t.get_gid(): t.get_text() for t in drawn.texts if t.get_gid()}
    assert [shown[f"weight {j}"] for j in range(3)] == ["0.10", "0.60", "0.30"]
    assert shown["key 2"] == "$k_{3}$" and shown["value 0"] == "$v_{1}$"


@draws("buffers")
def test_only_a_full_buffer_is_copied(drawn):
    found = gids(drawn)
    for t, (length, room) in enumerate(STEPS):
        before = STEPS[t - 1][0] if t else 0
        for name, number in (
            ("filled", before),
            ("new", length - before),
            ("room", room - length),
        ):
            cells = [gid for gid in found if gid.startswith(f"{name} {t} ")]
            assert len(cells) == number
    assert [g for g in found if g.startswith("copy")] == ["copy 2", "copy 3"]
    copied = [t.get_text() for t in drawn.texts if t.get_gid()]
    assert copied == ["2 copied", "3 copied"]
    labels = [t.get_text() for t in drawn.texts]
    assert "1 token" in labels and "7 tokens" in labels


@draws("times_of_tokens")
def test_linear_growth_is_a_straight_line_with_an_area(drawn):
    assert drawn.get_xscale() == drawn.get_yscale() == "linear"
    assert drawn.get_ylim()[0] == 0 and drawn.get_xlim() == (0, 64)
    lines = {line.get_label(): line for line in drawn.lines}
    assert {n: [*line.get_ydata()] for n, line in lines.items()} == TIMES
    assert len(drawn.collections) == 2
    assert {"slow", "fast"} <= {text.get_text() for text in drawn.texts}


@draws("roofline")
def test_dots_stand_on_the_roof(drawn):
    dots = {
        line.get_gid(): (line.get_xdata()[0], line.get_ydata()[0])
        for line in drawn.lines
        if line.get_gid()
    }
    assert dots == {"one": (3, 0.01), "two": (30, 0.1), "many": (3_000, 1)}
    assert set(dots) <= {text.get_text() for text in drawn.texts}
