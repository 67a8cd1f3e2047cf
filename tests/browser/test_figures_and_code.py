"""Figures that open large, code that is copied, links to headings."""

import pytest
from playwright.sync_api import expect

from tests.browser.record import assert_legible
from tests.browser.visit import CHAPTER, expect_in_view, until

COLOURS = "book/deeper/03_three_sources.html"  # has a figure that keeps them
WALK = "book/03_scoring_with_einsum.html"
COPIED = "navigator.clipboard.readText()"
SHADE = "(image) => getComputedStyle(image).filter"
OPACITY = "(all) => all.map((one) => Number(getComputedStyle(one).opacity))"


@pytest.fixture
def phone(window, address):
    tab = window(360, 740, touch=True).tab
    tab.goto(address + CHAPTER)
    return tab


@pytest.fixture
def dialog(tab):
    return tab.locator("dialog.zoom")


def number(dialog):
    return dialog.get_attribute("aria-label")


def figure(tab, index):
    return tab.locator("main figure:has(img)").nth(index)


def test_a_figure_opens_by_click_and_by_key(tab, dialog):
    own, button = figure(tab, 1), figure(tab, 1).locator(".zoom-button")
    large, small = dialog.locator("img"), own.locator("img")
    caption = own.locator("figcaption p").inner_text().removesuffix("#")
    column = tab.locator("section > p").first.bounding_box()["width"]
    assert small.bounding_box()["width"] == pytest.approx(column)
    for show in (small.click, button.click, lambda: button.press("Enter")):
        show()
        assert number(dialog) == "Figure 5.2"
        assert large.get_attribute("alt") == small.get_attribute("alt")
        assert large.bounding_box()["width"] > small.bounding_box()["width"]
        assert dialog.locator("figcaption").inner_text() == caption
        tab.keyboard.press("Escape")
        assert not dialog.is_visible()
    small.click()
    tab.mouse.click(3, 450)  # beside it
    assert not dialog.is_visible()


def test_checks_of_a_walk_are_ticks_that_open_them(opened, address):
    """Some in folded answers; none tells on the page what it proves."""
    tab = opened(address + WALK).tab
    checks = tab.locator("section:not(#exercises *) > .tag_check")
    inside = tab.locator("#exercises .tag_check")
    read = checks.count() - inside.count()
    assert tab.locator(".tick").count() >= read > 5
    for cell in checks.all()[:read]:
        expect(cell).to_be_hidden()
    cell = tab.locator(".tag_check").first
    tick = tab.locator("#who-answers .tick").first
    said = tab.locator("#who-answers p:has(.tick)").first.inner_text()
    assert said.endswith("points to.\u2060\u00a0✓") and not cell.is_visible()
    tick.focus()
    tab.keyboard.press("Enter")
    expect(cell.locator("summary")).to_contain_text("✓ each row")
    expect(tick).to_have_attribute("aria-expanded", "true")
    cell.locator("summary").press("Enter")
    expect(cell).to_be_hidden()
    expect(tick).to_be_focused()


def test_without_a_script_a_check_is_a_line(window, address):
    tab = window(1200, java_script_enabled=False).tab
    tab.goto(f"{address}{WALK}")
    expect(tab.locator(".tag_check summary").first).to_be_visible()


def each_figure(tab):
    """Open the first figure and go through all of the page."""
    figure(tab, 0).locator("img").click()
    for _ in range(tab.locator("main figure img").count()):
        yield tab.locator("dialog.zoom img")
        tab.keyboard.press("ArrowRight")


def test_arrows_lead_through_the_figures(tab, dialog):
    url = tab.url
    seen = [number(dialog) for _ in each_figure(tab)]
    assert number(dialog) == seen[0] and len({*seen}) == len(seen)
    dialog.get_by_role("button", name="Previous figure").click()
    assert number(dialog) == seen[-1]
    assert dialog.get_by_role("status").inner_text().startswith(seen[-1])
    tab.keyboard.press("ArrowLeft")
    assert number(dialog) == seen[-2]
    assert tab.url == url
    dialog.get_by_role("button", name="Close").click()
    expect(figure(tab, -2).locator(".zoom-button")).to_be_focused()
    expect_in_view(figure(tab, -2).locator("img"))


@pytest.mark.slow
@pytest.mark.parametrize("page", [CHAPTER, COLOURS])
@pytest.mark.parametrize("width, height", [(1400, 900), (360, 740)])
def test_every_figure_fits_or_can_be_moved(
    tab, dialog, address, width, height, page
):
    tab.set_viewport_size({"width": width, "height": height})
    tab.goto(address + page)
    for image in each_figure(tab):
        until(tab, "(i) => i.complete", arg=image.element_handle())
        stage = dialog.locator(".zoom-stage").bounding_box()
        box = image.bounding_box()
        assert stage["height"] > 150
        if width > 360:
            assert box["width"] <= stage["width"] + 1
            assert box["height"] <= stage["height"] + 1
        else:
            assert box["width"] >= stage["width"] - 1
            assert box["x"] >= stage["x"] - 1
            assert box["y"] >= stage["y"] - 1
        ratio = image.evaluate("(i) => i.naturalWidth / i.naturalHeight")
        assert box["width"] / box["height"] == pytest.approx(ratio, rel=0.02)
    assert tab.evaluate("document.scrollingElement.scrollWidth") <= width


@pytest.mark.slow
def test_a_figure_about_colours_keeps_them(tab, dialog, address):
    """Figures have the ground of the page: in the dark they are turned."""
    tab.emulate_media(color_scheme="dark")
    tab.goto(address + COLOURS)
    kept = tab.locator(".tag_keep-colours figure")
    names = kept.locator(".caption-number").all_inner_texts()
    shades = {
        number(dialog): image.evaluate(SHADE) for image in each_figure(tab)
    }
    own = [shades.pop(n.strip().replace("Fig.", "Figure")) for n in names]
    assert own == ["none", "none"] and not shades  # there are no others
    tab.goto(address + CHAPTER)
    shades = [image.evaluate(SHADE) for image in each_figure(tab)]
    assert shades and all("invert(1)" in shade for shade in shades)


@pytest.mark.slow
def test_the_large_figure_is_legible(visit):
    figure(visit.tab, 0).locator("img").click()
    assert_legible(visit, "dialog")


def test_copy_buttons_are_one_stop_and_arrows_lead_to_the_others(tab):
    buttons = tab.locator(".copy-button:visible")
    stop = tab.locator(".copy-button[tabindex='0']")
    tab.locator(".cell_input pre:visible").nth(12).evaluate(
        "(code) => code.scrollIntoView({ block: 'start' })"
    )
    expect_in_view(stop)  # the only one, or this is an error
    buttons.nth(2).focus()
    for key, index in [("Down", 3), ("Down", 4), ("Up", 3)]:
        tab.keyboard.press(f"Arrow{key}")
        wanted = buttons.nth(index)
        expect(wanted).to_be_focused()
        assert wanted.get_attribute("tabindex") == "0"
    tab.keyboard.press("Enter")
    expect(wanted).to_have_text("Copied")
    code = wanted.locator("xpath=preceding-sibling::pre")
    assert tab.evaluate(COPIED) == code.text_content().rstrip()
    assert tab.locator(".cell_output .copy-button").count() == 0


@pytest.mark.slow
def test_on_a_phone_the_buttons_show_and_hide_no_code(phone):
    for name in (".copy-button", ".zoom-button"):
        shown = phone.locator(f"{name}:visible").first
        assert shown.evaluate_all(OPACITY) == [1]
        box = shown.bounding_box()
        assert box["width"] >= 24 and box["height"] >= 24
    code = phone.locator(".cell_input pre:visible").first
    code.evaluate("(c) => c.scrollTo(1e4, 0)")
    end = """(c) => {
        const text = document.createRange();
        text.selectNodeContents(c);
        return Math.max(...[...text.getClientRects()].map((r) => r.right));
    }"""
    button = code.locator("xpath=following-sibling::button").bounding_box()
    assert code.evaluate(end) <= button["x"] + 1


@pytest.mark.slow
def test_on_a_phone_a_tap_on_a_heading_shows_its_sign(phone):
    signs = phone.locator("main .headerlink")
    assert not any(signs.evaluate_all(OPACITY))
    heading = phone.locator("#the-cut > h2")
    heading.tap(position={"x": 5, "y": 10})
    sign = heading.locator(".headerlink")
    box = sign.bounding_box()
    assert box["width"] >= 24 and box["height"] >= 24
    assert sign.evaluate_all(OPACITY) == [1]
    assert sum(signs.evaluate_all(OPACITY)) == 1
    sign.tap()
    until(phone, f"{COPIED}.then((text) => text.endsWith('#the-cut'))")
