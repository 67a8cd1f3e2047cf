"""What a reader does: follow links, open the menu, copy code."""

import pytest

from tests.built import PAGES
from tests.browser.visit import Visit, comes, until

LONG = "book/04_masks.html"
TOP = "(element) => element.getBoundingClientRect().top"


@pytest.fixture(scope="module")
def desktop(browser):
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    yield context
    context.close()


@pytest.fixture
def tab(desktop):
    page = desktop.new_page()
    yield page
    page.close()


@pytest.fixture(params=["with scripts", "without scripts"])
def phone(request, browser, address):
    """A long page on a phone, scrolled far down."""
    context = browser.new_context(
        viewport={"width": 360, "height": 740},
        java_script_enabled=request.param == "with scripts",
    )
    page = context.new_page()
    page.goto(address + LONG)
    page.mouse.move(180, 400)
    page.mouse.wheel(0, 5000)
    until(page, "scrollY > 3500")
    yield page
    context.close()


def comes_into_view(locator):
    """Does the element come to stand in the window?"""
    return comes(locator.page, lambda: in_view(locator))


def goes(locator):
    """Does the element become invisible?"""
    return comes(locator.page, lambda: not locator.is_visible())


def in_view(locator):
    """Does the element stand in the window?"""
    window, box = locator.page.viewport_size, locator.bounding_box()
    return (
        box is not None
        and 0 <= box["x"] <= box["x"] + box["width"] <= window["width"]
        and 0 <= box["y"] <= box["y"] + box["height"] <= window["height"]
    )


def test_79_columns_fit_without_scrolling(tab, address):
    tab.goto(address + PAGES[1])
    box = tab.locator(".cell_input pre:visible").first
    scrolls = """(box, columns) => {
        box.textContent = "m".repeat(columns);
        return box.scrollWidth > box.clientWidth;
    }"""
    assert not box.evaluate(scrolls, 79)
    assert box.evaluate(scrolls, 100)


def press(locator):
    """Press it where it stands; a locator's own click scrolls the page."""
    box = locator.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    locator.page.mouse.click(x, y)


def test_menu_opens_over_a_scrolled_page(phone):
    button, title = phone.locator(".menu-button"), phone.locator("h1")
    place = title.bounding_box()["y"]
    assert place < -3000
    press(button)
    for name in ("input[name=q]", ".page-toc ul ul a"):
        assert comes_into_view(phone.locator(name).first)
    phone.mouse.move(100, 400)
    phone.mouse.wheel(0, 5000)
    last = phone.locator(".book-nav a").last
    assert comes_into_view(last)
    phone.keyboard.press("Escape")
    assert goes(last)
    press(button)
    assert comes_into_view(phone.locator(".close-button"))
    press(phone.locator(".close-button"))
    assert goes(last)
    assert title.bounding_box()["y"] == place


def test_menu_holds_the_focus_and_gives_it_back(browser, address):
    context = browser.new_context(viewport={"width": 360, "height": 740})
    tab = context.new_page()
    tab.goto(address + LONG)
    focus = "document.activeElement.closest('.menu, .menu-button').className"
    tab.click(".menu-button")
    until(tab, f"{focus} === 'menu'")
    assert tab.get_by_role("dialog", name="Contents and search").is_visible()
    for _ in range(3):
        tab.keyboard.press("Tab")
        assert tab.evaluate(focus) == "menu"
    tab.keyboard.press("Escape")
    assert tab.evaluate(focus) == "menu-button"
    tab.click(".menu-button")
    until(tab, f"{focus} === 'menu'")
    tab.keyboard.press("Shift+Tab")
    assert goes(tab.locator(".menu .close-button"))  # who leaves it closes it
    tab.click(".menu-button")
    section = tab.locator(".page-toc ul ul a").nth(3)
    heading = (
        tab.locator(section.get_attribute("href")).locator("h2, h3").first
    )
    section.click()
    assert goes(section)
    assert comes_into_view(heading)
    context.close()


@pytest.mark.slow
def test_sections_are_reachable_at_every_width(tab, address):
    tab.goto(address + LONG)
    tab.evaluate("window.scrollTo(0, 5000)")
    section = tab.locator(".page-toc ul ul a").first
    for width in (320, 700, 991, 993, 1150, 1279, 1281):
        tab.set_viewport_size({"width": width, "height": 740})
        until(tab, f"innerWidth === {width}")
        if tab.locator(".menu-button").is_visible():
            assert not in_view(section)
            tab.locator(".menu-button").click()
        assert comes_into_view(section), width
        tab.keyboard.press("Escape")


def headings_top(tab, anchor):
    return tab.locator(f"{anchor} > :is(h2, h3)").first.evaluate(TOP)


@pytest.mark.slow
def test_deep_links_land_at_once_and_below_the_bar(tab, address):
    tab.goto(address + LONG)
    links = tab.locator(".page-toc ul ul a")
    first, last = (
        link.get_attribute("href") for link in (links.first, links.last)
    )
    tab.goto(address + PAGES[0])
    tab.goto(address + LONG + last)
    at_load = tab.evaluate("scrollY"), headings_top(tab, last)
    bar = tab.locator(".top-bar").bounding_box()["height"]
    tab.wait_for_timeout(400)
    assert (tab.evaluate("scrollY"), headings_top(tab, last)) == at_load
    links.first.click()
    assert bar <= headings_top(tab, first) <= bar + 40


FACES = {
    "section > p": "Source Serif 4",
    "section > p em": "Source Serif 4",
    "blockquote strong": "Source Serif 4",
    "h1": "Source Serif 4",
    ".mathnormal": "KaTeX_Math",
    ".mop": "KaTeX_Main",
}


@pytest.mark.slow
def test_the_first_visit_shows_one_family_of_type(browser, address):
    context = browser.new_context()
    context.route("**/*.woff2", lambda route: route.abort())  # never in time
    visit = Visit(context.new_page())
    visit.load(address + "book/03_scoring_with_einsum.html")
    tools = context.new_cdp_session(visit.tab)
    for domain in ("DOM", "CSS"):
        tools.send(f"{domain}.enable")
    root = tools.send("DOM.getDocument")["root"]["nodeId"]
    used = {}
    for selector in FACES:
        wanted = {"nodeId": root, "selector": f"main {selector}"}
        node = tools.send("DOM.querySelector", wanted)["nodeId"]
        fonts = tools.send("CSS.getPlatformFontsForNode", {"nodeId": node})
        names = (font["familyName"] for font in fonts["fonts"])
        used[selector] = {name.removesuffix(" SemiBold") for name in names}
    shift = visit.tab.evaluate("window.layoutShift")
    context.close()
    assert used == {key: {name} for key, name in FACES.items()}
    assert shift < 0.001


@pytest.mark.slow
def test_formulas_are_readable_without_scripts(browser, address):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(address + "book/03_scoring_with_einsum.html")
    formulas = tab.locator("div.math")
    for formula in formulas.all():
        box = formula.locator(".katex-html").bounding_box()
        assert box["width"] > 50 and box["height"] > 20
        assert "\\" not in formula.locator(".katex-html").inner_text()
    assert formulas.count() >= 2
    context.close()


@pytest.mark.slow
def test_a_formula_too_wide_for_the_window_scrolls_and_says_so(tab, address):
    visit = Visit(tab)
    visit.load(address + "book/03_scoring_with_einsum.html")
    view = visit.measure(160)
    assert view["cutFormulas"] and view["unmarked"] == []
    assert tab.locator(".katex-display[tabindex]").count() > 0
    visit.measure(1440)
    assert tab.locator(".katex-display[tabindex]").count() == 0


def test_a_check_opens_by_click_and_by_keyboard(tab, address):
    tab.goto(address + LONG)
    summary = tab.locator(".tag_check summary").first
    code = tab.locator(".tag_check pre").first
    assert summary.inner_text().startswith("✓ ")
    assert not code.is_visible()
    summary.click()
    assert code.is_visible()
    summary.press("Enter")
    assert not code.is_visible()


@pytest.mark.slow
def test_a_check_prints_as_its_claim(tab, address):
    tab.goto(address + LONG)
    tab.locator(".tag_check summary").first.click()
    tab.emulate_media(media="print")
    assert tab.locator(".tag_check summary").first.is_visible()
    assert not tab.locator(".tag_check pre").first.is_visible()
    tab.emulate_media(media="screen")


def test_paper_shows_answers_and_no_buttons(tab, address):
    tab.goto(address + LONG)
    predict = tab.locator("details:not(.hide) p:not(summary p)").first
    folded = tab.locator(".tag_solution pre").first
    assert not predict.is_visible()
    tab.emulate_media(media="print", color_scheme="dark")
    assert predict.is_visible() and not folded.is_visible()
    for name in (".top-bar", ".menu-button", ".headerlink", ".prev-next"):
        assert not tab.locator(name).first.is_visible()
    ground = "getComputedStyle(document.body).backgroundColor"
    assert tab.evaluate(ground) == "rgb(255, 255, 255)"
    image = tab.locator("figure img").first
    assert image.evaluate("(i) => getComputedStyle(i).filter") == "none"
    tab.emulate_media(media="screen", color_scheme="light")


@pytest.mark.slow
def test_long_code_may_break_on_paper(tab, address):
    tab.goto(address + "book/05_heads.html")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab.emulate_media(media="print")
    for code in tab.locator(".cell_input pre").all():
        lines = code.text_content().count("\n")
        may = code.evaluate("(c) => getComputedStyle(c).breakInside") == "auto"
        assert may == (lines >= 24)
    tab.emulate_media(media="screen")


DARKNESS = """(image) => {
    const paper = document.createElement("canvas").getContext("2d");
    paper.filter = getComputedStyle(image).filter;
    paper.drawImage(image, 0, 0);
    return paper.getImageData(0, 0, 1, 1).data[0];
}"""


@pytest.mark.slow
@pytest.mark.parametrize("scheme, ground", [("light", 255), ("dark", 0)])
def test_figures_fill_the_column_on_the_pages_ground(
    tab, address, scheme, ground
):
    tab.emulate_media(color_scheme=scheme)
    tab.goto(address + LONG)
    image = tab.locator("figure img").first
    image.scroll_into_view_if_needed()
    until(tab, "(i) => i.complete", arg=image.element_handle())
    column = tab.locator("section > p").first.bounding_box()["width"]
    assert image.bounding_box()["width"] == pytest.approx(column)
    assert image.evaluate(DARKNESS) == ground


@pytest.mark.slow
def test_a_picture_of_colours_keeps_them_in_the_dark(tab, address):
    tab.emulate_media(color_scheme="dark")
    tab.goto(address + "book/03_scoring_with_einsum.html")
    image = tab.locator(".tag_keep-colours figure img")
    assert image.count() == 1
    assert image.evaluate("(i) => getComputedStyle(i).filter") == "none"


def test_theme_button_switches_and_is_remembered(tab, address):
    colour = "getComputedStyle(document.body).backgroundColor"
    tab.goto(address + PAGES[0])
    before = tab.evaluate(colour)
    tab.click(".theme-button")
    after = tab.evaluate(colour)
    tab.reload()
    assert before != after == tab.evaluate(colour)
    tab.evaluate("localStorage.clear()")


@pytest.mark.slow
def test_first_tab_stop_skips_to_the_text(tab, address):
    tab.goto(address + PAGES[1])
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "main"


def test_copy_button_copies_the_code(browser, address):
    context = browser.new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    tab.goto(address + PAGES[1])
    cell = tab.locator(".cell_input:visible").first
    cell.hover()
    cell.locator(".copy-button").click()
    code = cell.locator("pre").inner_text().rstrip()
    copied = "navigator.clipboard.readText()"
    assert comes(tab, lambda: tab.evaluate(copied) == code)
    context.close()
