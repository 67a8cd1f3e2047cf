"""What a browser shows of every page: on a phone, on a desktop, as a file."""

import gzip
from functools import cache
from urllib.parse import unquote, urlsplit

import pytest

from tests.browser.record import Recorder
from tests.browser.visit import CHAPTER, HERE
from tests.built import (
    CHAPTERS,
    KINDS,
    NOTEBOOKS,
    PAGES,
    notebook,
    quickly,
    served,
)

BY_KIND = quickly(PAGES, KINDS.__contains__)
CHAPTERS_TOO = quickly(
    PAGES, lambda page: page in KINDS or page[:-5] in CHAPTERS
)
PHONE = pytest.mark.parametrize("page", CHAPTERS_TOO)
DESKTOP = pytest.mark.parametrize("page", BY_KIND)
FILE = pytest.mark.parametrize("page", quickly(PAGES, KINDS[:4].__contains__))


@cache
def bytes_of(path):
    return len(gzip.compress(path.read_bytes()))


def assert_whole(told, site):
    """All that is needed is there, is light, and comes from the site."""
    home = (told["root"], "data:")
    assert [u for u in told["requests"] if not u.startswith(home)] == []
    assert told["failures"] == told["messages"] == []
    for seen in told["looks"]:
        assert seen["mistakes"] == 0
        assert seen["rawTex"] == []
        assert seen["typeset"] == seen["formulas"]
    assert all(told["explorers"])
    name = told["page"].removesuffix(".html")
    if name in NOTEBOOKS:
        tags = [cell.metadata.get("tags", []) for cell in notebook(name).cells]
        assert len(told["explorers"]) == sum("explorer" in t for t in tags)
    paths = {unquote(urlsplit(url).path) for url in told["loaded"]}
    if told["root"].startswith("http"):
        sizes = {path: bytes_of(site / path[1:]) for path in paths}
        assert sum(sizes.values()) <= 300_000, sizes


def assert_legible(told):
    """In each light; and Tab goes past the menu, and never back up."""
    for seen in told["looks"]:
        assert seen["tooFaint"] == []
        assert seen["firstStop"] == "skip-link"
        assert seen["outOfOrder"] == []


def views(told):
    """What was measured at each width, in usual and in wide letters."""
    return [*told["usual"].items(), *told["wide"].items()]


@PHONE
def test_on_a_phone_it_is_whole(record, site, page):
    assert_whole(record(page, "phone"), site)


@PHONE
def test_on_a_phone_it_fits(record, page):
    told = record(page, "phone")
    assert max(view["width"] for view in told["looks"]) <= 360
    for width, view in views(told):
        assert view["width"] <= width
        assert view["spilled"] == view["stranded"] == view["covering"] == []
    for view in told["usual"].values():
        assert view["cutFormulas"] == view["cutTables"] == []
    for view in told["wide"].values():
        assert view["unmarked"] == []  # a formula that scrolls says so


@PHONE
def test_on_a_phone_it_is_legible(record, page):
    told = record(page, "phone")
    assert_legible(told)
    assert told["violations"] == []


@DESKTOP
def test_on_a_desktop_it_is_whole(record, site, page):
    told = record(page, "desktop")
    assert_whole(told, site)
    assert told["shift"] < 0.001  # nothing moves while it loads
    for _, view in views(told):
        for problem in ("cutFormulas", "cutCode", "spilled", "covering"):
            assert view[problem] == []


@DESKTOP
def test_on_a_desktop_it_is_legible(record, page):
    told = record(page, "desktop")
    assert_legible(told)
    assert told["violations"] == []


@FILE
def test_it_works_as_a_file(record, site, page):
    assert_whole(record(page, "file"), site)


# Which sections of a chapter are laid out now, and which in the first frame.
LAID_OUT = """[...document.querySelectorAll("main > section > section > h2")]
  .map((title) => title.checkVisibility({ contentVisibilityAuto: true }))"""
FIRST_FRAME = f"requestAnimationFrame(() => {{ window.early = {LAID_OUT}; }})"


@pytest.mark.parametrize("place", ["", "#padding", "?highlight=mask"])
def test_what_is_far_below_waits_for_the_first_paint(window, address, place):
    """But not where a reader goes to a place in it."""
    tab = window().tab
    tab.add_init_script(FIRST_FRAME)
    tab.goto(f"{address}book/04_masks.html{place}")
    early, count = tab.evaluate("early"), len(tab.evaluate(LAID_OUT))
    assert early == [True] * 2 + [bool(place)] * (count - 2)
    assert all(tab.evaluate(LAID_OUT))


@pytest.mark.slow
def test_without_scripts_a_chapter_is_read(window, address):
    tab = window(java_script_enabled=False).tab
    tab.goto(address + CHAPTER)
    own = ".done, .progress, .zoom-button, .copy-button, dialog, "
    own += ".quiz button, .solution-buttons"
    assert tab.locator(own).count() == 0
    assert not tab.locator(".keys").is_visible()
    for name in (".page-links a", "main figure img", ".quiz summary"):
        assert tab.locator(name).first.is_visible()
    term = tab.locator("main a.internal[href*=glossary]").first
    assert "side by side" in term.get_attribute("title")
    formulas = tab.locator("div.math .katex-html").all()
    assert len(formulas) >= 2
    for formula in formulas:
        box = formula.bounding_box()
        assert box["width"] > 50 and box["height"] > 20
        assert "\\" not in formula.inner_text()


@pytest.fixture(scope="module")
def faults(browser, tmp_path_factory):
    """What is told of a page with all that can be wrong."""
    folder = tmp_path_factory.mktemp("broken")
    text = (HERE / "broken.html").read_text()
    (folder / "page.html").write_text(text)
    (folder / "favicon.ico").touch()
    with served(folder) as there:
        yield Recorder(browser, folder, there, quick=True).ask


@pytest.mark.parametrize("device", ["phone", "desktop", "file"])
def test_every_fault_of_a_page_is_told(faults, device):
    told = faults("page.html", device)
    elsewhere = "http://127.0.0.1:9/elsewhere.png"
    assert elsewhere in told["requests"]
    lacks = {"elsewhere.png", "missing.png"}
    assert lacks <= {url.rpartition("/")[2] for url in told["failures"]}
    assert "from a script" in told["messages"]
    assert ("from a button" in told["messages"]) == (device != "phone")
    assert told["explorers"] == [False]
    for seen in told["looks"]:
        assert seen["mistakes"] == 1 and seen["rawTex"] == ["\\frac"]
        assert seen["typeset"] < seen["formulas"]
        assert seen["firstStop"] != "skip-link"
        ahead, up = seen["outOfOrder"]
        assert 'id="ahead"' in ahead and 'id="up"' in up
    if device == "file":
        return
    assert told["looks"][0]["width"] > 1400
    assert any(faint[0] == "P" for faint in told["looks"][0]["tooFaint"])
    wanted = {
        "stranded": "s",
        "spilled": "More than its box",
        "covering": "Over it",
        "cutFormulas": "wide",
        "unmarked": "wide",
        "cutTables": "\n  A cell",
    }
    for _, view in views(told):
        assert view["width"] > 1400 and view["cutCode"]
        for name, what in wanted.items():
            assert what in map(str.rstrip, view[name]), name
    if device == "desktop":
        assert told["shift"] > 0.001
        assert "button-name" in [name for name, _ in told["violations"]]
