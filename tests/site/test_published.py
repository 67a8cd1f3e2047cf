"""A book whose address is known: what it says to readers and machines.

The site is served below a path, as a host does with the pages of a project.
"""

import re
import shutil
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from PIL import Image

from book._ext.book_site.frame import llms, page
from tests.site.conftest import ROOT, QuietHandler, build, served
from tests.site.pages import CONFIG, DOCUMENTS, NOTEBOOKS
from tests.site.test_frame import commit, run
from tests.site.test_html import soup_of
from tests.site.visit import Visit

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
PYTHON = {"language_info": {"name": "python"}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A built book of two pages whose repository has an address."""
    folder = tmp_path_factory.mktemp("known")
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    address = "https://github.com/someone/transformer.git"
    config["repository"] = {"url": address, "branch": "v1.0"}
    del config["sphinx"]["config"]["moved_pages"]
    (folder / "_config.yml").write_text(yaml.safe_dump(config))
    (folder / "_toc.yml").write_text(TOC)
    run(folder, "init", "-q")
    (folder / ".gitignore").write_text("_build\n_ext\n")
    commit(folder, "index.md", "Begun", 1)
    commit(folder, "01_one.ipynb", "A chapter <new>", 2)
    book = folder / "book"
    for name in ("_ext", "references.bib"):
        (book / name).symlink_to(ROOT / "book" / name)
    shutil.copytree(ROOT / "book" / "_static", book / "_static")
    (book / "index.md").write_text(INDEX)
    cells = [new_markdown_cell(ONE), new_code_cell("1 + 1")]
    notebook = new_notebook(cells=cells, metadata=PYTHON)
    nbformat.write(notebook, book / "01_one.ipynb")
    build(folder)
    return folder / "_build" / "html"


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
    assert said["og:image"] == f"{ADDRESS}{page.PICTURE}"
    assert said["twitter:card"] == "summary_large_image"
    path = folder / said["og:image"].removeprefix(ADDRESS)
    with Image.open(path) as image:
        size = (int(said["og:image:width"]), int(said["og:image:height"]))
        assert image.size == size == (1200, 630)
    assert path.stat().st_size < 40_000


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


@pytest.mark.slow
@pytest.mark.parametrize("path", ["x", "book/x.html", "a/b/c/d"])
def test_a_lost_reader_finds_the_way_from_any_depth(browser, host, path):
    visit = Visit(browser.new_page())
    visit.tab.goto(f"{host}{PATH}{path}")
    assert visit.requests == [f"{host}{PATH}{path}"]
    seen = visit.look(colours=True)
    assert seen["tooFaint"] == []
    visit.tab.get_by_role("link", name="1. One & only").click()
    visit.tab.wait_for_url(f"{host}{PATH}book/01_one.html")
    visit.tab.goto(f"{host}{PATH}{path}")
    visit.tab.get_by_role("link", name="The Executable Transformer").click()
    visit.tab.wait_for_url(f"{host}{PATH}book/index.html")
    visit.tab.goto(f"{host}{PATH}{path}")
    visit.tab.locator("input").fill("scores")
    visit.tab.keyboard.press("Enter")
    visit.tab.wait_for_url(f"{host}{PATH}search.html?q=scores")
    visit.tab.close()


@pytest.fixture
def visit(browser, host):
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    visit = Visit(context.new_page())
    visit.load(f"{host}{PATH}book/01_one.html")
    yield visit
    visit.assert_calm()
    context.close()


def asked(link):
    """What a link to a new issue fills in."""
    query = parse_qs(urlsplit(link.get_attribute("href")).query)
    return query["title"][0], query["body"][0]


NEW_ISSUE = re.compile("^https://github.com/someone/transformer/issues/new")
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


def test_programs_find_every_page_and_each_chapter_as_text(site):
    text = (site / "llms.txt").read_text()
    assert text.startswith("# The Executable Transformer\n\n> ")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) == len(DOCUMENTS)
    assert all((site / link).is_file() for link in links)
    for name in NOTEBOOKS:
        assert f"text/{name.removeprefix('book/')}.md" in links


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_text_of_a_chapter_has_no_solution_and_no_picture(site, name):
    path = site / llms.FOLDER / f"{name.removeprefix('book/')}.md"
    text = path.read_text()
    number = int(path.stem[:2])
    assert text.startswith(f"# {number}. ")
    assert "raise NotImplementedError" in text
    for mark in ("### BEGIN", "data:image", "iVBOR", "# given"):
        assert mark not in text
    assert text.count("```") % 2 == 0
    assert "\n✓ " in text and "> **Figure.** " in text
    for link in re.findall(r"\]\(([\w./]+\.(?:md|html))", text):
        assert (path.parent / link).is_file(), link


def test_the_lost_reader_is_told_every_chapter(site):
    page = soup_of(site / "404.html")
    links = [link["href"].lstrip("/") for link in page.select("li a")]
    assert links == [f"{name}.html" for name in NOTEBOOKS]
    assert not page.find_all(["script", "img", "link"])
