"""The page of shapes is what a fresh pass writes."""

import re

from tools import shapes_page
from tools.taught import ROOT

LINE = re.compile(r"\| ([\w,+ ]+) \| ([\w ]+) \| (\d+(?:\s×\s\d+)*) \|")


def stored() -> str:
    return (ROOT / shapes_page.PAGE).read_text(encoding="utf-8")


def test_the_page_is_up_to_date():
    assert stored() == shapes_page.page(), "run `make sync`"


def test_a_word_has_one_size_and_a_size_one_word():
    lines = [line for line in stored().splitlines() if "×" in line]
    pairs = set()
    for line in lines:
        _, axes, sizes = LINE.fullmatch(line).groups()
        pairs |= set(
            zip(axes.split(), sizes.split(shapes_page.TIMES), strict=True)
        )
    axes, sizes = zip(*pairs, strict=True)
    assert len(lines) > 30
    assert len(set(axes)) == len(set(sizes)) == len(pairs) == 9


def test_only_a_stale_page_is_written(tmp_path):
    path = tmp_path / shapes_page.PAGE
    path.parent.mkdir()
    assert shapes_page.main(tmp_path) == "shapes.md: written"
    assert path.read_text(encoding="utf-8") == stored()
    assert shapes_page.main(tmp_path) == "shapes.md: up to date"
    path.write_text("# Old\n")
    assert shapes_page.main(tmp_path) == "shapes.md: written"
    assert path.read_text(encoding="utf-8") == stored()
