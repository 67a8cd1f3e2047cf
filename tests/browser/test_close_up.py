"""Figures that open large, code that is copied, links to headings."""

import pytest

from tests.built import PAGES
from tests.browser.record import in_every_light
from tests.browser.visit import Visit, comes, until

CHAPTER = "book/05_heads.html"
COLOURS = "book/03_scoring_with_einsum.html"  # has a figure that keeps them
SIZES = {"desktop": (1400, 900), "phone": (360, 740)}
COPIED = "navigator.clipboard.readText()"
FOCUS = "document.activeElement"


@pytest.fixture
def visit(browser, address):
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit = Visit(context.new_page())
    visit.load(address + CHAPTER)
    yield visit
    visit.assert_calm()
    context.close()


@pytest.fixture
def tab(visit):
    return visit.tab


@pytest.fixture
def dialog(tab):
    return tab.locator("dialog.zoom")


def number(dialog):
    return dialog.get_attribute("aria-label")


def figure(tab, index):
    return tab.locator("main figure").nth(index)


def test_a_figure_opens_by_click_and_by_key(tab, dialog):
    for show in (
        lambda: figure(tab, 1).locator("img").click(),
        lambda: figure(tab, 1).locator(".zoom-button").click(),
        lambda: figure(tab, 1).locator(".zoom-button").press("Enter"),
    ):
        show()
        assert number(dialog) == "Figure 5.2"
        large = dialog.locator("img")
        small = figure(tab, 1).locator("img")
        assert large.get_attribute("alt") == small.get_attribute("alt")
        assert large.bounding_box()["width"] > small.bounding_box()["width"]
        caption = figure(tab, 1).locator("figcaption p").inner_text()
        assert dialog.locator("figcaption").inner_text() == (
            caption.removesuffix("#")
        )
        tab.keyboard.press("Escape")
        assert not dialog.is_visible()


def test_arrows_lead_through_the_figures(tab, dialog):
    figure(tab, 0).locator("img").click()
    url = tab.url
    seen = [number(dialog)]
    for _ in range(tab.locator("main figure img").count()):
        tab.keyboard.press("ArrowRight")
        seen.append(number(dialog))
    assert seen[0] == seen[-1] and len(set(seen)) == len(seen) - 1
    dialog.get_by_role("button", name="Previous figure").click()
    assert number(dialog) == seen[-2]
    assert dialog.get_by_role("status").inner_text().startswith(seen[-2])
    tab.keyboard.press("ArrowLeft")
    assert number(dialog) == seen[-3]
    assert tab.url == url


@pytest.mark.slow
def test_the_focus_returns_to_the_figure_that_was_shown(tab, dialog):
    figure(tab, 0).locator(".zoom-button").press("Enter")
    tab.keyboard.press("ArrowRight")
    dialog.get_by_role("button", name="Close").click()
    until(tab, f"{FOCUS}.ariaLabel === 'Enlarge figure 5.2'")
    box = figure(tab, 1).locator("img").bounding_box()
    assert 0 <= box["y"] and box["y"] + box["height"] <= 900


@pytest.mark.slow
def test_a_click_beside_it_closes_it(tab, dialog):
    figure(tab, 0).locator("img").click()
    tab.mouse.click(3, 450)
    assert not dialog.is_visible()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, page",
    [
        ("phone", CHAPTER),
        ("desktop", COLOURS),
        pytest.param("phone", COLOURS, marks=pytest.mark.slow),
        pytest.param("desktop", CHAPTER, marks=pytest.mark.slow),
    ],
)
def test_every_figure_fits_or_can_be_moved(tab, dialog, address, name, page):
    width, height = SIZES[name]
    tab.set_viewport_size({"width": width, "height": height})
    tab.goto(address + page)
    figure(tab, 0).locator("img").click()
    for _ in range(tab.locator("main figure img").count()):
        image = dialog.locator("img")
        until(tab, "(i) => i.complete", arg=image.element_handle())
        stage = dialog.locator(".zoom-stage").bounding_box()
        box = image.bounding_box()
        assert stage["height"] > 150
        if name == "desktop":
            assert box["width"] <= stage["width"] + 1
            assert box["height"] <= stage["height"] + 1
        else:
            assert box["width"] >= stage["width"] - 1
            assert box["x"] >= stage["x"] - 1
            assert box["y"] >= stage["y"] - 1
        ratio = image.evaluate("(i) => i.naturalWidth / i.naturalHeight")
        assert box["width"] / box["height"] == pytest.approx(ratio, rel=0.02)
        tab.keyboard.press("ArrowRight")
    root = "document.scrollingElement.scrollWidth"
    assert tab.evaluate(root) <= width


@pytest.mark.slow
def test_a_figure_about_colours_keeps_them(tab, dialog, address):
    tab.emulate_media(color_scheme="dark")
    tab.goto(address + COLOURS)
    filters = {}
    figure(tab, 0).locator("img").click()
    for _ in range(tab.locator("main figure img").count()):
        image = dialog.locator("img")
        shown = image.evaluate("(i) => getComputedStyle(i).filter")
        filters.setdefault(shown == "none", []).append(number(dialog))
        tab.keyboard.press("ArrowRight")
    kept = tab.locator(".tag_keep-colours .caption-number").all_inner_texts()
    names = [text.strip().replace("Fig.", "Figure") for text in kept]
    assert filters[True] == names and filters[False]
    tab.emulate_media(color_scheme="light")


@pytest.mark.slow
def test_the_large_figure_is_legible(visit):
    figure(visit.tab, 0).locator("img").click()
    assert [seen["tooFaint"] for seen in in_every_light(visit)] == [[], []]


@pytest.mark.slow
def test_a_drawing_with_links_does_not_open(tab, dialog, address):
    tab.goto(address + "book/10_transformer.html")
    buttons = tab.locator(".zoom-button").count()
    assert buttons == tab.locator("main figure img").count()


def copy_buttons(tab):
    return tab.locator(".copy-button:visible")


@pytest.mark.slow
def test_all_copy_buttons_are_one_stop(tab):
    stops = tab.locator(".copy-button[tabindex='0']")
    assert copy_buttons(tab).count() > 20
    assert stops.count() == 1
    assert tab.locator(".cell_output .copy-button").count() == 0
    code = tab.locator(".cell_input pre:visible").nth(12)
    code.evaluate("(c) => c.scrollIntoView({ block: 'start' })")

    def is_in_view():
        return stops.count() == 1 and 0 <= stops.bounding_box()["y"] <= 900

    assert comes(tab, is_in_view)


@pytest.mark.slow
def test_up_and_down_lead_to_the_other_boxes(tab):
    copy_buttons(tab).nth(2).focus()
    for key, index in [("Down", 3), ("Down", 4), ("Up", 3)]:
        tab.keyboard.press(f"Arrow{key}")
        wanted = copy_buttons(tab).nth(index)
        assert wanted.evaluate("(b) => b === document.activeElement")
        assert wanted.get_attribute("tabindex") == "0"
    tab.keyboard.press("Enter")
    assert comes(tab, lambda: wanted.inner_text() == "Copied")
    code = wanted.locator("xpath=preceding-sibling::pre")
    assert tab.evaluate(COPIED) == code.text_content().rstrip()


@pytest.mark.slow
def test_on_a_phone_the_buttons_show_and_hide_no_code(browser, address):
    context = browser.new_context(
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True
    )
    tab = context.new_page()
    tab.goto(address + CHAPTER)
    for name in (".copy-button", ".zoom-button"):
        shown = tab.locator(f"{name}:visible").first
        assert shown.evaluate("(b) => getComputedStyle(b).opacity") == "1"
        box = shown.bounding_box()
        assert box["width"] >= 24 and box["height"] >= 24
    code = tab.locator(".cell_input pre:visible").first
    code.evaluate("(c) => c.scrollTo(1e4, 0)")
    end = """(c) => {
        const text = document.createRange();
        text.selectNodeContents(c);
        return Math.max(...[...text.getClientRects()].map((r) => r.right));
    }"""
    button = code.locator("xpath=following-sibling::button").bounding_box()
    assert code.evaluate(end) <= button["x"] + 1
    context.close()


@pytest.mark.slow
def test_on_a_phone_a_tap_on_a_heading_shows_its_sign(browser, address):
    context = browser.new_context(
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True
    )
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    tab.goto(address + CHAPTER)
    signs = tab.locator("main .headerlink")
    shown = "(all) => all.map((s) => Number(getComputedStyle(s).opacity))"
    assert not any(signs.evaluate_all(shown))
    heading = tab.locator("#the-cut > h2")
    sign = heading.locator(".headerlink")
    heading.tap(position={"x": 5, "y": 10})
    assert sign.evaluate("(s) => getComputedStyle(s).opacity") == "1"
    box = sign.bounding_box()
    assert box["width"] >= 24 and box["height"] >= 24
    assert sum(signs.evaluate_all(shown)) == 1
    sign.tap()
    assert comes(tab, lambda: tab.evaluate(COPIED).endswith("#the-cut"))
    context.close()


@pytest.mark.slow
def test_the_sign_at_a_heading_copies_its_link(tab):
    sign = tab.locator("#the-cut > h2 .headerlink")
    sign.click()
    said = tab.get_by_text("The link is copied.")
    assert comes(tab, lambda: said.count() == 1)
    assert tab.url.endswith("#the-cut")
    assert tab.evaluate(COPIED) == tab.url


def test_pages_load_only_the_scripts_they_need(site):
    loaded = {
        page: {
            name
            for name in ("zoom.js", "code.js", "quiz.js")
            if f"_static/{name}" in (site / page).read_text()
        }
        for page in PAGES
    }
    assert loaded[CHAPTER] == {"zoom.js", "code.js", "quiz.js"}
    assert loaded["book/glossary.html"] == set()
    assert loaded["search.html"] == set()


@pytest.mark.slow
def test_without_scripts_figures_and_code_are_as_they_were(browser, address):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(address + CHAPTER)
    assert tab.locator(".zoom-button, .copy-button, dialog").count() == 0
    assert tab.locator("main figure img").first.is_visible()
    context.close()


@pytest.mark.slow
def test_paper_has_none_of_the_buttons(tab):
    tab.emulate_media(media="print")
    names = (".zoom-button", ".copy-button", ".page-links", ".page-footer")
    for name in names:
        assert not tab.locator(name).first.is_visible()
    tab.emulate_media(media="screen")
