"""Pages and what opens over them, as axe sees them."""

from pathlib import Path

import pytest

from tests.site.pages import PAGES

axe = pytest.importorskip("axe_playwright_python")
SCRIPT = Path(axe.__file__).with_name("axe.min.js").read_text("utf-8")
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
RUN = """async ([inside, levels]) => {
  const found = await axe.run(inside, { runOnly: levels });
  return found.violations.map(({ id, nodes }) => [id, nodes[0].html]);
}"""
CHAPTER = "book/05_heads.html"
KINDS = [PAGES[0], CHAPTER, "book/glossary.html", "search.html", "404.html"]
LOOKS = [(1400, "light"), (1400, "dark"), (360, "light"), (360, "dark")]


@pytest.fixture(params=LOOKS, ids=lambda look: f"{look[0]}-{look[1]}")
def tab(request, browser):
    width, scheme = request.param
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme
    )
    yield context.new_page()
    context.close()


def violations(tab, inside="html"):
    tab.evaluate(SCRIPT)  # as an element the policy would refuse it
    return tab.evaluate(RUN, [inside, LEVELS])


@pytest.mark.parametrize("page", KINDS)
def test_a_kind_of_page_has_no_violation(tab, address, page):
    tab.goto(address + page)
    assert violations(tab) == []


@pytest.mark.parametrize("page", [page for page in PAGES if page not in KINDS])
def test_no_other_page_has_a_violation(browser, address, page):
    tab = browser.new_page()
    tab.goto(address + page)
    assert violations(tab) == []
    tab.close()


def test_progress_has_no_violation(tab, address):
    tab.goto(address + CHAPTER)
    tab.locator(".done input").first.check()
    tab.locator("#the-cut").evaluate("(part) => part.scrollIntoView()")
    for part in (".done", ".menu"):
        assert violations(tab, part) == []
    tab.goto(address + PAGES[0])
    tab.locator(".go-on").wait_for()
    assert violations(tab) == []


def test_a_card_has_no_violation(tab, address):
    tab.goto(address + CHAPTER)
    for kind in ("a.symbol", "a.term", "a.figure-link"):
        tab.locator(f"main {kind}").first.press("Shift")
        tab.locator("#card").wait_for()
        assert violations(tab, "p:has([aria-describedby=card])") == []
        assert violations(tab, "#card") == []


def test_a_large_figure_has_no_violation(tab, address):
    tab.goto(address + CHAPTER)
    assert violations(tab, "figure") == []
    tab.locator("main figure img").first.click()
    assert violations(tab, "dialog") == []
