"""The search field and the search page, by keyboard, eye and ear."""

import re

import pytest

from tests.site.record import violations
from tests.site.test_use import in_view
from tests.site.visit import Visit, until

RESULTS = "#search-results a"
FIELD = ".book-search input"
FOCUSED = "document.activeElement.matches('.book-search input')"
CHAPTER = "book/04_masks.html"
OPTIONS = "#search-list a:not(.all-results)"
MARKS = "[...(CSS.highlights.get('search') || [])].map(String)"


def open_page(browser, url, width=1440, scheme="light"):
    size = {"width": width, "height": 800}
    context = browser.new_context(viewport=size, color_scheme=scheme)
    visit = Visit(context.new_page())
    visit.load(url)
    return visit


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.fixture(params=[1440, slow(360), slow(1100), slow(320)])
def typed(request, browser, address):
    """A page on which somebody has pressed "/" and typed a query."""
    visit = open_page(browser, address + CHAPTER, request.param)
    visit.tab.keyboard.press("/")
    until(visit.tab, FOCUSED)
    visit.tab.keyboard.type("kv cache")
    visit.tab.wait_for_selector(OPTIONS)
    yield visit
    visit.assert_calm()
    visit.tab.context.close()


def test_results_come_while_one_types(typed):
    options = typed.tab.locator(OPTIONS)
    before = options.first.inner_text()
    assert in_view(options.first)
    typed.tab.locator(FIELD).fill("kv")
    typed.tab.locator(FIELD).fill("einsum")
    until(
        typed.tab,
        "document.querySelector('#search-list').innerText.includes('einsum')",
    )
    assert options.first.inner_text() != before
    typed.tab.locator(FIELD).fill("")
    assert not options.first.is_visible()


def test_the_keyboard_does_all(typed):
    tab = typed.tab
    field, options = tab.locator(FIELD), tab.locator("#search-list a")
    chosen = tab.locator("#search-list [aria-selected=true]")
    assert chosen.count() == 0
    for key, number in (("Down", 0), ("Down", 1), ("Up", 0), ("Up", None)):
        tab.keyboard.press(f"Arrow{key}")
        active = field.get_attribute("aria-activedescendant")
        if number is None:
            assert active is None and chosen.count() == 0
        else:
            assert active == options.nth(number).get_attribute("id")
            assert chosen.get_attribute("id") == active and in_view(chosen)
    tab.keyboard.press("ArrowUp")
    assert "All" in chosen.inner_text() and in_view(chosen)
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowDown")
    target = chosen.get_attribute("href").partition("#")[2]
    tab.keyboard.press("Enter")
    tab.wait_for_url(f"**#{target}")
    assert in_view(tab.locator(f"#{target} > h2").first)


@pytest.mark.slow
def test_escape_closes_the_list_first_and_then_the_menu(typed):
    tab, field = typed.tab, typed.tab.locator(FIELD)
    is_narrow = tab.locator(".menu-button").is_visible()
    tab.keyboard.press("Escape")
    assert not tab.locator(".search-panel").is_visible()
    assert field.input_value() == "kv cache" and field.is_visible()
    assert field.get_attribute("aria-expanded") == "false"
    tab.keyboard.press("ArrowDown")
    tab.wait_for_selector(OPTIONS)
    tab.keyboard.press("Escape")
    if is_narrow:  # first the field is emptied, as browsers do
        tab.keyboard.press("Escape")
        assert field.input_value() == "" and field.is_visible()
        tab.keyboard.press("Escape")
        assert not field.is_visible()


@pytest.mark.slow
def test_enter_alone_leads_to_all_results(typed):
    typed.tab.keyboard.press("Enter")
    typed.tab.wait_for_url("**/search.html?q=kv+cache")
    typed.tab.wait_for_selector(RESULTS)
    assert typed.tab.locator(RESULTS).count() > 8


@pytest.mark.slow
def test_the_list_is_a_listbox_fits_and_closes_on_a_click_beside_it(typed):
    tab, width = typed.tab, typed.tab.viewport_size["width"]
    field = tab.get_by_role("combobox", name="Search the book")
    assert field.get_attribute("aria-expanded") == "true"
    listbox = tab.get_by_role("listbox", name="Results")
    assert field.get_attribute("aria-controls") == listbox.get_attribute("id")
    assert listbox.get_by_role("option").count() >= 8
    status = tab.locator(".search-panel [role=status]")
    assert re.fullmatch(r"\d+ sections", status.inner_text())
    assert tab.evaluate("document.scrollingElement.scrollWidth") <= width
    panel = tab.locator(".search-panel")
    box = panel.bounding_box()
    assert 0 <= box["x"] and box["x"] + box["width"] <= width
    assert panel.evaluate("(p) => p.scrollWidth <= p.clientWidth")
    assert all(
        o.bounding_box()["height"] >= 24 for o in panel.locator("a").all()
    )
    if not tab.locator(".menu-button").is_visible():
        tab.mouse.click(width - 300, 700)
        assert not panel.is_visible()


@pytest.mark.slow
@pytest.mark.parametrize(
    "width, scheme",
    [
        (320, "dark"),
        slow(1440, "dark"),
        slow(1440, "light"),
        slow(320, "light"),
    ],
)
@pytest.mark.parametrize("page", [CHAPTER, "search.html?q=mask"])
def test_axe_has_no_complaint(browser, address, page, width, scheme):
    visit = open_page(browser, address + page, width, scheme)
    if page == CHAPTER:
        visit.tab.keyboard.press("/")
        until(visit.tab, FOCUSED)
        visit.tab.keyboard.type("padding mask")
    visit.tab.wait_for_selector(OPTIONS if page == CHAPTER else RESULTS)
    visit.tab.keyboard.press("ArrowDown")
    part = ".menu" if page == CHAPTER else "body"
    assert violations(visit.tab, part) == []
    assert visit.look(colours=True)["tooFaint"] == []
    visit.tab.context.close()


@pytest.fixture(params=["http", slow("file")])
def root(request, site, address):
    return address if request.param == "http" else f"{site.as_uri()}/"


def test_the_page_marks_what_was_found(browser, root):
    visit = open_page(browser, root + CHAPTER)
    tab = visit.tab
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
    visit.assert_calm()
    tab.context.close()


@pytest.mark.slow
def test_marks_go_by_a_press_on_the_button_too(browser, address):
    url = f"{address}book/glossary.html?highlight=keys+cached#term-prefill"
    visit = open_page(browser, url, 360)
    button = visit.tab.get_by_role("button", name="Remove marks")
    button.wait_for()
    assert visit.tab.evaluate(MARKS)
    visit.tab.evaluate("location.hash = '#term-key'")
    until(visit.tab, f"{MARKS}[0] === 'key'")
    assert button.bounding_box()["height"] >= 24
    button.click()
    assert visit.tab.evaluate(MARKS) == [] and button.count() == 0
    assert visit.tab.url.endswith("glossary.html#term-key")
    visit.assert_calm()
    visit.tab.context.close()


@pytest.mark.slow
def test_without_words_nothing_is_marked(browser, address):
    visit = open_page(browser, f"{address}{CHAPTER}?highlight=qzxwv#padding")
    visit.tab.wait_for_load_state("networkidle")
    assert visit.tab.locator(".unmark").count() == 0
    visit.load(address + CHAPTER)
    assert not [u for u in visit.requests[-20:] if "search-marks" in u][1:]
    visit.tab.context.close()


@pytest.mark.slow
def test_the_search_page_keeps_the_query_in_its_address(browser, root):
    visit = open_page(browser, f"{root}search.html?q=einsum")
    tab = visit.tab
    tab.wait_for_selector(RESULTS)
    field = tab.locator("main [name=q]")
    assert field.input_value() == "einsum"
    field.fill("overflow")
    until(
        tab,
        "document.querySelector('#search-results mark')"
        "?.textContent.startsWith('overflow')",
    )
    assert tab.url.endswith("search.html?q=overflow")
    marked = tab.locator("#search-results mark").all_text_contents()
    assert {re.sub("(s|ed|ing)$", "", m.lower()) for m in marked} == {
        "overflow"
    }
    field.press("ArrowDown")
    focused = "document.activeElement.closest('#search-results li')"
    assert tab.evaluate(f"!!{focused} && !{focused}.previousElementSibling")
    tab.keyboard.press("ArrowUp")
    assert tab.evaluate("document.activeElement.name") == "q"
    visit.assert_calm()
    tab.context.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "page, field, status, link",
    [
        (CHAPTER, FIELD, ".search-status", OPTIONS),
        ("search.html", "main [name=q]", "#search-status", RESULTS),
    ],
)
def test_a_lost_index_is_said_and_asked_for_again(
    browser, address, page, field, status, link
):
    tab = browser.new_page()
    tab.route("**/search-index.js", lambda route: route.abort())
    tab.goto(address + page)
    tab.locator(field).fill("mask")
    said = f"document.querySelector('{status}').textContent"
    until(tab, f"{said} === 'The search could not be loaded'")
    tab.unroute("**/search-index.js")
    tab.locator(field).fill("masks")
    tab.wait_for_selector(link)
    assert re.fullmatch(r"\d+ sections", tab.evaluate(said))
    tab.close()


@pytest.mark.slow
def test_a_slash_is_a_slash_where_one_types(browser, address):
    visit = open_page(browser, f"{address}search.html")
    field = visit.tab.locator("main [name=q]")
    visit.tab.keyboard.press("/")
    visit.tab.keyboard.type("a/b")
    assert field.input_value() == "a/b"
    visit.tab.context.close()


@pytest.mark.slow
def test_without_scripts_the_form_leads_to_the_contents(browser, address):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(address + CHAPTER)
    tab.locator(FIELD).fill("mask")
    tab.locator(FIELD).press("Enter")
    tab.wait_for_url("**/search.html?q=mask")
    links = tab.locator("nav.all-sections a")
    assert "needs JavaScript" in tab.locator("noscript p").inner_text()
    hrefs = [link.get_attribute("href") for link in links.all()]
    assert {"book/04_masks.html", "book/04_masks.html#padding"} <= {*hrefs}
    assert in_view(links.first)
    context.close()
