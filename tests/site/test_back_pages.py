"""The built pages after the chapters, and what leads to them."""

import re
from urllib.parse import urldefrag

import pytest

from book._ext.book_site.pages import gpu_reports, reference
from book._ext.book_site.pages import library as library_pages
from tests.site.conftest import ROOT
from tests.site.pages import NOTEBOOKS
from tests.site.test_html import soup_of

LIBRARY = library_pages.Library(ROOT)


@pytest.fixture
def glossary(site):
    return soup_of(site / "book" / "glossary.html").main


def test_every_entry_of_the_glossary_leads_to_a_chapter(glossary):
    entries = glossary.find_all("dt")
    assert len(entries) > 150
    for entry in entries:
        definition = entry.find_next_sibling("dd")
        (use,) = definition.select("a.first-use")
        assert re.match(r"Chapter \d+", use.get_text())
        assert re.match(r"\d\d_\w+\.html#.", use["href"])


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_terms_of_a_chapter_lead_to_the_glossary_once(site, glossary, name):
    terms = soup_of(site / f"{name}.html").main.select("a.term")
    targets = [term["href"] for term in terms]
    assert targets and len(targets) == len(set(targets))
    for term in terms:
        page, place = urldefrag(term["href"])
        assert page == "glossary.html"
        definition = glossary.find(id=place).find_next_sibling("dd")
        begin = term["title"].removesuffix(" …")
        assert " ".join(definition.get_text().split()).startswith(begin)


@pytest.mark.parametrize("name", LIBRARY.modules)
def test_all_that_is_public_is_in_the_reference(site, name):
    page = soup_of(site / f"{LIBRARY.page(name)}.html").main
    module = page.find(id=name)
    assert module.h2.get_text().startswith(f"lib.{name}")
    for definition in LIBRARY.shown(name):
        section = page.find(id=f"{name}-{definition.name}")
        signature = reference.signature(definition)
        assert section.pre.get_text().strip() == signature
        parts = reference.sections(definition)[1:]
        labels = [p.get_text() for p in section.select(".api-label")]
        assert len(labels) >= len(parts)
        known = [d.get_text() for d in section.select(".api-list dt")]
        for part in parts:
            if part.kind.value in ("parameters", "raises"):
                names = {name for name, _ in reference.entries(part)}
                assert names <= set(known)
        if name in LIBRARY.homes:
            (taught,) = section.select(".api-taught a")
            assert re.match(r"Chapter \d+: \S", taught.get_text())
            assert re.match(r"\d\d_\w+\.html#\S", taught["href"])


def test_the_map_of_the_library_leads_to_every_module(site):
    page = soup_of(site / "book" / "library.html").main
    names = [code.get_text() for code in page.select(".library-map a code")]
    modules = {f"lib.{name}" for name in LIBRARY.modules}
    assert modules <= set(names)


def test_every_chapter_of_the_map_has_its_minutes(site):
    page = soup_of(site / "book" / "index.html").main
    for chapter in LIBRARY.chapters:
        name = chapter.document.removeprefix("book/")
        (entry,) = [
            item
            for item in page.select(".map > li")
            if item.a and item.a["href"] == f"{name}.html"
        ]
        shown = entry.select_one(".soon").get_text()
        assert shown == f"{chapter.minutes}\u00a0min"


def test_every_work_says_who_cites_it(site):
    page = soup_of(site / "book" / "bibliography.html").main
    for work in page.select(".citation"):
        cited = work.select(".cited-in a")
        assert cited, work["id"]
        for link in cited:
            chapter = soup_of(site / "book" / link["href"]).main
            target = f"bibliography.html#{work['id']}"
            assert chapter.find("a", href=target)


def test_the_page_of_devices_shows_every_report(site):
    page = soup_of(site / "book" / "tested.html").main
    reports = gpu_reports.read(ROOT)
    if not reports:
        assert gpu_reports.NONE in page.get_text()
    titles = [h.get_text() for h in page.find_all("h2")]
    for found in reports:
        assert any(title.startswith(found["device"]) for title in titles)
