"""What the browser remembers of a reader, shows and forgets."""

import json

import pytest

from tests.browser.record import LATE, in_every_light
from tests.built import PAGES

CHAPTER = "book/05_heads.html"
NEXT = "book/06_positions.html"
HOME = PAGES[0]
KEY = "Object.keys(localStorage).find((key) => key.startsWith('progress '))"
KEPT = f"JSON.parse(localStorage.getItem({KEY}))"
FILL = f"(text) => localStorage.setItem({KEY}, text)"
END = "(part) => part.lastElementChild.scrollIntoView({ block: 'end' })"


@pytest.fixture
def visit(window, address):
    visit = window()
    visit.load(address + CHAPTER)
    yield visit
    assert visit.messages == []
    assert visit.tab.context.cookies() == []
    assert [u for u in visit.requests if not u.startswith(address)] == []


@pytest.fixture
def tab(visit):
    return visit.tab


def read(tab, *names):
    """Read these sections to their ends."""
    for name in names:
        tab.locator(f"#{name}").evaluate(END)
        tab.locator(f".page-toc a.is-read[href='#{name}']").wait_for()


def entry(tab, page=CHAPTER):
    """What is kept of a page."""
    return tab.evaluate(KEPT)["pages"][page]


def mark(tab, page="05_heads"):
    """What the contents say of a chapter, and the share that they draw."""
    link = tab.locator(f".book-nav a[href*='{page}'], .book-nav a.current")
    line = link.first.locator(".progress-mark")
    share = line.evaluate("(m) => m.style.getPropertyValue('--share')")
    return line.text_content().strip(), float(share)


@pytest.mark.slow
def test_at_first_there_is_nothing_to_tell(tab, address):
    assert tab.locator(".progress, .progress-mark, a.is-read").count() == 0
    tab.goto(address + HOME)
    assert tab.locator(".progress, .progress-mark, .go-on").count() == 0


def test_a_section_is_read_when_its_end_has_been_seen(tab, address):
    read(tab, "heads-side-by-side", "the-cut")
    known = entry(tab)
    assert {"heads-side-by-side", "the-cut"} <= set(known["read"])
    assert len(known["read"]) <= 4 < known["sections"]
    number, sections = len(known["read"]), known["sections"]
    expected = f"{number} of {sections} sections read", number / sections
    assert mark(tab) == expected
    tab.goto(address + "book/glossary.html")
    assert mark(tab) == expected
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


def go_on(tab, address):
    """What the title page offers."""
    tab.goto(address + HOME)
    return tab.locator(".go-on")


@pytest.mark.slow
def test_the_title_page_offers_to_go_on(tab, address):
    tab.locator("#the-cut").evaluate("(part) => part.scrollIntoView()")
    offer = go_on(tab, address)
    assert offer.inner_text() == (
        "Go on where you were: 5. Heads: split and merge, The cut"
    )
    offer.locator("a").click()
    tab.wait_for_url(f"{address}{CHAPTER}#the-cut")


@pytest.mark.slow
def test_at_the_end_of_a_chapter_the_next_one_is_offered(tab, address):
    tab.evaluate("scrollTo(0, document.body.scrollHeight)")
    offer = go_on(tab, address)
    assert offer.inner_text() == "Go on where you were: 6. Positions"
    offer.locator("a").click()
    tab.wait_for_url(address + NEXT)


@pytest.mark.slow
def test_a_look_at_a_page_is_no_place_to_go_on(tab, address):
    tab.goto(address + NEXT)
    assert go_on(tab, address).count() == 0


@pytest.mark.slow
def test_it_can_be_forgotten(tab, address):
    read(tab, "the-cut")
    tab.locator(".done input").first.check()
    tab.locator(".choice > button").first.click()
    tab.evaluate("localStorage.setItem('theme', 'dark')")
    tab.get_by_role("button", name="Forget it").click()
    assert tab.evaluate("Object.keys(localStorage)") == ["theme"]
    assert tab.locator(".progress, .progress-mark, a.is-read").count() == 0
    assert not tab.locator(".done input").first.is_checked()
    assert go_on(tab, address).count() == 0
    assert tab.evaluate("Object.keys(localStorage)") == ["theme"]


ANYTHING = [
    '{"last": {"place": "javascript:alert(1)", "title": "x"}}',
    '{"last": {"place": "https://elsewhere.example/", "title": "x"}}',
    "{",
    "null",
    "[]",
    "3",
    '{"pages": 3, "last": 4}',
    '{"pages": {"book/05_heads.html": null}}',
    '{"pages": {"book/05_heads.html": {"read": 1, "done": []}}}',
]


@pytest.mark.slow
def test_what_lies_in_the_browser_may_be_anything(tab, address):
    offer = tab.locator(".go-on")
    for stored in ANYTHING:
        read(tab, "the-cut")
        assert go_on(tab, address).count() == 1
        tab.evaluate(FILL, stored)
        tab.reload()
        assert offer.count() == 0, stored
        tab.goto(address + CHAPTER)
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
    read(visit.tab, "what-heads-cost", "the-cut", "summary")
    assert visit.look()["shift"] < 0.001
    assert [seen["tooFaint"] for seen in in_every_light(visit)] == [[], []]
    for page in (NEXT, HOME):
        visit.load(address + page)
        visit.tab.evaluate(LATE)
        for seen in in_every_light(visit):
            assert seen["shift"] < 0.001 and seen["tooFaint"] == []


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


@pytest.mark.slow
def test_without_scripts_nothing_can_be_ticked(bare):
    assert bare(CHAPTER).locator(".done, .progress").count() == 0
