"""The search field and the search page, by keyboard, eye and ear."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.record import assert_legible
from tests.browser.visit import expect_in_view, until
from tests.built import slow

CHAPTER = "book/04_masks.html"
OPTIONS = "#search-list a:not(.all-results)"
RESULTS = "#search-results a"
FIELD = ".book-search input"
MARKS = "[...(CSS.highlights.get('search') || [])].map(String)"


@pytest.fixture(params=[1440, slow(360), slow(1100), slow(320)])
def typed(request, opened, address):
    """A page on which somebody has pressed "/" and typed a query."""
    visit = opened(address + CHAPTER, request.param, 800)
    press_slash(visit.tab, "kv cache")
    return visit


def press_slash(tab, query):
    tab.keyboard.press("/")
    expect(tab.locator(FIELD)).to_be_focused()
    tab.keyboard.type(query)
    tab.wait_for_selector(OPTIONS)


def test_results_come_while_one_types(typed):
    options = typed.tab.locator(OPTIONS)
    before = options.first.inner_text()
    expect_in_view(options.first)
    typed.tab.locator(FIELD).fill("einsum")
    expect(typed.tab.locator("#search-list")).to_contain_text("einsum")
    assert options.first.inner_text() != before
    typed.tab.locator(FIELD).fill("lora")
    told = "“lora” is not in the book; nearest: low rank."
    expect(typed.tab.locator(".search-status").first).to_contain_text(told)
    typed.tab.locator(FIELD).fill("calculus")  # told by strangers alone
    expect(options.first).to_contain_text("How to read it")
    told = "“calculus” is not in the book."
    expect(typed.tab.locator(".search-status").first).to_contain_text(told)
    typed.tab.locator(FIELD).fill("")
    expect(options.first).not_to_be_visible()


def test_the_keyboard_does_all(typed):
    tab = typed.tab
    field, options = tab.locator(FIELD), tab.locator("#search-list a")
    chosen = tab.locator("#search-list [aria-selected=true]")
    assert chosen.count() == 0
    for key, number in (("Down", 0), ("Down", 1), ("Up", 0)):
        tab.keyboard.press(f"Arrow{key}")
        active = field.get_attribute("aria-activedescendant")
        assert active == options.nth(number).get_attribute("id")
        assert chosen.get_attribute("id") == active
        expect_in_view(chosen)
    tab.keyboard.press("ArrowUp")
    assert field.get_attribute("aria-activedescendant") is None
    assert chosen.count() == 0
    tab.keyboard.press("ArrowUp")
    assert "All" in chosen.inner_text()
    expect_in_view(chosen)
    for _ in range(3):
        tab.keyboard.press("ArrowDown")
    target = chosen.get_attribute("href").partition("#")[2]
    tab.keyboard.press("Enter")
    tab.wait_for_url(f"**#{target}")
    expect_in_view(tab.locator(f"#{target} > h2").first)


@pytest.mark.slow
def test_the_list_fits_and_escape_closes_it(typed):
    """Then browsers empty the field, and last a narrow menu closes."""
    tab, width = typed.tab, typed.tab.viewport_size["width"]
    field, panel = tab.locator(FIELD), tab.locator(".search-panel")
    named = {"name": "Search the book"}
    combobox = tab.get_by_role("combobox", **named, expanded=True)
    expect(combobox).to_be_visible()
    listbox = tab.get_by_role("listbox", name="Results")
    assert listbox.get_by_role("option").count() >= 8
    assert tab.evaluate("document.scrollingElement.scrollWidth") <= width
    box = panel.bounding_box()
    assert 0 <= box["x"] and box["x"] + box["width"] <= width
    assert panel.evaluate("(p) => p.scrollWidth <= p.clientWidth")
    tab.keyboard.press("Escape")
    expect(panel).not_to_be_visible()
    expect(combobox).to_have_count(0)
    assert field.input_value() == "kv cache" and field.is_visible()
    tab.keyboard.press("ArrowDown")
    expect(panel).to_be_visible()
    for _ in range(2):
        tab.keyboard.press("Escape")
    assert field.input_value() == ""
    if tab.locator(".menu-button").is_visible():
        tab.keyboard.press("Escape")
        expect(field).not_to_be_visible()


@pytest.mark.slow
def test_a_click_beside_the_list_closes_it_and_enter_shows_all(typed):
    tab = typed.tab
    if tab.viewport_size["width"] > 992:
        tab.mouse.click(tab.viewport_size["width"] - 8, 700)
        expect(tab.locator(".search-panel")).not_to_be_visible()
        tab.locator(FIELD).focus()
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/search.html?q=kv+cache")
    expect(tab.locator(RESULTS).nth(8)).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 1440])
def test_what_is_found_is_legible(opened, address, width):
    field = opened(address + CHAPTER, width)
    press_slash(field.tab, "padding mask")
    page = opened(f"{address}search.html?q=mask", width)
    page.tab.wait_for_selector(RESULTS)
    for visit, part in ((field, ".menu"), (page, "body")):
        visit.tab.keyboard.press("ArrowDown")
        assert_legible(visit, part)


def test_the_page_marks_what_was_found(opened, root):
    tab = opened(root + CHAPTER).tab
    tab.locator(FIELD).fill("rope")
    tab.locator(f"{OPTIONS}[href*='#turning']").click()
    tab.wait_for_url("**highlight=*#turning-instead-of-adding")
    tab.wait_for_selector(".unmark")
    marks = {mark.lower() for mark in tab.evaluate(MARKS)}
    assert {"rotary", "rope"} <= marks
    assert all(re.search("rotary|rope|position", mark) for mark in marks)
    inside = """[...CSS.highlights.get('search')].every((range) =>
      range.startContainer.parentElement.closest(decodeURI(location.hash)))
    """
    assert tab.evaluate(inside)
    assert tab.evaluate("layoutShift") < 0.001
    height = tab.evaluate("document.body.scrollHeight")
    tab.keyboard.press("Escape")
    assert tab.evaluate(MARKS) == [] and tab.locator(".unmark").count() == 0
    assert tab.evaluate("document.body.scrollHeight") == height
    assert tab.url.endswith("06_positions.html#turning-instead-of-adding")


@pytest.mark.slow
def test_marks_go_by_a_press_on_the_button_too(opened, address):
    page = "book/glossary.html?highlight=keys+cached#term-prefill"
    tab = opened(address + page, 360).tab
    button = tab.get_by_role("button", name="Remove marks")
    button.wait_for()
    assert tab.evaluate(MARKS)
    tab.evaluate("location.hash = '#term-key'")
    until(tab, f"{MARKS}[0] === 'key'")
    assert button.bounding_box()["height"] >= 24
    button.click()
    assert tab.evaluate(MARKS) == [] and button.count() == 0
    assert tab.url.endswith("glossary.html#term-key")
    tab.goto(f"{address}{CHAPTER}?highlight=qzxwv#padding")
    tab.wait_for_load_state("networkidle")
    assert button.count() == 0


@pytest.mark.slow
def test_the_search_page_keeps_the_query_in_its_address(opened, root):
    tab = opened(f"{root}search.html?q=einsum").tab
    tab.wait_for_selector(RESULTS)
    field, marks = tab.locator("main [name=q]"), tab.locator("main li mark")
    assert field.input_value() == "einsum"
    field.fill("overflow")
    expect(marks.filter(has_text="overflow").first).to_be_visible()
    assert tab.url.endswith("search.html?q=overflow")
    found = re.compile("overflow(s|ed|ing)?", re.I)
    assert all(map(found.fullmatch, marks.all_text_contents()))
    field.press("ArrowDown")
    expect(tab.locator(RESULTS).first).to_be_focused()
    tab.keyboard.press("ArrowUp")
    expect(field).to_be_focused()


@pytest.mark.slow
@pytest.mark.parametrize(
    "page, field, status, link",
    [
        (CHAPTER, FIELD, ".search-status", OPTIONS),
        ("search.html", "main [name=q]", "#search-status", RESULTS),
    ],
)
def test_a_lost_index_is_said_and_asked_for_again(
    window, address, page, field, status, link
):
    tab = window().tab
    tab.route("**/search-index.js", lambda route: route.abort())
    tab.goto(address + page)
    tab.locator(field).fill("mask")
    said = tab.locator(status)
    expect(said).to_contain_text("The search could not be loaded")
    tab.unroute("**/search-index.js")
    tab.locator(field).fill("masks")
    tab.wait_for_selector(link)
    expect(said).to_have_text(re.compile(r"^The best 50 of \d+ sections$"))


@pytest.mark.slow
def test_without_scripts_the_form_leads_to_the_contents(window, address):
    tab = window(java_script_enabled=False).tab
    tab.goto(address + CHAPTER)
    tab.locator(FIELD).fill("mask")
    tab.locator(FIELD).press("Enter")
    tab.wait_for_url("**/search.html?q=mask")
    links = tab.locator("nav.all-sections a")
    assert "needs JavaScript" in tab.locator("noscript p").inner_text()
    hrefs = [link.get_attribute("href") for link in links.all()]
    assert {"book/04_masks.html", "book/04_masks.html#padding"} <= {*hrefs}
    expect_in_view(links.first)
