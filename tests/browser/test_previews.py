"""The cards that show where a link leads."""

import pytest
from playwright.sync_api import expect

from tests.browser.record import assert_legible
from tests.browser.visit import CHAPTER, expect_in_view
from tests.built import first_quick

DATA = f"/_static/previews/{CHAPTER.removesuffix('.html')}.js"
KINDS = {
    "[href*=glossary]": "One attention among several",
    "[href*=bibliography]": "Attention is all you need",
    "[href^='#fig']": "Fig. 5.",
    "[href*='notation.html#']": "W_q",
    "[href='04_masks.html']": "4. Masks",
}


@pytest.fixture
def card(tab):
    return tab.locator("#preview")


def link(tab, kind="[href*=glossary]"):
    found = tab.locator(f"main a.internal{kind}").first
    found.evaluate("(a) => a.scrollIntoView({ block: 'center' })")
    return found


def point_at(target):
    """Move the pointer there; Playwright's own way misses a formula."""
    box = target.evaluate("(a) => a.getClientRects()[0].toJSON()")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    target.page.mouse.move(x, y)


@pytest.mark.parametrize("kind", first_quick(KINDS))
def test_pointer_and_focus_show_where_a_link_leads(visit, tab, card, kind):
    loads = [url.endswith(DATA) for url in visit.requests]
    assert not any(loads)  # nothing is loaded before it is wanted
    target = link(tab, kind)
    title = target.get_attribute("title")
    point_at(target)
    card.wait_for()
    assert KINDS[kind] in card.inner_text()
    assert target.get_attribute("title") is None  # it would be a second one
    if "notation" in kind:  # the name of a symbol, for those who listen
        assert target.get_attribute("aria-label") == title
    tab.mouse.move(5, 500)
    card.wait_for(state="hidden")
    target.focus()
    tab.keyboard.press("Shift+Tab")
    tab.keyboard.press("Tab")
    card.wait_for()
    assert target.get_attribute("aria-describedby") == "preview"
    assert card.get_attribute("role") == "tooltip"
    tab.keyboard.press("Tab")
    assert target.get_attribute("aria-describedby") is None
    tab.evaluate("document.activeElement.blur()")
    card.wait_for(state="hidden")
    assert [url.endswith(DATA) for url in visit.requests].count(True) == 1
    assert visit.look()["shift"] < 0.001


@pytest.mark.slow
def test_the_pointer_may_go_to_the_card_and_rest_there(tab, card):
    point_at(link(tab))
    card.hover()
    tab.wait_for_timeout(600)
    assert card.is_visible()
    tab.mouse.move(5, 500)
    card.wait_for(state="hidden")


@pytest.mark.slow
def test_escape_puts_the_card_away_and_moves_nothing(tab, card):
    for show in (point_at, lambda a: a.press("Shift")):
        show(link(tab))
        card.wait_for()
        where = "[scrollY, document.activeElement.href]"
        before = tab.evaluate(where)
        tab.keyboard.press("Escape")
        assert not card.is_visible()
        tab.wait_for_timeout(400)
        assert not card.is_visible()
        assert tab.evaluate(where) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "width, block", [(1400, "end"), (320, "end"), (320, "start")]
)
def test_a_card_fits_the_window_and_hides_no_link(tab, card, width, block):
    tab.set_viewport_size({"width": width, "height": 700})
    for target in tab.locator("main a.term:visible").all()[:6]:
        target.evaluate("(a, block) => a.scrollIntoView({ block })", block)
        target.press("Shift")
        card.wait_for()
        expect_in_view(card)
        box, own = card.bounding_box(), target.bounding_box()
        below = box["y"] >= own["y"] + own["height"] - 1
        assert below or box["y"] + box["height"] <= own["y"] + 1
        target.evaluate("(a) => a.blur()")
        card.wait_for(state="hidden")


@pytest.mark.slow
def test_a_finger_follows_the_link(window, address):
    tab = window(360, 740, touch=True).tab
    tab.goto(address + CHAPTER)
    link(tab).tap()
    tab.wait_for_url("**/glossary.html#term-head")
    assert not tab.locator("#preview").is_visible()


@pytest.mark.slow
def test_a_card_is_legible(visit, tab, card):
    inside = "p:has([aria-describedby=preview]), #preview"
    for kind in ("a.symbol", "a.term", "a.figure-link"):
        tab.locator(f"main {kind}").first.press("Shift")
        card.wait_for()
        assert_legible(visit, inside)
    colours = "(image) => getComputedStyle(image).filter"
    assert card.locator("img").evaluate(colours) == "none"
    tab.emulate_media(color_scheme="dark")
    assert card.locator("img").evaluate(colours) != "none"


@pytest.mark.slow
def test_cards_work_as_a_file_and_on_a_page_without_formulas(opened, site):
    """Only with the first formula in a card comes the style of formulas."""
    tab = opened((site / "book/glossary.html").as_uri()).tab
    first = tab.locator("a.first-use").first
    sheet = "link[href*='katex/math.css']"
    tab.evaluate(f'document.querySelector("{sheet}")?.remove()')
    first.press("Shift")
    tab.locator("#preview").wait_for()
    assert tab.locator(sheet).count() == 0
    tab.evaluate(
        "previews({'#x': '<span class=katex>1</span>'});"
        "const a = document.querySelector('a.first-use');"
        "a.blur(); a.setAttribute('href', '#x')"
    )
    first.press("Shift")
    expect(tab.locator(sheet)).to_have_count(1)
