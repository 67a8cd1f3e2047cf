"""A book whose address is known: what it says to readers and machines.

The site is served below a path, as a host does with the pages of a project.
"""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest
from nbformat.v4 import new_markdown_cell
from PIL import Image

from tests.browser.record import assert_legible
from tests.browser.visit import expect_in_view
from tests.built import (
    DOCUMENTS,
    HAS_ADDRESS,
    QuietHandler,
    build,
    commit,
    run,
    served,
    small_book,
    soup_of,
)

REPOSITORY = "https://github.com/someone/transformer"
PATH = "/transformer/"
ADDRESS = f"https://someone.github.io{PATH}"
INDEX = (
    "# The Book\n\nThis page says in one sentence what all of it is about.\n"
)
ONE = """\
# 1. One & only

**What is the first question of this book about?**

## Scores

The scores of a query and its keys are called *attention* here, in {eq}`e`.

$$
x = \\frac{1}{2}
$$ (e)

Another paragraph has $a^2$ and ends.

## Exercises

None."""
TOC = """\
format: jb-book
root: book/index
parts:
- caption: I
  numbered: 1
  chapters:
  - file: book/01_one
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A book of two pages whose repository has an address, and was built."""
    folder = tmp_path_factory.mktemp("known")
    run(folder, "init", "-q")
    (folder / ".gitignore").write_text("_build\n_ext\n")
    commit(folder, "index.md", "Begun", 1)
    commit(folder, "01_one.ipynb", "A chapter <new>", 2)
    pages = {"index": INDEX, "01_one": [new_markdown_cell(ONE)]}
    small_book(folder, TOC, pages, f"{REPOSITORY}.git")
    return folder


@pytest.fixture(scope="module")
def folder(source):
    return source / "_build" / "html"


class BelowPath(QuietHandler):
    """A host that serves a site below a path, and its page for errors."""

    def send_head(self):
        below = self.path.startswith(PATH)
        self.path = self.path.removeprefix(PATH.rstrip("/")) if below else "/-"
        return super().send_head()

    def send_error(self, code, message=None, explain=None):
        page = Path(self.directory, "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page)


@pytest.fixture(scope="module")
def host(folder):
    with served(folder, BelowPath) as there:
        yield there.rstrip("/")


@pytest.mark.parametrize("name", ["index", "01_one"])
def test_a_page_says_where_it_is_and_shows_a_picture(folder, name):
    head = soup_of(folder / "book" / f"{name}.html").head
    said = {
        tag.get("property") or tag.get("name"): tag.get("content")
        for tag in head.find_all("meta")
    }
    own = f"{ADDRESS}book/{name}.html"
    assert head.find("link", rel="canonical")["href"] == own
    assert said["og:url"] == own
    assert said["og:title"] and said["og:description"]
    assert said["twitter:card"] == "summary_large_image"
    path = folder / said["og:image"].removeprefix(ADDRESS)
    with Image.open(path) as image:
        assert image.size == (1200, 630)


def test_the_sitemap_has_every_page_and_its_day(folder):
    tree = ElementTree.parse(folder / "sitemap.xml").getroot()
    name = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    found = {
        url.findtext(f"{name}loc"): url.findtext(f"{name}lastmod")
        for url in tree
    }
    assert found == {
        f"{ADDRESS}book/index.html": "2026-01-01",
        f"{ADDRESS}book/01_one.html": "2026-01-02",
    }
    robots = (folder / "robots.txt").read_text()
    assert f"Sitemap: {ADDRESS}sitemap.xml" in robots


def test_links_and_changes_appear_with_the_address(folder):
    page = soup_of(folder / "book" / "01_one.html")
    links = {
        link.get_text(): link["href"]
        for link in page.select(".page-links a, .page-footer a")
    }
    colab = "https://colab.research.google.com/github/someone/transformer"
    assert links["Run in Colab"] == f"{colab}/blob/v1.0/book/01_one.ipynb"
    assert links["Source"] == f"{REPOSITORY}/blob/v1.0/book/01_one.ipynb"
    assert links["Report a mistake here"].startswith(REPOSITORY)
    assert links["Exercises"] == "#exercises" and "Notebook" in links
    foot = page.footer.get_text(" ", strip=True)
    assert "2026-01-02 A chapter <new>" in foot


@pytest.mark.slow
def test_a_lost_reader_finds_the_way_from_any_depth(window, host):
    visit, home = window(), f"{host}{PATH}"
    tab, path = visit.tab, "a/b/c/d"
    tab.goto(home + path)
    assert visit.requests == [home + path]
    assert_legible(visit)
    for name, page in {
        "1. One & only": "book/01_one.html",
        "The Executable Transformer": "book/index.html",
    }.items():
        tab.get_by_role("link", name=name).click()
        tab.wait_for_url(home + page)
        tab.goto(home + path)
    tab.locator("input").fill("scores")
    tab.keyboard.press("Enter")
    tab.wait_for_url(f"{home}search.html?q=scores")


@pytest.fixture
def visit(opened, host):
    return opened(f"{host}{PATH}book/01_one.html")


def asked(url):
    """What a link to a new issue fills in."""
    query = parse_qs(urlsplit(url).query)
    return query["title"][0], query["body"][0]


NEW_ISSUE = re.compile(f"^{REPOSITORY}/issues/new")
SELECT = """(selector) => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector(selector));
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}"""


def test_a_report_names_the_section_and_quotes_what_is_selected(visit):
    tab = visit.tab
    near, link = tab.locator(".report-near"), tab.locator(".report").first
    here = tab.locator("section#scores > h2 > .report-here")
    here.hover()
    assert here.evaluate("(a) => getComputedStyle(a).opacity") == "1"
    here.dispatch_event("pointerdown")
    _, body = asked(here.get_attribute("href"))
    assert "**Section:** Scores, http" in body and "#scores" in body
    link.focus()
    title, body = asked(link.get_attribute("href"))
    assert title == "Mistake: 1. One & only"
    assert re.search(r"\*\*Section:\*\* .*, http://.*/book/01_one.html#", body)
    assert "**Passage:** \n" in body
    long = "(p) => (p.textContent = 'word '.repeat(500))"
    tab.locator("#scores > p").first.evaluate(long)
    tab.evaluate(SELECT, "#scores > p")
    link.blur()
    link.focus()
    url = link.get_attribute("href")
    assert 300 < len(asked(url)[1]) < 700 and len(url) < 2000
    tab.evaluate(SELECT, ".brand")  # which is not meant
    tab.wait_for_timeout(700)
    assert not near.is_visible()
    tab.evaluate(SELECT, "#scores > p:last-of-type")
    near.wait_for()
    expect_in_view(near)
    tab.route("https://github.com/**", lambda r: r.fulfill(body="ok"))
    with tab.expect_request(NEW_ISSUE) as request:
        near.click()
    _, body = asked(request.value.url)
    assert "**Section:** Scores, http" in body
    assert "**Passage:** Another paragraph has $a^2$ and ends." in body


def test_a_link_to_a_formula_shows_it(visit):
    visit.tab.locator("main a[href='#equation-e']").press("Shift")
    card = visit.tab.locator("#preview")
    card.wait_for()
    assert card.locator(".katex-html").bounding_box()["height"] > 20
    assert "(1.1)" in card.inner_text()


@pytest.mark.skipif(HAS_ADDRESS, reason="the book has an address")
def test_without_an_address_nothing_pretends_to_one(site):
    for name in ("sitemap.xml", "robots.txt"):
        assert not (site / name).exists()
    for name in DOCUMENTS:
        text = (site / f"{name}.html").read_text()
        assert "og:image" not in text and 'rel="canonical"' not in text
        for service in ("report.js", "OWNER/REPO", "colab.research"):
            assert service not in text, name
    assert '<a href="/">' in (site / "404.html").read_text()


@pytest.mark.slow
def test_a_changed_file_reaches_the_pages(source, folder):
    changed = "/* another look of {} */".format
    names = ("custom.css", "page.css", "core.js")
    for name in names:
        (path,) = (source / "book").rglob(name)
        path.write_text(path.read_text() + changed(name))
    build(source)
    soup_of.cache_clear()
    page = soup_of(folder / "book" / "01_one.html")
    assert page.find("link", rel="stylesheet")["href"].endswith("book.css")
    static = folder / "_static"
    style = (static / "book.css").read_text()
    assert all(changed(name) in style for name in names[:2])
    assert changed(names[0]) in (static / names[0]).read_text()
    assert changed(names[2]) in (static / "explorers/core.js").read_text()
