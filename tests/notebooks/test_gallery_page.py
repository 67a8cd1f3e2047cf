"""The gallery of bugs is what a fresh run writes."""

import re

from kit.gallery import GALLERY
from tools import gallery_page
from tools.taught import ROOT


def stored() -> str:
    return (ROOT / gallery_page.PAGE).read_text(encoding="utf-8")


def test_the_page_is_up_to_date():
    assert stored() == gallery_page.page(), "run `make sync`"


def test_every_bug_has_its_lines_its_number_and_its_question():
    parts = re.split(r"^### ", stored(), flags=re.MULTILINE)[1:]
    assert len(parts) == len(GALLERY)
    for part in parts:
        assert "```diff\n" in part
        assert "\n- " in part  # what mends it may only be to leave it out
        assert re.search(r"`.+`, mended `.+`\. \*Ask:\* .+[.?]", part)


def test_only_a_stale_page_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(gallery_page, "page", stored)
    path = tmp_path / gallery_page.PAGE
    path.parent.mkdir()
    assert gallery_page.main(tmp_path) == "gallery.md: written"
    assert gallery_page.main(tmp_path) == "gallery.md: up to date"
    path.write_text("# Old\n")
    assert gallery_page.main(tmp_path) == "gallery.md: written"
    assert path.read_text(encoding="utf-8") == stored()
