"""The book's own search: what it knows, and what it finds."""

import gzip
import json
import re
from collections import namedtuple
from functools import cache
from pathlib import Path

import pytest
import yaml
from nbformat.v4 import new_markdown_cell

from book._ext.book_site.search.index import FILE, START, listed
from book._ext.book_site.search.sections import WHOLE
from tests.browser.visit import Visit, until
from tests.built import DOCUMENTS, anchors_of, build, small_book, soup_of

HERE = Path(__file__).parent
QUERIES = yaml.safe_load((HERE / "queries.yml").read_text())
CHAPTER = "book/04_masks.html"
TEX = re.compile(r"\\[A-Za-z]{2}|\\[()\[\]]|\$|[_^]\{")
MARKUP = re.compile(r"`|\]\(|</?(?!pad>|bos>|eos>|unk>)[a-z]+>|&[a-z]+;")
SLIPS = {
    "overlfow": "overflow",
    "residaul connection": "residual connection",
    "initialization": "initialisation",
    "caches": "cache",
    "embeding": "embedding",
    "ein sum": "einsum",
    "learnig rate shedule": "learning rate schedule",
    "back propogation": "backpropagation",
    "bhqd,bhkd->bhqk": "einsum",
}
TYPE = """async (query) => {
  const field = document.querySelector("main [name=q]");
  field.value = query;
  field.dispatchEvent(new Event("input"));
  await SearchBox.find(query);
  await new Promise((shown) => setTimeout(shown));
  const links = [...document.querySelectorAll("#search-results a")];
  const status = document.getElementById("search-status").textContent;
  return [status, ...links.slice(0, 3).map((a) => a.getAttribute("href"))];
}"""
Found = namedtuple("Found", "page anchor weight title terms bold text asked")


@cache
def index_of(site):
    """What the search of a built site knows."""
    script = (site / FILE).read_text("utf-8")
    return json.loads(script.removeprefix(START).removesuffix(";\n"))


@cache
def known(site):
    """All sections of the index; the terms of each as a list."""
    index = index_of(site)
    return [
        Found(
            index["pages"][page][0],
            *(anchor, weight, title),
            *([word for word in x.split("; ") if word] for x in (terms, bold)),
            *texts,
        )
        for page, anchor, weight, title, terms, bold, *texts in index[
            "sections"
        ]
    ]


def place(site, address):
    """`page#section` of a result; the top of a page is its first section."""
    page, _, anchor = address.partition("#")
    page = page.partition("?")[0].removeprefix("./")
    anchor = anchor or soup_of(site / page).main.section["id"]
    return f"{page.removesuffix('.html')}#{anchor}"


@pytest.fixture(
    scope="module",
    params=["http", pytest.param("file", marks=pytest.mark.slow)],
)
def finder(request, browser, site, address):
    """The search page, open; a function that types and reads the results."""
    root = address if request.param == "http" else f"{site.as_uri()}/"
    tab = browser.new_page()
    visit = Visit(tab)
    visit.load(f"{root}search.html")

    def find(query):
        status, *links = tab.evaluate(TYPE, query)
        assert re.search("section" if links else "Nothing", status)
        return [place(site, link) for link in links]

    yield find
    assert all(url.startswith(root) for url in visit.requests)
    visit.assert_calm()
    tab.close()


def test_a_query_finds_its_section_first_or_second(finder):
    found = {query: finder(query)[:2] for query in QUERIES}
    wanted = {query: {*QUERIES[query].split()} for query in QUERIES}
    assert [q for q in QUERIES if not {*found[q]} & wanted[q]] == []


def test_what_strangers_type_leads_to_its_section(finder, site):
    lost = []
    for name, typed in listed("asked").items():
        page, _, anchor = name.partition("#")
        wanted = place(site, f"book/{page}.html#{anchor}")
        lost += [q for q in typed.split(", ") if wanted not in finder(q)]
    assert lost == []


def test_a_slip_finds_the_same_and_nonsense_nothing(finder):
    for typed, meant in SLIPS.items():
        assert finder(typed)[0] == finder(meant)[0], typed
    assert finder("qzxwv") == []


def test_every_alias_leads_somewhere(site):
    aliases = index_of(site)["aliases"]
    assert {"sdpa", "rope", "kv cache"} <= aliases.keys()
    texts = (" ".join([s.title, *s.terms, s.text]) for s in known(site))
    said = bare("\n".join(texts))
    assert [m for m in aliases.values() if bare(m) not in said] == []


def bare(text):
    """A text without its commas and full stops, in small letters."""
    return re.sub("[,.]", "", text).lower()


def test_the_index_is_small(site):
    assert len(gzip.compress((site / FILE).read_bytes())) < 230_000


@pytest.mark.slow
def test_the_index_is_loaded_when_it_is_asked_for(browser, address):
    visit = Visit(browser.new_page())
    visit.load(address + CHAPTER)
    assert not [u for u in visit.requests if u.endswith(FILE)]
    visit.tab.locator(".book-search input").focus()
    until(visit.tab, "globalThis.bookIndex")
    assert len([u for u in visit.requests if u.endswith(FILE)]) == 1
    visit.tab.close()


def test_the_index_has_every_section_and_no_other(site):
    there = {(section.page, section.anchor) for section in known(site)}
    for page, anchor in there:
        assert not anchor or anchor in anchors_of(site / page), (page, anchor)
    for page in (f"{name}.html" for name in DOCUMENTS):
        places = soup_of(site / page).main.select("section[id], dt[id]")
        ids = [tag["id"] for tag in places if len(tag["id"]) > 1]
        found = {anchor for name, anchor in there if name == page}
        if page.startswith(WHOLE):
            assert found == {""}
        else:
            assert {"", *ids[1:]} <= found


def test_names_terms_and_captions_are_in_their_sections(site):
    (module,) = (s for s in known(site) if s.anchor == "the-module")
    assert "MultiHeadAttention" in module.terms
    rotary = next(s for s in known(site) if s.title.startswith("Turning"))
    assert {"rotary positions", "rope"} <= {t.lower() for t in rotary.terms}
    captions = [s for s in known(site) if "Three beams write month" in s.text]
    assert [s.anchor for s in captions] == ["several-texts-at-once"]
    (entry,) = (s for s in known(site) if s.anchor == "term-key")
    assert (entry.title, entry.terms[:1]) == ("key", ["key"]) and entry.text


def test_a_text_is_prose(site):
    """No TeX, no markup, no line of code, and no answer of a quiz."""
    for section in known(site):
        for text in (section.title, section.text, *section.terms):
            assert not TEX.search(text) and not MARKUP.search(text), section
    for name in DOCUMENTS:
        page = f"{name}.html"
        text = "\n".join(s.text for s in known(site) if s.page == page)
        folded = soup_of(site / page).select(".quiz details p")
        answers = [" ".join(p.get_text().split()) for p in folded]
        assert not [a for a in answers if len(a) > 30 and a in text]
        for box in soup_of(site / page).select(".cell pre"):
            lines = map(str.strip, box.get_text().splitlines())
            assert not [x for x in lines if len(x) >= 24 and x in text], page


def test_nothing_of_sphinx_s_search_is_shipped(site):
    sphinx = re.compile(
        "searchindex|searchtools|doctools|sphinx_|language_data"
    )
    assert not [p for p in site.rglob("*.js") if sphinx.match(p.name)]
    assert not sphinx.search((site / CHAPTER).read_text())


@pytest.mark.slow
def test_a_rebuild_keeps_all_pages_in_the_search(tmp_path):
    toc = "format: jb-book\nroot: book/index\nchapters:\n- file: book/01_one\n"
    pages = {"index": "# Index", "01_one": [new_markdown_cell("# 1. One")]}
    small_book(tmp_path, toc, pages, "")
    site, path = tmp_path / "_build" / "html", tmp_path / "book/01_one.ipynb"
    before = known(site)
    path.write_text(
        path.read_text().replace("# 1. One", "# 1. One\\n\\nMore.")
    )
    build(tmp_path)
    known.cache_clear()
    index_of.cache_clear()
    after = known(site)
    assert [s.page for s in after] == [s.page for s in before]
    assert [s.text for s in after if s not in before] == ["More."]
