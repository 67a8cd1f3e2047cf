"""kit.figures.transformer: the model, its table, ways between words."""

import torch

from tests.library.draw import draws

SOURCE, READ, SAID = list("abc"), ["BOS", "x", "y"], ["x", "y", "EOS"]
TABLE = torch.tensor([[1.0, -2.0], [0.5, 0.0], [3.0, 1.0]])
SCORES = torch.tensor([-1.0, 4.0, 2.5])
SHARES = {
    "table": {"table": 3_000_000},
    "encoder": {"attention": 1_000_000, "feed-forward": 2_000_000},
    "decoder": {"attention": 2_000_000, "feed-forward": 2_500_000},
}
DRAWN = {
    "from_afar": (SOURCE, READ, SAID),
    "tied_table": (TABLE, list("abc"), 2, SCORES),
    "parameter_shares": (SHARES,),
    "paths": (5,),
    "writing": (SOURCE, SAID),
    "by_distance": ([2, 4], {"a": [1.0, 1e-3], "line:b": [1.0, 0.1]}, "size"),
}


def texts(axes, gid):
    return [t.get_text() for t in axes.texts if t.get_gid() == gid]


@draws("from_afar")
def test_each_place_of_the_decoder_says_the_next_token(drawn):
    assert texts(drawn, "source") == SOURCE
    assert texts(drawn, "read") == READ and texts(drawn, "said") == SAID
    read, said = (
        [t.get_position()[0] for t in drawn.texts if t.get_gid() == gid]
        for gid in ("read", "said")
    )
    assert read == said  # one above the other
    for i, x in enumerate(read):
        places = [p for p in drawn.patches if p.get_gid() == f"place {i}"]
        ends = [p._posA_posB for p in places]
        assert [at for pair in ends for at, _ in pair] == [x] * 4


@draws("from_afar")
def test_keys_and_values_lead_from_the_memory_into_the_decoder(drawn):
    arrows = {p.get_gid(): p for p in drawn.patches if p.get_gid()}
    assert {"memory K", "memory V"} <= arrows.keys()
    memory = next(t for t in drawn.texts if t.get_gid() == "memory")
    for letter in "KV":
        (x_0, y_0), (x_1, y_1) = arrows[f"memory {letter}"]._posA_posB
        assert memory.get_position()[0] < x_0 < x_1
        assert y_0 == y_1 < memory.get_position()[1]


@draws("tied_table")
def test_one_row_is_read_and_all_are_scored(drawn):
    frame = next(p for p in drawn.patches if p.get_gid() == "read")
    assert (frame.get_y(), frame.get_height()) == (2, 1)
    assert drawn.images[0].get_array().tolist() == TABLE.tolist()
    for i, (name, score) in enumerate(zip("abc", SCORES, strict=True)):
        assert texts(drawn, f"name {i}") == [name]
        assert texts(drawn, f"score {i}") == [f"{score:.1f}"]
    arrows = {p.get_gid(): p for p in drawn.patches if p.get_gid()}
    (_, row_0), (_, row_1) = arrows["row"]._posA_posB
    (_, state_0), (_, state_1) = arrows["state"]._posA_posB
    assert row_1 < row_0 and state_0 < state_1  # up, and down again
    bars = [arrows[f"bar {i}"] for i in range(3)]  # from one zero, by sign
    assert len({bar.get_x() for bar in bars}) == 1
    wide = torch.tensor([bar.get_width() for bar in bars])
    torch.testing.assert_close(wide / wide[1], SCORES / SCORES[1])
    assert wide[1] > 0


@draws("parameter_shares")
def test_the_bars_are_as_long_as_the_counts(drawn):
    pieces = {p.get_gid(): p for p in drawn.patches if p.get_gid()}
    for part, made in SHARES.items():
        left = 0.0
        for name, count in made.items():
            piece = pieces[f"{part}, {name}"]
            assert (piece.get_x(), piece.get_width()) == (left, count / 1e6)
            left += count / 1e6
    assert [t.get_text() for t in drawn.texts] == ["3.0", "3.0", "4.5"]


@draws("paths")
def test_the_shortest_paths(drawn):
    for axes, count in zip(drawn, (5, 4, 1), strict=True):
        gids = [line.get_gid() for line in axes.lines]
        assert gids.count("path") == count
        tips = [p for p in axes.patches if p.get_gid() == "tip"]
        assert len(tips) == count
    moves = [
        {line.get_xdata()[1] - line.get_xdata()[0] for line in axes.lines}
        for axes in drawn
    ]
    assert moves == [{0, 1}, {-1, 0, 1}, set(range(-4, 5))]


@draws("writing")
def test_one_run_of_the_encoder_and_one_of_the_decoder_a_token(drawn):
    assert texts(drawn, "source") == SOURCE
    assert texts(drawn, "encoder run") == ["encoder"]
    for step, token in enumerate(SAID, start=1):
        assert texts(drawn, f"output {step}") == [token]
        assert texts(drawn, f"decoder run {step}") == [f"step {step}"]
        read = ["BOS", *SAID][:step]
        assert texts(drawn, f"input {step}") == read[-1:]
        assert texts(drawn, f"again {step}") == read[:-1]
        gids = [p.get_gid() for p in drawn.patches]
        assert f"memory to step {step}" in gids


@draws("by_distance")
def test_powers_of_ten_stand_on_the_axis(drawn):
    labels = [text.get_text() for text in drawn.get_yticklabels()]
    assert any("10^{-2}" in label for label in labels)
