"""What stands around the chapters, and the texts that links show."""

import gzip
import json
import re
from urllib.parse import urldefrag

import pytest

from book._ext.book_site.frame import llms
from book._ext.book_site.pages import previews
from book._ext.book_site.pages.library import Library, anchor
from tests.built import DOCUMENTS, NOTEBOOKS, ROOT, soup_of

MOST = 12_000  # bytes of what a page's links show, compressed
SHOWS = re.compile(
    r"^#fig-|bibliography.html#|glossary.html#|notation.html|^\d\d_\w+\.html"
)


@pytest.fixture(params=NOTEBOOKS)
def name(request):
    return request.param


@pytest.fixture
def page(site, name):
    return soup_of(site / f"{name}.html")


def test_all_that_is_public_is_in_the_reference_and_the_map(site):
    library = Library(ROOT)
    listed = soup_of(site / "book" / "library.html").select("a code")
    assert {*library.modules} <= {code.get_text() for code in listed}
    for module in library.modules:
        main = soup_of(site / f"{library.page(module)}.html").main
        assert main.find(id=anchor(module)).h2.get_text().startswith(module)
        for definition in library.shown(module):
            section = main.find(id=anchor(module, definition.name))
            taught = section.select(".api-taught a[href*='#']")
            assert len(taught) == (module in library.homes), definition.name


def previews_of(site, name):
    """The file of a page, and what it says."""
    path = site / previews.FOLDER / f"{name}.js"
    text = re.fullmatch(r"previews\((.*)\);\n", path.read_text(), re.S)[1]
    return path, json.loads(text)


def test_previews_are_small_and_whole(site):
    for name in DOCUMENTS:
        path, shown = previews_of(site, name)
        assert len(gzip.compress(path.read_bytes())) <= MOST, name
        for html in shown.values():
            assert ' id="' not in html and "<a " not in html, name
            for image in re.findall(r'src="([^"]+)"', html):
                assert (site / f"{name}.html").parent.joinpath(image).is_file()


def test_works_terms_symbols_figures_and_pages_have_previews(site, name, page):
    links = page.main.select("a.internal:not(nav a)")
    wanted = {a["href"] for a in links if SHOWS.search(a["href"])}
    assert wanted and wanted <= previews_of(site, name)[1].keys()


def test_every_figure_that_the_text_names_is_a_link(site, page):
    links = page.main.select("a.figure-link")
    assert links
    for link in links:
        number = link.get_text().split()[-1]
        address, place = urldefrag(link["href"])
        there = soup_of(site / "book" / address) if address else page
        caption = there.main.find(id=place).select_one(".caption-number")
        assert caption.get_text().strip() == f"Fig. {number}"
    assert not page.main.select(":is(pre, code, a, h1, h2, h3) a.figure-link")


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
