"""The keys of the pages: arrows to the neighbours, "/" to the search."""

import pytest
from playwright.sync_api import expect

from tests.browser.visit import CHAPTER
from tests.built import first_quick

AFTER, BEFORE = "book/06_positions.html", "book/04_masks.html"
HELD = ["Alt+Shift", "Shift", "Control", "Meta"]
OWNERS = [
    "<input>",
    "<textarea></textarea>",
    "<select><option>1</select>",
    "<p contenteditable>x</p>",
    "<p role='slider' tabindex='0'>x</p>",
    "<any-explorer tabindex='0'>x</any-explorer>",
    "<pre tabindex='0'>" + "m" * 300 + "</pre>",
]
PUT = """(html) => {
  const title = document.querySelector("h1");
  title.insertAdjacentHTML("afterend", html);
  title.nextElementSibling.focus();
}"""
DIALOG = """{
  const box = document.createElement("dialog");
  document.body.append(box);
  box.showModal();
}"""
NAME = "document.activeElement.name"


def stays(tab, key="ArrowRight"):
    """Does the page stay when this key is pressed?"""
    before = tab.url
    tab.keyboard.press(key)
    tab.wait_for_timeout(150)
    return tab.url == before


@pytest.mark.slow
def test_arrows_lead_to_the_neighbours(tab, address):
    for key, page in (("Right", AFTER), ("Left", CHAPTER), ("Left", BEFORE)):
        tab.keyboard.press(f"Arrow{key}")
        tab.wait_for_url(address + page)


@pytest.mark.slow
def test_the_arrow_belongs_to_what_else_has_a_use_for_it(tab):
    for key in HELD:
        assert stays(tab, f"{key}+ArrowRight"), key
    for owner in OWNERS:
        tab.evaluate(PUT, owner)
        assert stays(tab), owner
        tab.evaluate("document.activeElement.remove()")
    tab.evaluate(DIALOG)
    assert stays(tab)
    tab.evaluate("document.querySelector('dialog[open]').remove()")
    tab.evaluate("document.querySelector('h1').style.width = '3000px'")
    assert stays(tab)


@pytest.mark.parametrize("width", first_quick([1400, 360]))
def test_a_slash_leads_to_the_search(tab, address, width):
    tab.set_viewport_size({"width": width, "height": 700})
    tab.keyboard.press("Control+/")
    assert tab.evaluate(NAME) is None
    tab.keyboard.press("/")
    field = tab.locator(".book-search input")
    expect(field).to_be_focused()  # the menu of a narrow window opens first
    tab.keyboard.type("a/b")
    assert field.input_value() == "a/b"
    assert stays(tab)
    tab.goto(f"{address}search.html")
    tab.keyboard.press("/")
    tab.keyboard.type("a/b")
    assert tab.locator("main [name=q]").input_value() == "a/b"


@pytest.mark.slow
def test_the_keys_can_be_switched_off(tab, address):
    button = tab.locator(".keys-button")
    button.click()
    assert button.inner_text() == "Turn them on"
    tab.evaluate("document.activeElement.blur()")
    assert stays(tab, "/") and tab.evaluate(NAME) is None
    assert stays(tab)
    tab.reload()
    assert stays(tab)
    button.click()
    tab.evaluate("document.activeElement.blur()")
    tab.keyboard.press("ArrowRight")
    tab.wait_for_url(address + AFTER)
    tab.reload()
    assert button.inner_text() == "Turn these keys off"
