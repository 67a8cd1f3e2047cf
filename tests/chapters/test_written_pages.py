"""The pages that programs write are what a fresh run writes."""

import pytest

from tools.chapters import gallery_page, shapes_page
from tools.source.taught import ROOT


@pytest.mark.parametrize("writer", [gallery_page, shapes_page])
def test_a_page_is_up_to_date(writer):
    said = (ROOT / writer.PAGE).read_text(encoding="utf-8")
    assert said == writer.page(), "run `make sync`"


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
