"""The pages that programs write are what a fresh run writes."""

from pathlib import Path

import pytest

from kit.gallery import GALLERY
from tools.chapters import gallery_page, shapes_page
from tools.source.taught import ROOT, write_page


@pytest.mark.parametrize("writer", [gallery_page, shapes_page])
def test_a_page_is_up_to_date(writer):
    said = (ROOT / writer.PAGE).read_text(encoding="utf-8")
    assert said == writer.page(), "run `make sync`"


def test_only_a_stale_page_is_written(tmp_path):
    page = Path("page.md")
    for text, said in (
        ("a", "written"),
        ("a", "up to date"),
        ("b", "written"),
    ):
        assert write_page(page, text, tmp_path) == f"page.md: {said}"
        assert (tmp_path / page).read_text() == text


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
    pairs = set()
    for _, axes, sizes in rows:
        numbers = sizes.rstrip(" |").split(shapes_page.TIMES)
        pairs |= set(zip(axes.split(), numbers, strict=True))
    axes, sizes = zip(*pairs, strict=True)
    assert len(rows) > 30
    assert len(set(axes)) == len(set(sizes)) == len(pairs) == 9
