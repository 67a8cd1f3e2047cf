"""Kinds of pages and what opens over them, as axe sees them."""

import pytest

from tests.site.pages import KINDS, PAGES
from tests.site.record import violations

CHAPTER = "book/05_heads.html"
LOOKS = [(1400, "light"), (360, "light"), (1400, "dark"), (360, "dark")]


@pytest.fixture(
    params=[
        pytest.param(look, marks=pytest.mark.slow if rank else ())
        for rank, look in enumerate(LOOKS)
    ],
    ids=lambda look: f"{look[0]}-{look[1]}",
)
def tab(request, browser):
    width, scheme = request.param
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme
    )
    yield context.new_page()
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize("page", [*KINDS, "404.html"])
def test_a_kind_of_page_has_no_violation(tab, address, page):
    tab.goto(address + page)
    assert violations(tab) == []


@pytest.mark.slow
def test_progress_has_no_violation(tab, address):
    tab.goto(address + CHAPTER)
    tab.locator(".done input").first.check()
    tab.locator("#the-cut").evaluate("(part) => part.scrollIntoView()")
    assert violations(tab, ".done, .menu") == []
    tab.goto(address + PAGES[0])
    tab.locator(".go-on").wait_for()
    assert violations(tab) == []


@pytest.mark.slow
def test_a_card_has_no_violation(tab, address):
    tab.goto(address + CHAPTER)
    for kind in ("a.symbol", "a.term", "a.figure-link"):
        tab.locator(f"main {kind}").first.press("Shift")
        tab.locator("#preview").wait_for()
        assert (
            violations(tab, "p:has([aria-describedby=preview]), #preview")
            == []
        )


@pytest.mark.slow
def test_a_large_figure_has_no_violation(tab, address):
    tab.goto(address + CHAPTER)
    assert violations(tab, "figure") == []
    tab.locator("main figure img").first.click()
    assert violations(tab, "dialog") == []
