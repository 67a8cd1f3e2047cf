"""The decks of slides in a browser, opened as files without a network."""

import io
import shutil
from base64 import b64encode

import nbformat
import pikepdf
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from PIL import Image

from book._ext.book_site.pages import slides as links
from tests.site.conftest import ROOT
from tests.site.visit import FONTS, PROBE, SETTLE, Visit, until
from tools.editions.slides import __main__ as tool
from tools.editions.slides import deck
from tools.source.taught import chapters

LEAST = {"text": 28, "code": 22, "drawing": 16}  # pixels of 720
LEAST |= {"figure": 1.1, "pixels": 2}  # times its size on the page
LOOK = (ROOT / "tests" / "site" / "slides.js").read_text()
READY = "window.Reveal && Reveal.isReady()"
ALL_AT_ONCE = """
.reveal .slides > section, .reveal .slides .fragment {
  display: block !important; visibility: visible !important;
  opacity: 1 !important;
}
"""
SHOW = "(n) => { Reveal.slide(n); Reveal.slide(n, 0, 99); }"
DECKS = [
    path.stem
    for path in chapters()
    if deck.has_slides(nbformat.read(path, as_version=4).cells)
]
SAMPLE = "99_sample"


def png(width, height):
    """A white picture as a notebook stores it."""
    file = io.BytesIO()
    Image.new("RGB", (width, height), "white").save(file, "PNG")
    return b64encode(file.getvalue()).decode()


def slide(text="", kind="slide", **metadata):
    return {"slideshow": {"slide_type": kind}, **metadata} | (
        {"book": {"slide": text}} if text else {}
    )


def code(text, title, *outputs, **metadata):
    return new_code_cell(
        text, outputs=list(outputs), metadata=slide(title, **metadata)
    )


def figure(title, width, height, **metadata):
    drawn = new_output("display_data", {"image/png": png(width, height)})
    alt = {"image": {"alt": "A white rectangle, and nothing on it."}}
    shown = alt | {"figure": {"caption": "White."}}
    return code("draw()", title, drawn, mystnb=shown, **metadata)


def sample():
    """A chapter with a slide of every kind, each as full as allowed."""
    question = "**Is a question of eighteen words, as long as they get, too "
    line = "x = softmax(scores / math.sqrt(d_head), dim=-1)  # 79 columns: "
    printed = new_output("stream", name="stdout", text="0.25  1\n" * 2)
    row = "| $W_q^h$ | $d_\\text{model} \\times d_\\text{head}$ | 3 × 2 |\n"
    return [
        new_markdown_cell(f"# 99. A sample\n\n{question}long for a slide?**"),
        new_markdown_cell(
            "> **You will** see $\\sqrt{d_k}$ and [this](a.md)."
        ),
        figure("## A wide figure fills the slide", 1080, 420),
        figure("## A tall one has its title at the left", 1080, 1080),
        figure("## Colours stay", 1080, 600, tags=["keep-colours"]),
        new_markdown_cell("It shows white.", metadata=slide(kind="fragment")),
        code(f"{line}{'x' * 16}\n" * 10, "## Ten lines of 79 columns"),
        code("x = 1\n" * 4, "## Short code is large", printed),
        new_markdown_cell(
            "What the notes say.",
            metadata=slide(
                "## A title so long that it needs a second line, "
                f"with $W_O$ and `code`\n\n{'word ' * 22}\n\n- $a_1$\n- b"
            ),
        ),
        new_markdown_cell(
            "$$\n\\operatorname{softmax}\\left(\\frac{q k^\\top}"
            "{\\sqrt{\\color{#0072b2} d_k}}\\right) v\n$$",
            metadata=slide(
                "## A wide formula becomes narrower\n\n$$\n"
                f"{'+ x W_q^h' * 12}\n$$"
            ),
        ),
        new_markdown_cell(
            "Prose.",
            metadata=slide(f"## A table\n\n| a | b | c |\n|-|-|-|\n{row * 4}"),
        ),
    ]


@pytest.fixture(scope="module")
def decks(tmp_path_factory, pytestconfig):
    """A folder with the sample's deck and, if there is time, every other."""
    folder = tmp_path_factory.mktemp("slides")
    notebook = folder / f"{SAMPLE}.ipynb"
    cells = nbformat.v4.new_notebook(cells=sample())
    nbformat.write(cells, notebook)
    is_quick = pytestconfig.getoption("quick")
    numbers = [] if is_quick else [name[:2] for name in DECKS]
    tool.main([*numbers, str(notebook), "--out", str(folder / "site")])
    return folder / "site" / links.FOLDER


@pytest.fixture(scope="module")
def offline(browser):
    """A browser on a machine without a network, with the deck's own size."""
    size = {"width": 1280, "height": 720}
    context = browser.new_context(viewport=size, color_scheme="light")
    context.set_offline(True)
    yield context
    context.close()


def opened(context, path, query=""):
    visit = Visit(context.new_page())
    visit.load(path.as_uri() + query)
    until(visit.tab, READY)
    return visit


@pytest.fixture(
    scope="module",
    params=[
        SAMPLE,
        *(pytest.param(name, marks=pytest.mark.slow) for name in DECKS),
    ],
)
def shown(request, decks, offline):
    """A deck, and what was noticed on each of its slides."""
    visit = opened(offline, decks / f"{request.param}.html")
    visit.seen, visit.faint = [], []
    for number in range(visit.tab.evaluate("Reveal.getTotalSlides()")):
        visit.tab.evaluate(SHOW, number)
        visit.tab.evaluate(FONTS)
        visit.tab.evaluate(SETTLE)
        visit.seen.append(visit.tab.evaluate(LOOK, LEAST))
    unveiled = visit.tab.add_style_tag(content=ALL_AT_ONCE)
    for scheme in ("dark", "light"):
        visit.tab.emulate_media(color_scheme=scheme)
        visit.faint += visit.tab.evaluate(PROBE, True)["tooFaint"]
    unveiled.evaluate("(style) => style.remove()")
    yield visit
    visit.tab.close()


@pytest.mark.parametrize("problem", ["outside", "covered", "small"])
def test_slides_fit_and_can_be_read_from_the_last_row(shown, problem):
    found = {n: seen[problem] for n, seen in enumerate(shown.seen, start=1)}
    assert {n: problems for n, problems in found.items() if problems} == {}


def test_pictures_are_there_and_described(shown):
    assert [seen["broken"] for seen in shown.seen] == [0] * len(shown.seen)


def test_contrast_in_light_and_dark(shown):
    assert shown.faint == []


def test_nothing_comes_from_elsewhere(shown):
    assert all(url.startswith(("file:", "data:")) for url in shown.requests)
    shown.assert_calm()


def test_nothing_runs_inside_the_page(shown):
    inside = "[onclick], [onload], [onerror], script:not([src])"
    assert shown.tab.locator(inside).count() == 0
    seen = shown.look()
    assert seen["rawTex"] == [] and seen["mistakes"] == 0


def test_arrow_keys_lead_through_the_deck(shown):
    tab = shown.tab
    tab.evaluate("Reveal.slide(0)")
    for number in range(1, len(shown.seen)):
        while tab.evaluate("Reveal.availableFragments().next"):
            tab.keyboard.press("ArrowRight")
        tab.keyboard.press("ArrowRight")
        assert tab.evaluate("Reveal.getIndices().h") == number
    tab.keyboard.press("Home")
    assert tab.evaluate("Reveal.getIndices().h") == 0


def test_what_is_said_is_in_the_notes(shown):
    slides = shown.tab.locator("section")
    notes = slides.filter(has=shown.tab.locator("aside.notes"))
    assert 2 * notes.count() >= slides.count() == len(shown.seen)
    assert (
        shown.tab.locator("aside.notes a, aside.notes .katex-html").count()
        == 0
    )
    assert not shown.tab.locator("aside.notes").first.is_visible()


@pytest.fixture
def deck_page(decks, offline):
    visit = opened(offline, decks / f"{SAMPLE}.html")
    yield visit
    visit.tab.close()


def test_speaker_view_follows_without_a_server(deck_page, offline):
    tab = deck_page.tab
    with offline.expect_page() as window:
        tab.keyboard.press("s")
    speaker = window.value
    notes = speaker.locator(".speaker-controls-notes .value")
    notes.get_by_text("You will").wait_for()
    assert notes.locator("msqrt").count() == 1
    tab.keyboard.press("ArrowRight")
    notes.get_by_text("White.").wait_for()
    speaker.keyboard.press("ArrowRight")
    until(tab, "Reveal.getIndices().h === 2")
    speaker.close()
    deck_page.assert_calm()


def test_light_and_dark_are_switched_and_kept(deck_page):
    colour = "getComputedStyle(document.body).backgroundColor"
    light = deck_page.tab.evaluate(colour)
    deck_page.tab.keyboard.press("t")
    dark = deck_page.tab.evaluate(colour)
    assert light != dark
    deck_page.tab.reload()
    assert deck_page.tab.evaluate(colour) == dark
    deck_page.tab.keyboard.press("t")
    assert deck_page.tab.evaluate(colour) == light


def test_the_keys_are_listed(deck_page):
    deck_page.tab.keyboard.press("Shift+?")
    help_box = deck_page.tab.locator(".r-overlay-help, .overlay-help").first
    help_box.get_by_text("Light or dark").wait_for()
    help_box.get_by_text("Speaker notes view").wait_for()


def test_a_deck_prints_one_slide_a_page(decks, offline, tmp_path):
    visit = opened(offline, decks / f"{SAMPLE}.html", "?print-pdf")
    visit.tab.emulate_media(color_scheme="dark", media="print")
    visit.tab.wait_for_selector(".pdf-page")
    figures = visit.tab.locator("section .figure").count()
    target = tmp_path / "deck.pdf"
    visit.tab.pdf(path=target, prefer_css_page_size=True)
    with pikepdf.open(target) as printed:
        sizes = {tuple(map(float, page.mediabox)) for page in printed.pages}
        assert len(printed.pages) == len(deck.slides(sample()))
        shown = sum(len(page.get_images()) for page in printed.pages)
        assert shown == figures > 0
    assert sizes == {(0, 0, 960, 540)}
    colour = "getComputedStyle(document.body).backgroundColor"
    assert visit.tab.evaluate(colour) == "rgb(255, 255, 255)"
    visit.tab.close()


# The website: its files, and the links of its chapters.


def test_licence_and_fonts_lie_beside_the_decks(decks):
    folder = decks / "reveal"
    assert "Hakim El Hattab" in (folder / "LICENSE").read_text()
    style = (folder / "slides.css").read_text()
    assert style.count("@font-face") == 3 and "light-dark(" in style
    assert (decks.parent / "_static" / "fonts").is_dir()


def test_a_chapter_leads_to_its_slides_where_there_are_any(site, tmp_path):
    page = tmp_path / "book" / "04_masks.html"
    page.parent.mkdir()
    shutil.copy(site / "book" / "04_masks.html", page)
    (tmp_path / links.FOLDER).mkdir()
    there = tmp_path / links.FOLDER / page.name
    link = '<a href="../slides/04_masks.html">Slides</a>'
    there.write_text("<title>4. Masks · slides · The book</title>")
    for _ in range(2):
        links.link(tmp_path)
        assert page.read_text().count(link) == 1
    there.unlink()
    links.link(tmp_path)
    assert link not in page.read_text()


def test_the_page_for_teachers_lists_the_decks(decks, site, tmp_path):
    page = tmp_path / f"{links.PAGE}.html"
    page.parent.mkdir(parents=True)
    shutil.copy(site / f"{links.PAGE}.html", page)
    links.link(tmp_path)
    assert links.NONE in page.read_text()
    shutil.copytree(decks, tmp_path / links.FOLDER)
    links.link(tmp_path)
    text = page.read_text()
    link = f'<a href="../../slides/{SAMPLE}.html">99. A sample</a>'
    assert link in text and links.NONE not in text


def test_a_cell_that_cannot_be_shown_is_named(tmp_path):
    cells = sample()
    (cell,) = [c for c in cells if "79" in c.source]
    cell.metadata["book"]["part"] = ["x = ", "not there"]
    notebook = tmp_path / f"{SAMPLE}.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), notebook)
    with pytest.raises(SystemExit, match=f"{SAMPLE}.ipynb: cell .*: no part"):
        tool.main([str(notebook), "--out", str(tmp_path / "site")])


def test_chapters_without_slides_are_named(tmp_path, capsys):
    cells = sample()
    for cell in cells:
        cell.metadata = {}
    plain = tmp_path / "98_plain.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), plain)
    assert tool.main([str(plain), "--out", str(tmp_path / "site")]) == 0
    assert "no slides: 98_plain" in capsys.readouterr().out
    assert not [*tmp_path.glob("site/slides/*.html")]
