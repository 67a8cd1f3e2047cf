"""Kinds of pages and what opens over them, as axe sees them."""

import pytest

from tests.browser.record import violations
from tests.built import KINDS, PAGES

pytestmark = pytest.mark.slow
CHAPTER = "book/05_heads.html"


@pytest.fixture(params=[(1400, "light"), (360, "dark")], ids=str)
def tab(request, window):
    width, scheme = request.param
    return window(width, color_scheme=scheme).tab


@pytest.mark.parametrize("page", [*KINDS, "404.html"])
def test_a_kind_of_page_has_no_violation(tab, address, page):
    tab.goto(address + page)
    assert violations(tab) == []


def test_progress_has_no_violation(tab, address):
    tab.goto(address + CHAPTER)
    tab.locator(".done input").first.check()
    tab.locator("#the-cut").evaluate("(part) => part.scrollIntoView()")
    assert violations(tab, ".done, .menu") == []
    tab.goto(address + PAGES[0])
    tab.locator(".go-on").wait_for()
    assert violations(tab) == []


def test_a_card_has_no_violation(tab, address):
    tab.goto(address + CHAPTER)
    for kind in ("a.symbol", "a.term", "a.figure-link"):
        tab.locator(f"main {kind}").first.press("Shift")
        tab.locator("#preview").wait_for()
        assert (
            violations(tab, "p:has([aria-describedby=preview]), #preview")
            == []
        )
