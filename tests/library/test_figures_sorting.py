"""kit.figures.encoder: what the drawings of chapter 8 say."""

import torch

from tests.library.draw import draws

ROW = [14, 4, 18, 1]
SHARES = {"one": [[0.0, 0.2], [0.4, 0.6]], "two": [[0.5, 1.0]]}
WEIGHTS = torch.tensor([[0.25, 0.75, 0.0], [1.0, 0.001, 0.0]])
WIDE = torch.arange(20.0).view(2, 10) / 32
LETTERS = list("abcdefghij")
PANELS = {"few": (WEIGHTS, LETTERS[:3]), "many": (WIDE, LETTERS)}
DRAWN = {
    "two_looks": (ROW,),
    "looks": (PANELS, ["0", "1"], ("looks", "at")),
    "treasure_map": ([2, 0, 1], 0, 2),
    "runs": ([100, 200], SHARES, "share"),
}


def named(artists, name):
    return [artist for artist in artists if artist.get_gid() == name]


@draws("two_looks")
def test_every_number_is_carried_to_the_place_of_its_count(drawn):
    counts = [text.get_text() for text in named(drawn.texts, "count")]
    assert counts == ["2", "1", "3", "0"]
    gids = {patch.get_gid() for patch in drawn.patches} - {None}
    read = {gid for gid in gids if gid.startswith("reads")}
    pairs = [(i, j) for i in range(4) for j in range(4) if ROW[j] <= ROW[i]]
    assert read == {f"reads {i} {j}" for i, j in pairs}
    for i, count in enumerate((2, 1, 3, 0)):
        (brought,) = named(drawn.patches, f"{i} {count}")
        (x_0, y_0), (x_1, y_1) = brought._posA_posB
        assert (x_0, x_1) == (i, count) and y_0 < y_1
        (at,) = named(drawn.texts, f"at {count}")
        assert at.get_text() == str(sorted(ROW)[count])


@draws("looks")
def test_maps_show_their_weights_and_share_their_rows(drawn):
    few, many = drawn
    assert (few.images[0].get_array() == WEIGHTS.numpy()).all()
    assert [t.get_text() for t in few.texts] == [".25", ".75", "1.00"]
    assert not many.texts and many.images[0].get_clim() == (0, 19 / 32)
    assert [t.get_text() for t in few.get_yticklabels()] == ["0", "1"]
    assert [t.get_text() for t in many.get_yticklabels()] == ["", ""]
    assert [t.get_text() for t in many.get_xticklabels()] == LETTERS[::2]


@draws("treasure_map")
def test_each_hop_starts_where_the_last_one_ended(drawn):
    hops = [p.get_gid() for p in drawn.patches if p.get_gid()]
    assert hops == ["hop 0 2", "hop 2 1"]
    notes = [t.get_text() for t in drawn.texts if "read" in t.get_text()]
    assert notes == ["hop 1: read 1", "hop 2: read 0"]


@draws("runs")
def test_the_thick_line_is_the_mean_of_the_thin_ones(drawn):
    assert len(named(drawn.lines, "run one")) == 2
    (mean,) = named(drawn.lines, "mean one")
    assert list(mean.get_ydata()) == [0.2, 0.4]
    assert mean.get_linewidth() > named(drawn.lines, "run one")[0].get_lw()
    labels = [text.get_text() for text in drawn.get_legend().get_texts()]
    assert labels == ["one", "two"]
