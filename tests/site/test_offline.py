"""The zip of the site: what is in it, and that it needs no network."""

import shutil
from zipfile import ZipFile

import pytest

from book._ext.book_site.pages import downloads
from tests.site.pages import DOCUMENTS, NOTEBOOKS
from tests.site.test_html import broken, soup_of, targets
from tests.site.visit import Visit, until
from tools.editions import offline

LOADED = "(image) => image.complete && image.naturalWidth > 0"


@pytest.fixture(
    scope="module",
    params=[
        "with the PDF",
        pytest.param("without the PDF", marks=pytest.mark.slow),
    ],
)
def unpacked(request, site, tmp_path_factory):
    """An empty folder into which the zip of a copy of the site went."""
    folder = tmp_path_factory.mktemp("offline")
    copy = folder / "site"
    shutil.copytree(site, copy, ignore=lambda *_: [downloads.FOLDER])
    target = copy / downloads.FOLDER / downloads.OFFLINE
    if request.param == "with the PDF":
        target.parent.mkdir()
        target.with_name(downloads.PDF).write_bytes(b"%PDF-1.7")
    offline.pack(copy, target)
    first = target.read_bytes()
    offline.pack(copy, target)  # not with the zip of before inside
    assert target.read_bytes() == first
    with ZipFile(target) as packed:
        packed.extractall(folder / "empty")
        rights = {info.external_attr >> 16 for info in packed.infolist()}
    assert rights == {0o644}  # `unzip` gives a file what stands there
    (inside,) = (folder / "empty").iterdir()
    return inside


def test_it_holds_the_site_and_a_word_to_the_reader(unpacked):
    for name in ("index", "search", *DOCUMENTS):
        assert (unpacked / f"{name}.html").is_file()
    readme = (unpacked / "README.txt").read_text()
    assert "Open index.html" in readme
    pdf = unpacked / downloads.FOLDER / downloads.PDF
    assert pdf.exists() == (downloads.PDF in readme)
    assert not [*unpacked.rglob("*.zip")]


def test_its_links_lead_somewhere(unpacked):
    for name in (downloads.PAGE, "book/index"):
        page = unpacked / f"{name}.html"
        assert [t for t in targets(soup_of(page)) if broken(page, t)] == []
    listed = soup_of(unpacked / f"{downloads.PAGE}.html").find(id="downloads")
    links = [link["href"] for link in listed.find_all("a")]
    has_pdf = (unpacked / downloads.FOLDER).exists()
    assert links == [f"../downloads/{downloads.PDF}"] * has_pdf


@pytest.fixture
def alone(browser):
    """A browser on a machine without a network."""
    context = browser.new_context()
    context.set_offline(True)
    yield Visit(context.new_page())
    context.close()


def test_its_front_door_leads_to_the_book(unpacked, alone):
    alone.tab.goto((unpacked / "index.html").as_uri())
    alone.tab.wait_for_url("**/book/index.html")
    alone.assert_calm()


@pytest.mark.slow
@pytest.mark.parametrize("name", [NOTEBOOKS[0], NOTEBOOKS[-1]])
def test_its_pages_open_without_a_network(unpacked, alone, name):
    alone.load((unpacked / f"{name}.html").as_uri())
    for image in alone.tab.locator("figure img").all():
        image.scroll_into_view_if_needed()
        until(alone.tab, LOADED, arg=image.element_handle())
    seen = alone.look()
    assert seen["mistakes"] == 0 and seen["typeset"] == seen["formulas"]
    assert all(url.startswith("file:") for url in alone.requests)
    alone.assert_calm()


def test_its_search_works_without_a_network(unpacked, alone):
    alone.load((unpacked / "search.html").as_uri())
    alone.tab.locator("main input[name=q]").fill("overflow")
    alone.tab.locator("main input[name=q]").press("Enter")
    alone.tab.wait_for_selector("#search-results li a")
    alone.tab.locator("#search-results li a").first.click()
    alone.tab.wait_for_selector("article, main h1")
    assert alone.tab.url.startswith(unpacked.as_uri())
    alone.assert_calm()
