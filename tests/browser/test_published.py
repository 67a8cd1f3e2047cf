"""A book whose address is known: what it says to readers and machines.

The site is served below a path, as a host does with the pages of a project.
"""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from PIL import Image

from kit.explorers import FOLDER
from kit.explorers.heads import heads_explorer
from tests.built import (
    CONFIG,
    DOCUMENTS,
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


def explorer():
    """A cell that has just been run in Jupyter."""
    html = {"text/html": heads_explorer()._repr_html_()}
    output = new_output("execute_result", html)
    tags = {"tags": ["hide-input", "explorer"]}
    return new_code_cell("heads()", metadata=tags, outputs=[output])


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A book of two pages whose repository has an address, and was built."""
    folder = tmp_path_factory.mktemp("known")
    run(folder, "init", "-q")
    (folder / ".gitignore").write_text("_build\n_ext\n")
    commit(folder, "index.md", "Begun", 1)
    commit(folder, "01_one.ipynb", "A chapter <new>", 2)
    cells = [new_markdown_cell(ONE), explorer()]
    pages = {"index": INDEX, "01_one": cells}
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


def head_of(page):
    head = page.read_text().split("</head>")[0]
    tags = BeautifulSoup(head, "html.parser").head
    said = {
        tag.get("property") or tag.get("name"): tag.get("content")
        for tag in tags.find_all("meta")
    }
    return said, tags.find("link", rel="canonical")


@pytest.mark.parametrize("name", ["index", "01_one"])
def test_a_page_says_where_it_is_and_shows_a_picture(folder, name):
    said, canonical = head_of(folder / "book" / f"{name}.html")
    own = f"{ADDRESS}book/{name}.html"
    assert canonical["href"] == said["og:url"] == own
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


def test_the_foot_shows_the_changes(folder):
    foot = soup_of(folder / "book" / "01_one.html").footer
    assert "2026-01-02 A chapter <new>" in foot.get_text(" ", strip=True)


def test_links_appear_with_the_address(folder):
    page = soup_of(folder / "book" / "01_one.html")
    links = {a.get_text(): a["href"] for a in page.select(".page-links a")}
    colab = "https://colab.research.google.com/github/someone/transformer"
    assert links["Run in Colab"] == f"{colab}/blob/v1.0/book/01_one.ipynb"
    links = {a.get_text(): a["href"] for a in page.select(".page-footer a")}
    assert links["Source"] == f"{REPOSITORY}/blob/v1.0/book/01_one.ipynb"
    assert links["Report a mistake here"].startswith(REPOSITORY)


def test_a_page_loads_the_scripts_of_its_explorers(folder):
    page = soup_of(folder / "book" / "01_one.html")
    scripts = [s["src"] for s in page.find_all("script", src=True)]
    own = [src for src in scripts if "explorers/" in src]
    assert [Path(src).stem for src in own] == ["core", "heads-explorer"]
    for src in own:
        copy = folder / "book" / src
        assert copy.read_text() == (FOLDER / copy.name).read_text()
    assert page.select_one("heads-explorer table")
    assert not page.find("script", attrs={"data-explorer": True})
    assert not page.select(".tag_explorer .cell_input")


@pytest.mark.slow
@pytest.mark.parametrize("path", ["x", "a/b/c/d"])
def test_a_lost_reader_finds_the_way_from_any_depth(window, host, path):
    visit, home = window(), f"{host}{PATH}"
    tab = visit.tab
    tab.goto(home + path)
    assert visit.requests == [home + path]
    assert visit.look(colours=True)["tooFaint"] == []
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
def visit(window, host):
    visit = window()
    visit.load(f"{host}{PATH}book/01_one.html")
    yield visit
    visit.assert_calm()


def asked(link):
    """What a link to a new issue fills in."""
    query = parse_qs(urlsplit(link.get_attribute("href")).query)
    return query["title"][0], query["body"][0]


NEW_ISSUE = re.compile(f"^{REPOSITORY}/issues/new")
SELECT = """(selector) => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector(selector));
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}"""


def test_a_report_names_the_section_that_is_read(visit):
    link = visit.tab.locator(".page-footer .report")
    link.focus()
    title, body = asked(link)
    assert title == "Mistake: 1. One & only"
    assert re.search(r"\*\*Section:\*\* .*, http://.*/book/01_one.html#", body)
    assert "**Passage:** \n" in body


@pytest.mark.slow
def test_a_report_quotes_what_is_selected(visit):
    tab = visit.tab
    near = tab.locator(".report-near")
    assert not near.is_visible()
    tab.evaluate(SELECT, "#scores > p:last-of-type")
    near.wait_for()
    box = near.bounding_box()
    assert 0 <= box["x"] and box["x"] + box["width"] <= 1400
    tab.route("https://github.com/**", lambda r: r.fulfill(body="ok"))
    with tab.expect_request(NEW_ISSUE) as request:
        near.click()
    body = parse_qs(urlsplit(request.value.url).query)["body"][0]
    assert "**Section:** Scores, http" in body
    assert "**Passage:** Another paragraph has $a^2$ and ends." in body


@pytest.mark.slow
def test_a_selection_elsewhere_is_not_meant(visit):
    visit.tab.evaluate(SELECT, ".brand")
    visit.tab.wait_for_timeout(700)
    assert not visit.tab.locator(".report-near").is_visible()


@pytest.mark.slow
def test_a_long_passage_is_cut(visit):
    first = visit.tab.locator("#scores > p").first
    first.evaluate("(p) => (p.textContent = 'word '.repeat(500))")
    visit.tab.evaluate(SELECT, "#scores > p")
    link = visit.tab.locator(".page-footer .report")
    link.focus()
    assert 300 < len(asked(link)[1]) < 700
    assert len(link.get_attribute("href")) < 2000


def test_a_link_to_a_formula_shows_it(visit):
    link = visit.tab.locator("main a[href='#equation-e']")
    link.press("Shift")
    card = visit.tab.locator("#preview")
    card.wait_for()
    assert card.locator(".katex-html").bounding_box()["height"] > 20
    assert "(1.1)" in card.inner_text()


@pytest.mark.skipif(
    not CONFIG["repository"]["url"].endswith("OWNER/REPO"),
    reason="the book has an address",
)
def test_without_an_address_nothing_pretends_to_one(site):
    for name in ("sitemap.xml", "robots.txt"):
        assert not (site / name).exists()
    for name in DOCUMENTS:
        text = (site / f"{name}.html").read_text()
        assert "og:image" not in text and 'rel="canonical"' not in text
        assert "report.js" not in text
    assert '<a href="/">' in (site / "404.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, copies",
    {
        "custom.css": ["custom.css", "book.css"],
        "page.css": ["book.css"],
        "core.js": ["explorers/core.js"],
    }.items(),
)
def test_a_changed_file_reaches_the_pages(source, folder, name, copies):
    changed = f"/* another look of {name} */"
    (path,) = [
        path
        for path in (source / "book").rglob(name)
        if "_ext" not in path.parts
    ]
    with path.open("a") as file:
        file.write(changed)
    build(source)
    soup_of.cache_clear()
    page = soup_of(folder / "book" / "01_one.html")
    assert page.find("link", rel="stylesheet")["href"].endswith("book.css")
    for copy in copies:
        assert changed in (folder / "_static" / copy).read_text()
