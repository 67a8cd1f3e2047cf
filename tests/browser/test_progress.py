"""What the browser remembers of a reader, shows and forgets."""

import json

import pytest

from tests.browser.record import LATE, assert_legible
from tests.browser.visit import CHAPTER
from tests.built import PAGES

NEXT = "book/06_positions.html"
HOME = PAGES[0]
KEY = "Object.keys(localStorage).find((key) => key.startsWith('progress '))"
KEPT = f"JSON.parse(localStorage.getItem({KEY}))"
FILL = """(text) => Object.keys(localStorage).forEach((key) =>
  localStorage.setItem(key, text))"""
END = """(part) => [...part.children].findLast((one) =>
  one.checkVisibility()).scrollIntoView({ block: 'end' })"""
MARKS = ".progress, .progress-mark, a.is-read"


def read(tab, *names):
    """Read these sections to their ends."""
    for name in names:
        tab.locator(f"#{name}").evaluate(END)
        tab.locator(f".page-toc a.is-read[href='#{name}']").wait_for()


def entry(tab):
    """What is kept of the chapter."""
    return tab.evaluate(KEPT)["pages"][CHAPTER]


def go_on(tab, address):
    """What the title page offers."""
    tab.goto(address + HOME)
    return tab.locator(".go-on")


def test_a_section_is_read_when_its_end_has_been_seen(tab, address):
    assert tab.locator(MARKS).count() == 0
    read(tab, "heads-side-by-side", "the-cut")
    known = entry(tab)
    number, sections = len(known["read"]), known["sections"]
    assert {"heads-side-by-side", "the-cut"} <= set(known["read"])
    assert number <= 4 < sections
    for page in (CHAPTER, "book/glossary.html"):
        tab.goto(address + page)
        link = tab.locator(".book-nav a.current, .book-nav a[href*='05_he']")
        line = link.first.locator(".progress-mark")
        words = line.text_content().strip()
        assert words == f"{number} of {sections} sections read"
        share = line.evaluate("(m) => m.style.getPropertyValue('--share')")
        assert float(share) == number / sections
    told = tab.locator(".progress").inner_text()
    assert "sections read, 0 exercises done" in told


def test_the_reader_ticks_an_exercise(tab):
    boxes = tab.locator(".done input")
    assert boxes.count() == 6
    box = tab.get_by_label("I have done this exercise").nth(1)
    box.press("Space")
    name = box.evaluate("(b) => b.closest('section').id")
    assert entry(tab)["done"] == [name]
    assert tab.locator(f".page-toc a.is-read[href='#{name}']").count() == 1
    tab.reload()
    assert box.is_checked() and boxes.nth(0).is_checked() is False
    box.uncheck()
    assert entry(tab)["done"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "scroll, offered",
    [
        ("scrollTo(0, 0)", None),  # a look at a page is no place
        (
            "document.querySelector('#the-cut').scrollIntoView()",
            ("5. Heads: split and merge, The cut", f"{CHAPTER}#the-cut"),
        ),
        ("scrollTo(0, document.body.scrollHeight)", ("6. Positions", NEXT)),
    ],
)
def test_the_title_page_offers_to_go_on(tab, address, scroll, offered):
    tab.evaluate(scroll)
    offer = go_on(tab, address)
    assert offer.count() == (offered is not None)
    if offered:
        words, place = offered
        assert offer.inner_text() == f"Go on where you were: {words}"
        offer.locator("a").click()
        tab.wait_for_url(address + place)


@pytest.mark.slow
def test_it_can_be_forgotten(tab, address):
    read(tab, "the-cut")
    tab.locator(".done input").first.check()
    tab.locator(".choice > button").first.click()
    tab.evaluate("localStorage.setItem('theme', 'dark')")
    tab.get_by_role("button", name="Forget it").click()
    assert tab.evaluate("Object.keys(localStorage)") == ["theme"]
    assert tab.locator(MARKS).count() == 0
    assert not tab.locator(".done input").first.is_checked()
    assert go_on(tab, address).count() == 0
    assert tab.evaluate("Object.keys(localStorage)") == ["theme"]


ANYTHING = [
    '{"last": {"place": "javascript:alert(1)", "title": "x"}}',
    "{",
    "null",
    "[]",
    '{"1": 2}',
    '{"pages": 3, "last": 4}',
    '{"pages": {"book/05_heads.html": {"read": 1, "done": []}}}',
]


@pytest.mark.slow
def test_what_lies_in_the_browser_may_be_anything(tab, address):
    offer = tab.locator(".go-on")
    for stored in ANYTHING:
        read(tab, "the-cut")
        tab.locator(".choice > button").first.click()
        assert go_on(tab, address).count() == 1
        tab.evaluate(FILL, stored)
        tab.reload()
        assert offer.count() == 0, stored
        tab.goto(address + CHAPTER)
        assert tab.locator(".choice p:visible").count() == 0, stored
        read(tab, "the-cut")
        assert entry(tab)["read"] == ["the-cut"], stored


@pytest.mark.slow
def test_what_a_page_no_longer_has_does_not_count(tab):
    read(tab, "the-cut")
    kept = tab.evaluate(KEPT)
    kept["pages"][CHAPTER] |= {"read": ["gone", "the-cut"], "done": ["gone"]}
    tab.evaluate(FILL, json.dumps(kept))
    tab.reload()
    read(tab, "summary")
    assert entry(tab)["read"][0] == "the-cut"
    assert "gone" not in entry(tab)["read"] + entry(tab)["done"]


@pytest.mark.slow
def test_marks_are_legible_and_nothing_moves(visit, address):
    visit.tab.locator(".done input").first.check()
    read(visit.tab, "what-heads-cost", "the-cut", "summary")
    assert visit.look()["shift"] < 0.001
    assert_legible(visit, ".done, .menu")
    for page in (NEXT, HOME):
        visit.load(address + page)
        visit.tab.evaluate(LATE)
        assert visit.look()["shift"] < 0.001
        assert_legible(visit)


@pytest.mark.slow
def test_a_private_window_may_refuse(window, address):
    visit = window()
    visit.tab.add_init_script(
        "Object.defineProperty(window, 'localStorage',"
        "{ get() { throw new DOMException('no', 'SecurityError'); } });"
    )
    visit.load(address + CHAPTER)
    visit.tab.locator(".done input").first.check()
    visit.tab.wait_for_timeout(100)
    visit.assert_calm()
