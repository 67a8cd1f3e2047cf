"""The pages that programs write are what a fresh run writes."""

import pytest

from lib.gallery import GALLERY
from tools import gallery_page, shapes_page
from tools.taught import ROOT


@pytest.mark.parametrize("writer", [gallery_page, shapes_page])
def test_a_page_is_up_to_date_and_only_a_stale_one_is_written(
    writer, tmp_path, monkeypatch
):
    text = writer.page()
    stored = (ROOT / writer.PAGE).read_text(encoding="utf-8")
    assert stored == text, "run `make sync`"
    monkeypatch.setattr(writer, "page", lambda: text)
    path = tmp_path / writer.PAGE
    path.parent.mkdir()
    name = writer.PAGE.name
    assert writer.main(tmp_path) == f"{name}: written"
    assert writer.main(tmp_path) == f"{name}: up to date"
    path.write_text("# Old\n")
    assert writer.main(tmp_path) == f"{name}: written"
    assert path.read_text(encoding="utf-8") == stored


def test_every_bug_of_the_gallery_has_lines_and_a_question():
    stored = (ROOT / gallery_page.PAGE).read_text(encoding="utf-8")
    _, *parts = stored.split("\n### ")
    assert len(parts) == len(GALLERY)
    for part in parts:
        assert "\n- " in part  # what mends it may only be to leave it out
        assert " *Ask:* " in part


def test_a_word_of_the_page_of_shapes_has_one_size_and_a_size_one_word():
    stored = (ROOT / shapes_page.PAGE).read_text(encoding="utf-8")
    rows = [row.split(" | ") for row in stored.splitlines() if "×" in row]
    pairs = {
        pair
        for _, axes, sizes in rows
        for pair in zip(
            axes.split(),
            sizes.rstrip(" |").split(shapes_page.TIMES),
            strict=True,
        )
    }
    axes, sizes = zip(*pairs, strict=True)
    assert len(rows) > 30
    assert len(set(axes)) == len(set(sizes)) == len(pairs) == 9
