"""What stands around the chapters, and the texts that links show."""

import gzip
import json
import re
from urllib.parse import urldefrag

import nbformat
import pytest

from book._ext.book_site.frame import llms
from book._ext.book_site.pages import gpu_reports, previews, reference
from book._ext.book_site.pages import library as library_pages
from tests.built import DOCUMENTS, NOTEBOOKS, ROOT, soup_of

LIBRARY = library_pages.Library(ROOT)
MOST = 12_000  # bytes of what a page's links show, compressed
HAS_CARD = re.compile(
    r"^#fig-|bibliography.html#|glossary.html#|notation.html|^\d\d_\w+\.html"
)


@pytest.fixture
def glossary(site):
    return soup_of(site / "book" / "glossary.html").main


@pytest.fixture(params=NOTEBOOKS)
def name(request):
    return request.param


@pytest.fixture
def page(site, name):
    return soup_of(site / f"{name}.html")


def test_every_entry_of_the_glossary_leads_to_a_chapter(glossary):
    entries = glossary.find_all("dt")
    assert len(entries) > 150
    for entry in entries:
        definition = entry.find_next_sibling("dd")
        (use,) = definition.select("a.first-use")
        assert re.match(r"Chapter \d+", use.get_text())
        assert re.match(r"\d\d_\w+\.html#.", use["href"])


def test_terms_of_a_chapter_lead_to_the_glossary_once(page, glossary):
    terms = page.main.select("a.term")
    places = [term["href"] for term in terms]
    assert places and len(places) == len(set(places))
    for term in terms:
        address, place = urldefrag(term["href"])
        assert address == "glossary.html"
        definition = glossary.find(id=place).find_next_sibling("dd")
        begin = term["title"].removesuffix(" …")
        assert " ".join(definition.get_text().split()).startswith(begin)


@pytest.mark.parametrize("module", LIBRARY.modules)
def test_all_that_is_public_is_in_the_reference(site, module):
    page = soup_of(site / f"{LIBRARY.page(module)}.html").main
    anchor = library_pages.anchor
    assert page.find(id=anchor(module)).h2.get_text().startswith(module)
    for definition in LIBRARY.shown(module):
        section = page.find(id=anchor(module, definition.name))
        signature = reference.signature(definition)
        assert section.pre.get_text().strip() == signature
        labels = [p.get_text() for p in section.select(".api-label")]
        known = [d.get_text() for d in section.select(".api-list dt")]
        parts = reference.sections(definition)[1:]
        assert len(labels) >= len(parts)
        for part in parts:
            if part.kind.value in ("parameters", "raises"):
                names = {name for name, _ in reference.entries(part)}
                assert names <= set(known)
        if module in LIBRARY.homes:
            (taught,) = section.select(".api-taught a")
            assert re.match(r"Chapter \d+: \S", taught.get_text())
            assert re.match(r"\d\d_\w+\.html#\S", taught["href"])


def test_the_maps_lead_to_every_module_and_say_minutes(site):
    page = soup_of(site / "book" / "library.html").main
    names = {code.get_text() for code in page.select(".library-map a code")}
    assert {*LIBRARY.modules} <= names
    entries = {
        item.a["href"]: item.select_one(".soon").get_text()
        for item in soup_of(site / "book" / "index.html").select(".map > li")
        if item.a and item.select_one(".soon")
    }
    for chapter in LIBRARY.chapters:
        name = chapter.document.removeprefix("book/")
        assert entries[f"{name}.html"] == f"{chapter.minutes}\u00a0min"


def test_the_page_of_devices_shows_every_report(site):
    page = soup_of(site / "book" / "tested.html").main
    reports = gpu_reports.read(ROOT)
    assert reports or gpu_reports.NONE in page.get_text()
    titles = [h.get_text() for h in page.find_all("h2")]
    for found in reports:
        assert any(title.startswith(found["device"]) for title in titles)


def cards_of(site, name):
    text = (site / previews.FOLDER / f"{name}.js").read_text()
    return json.loads(re.fullmatch(r"previews\((.*)\);\n", text, re.S)[1])


def test_cards_are_small_and_whole(site):
    for name in DOCUMENTS:
        page = site / f"{name}.html"
        path = site / previews.FOLDER / f"{name}.js"
        assert len(gzip.compress(path.read_bytes())) <= MOST, name
        for html in cards_of(site, name).values():
            assert ' id="' not in html and "<a " not in html, name
            for image in re.findall(r'src="([^"]+)"', html):
                assert (page.parent / image).is_file(), name


def test_works_terms_symbols_figures_and_pages_have_cards(site, name, page):
    links = [
        link["href"]
        for link in page.main.select("a.internal")
        if not link.find_parent("nav")
    ]
    wanted = {href for href in links if HAS_CARD.search(href)}
    assert wanted and wanted <= set(cards_of(site, name))


def test_every_figure_that_the_text_names_is_a_link(site, page):
    links = page.main.select("a.figure-link")
    assert links
    for link in links:
        number = link.get_text().split()[-1]
        address, place = urldefrag(link["href"])
        there = soup_of(site / "book" / address) if address else page
        caption = there.main.find(id=place).select_one(".caption-number")
        assert caption.get_text().strip() == f"Fig. {number}"
    for tag in page.main(["pre", "code", "a", "h1", "h2", "h3"]):
        assert not tag.select("a.figure-link")


def test_a_chapter_leads_to_its_notebook_and_its_exercises(site, name, page):
    links = {a.get_text(): a for a in page.select(".page-links a")}
    assert links["Notebook"].has_attr("download")
    stored = (site / name).parent / links["Notebook"]["href"]
    assert nbformat.read(stored, as_version=4).cells
    assert links["Exercises"]["href"] == "#exercises"
    assert page.find(id="exercises")


def test_programs_find_every_page_as_text(site):
    text = (site / "llms.txt").read_text()
    assert text.startswith("# The Executable Transformer\n\n> ")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) == len(DOCUMENTS)
    assert all((site / link).is_file() for link in links)
    lost = soup_of(site / "404.html")
    links = [link["href"].lstrip("/") for link in lost.select("li a")]
    assert links == [f"{name}.html" for name in NOTEBOOKS]
    assert not lost.find_all(["script", "img", "link"])


def test_the_text_of_a_chapter_has_no_solution_and_no_picture(site, name):
    path = site / llms.FOLDER / f"{name.removeprefix('book/')}.md"
    text = path.read_text()
    assert text.startswith(f"# {int(path.stem[:2])}. ")
    assert "raise NotImplementedError" in text
    for mark in ("### BEGIN", "data:image", "iVBOR", "# given"):
        assert mark not in text
    assert text.count("```") % 2 == 0
    assert "\n✓ " in text and "> **Figure.** " in text
    for link in re.findall(r"\]\(([\w./]+\.(?:md|html))", text):
        assert (path.parent / link).is_file(), link
