"""The built files: links, pictures, headings, and nothing left out."""

import re
from functools import cache
from html import unescape
from itertools import pairwise
from urllib.parse import unquote, urldefrag, urlsplit

import nbformat
import pikepdf
import pytest
from bs4 import BeautifulSoup
from PIL import Image

from book._ext.book_site.pages.mathematics import formula as plain
from book._ext.book_site.source.notebook import CALL
from book._ext.book_site.source.quotes import curly
from tests.site.conftest import ROOT
from tests.site.pages import HAS_ADDRESS, NOTEBOOKS, PAGES
from tools.source import cells

# The MathML repeats what is shown; the colours of code are of no matter.
MATHML = re.compile(r"<math\b.*?</math>", re.S)
COLOURED = re.compile(r'<span class="\w{1,3}">([^<]*)</span>')
ANNOTATION = re.compile(r"<annotation[^>]*>(.*?)</annotation>", re.S)
EMPTY_WORDS = {"here", "this", "link", "click here", "more"}
ENTRY = re.compile(r"^@\w+\{([^,\s]+),", re.M)


@cache
def soup_of(path):
    text = COLOURED.sub(r"\1", MATHML.sub("", path.read_text()))
    return BeautifulSoup(text, "html.parser")


@cache
def anchors_of(path):
    if path.suffix == ".pdf":
        with pikepdf.open(path) as book:
            return {f"nameddest={name[1:]}" for name in book.Root.Dests}
    return {tag["id"] for tag in soup_of(path).find_all(id=True)}


@pytest.fixture
def pages(site):
    """The path and the soup of every page."""
    return [(site / name, soup_of(site / name)) for name in PAGES]


def targets(soup):
    """Everything the page points at or loads."""
    for name in ("href", "src", "action"):
        for tag in soup.find_all(attrs={name: True}):
            yield tag[name]


def broken(page, target):
    """Is this link of this page an internal one that leads nowhere?"""
    if urlsplit(target).scheme in ("http", "https", "mailto"):
        return False
    address, anchor = urldefrag(target)
    path = (page.parent / unquote(address)).resolve() if address else page
    if not path.is_file():
        return True
    return bool(anchor) and unquote(anchor) not in anchors_of(path)


def test_links_lead_somewhere(pages):
    for page, soup in pages:
        assert [t for t in targets(soup) if broken(page, t)] == [], page


def test_the_words_of_a_link_say_where_it_leads(pages):
    for page, soup in pages:
        words = {link.get_text(" ", strip=True) for link in soup.find_all("a")}
        assert not words & EMPTY_WORDS, page


def test_front_door_leads_to_the_book(site):
    name = {"http-equiv": "refresh"}
    refresh = soup_of(site / "index.html").find("meta", attrs=name)
    target = refresh["content"].split("url=")[1]
    assert (site / target).is_file()


def test_the_lock_lies_where_only_this_user_writes(site):
    assert (site.parent / "tests.lock").is_file()


def test_every_bibliography_entry_has_its_anchor(site):
    keys = ENTRY.findall((ROOT / "book" / "references.bib").read_text())
    anchors = anchors_of(site / "book" / "bibliography.html")
    assert keys
    assert [key for key in keys if key not in anchors] == []


def test_pictures_are_described_and_numbered(pages):
    for image in (i for _, soup in pages for i in soup.main.find_all("img")):
        assert len(image["alt"]) >= 20 and " " in image["alt"].strip()
        assert not re.search(r"\.(png|svg|jpe?g)$", image["alt"])
        assert image["width"] and image["height"]
        caption = image.find_parent("figure").figcaption
        number = caption.find(class_="caption-number").get_text()
        assert re.fullmatch(r"Fig\. \d+\.\d+ ", number)
        assert len(caption.get_text()) >= 20 + len(number)


def test_headings_and_names(pages):
    for page, soup in pages:
        assert soup.html["lang"] == "en"
        assert soup.title.get_text().strip()
        found = soup.find_all(re.compile("^h[1-6]$"))
        levels = [int(tag.name[1]) for tag in found]
        assert levels.count(1) == 1 and levels[0] == 1, page
        assert all(b - a <= 1 for a, b in pairwise(levels)), page
        for tag in soup.find_all(["button", "a", "summary", "th"]):
            assert tag.get_text().strip(), (page, tag)
        for tag in soup.find_all("input"):
            assert tag["aria-label"]
        ids = [tag["id"] for tag in soup.find_all(id=True)]
        assert len(ids) == len(set(ids)), page


def test_description_for_search_engines(pages):
    for page, soup in pages:
        if page.name != "search.html":
            description = soup.find("meta", attrs={"name": "description"})
            assert 40 <= len(description["content"]) <= 160, page


def test_links_to_services_appear_with_the_address(pages):
    for page, _ in pages:
        text = page.read_text()
        assert "OWNER/REPO" not in text, page
        if not HAS_ADDRESS:
            assert "colab.research" not in text, page
            assert "issues/new" not in text, page


def test_every_formula_is_set_before_any_script_runs(pages):
    for page, _ in pages:
        text = page.read_text()
        formulas = text.count('class="math notranslate')
        for part in ('class="katex-html"', "<math ", "</annotation>"):
            assert text.count(part) == formulas, (page, part)
        assert "katex-error" not in text, page
        assert "katex.min.js" not in text, page


def test_only_a_long_formula_may_break(pages):
    for page, _ in pages:
        _, *formulas = page.read_text().split('<span class="math notranslate')
        for formula in formulas:
            tex = unescape(ANNOTATION.search(formula)[1])
            whole = formula.startswith(" short")
            assert whole == (len(plain(tex)) <= 18), (page, tex)
            assert not (whole and "<wbr" in formula), (page, tex)


@pytest.mark.parametrize("icon", ["favicon.ico", "_static/favicon.svg"])
def test_favicon(site, icon):
    path = site / icon
    if path.suffix == ".ico":
        with Image.open(path) as image:
            assert image.size == (48, 48)
    else:
        assert BeautifulSoup(path.read_text(), "html.parser").svg


def text_outputs(cell):
    for output in cell.outputs:
        data = output.get("data", {})
        text = output.get("text") or data.get("text/plain")
        if text and not {"image/png", "text/html"} & set(data):
            yield text.strip()


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_drawings_are_shown_in_full(site, name):
    notebook = nbformat.read(ROOT / f"{name}.ipynb", as_version=4)
    drawings = [
        BeautifulSoup(output.data["text/html"], "html.parser")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    ]
    shown = soup_of(site / f"{name}.html").select(".text_html")
    assert len(shown) == len(drawings)
    for drawing, box in zip(drawings, shown, strict=True):
        words = [*drawing.stripped_strings]
        assert words and words == [*box.stripped_strings]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_code_and_outputs_are_shown_in_full(site, name):
    notebook = nbformat.read(ROOT / f"{name}.ipynb", as_version=4)
    page = soup_of(site / f"{name}.html")
    shown = "\n".join(box.get_text() for box in page.find_all("pre"))
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type != "code" or {"colab", "explorer"} & {*tags}:
            continue
        for text in text_outputs(cell):
            assert text in shown
        if "nbgrader" not in cell.metadata:
            title = cells.TITLE.match(cell.source)
            assert cell.source[title.end() if title else 0 :] in shown
    assert "### BEGIN" not in shown and "### END" not in shown


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_checks_are_folded_and_counted(site, name):
    notebook = nbformat.read(ROOT / f"{name}.ipynb", as_version=4)
    claims = [
        f"✓ {curly(cells.TITLE.match(cell.source)['claim'])}"
        for cell in notebook.cells
        if cells.is_check(cell)
    ]
    page = soup_of(site / f"{name}.html")
    folded = page.select(".cell.tag_check details")
    assert [box.summary.p.get_text() for box in folded] == claims
    assert not any(box.has_attr("open") for box in folded)
    notes = page.select("p.checks")
    assert len(notes) == bool(claims)
    for note in notes:
        assert f"✓ {len(claims)} check" in note.get_text()


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_solutions_are_folded(site, name):
    page = soup_of(site / f"{name}.html")
    solutions = page.select(".cell.tag_solution")
    assert solutions
    for cell in solutions:
        assert not cell.details.has_attr("open")
        assert "Show a solution" in cell.summary.get_text()
        stub = cell.find_previous("pre").get_text()
        assert "raise NotImplementedError" in stub


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_check_of_an_exercise_is_one_line_and_what_it_said(site, name):
    notebook = nbformat.read(ROOT / f"{name}.ipynb", as_version=4)
    expected = [
        (call[0], cell.outputs[0].text.strip())
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade")
        and (call := CALL.search(cell.source))
    ]
    page = soup_of(site / f"{name}.html")
    checks = page.select(".cell.tag_exercise-check")
    shown = [
        (cell.summary.p.get_text(), cell.select_one(".stream").get_text())
        for cell in checks
    ]
    assert [(call, said.strip()) for call, said in shown] == expected
    assert not any(cell.details.has_attr("open") for cell in checks)
    assert "# given" not in page.main.get_text()
    assert "data-given" not in page.main.get_text()


def test_only_pages_with_a_quiz_load_its_script(pages):
    for page, soup in pages:
        loaded = [
            script["src"] for script in soup.find_all("script", src=True)
        ]
        has_script = any("quiz.js" in source for source in loaded)
        assert has_script == bool(soup.select(".quiz")), page
