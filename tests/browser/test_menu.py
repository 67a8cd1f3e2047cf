"""The menu and the contents, light and dark, and the page on paper."""

import pytest
from playwright.sync_api import expect

from tests.browser.visit import expect_in_view, until
from tests.built import NOTEBOOKS, PAGES
from tools.editions.publish import editions

PAGE = "book/04_masks.html"  # a long one
FORMULAS = "book/03_scoring_with_einsum.html"
TOP = "(element) => element.getBoundingClientRect().top"
GROUND = "getComputedStyle(document.body).backgroundColor"
FOCUS = "document.activeElement.closest('.menu, .menu-button').className"


def test_deeper_pages_stand_below_their_chapter(window, address):
    """In the contents; who goes on from chapter to chapter meets none."""
    tab, walk = window(1200).tab, ["02_dot", "03_scoring", "04_masks"]
    tab.goto(address + FORMULAS)
    inside = tab.locator(".book-nav .current ul a")
    assert inside.count() >= 3
    for side, name in (("prev", walk[0]), ("next", walk[2])):
        link = tab.locator(f".prev-next [rel={side}]")
        assert link.get_attribute("href").startswith(name)
    inside.first.click()
    tab.wait_for_url("**/book/deeper/03_*.html")
    here = tab.locator(".book-nav [aria-current=page], .book-nav .current a")
    assert here.count()
    tab.locator(".prev-next [rel=prev]").click()
    tab.wait_for_url(f"**/{walk[1]}*.html")


@pytest.mark.parametrize("has_scripts", [True, False])
def test_menu_opens_over_a_scrolled_page(window, address, has_scripts):
    phone = window(360, 740, java_script_enabled=has_scripts).tab
    phone.goto(address + PAGE)
    phone.mouse.move(180, 400)
    phone.mouse.wheel(0, 5000)
    until(phone, "scrollY > 3500")
    button, title = phone.locator(".menu-button"), phone.locator("h1")
    place = title.bounding_box()["y"]
    button.dispatch_event("click")  # its own click scrolls the page
    for name in ("input[name=q]", ".page-toc ul ul a"):
        expect_in_view(phone.locator(name).first)
    phone.mouse.move(100, 400)
    phone.mouse.wheel(0, 5000)
    last = phone.locator(".book-nav a").last
    expect_in_view(last)
    expect_in_view(phone.locator("input[name=q]"))
    phone.keyboard.press("Escape")
    last.wait_for(state="hidden")
    button.dispatch_event("click")  # its own click scrolls the page
    expect_in_view(phone.locator(".close-button"))
    phone.locator(".close-button").dispatch_event("click")
    last.wait_for(state="hidden")
    assert title.bounding_box()["y"] == place


def test_menu_holds_the_focus_and_gives_it_back(window, address):
    tab = window(360, 740).tab
    tab.goto(address + PAGE)

    def open_menu():
        tab.click(".menu-button")
        until(tab, f"{FOCUS} === 'menu'")

    open_menu()
    assert tab.get_by_role("dialog", name="Contents and search").is_visible()
    for _ in range(3):
        tab.keyboard.press("Tab")
        assert tab.evaluate(FOCUS) == "menu"
    tab.keyboard.press("Escape")
    assert tab.evaluate(FOCUS) == "menu-button"
    open_menu()
    tab.keyboard.press("Shift+Tab")  # who leaves it closes it
    tab.locator(".menu .close-button").wait_for(state="hidden")
    open_menu()
    section = tab.locator(".page-toc ul ul a").nth(3)
    place = section.get_attribute("href")
    section.click()
    section.wait_for(state="hidden")
    expect_in_view(tab.locator(place).locator("h2, h3").first)


def test_sections_are_reachable_at_every_width(tab):
    """The bar, or the menu that it opens, has them; and their button."""
    tab.evaluate("window.scrollTo(0, 5000)")
    section = tab.locator(".page-toc ul ul a").first
    for width in (320, 700, 991, 993, 1150, 1279, 1281):
        tab.set_viewport_size({"width": width, "height": 740})
        until(tab, f"innerWidth === {width}")
        for name in (".menu-button", ".sections-button"):
            button = tab.locator(name)
            assert button.is_visible() == (width < 992), width
            if button.is_visible():
                expect(section).not_to_be_in_viewport()
                button.click()
            expect_in_view(section)
            tab.keyboard.press("Escape")


@pytest.mark.slow
def test_the_contents_show_where_one_is(tab, address):
    for height in (600, 900):
        tab.set_viewport_size({"width": 1440, "height": height})
        tab.goto(f"{address}book/20_bugs.html")
        expect_in_view(tab.locator(".book-nav a.current"))
        assert tab.evaluate("scrollY") == 0


@pytest.mark.slow
def test_deep_links_land_at_once_and_below_the_bar(tab, address):
    def top(anchor):
        return tab.locator(f"{anchor} > :is(h2, h3)").first.evaluate(TOP)

    links = tab.locator(".page-toc ul ul a")
    first = links.first.get_attribute("href")
    last = links.last.get_attribute("href")
    tab.goto(address + PAGES[0])
    tab.goto(address + PAGE + last)
    at_load = tab.evaluate("scrollY"), top(last)
    bar = tab.locator(".top-bar").bounding_box()["height"]
    tab.wait_for_timeout(400)
    assert (tab.evaluate("scrollY"), top(last)) == at_load
    links.first.click()
    assert bar <= top(first) <= bar + 40
    marked = tab.locator(".page-toc [aria-current=true]")
    expect(marked).to_have_count(1)
    tab.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    expect(marked).to_have_count(0)


def test_theme_button_switches_and_is_remembered(tab, address):
    before = tab.evaluate(GROUND)
    tab.click(".theme-button")
    after = tab.evaluate(GROUND)
    tab.reload()
    assert before != after == tab.evaluate(GROUND)
    tab.goto(address + "404.html")
    assert tab.evaluate(GROUND) == after
    tab.go_back()
    tab.click(".theme-button")
    assert tab.evaluate(GROUND) == before


BUTTONS = [".top-bar", ".menu-button", ".headerlink", ".prev-next"]
BUTTONS += [".zoom-button", ".copy-button", ".page-links", ".page-footer"]
BUTTONS += [".score", ".solution-buttons", ".tag_exercise-check .cell_input"]
BREAKS = """(all) => all.map((code) =>
  [code.textContent, getComputedStyle(code).breakInside])"""


def test_paper_shows_answers_and_no_buttons(tab):
    predict = tab.locator("details:not(.hide) p:not(summary p)").first
    folded = tab.locator(".tag_solution pre").first
    check = tab.locator(".tag_check").first
    code = check.locator("pre").first
    assert not predict.is_visible() and not code.is_visible()
    check.locator("summary").click()
    assert code.is_visible()
    tab.emulate_media(media="print", color_scheme="dark")
    assert predict.is_visible() and not folded.is_visible()
    assert check.locator("summary").is_visible()  # it prints as its claim
    assert not code.is_visible()
    answers = tab.locator(".choice p:visible").all_inner_texts()
    assert answers and all(text.startswith("Yes.") for text in answers)
    for name in BUTTONS:
        assert not tab.locator(name).first.is_visible(), name
    assert tab.evaluate(GROUND) == "rgb(255, 255, 255)"
    image = tab.locator("figure img").first
    assert image.evaluate("(i) => getComputedStyle(i).filter") == "none"
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    for code, may in tab.locator(".cell_input pre").evaluate_all(BREAKS):
        is_long = code.count("\n") >= 24
        assert (may == "auto") == is_long


FACES = """[...document.fonts].map((face) =>
  [face.status, face.family.replaceAll('"', "")])"""


@pytest.mark.slow
def test_the_first_visit_shows_one_family_of_type(window, address):
    """What a page begins with lies in its style; files come too late."""
    visit = window()
    never = lambda route: route.abort()  # noqa: E731 - in time for the text
    visit.tab.context.route("**/*.woff2", never)
    visit.load(address + FORMULAS)
    faces = visit.tab.evaluate(FACES)
    loaded = {family for status, family in faces if status == "loaded"}
    assert {"Source Serif 4", "KaTeX_Math", "KaTeX_Main"} <= loaded
    assert [family for status, family in faces if status == "error"] == []
    assert visit.tab.evaluate("window.layoutShift") < 0.001


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 1440])
def test_the_list_of_editions_finds_room_and_leads_on(window, address, width):
    """It is written by publishing into the bar of each page."""
    page = f"{NOTEBOOKS[3]}.html"
    has = {name: {page} for name in ("latest", "v0.10", "v0.2-draft")}
    tab = window(width, 600).tab

    def put(route):
        shown = editions.choice(page, page, "v0.2-draft", has)
        text = route.fetch().text()
        new = editions.PLACE.sub(rf"\g<1>{shown}\g<2>", text)
        route.fulfill(body=new, content_type="text/html")

    tab.route(address + page, put)
    tab.goto(address + page)
    summary = tab.locator(".editions > summary")
    assert summary.inner_text().endswith("v0.2-draft")
    brand = tab.locator(".brand").bounding_box()
    bar, box = tab.locator(".top-bar").bounding_box(), summary.bounding_box()
    assert brand["height"] <= bar["height"] and box["height"] >= 24
    assert brand["x"] + brand["width"] <= box["x"]
    summary.press("Enter")
    for link in tab.locator(".editions a").all():
        expect_in_view(link)
        assert link.bounding_box()["height"] >= 24
    for key in ("Tab", "Tab", "Enter"):
        tab.keyboard.press(key)
    tab.wait_for_url(f"{address}v0.10/{page}")
