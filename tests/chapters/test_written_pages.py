"""The pages that programs write are what a fresh run writes."""

import pytest

from tools.chapters import gallery_page, shapes_page
from tools.source.taught import ROOT


@pytest.mark.parametrize("writer", [gallery_page, shapes_page])
def test_a_page_is_up_to_date(writer):
    said = (ROOT / writer.PAGE).read_text(encoding="utf-8")
    assert said == writer.page(), "run `make sync`"
