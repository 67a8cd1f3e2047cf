"""The decks of slides in a browser, opened as files without a network."""

import shutil
from contextlib import nullcontext

import nbformat
import pikepdf
import pytest

from book._ext.book_site.pages import downloads
from tests.browser.test_policy import assert_strict
from tests.browser.visit import FONTS, HERE, PROBE, SETTLE, until
from tests.built import notebook, quickly, served, slow
from tools.editions.slides import __main__ as tool
from tools.editions.slides import deck
from tools.source.taught import chapters

LEAST = {"text": 28, "code": 22, "drawing": 16}  # pixels of 720
LEAST |= {"figure": 1.1, "pixels": 2}  # times its size on the page
LOOK = (HERE / "slides.js").read_text()
ALL_AT_ONCE = """
.reveal .slides > section, .reveal .slides .fragment {
  display: block !important; visibility: visible !important;
  opacity: 1 !important;
}
"""
SHOW = "(n) => { Reveal.slide(n); Reveal.slide(n, 0, 99); }"
NOTED = """[...document.querySelectorAll("section")].flatMap(
  (slide, n) => slide.querySelector("aside.notes") ? [n] : [])"""
SAID = "Reveal.getCurrentSlide().querySelector('aside.notes').textContent"
PLACE = "Reveal.getIndices().h"
COLOUR = "getComputedStyle(document.body).backgroundColor"
DECKS = [
    path.stem
    for path in chapters()
    if deck.has_slides(nbformat.read(path, as_version=4).cells)
]
ONE = "04_masks"


@pytest.fixture(scope="module")
def decks(tmp_path_factory, pytestconfig):
    """A folder with the deck of a chapter and, if there is time, of all."""
    folder = tmp_path_factory.mktemp("slides")
    names = [ONE] if pytestconfig.getoption("quick") else DECKS
    tool.main([*(name[:2] for name in names), "--out", str(folder)])
    return folder / downloads.DECKS


@pytest.fixture
def show(opened):
    """Open a deck in its own size; a file without a network."""

    def open_deck(url):
        offline = url.startswith("file:")
        visit = opened(url, 1280, 720, color_scheme="light", offline=offline)
        until(visit.tab, "window.Reveal && Reveal.isReady()")
        return visit

    return open_deck


@pytest.mark.parametrize("name", quickly(DECKS, ONE.__eq__))
def test_slides_fit_and_can_be_read_from_the_last_row(decks, show, name):
    """And nothing comes from elsewhere or runs inside the page."""
    path = decks / f"{name}.html"
    assert assert_strict(path)["frame-src"] == ["'self'"]
    visit = show(path.as_uri())
    for number in range(visit.tab.evaluate("Reveal.getTotalSlides()")):
        visit.tab.evaluate(SHOW, number)
        visit.tab.evaluate(FONTS)
        visit.tab.evaluate(SETTLE)
        seen = visit.tab.evaluate(LOOK, LEAST)
        assert seen["outside"] == seen["covered"] == seen["small"] == [], (
            number
        )
        assert seen["broken"] == 0, number
    notes = visit.tab.locator("aside.notes")
    assert notes.locator("a, .katex-html").count() == 0
    assert not notes.first.is_visible()
    visit.tab.add_style_tag(content=ALL_AT_ONCE)
    for scheme in ("dark", "light"):
        visit.tab.emulate_media(color_scheme=scheme)
        seen = visit.tab.evaluate(PROBE, True)
        assert seen["tooFaint"] == seen["rawTex"] == []
        assert seen["mistakes"] == 0
    assert all(url.startswith(("file:", "data:")) for url in visit.requests)
    inside = "[onclick], [onload], [onerror], script:not([src])"
    assert visit.tab.locator(inside).count() == 0


@pytest.fixture(params=["as a file", slow("over http")])
def tab(request, decks, show):
    """A deck in a tab."""
    is_file = request.param == "as a file"
    server = nullcontext(f"{decks.parent.as_uri()}/")
    with server if is_file else served(decks.parent) as there:
        yield show(f"{there}{downloads.DECKS}/{ONE}.html").tab


def test_speaker_view_follows_and_leads(tab):
    with tab.context.expect_page() as window:
        tab.keyboard.press("s")
    speaker, said = window.value, []
    speaker.on("console", lambda message: said.append(message.text))
    notes = speaker.locator(".speaker-controls-notes .value")
    for number in tab.evaluate(NOTED)[:2]:
        tab.evaluate("(n) => Reveal.slide(n)", number)
        words = tab.evaluate(SAID).split()
        notes.get_by_text(" ".join(words[:4])).first.wait_for()
    while tab.evaluate(PLACE) == number:  # and back
        speaker.keyboard.press("ArrowRight")
        tab.wait_for_timeout(100)
    assert said == []


def test_light_and_dark_are_switched_and_kept(tab):
    light = tab.evaluate(COLOUR)
    tab.keyboard.press("t")
    tab.reload()
    assert tab.evaluate(COLOUR) != light
    tab.keyboard.press("t")
    assert tab.evaluate(COLOUR) == light
    tab.keyboard.press("Shift+?")  # lists the keys
    keys = tab.locator(".r-overlay-help, .overlay-help").first
    keys.get_by_text("Light or dark").wait_for()
    keys.get_by_text("Speaker notes view").wait_for()


def test_a_deck_prints_one_slide_a_page(tab, tmp_path):
    tab.goto(f"{tab.url.partition('#')[0]}?print-pdf")
    tab.emulate_media(color_scheme="dark", media="print")
    tab.wait_for_selector(".pdf-page", state="attached")
    figures = tab.locator("section .figure").count()
    target = tmp_path / "deck.pdf"
    tab.pdf(path=target, prefer_css_page_size=True)
    with pikepdf.open(target) as printed:
        sizes = {tuple(map(float, page.mediabox)) for page in printed.pages}
        slides = deck.slides(notebook(f"book/{ONE}").cells)
        assert len(printed.pages) == len(slides)
        shown = sum(len(page.get_images()) for page in printed.pages)
        assert shown == figures > 0
    assert sizes == {(0, 0, 960, 540)}
    assert tab.evaluate(COLOUR) == "rgb(255, 255, 255)"


def test_a_chapter_and_the_page_for_teachers_lead_to_a_deck(
    decks, site, tmp_path
):
    found = {
        f"book/{ONE}.html": f'"../slides/{ONE}.html">Slides</a>',
        f"{downloads.DECKS_PAGE}.html": f'"../../slides/{ONE}.html">4. ',
    }
    for page in found:
        (tmp_path / page).parent.mkdir(parents=True)
        shutil.copy(site / page, tmp_path / page)
    file = tmp_path / downloads.DECKS / f"{ONE}.html"
    file.parent.mkdir()
    for is_there in (False, True, True, False):
        shutil.copy(decks / file.name, file) if is_there else file.unlink(True)
        downloads.show(tmp_path)
        for page, link in found.items():
            text = (tmp_path / page).read_text()
            assert text.count(link) == is_there
        assert (downloads.NO_DECKS in text) == (not is_there)


def test_a_chapter_without_slides_is_named(tmp_path, capsys):
    book, path = notebook(f"book/{ONE}"), tmp_path / "98_copy.ipynb"
    for cell in book.cells:
        cell.metadata = {}
    nbformat.write(book, path)
    assert tool.main([str(path), "--out", str(tmp_path / "site")]) == 0
    assert "no slides: 98_copy" in capsys.readouterr().out
    assert not [*tmp_path.glob("site/slides/*.html")]
