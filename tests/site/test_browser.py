"""What a browser sees: every page, over http and as a file."""

import gzip
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.site.pages import PAGES

PROBE = Path(__file__).with_name("probe.js").read_text()
COUNT_SHIFTS = """
window.layoutShift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries())
    if (!entry.hadRecentInput) window.layoutShift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""
UNFOLD_ALL = """
document.querySelectorAll("details").forEach((box) => (box.open = true))
"""


@dataclass
class Visit:
    """One visit to one page: what it asked for, said and looked like."""

    tab: object
    requests: list = field(default_factory=list)
    failures: list = field(default_factory=list)
    messages: list = field(default_factory=list)

    def __post_init__(self):
        self.tab.add_init_script(COUNT_SHIFTS)
        self.tab.on("request", lambda r: self.requests.append(r.url))
        self.tab.on("requestfailed", lambda r: self.failures.append(r.url))
        self.tab.on("response", self.note_refusal)
        self.tab.on("console", lambda m: self.messages.append(m.text))
        self.tab.on("pageerror", lambda e: self.messages.append(str(e)))

    def note_refusal(self, response):
        if response.status >= 400:
            self.failures.append(response.url)

    def load(self, url):
        self.tab.goto(url, wait_until="load")
        self.tab.evaluate("document.fonts.ready.then(() => true)")
        return self.tab.evaluate(PROBE)


@pytest.fixture(scope="module")
def desktop(browser):
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    yield context
    context.close()


@pytest.fixture(scope="module", params=PAGES)
def served(request, desktop, address):
    """A page over http, with all that was noticed on the way."""
    visit = Visit(desktop.new_page())
    visit.load(address + request.param)
    visit.tab.wait_for_timeout(250)  # what moves late is counted too
    visit.seen = visit.tab.evaluate(PROBE)
    yield visit
    visit.tab.close()


@pytest.fixture(scope="module", params=PAGES)
def opened(request, desktop, site):
    """The same page opened as a file, without any server."""
    visit = Visit(desktop.new_page())
    visit.seen = visit.load((site / request.param).as_uri())
    yield visit
    visit.tab.close()


def assert_calm(visit):
    assert visit.failures == []
    assert visit.messages == []


def assert_typeset(seen):
    assert seen["mistakes"] == 0
    assert seen["rawTex"] == []
    assert seen["typeset"] == seen["formulas"]


def test_no_request_leaves_the_site(served, address):
    assert [u for u in served.requests if not u.startswith(address)] == []
    assert_calm(served)


def test_mathematics_is_typeset(served):
    assert_typeset(served.seen)


def test_nothing_moves_while_loading(served):
    assert served.seen["shift"] < 0.1


def test_first_load_is_light(served, site):
    paths = {unquote(urlsplit(url).path) for url in served.requests}
    sizes = {p: len(gzip.compress((site / p[1:]).read_bytes())) for p in paths}
    assert sum(sizes.values()) <= 600_000, sizes


def test_works_as_a_file(opened):
    assert {urlsplit(url).scheme for url in opened.requests} == {"file"}
    assert_calm(opened)
    assert_typeset(opened.seen)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_fits_a_phone_and_is_legible(browser, address, page, scheme):
    phone = {"width": 360, "height": 740}
    context = browser.new_context(viewport=phone, color_scheme=scheme)
    visit = Visit(context.new_page())
    seen = visit.load(address + page)
    visit.tab.click(".menu-button")
    visit.tab.evaluate(UNFOLD_ALL)
    unfolded = visit.tab.evaluate(PROBE)
    context.close()
    for view in (seen, unfolded):
        assert view["width"] <= 360
        assert view["tooFaint"] == []
    assert_calm(visit)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_are_legible_on_a_desktop(browser, address, scheme):
    window = {"width": 1440, "height": 900}
    context = browser.new_context(viewport=window, color_scheme=scheme)
    seen = Visit(context.new_page()).load(address + PAGES[1])
    context.close()
    assert seen["tooFaint"] == []


def test_79_columns_fit_without_scrolling(desktop, address):
    tab = desktop.new_page()
    tab.goto(address + PAGES[1])
    box = tab.locator(".cell_input pre").first
    scrolls = """(box, columns) => {
        box.textContent = "m".repeat(columns);
        return box.scrollWidth > box.clientWidth;
    }"""
    assert not box.evaluate(scrolls, 79)
    assert box.evaluate(scrolls, 100)
    tab.close()


@pytest.mark.parametrize(
    "word, page",
    [
        ("padding", "book/01_tokens_and_embeddings.html"),
        ("overflow", "book/02_dot_products_and_softmax.html"),
        ("einsum", "book/03_scoring_with_einsum.html"),
    ],
)
def test_search_finds_the_page(desktop, address, word, page):
    visit = Visit(desktop.new_page())
    visit.load(address + PAGES[0])
    visit.tab.fill(".book-nav input", word)
    visit.tab.press(".book-nav input", "Enter")
    link = visit.tab.locator(f"#search-results a[href^='{page}']").first
    link.wait_for(timeout=5000)
    link.click()
    visit.tab.wait_for_url(re.compile(re.escape(page)))
    assert_calm(visit)
    visit.tab.close()


def test_theme_button_switches_and_is_remembered(desktop, address):
    tab = desktop.new_page()
    colour = "getComputedStyle(document.body).backgroundColor"
    tab.goto(address + PAGES[0])
    before = tab.evaluate(colour)
    tab.click(".theme-button")
    after = tab.evaluate(colour)
    tab.reload()
    assert before != after == tab.evaluate(colour)
    tab.evaluate("localStorage.clear()")
    tab.close()


def test_first_tab_stop_skips_to_the_text(desktop, address):
    tab = desktop.new_page()
    tab.goto(address + PAGES[1])
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "main"
    tab.close()


def test_copy_button_copies_the_code(browser, address):
    context = browser.new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    tab.goto(address + PAGES[1])
    cell = tab.locator(".cell_input").first
    cell.hover()
    cell.locator(".copy-button").click()
    copied = tab.evaluate("navigator.clipboard.readText()")
    assert copied == cell.locator("pre").inner_text().rstrip()
    context.close()
