"""The built files: links, pictures, headings, and nothing left out."""

import re
from html import unescape
from itertools import pairwise

import pytest
from bs4 import BeautifulSoup

from book._ext.book_site.pages.explorers import scripts_of
from book._ext.book_site.pages.mathematics import formula as plain
from tests.built import (
    NOTEBOOKS,
    PAGES,
    ROOT,
    broken,
    notebook,
    soup_of,
    targets,
)
from tools.source import cells

ANNOTATION = re.compile(r"<annotation[^>]*>(.*?)</annotation>", re.S)
EMPTY_WORDS = {"here", "this", "link", "click here", "more"}
ENTRY = re.compile(r"^@\w+\{([^,\s]+),", re.M)


@pytest.fixture
def pages(site):
    """The path and the soup of every page."""
    return [(site / name, soup_of(site / name)) for name in PAGES]


@pytest.fixture(params=NOTEBOOKS)
def chapter(request, site):
    """The stored notebook of a chapter, and its page."""
    name = request.param
    return notebook(name), soup_of(site / f"{name}.html")


def test_links_lead_somewhere_and_say_where(pages):
    for page, soup in pages:
        assert [t for t in targets(soup) if broken(page, t)] == [], page
        words = {link.get_text(" ", strip=True) for link in soup.find_all("a")}
        assert not words & EMPTY_WORDS, page


def test_every_bibliography_entry_is_there_and_says_who_cites_it(site):
    keys = ENTRY.findall((ROOT / "book" / "references.bib").read_text())
    works = soup_of(site / "book" / "bibliography.html").select(".citation")
    assert sorted(work["id"] for work in works) == sorted(keys)
    assert [w["id"] for w in works if not w.select(".cited-in a")] == []


def test_pictures_are_described_and_numbered(pages):
    for image in (i for _, soup in pages for i in soup.main.find_all("img")):
        assert len(image["alt"]) >= 20 and " " in image["alt"].strip()
        assert not re.search(r"\.(png|svg|jpe?g)$", image["alt"])
        caption = image.find_parent("figure").figcaption
        number = caption.find(class_="caption-number").get_text()
        assert re.fullmatch(r"Fig\. \d+\.\d+ ", number)
        assert len(caption.get_text()) >= 20 + len(number)


def test_headings_ids_and_description(pages):
    """What axe does not ask: it has no rule of WCAG for these."""
    for page, soup in pages:
        found = soup.find_all(re.compile("^h[1-6]$"))
        levels = [int(tag.name[1]) for tag in found]
        assert levels.count(1) == 1 and levels[0] == 1, page
        assert all(b - a <= 1 for a, b in pairwise(levels)), page
        ids = [tag["id"] for tag in soup.find_all(id=True)]
        assert len(ids) == len(set(ids)), page
        if page.name != "search.html":
            description = soup.find("meta", attrs={"name": "description"})
            assert 40 <= len(description["content"]) <= 160, page


def test_every_formula_is_set_before_any_script_runs(pages):
    for page, _ in pages:
        text = page.read_text()
        formulas = text.count('class="math notranslate')
        for part in ('class="katex-html"', "<math ", "</annotation>"):
            assert text.count(part) == formulas, (page, part)
        assert "katex-error" not in text, page
        _, *inline = text.split('<span class="math notranslate')
        for formula in inline:  # only a long one may break
            tex = unescape(ANNOTATION.search(formula)[1])
            whole = formula.startswith(" short")
            assert whole == (len(plain(tex)) <= 18), (page, tex)
            assert not (whole and "<wbr" in formula), (page, tex)


def test_pages_load_the_scripts_that_they_need_and_no_other(pages):
    for page, soup in pages:
        scripts = [tag["src"] for tag in soup.find_all("script", src=True)]
        names = [
            src.rpartition("_static/")[2].split("?")[0] for src in scripts
        ]
        own = [name for name in names if name.startswith("explorers/")]
        needed = scripts_of(str(soup.main))
        assert own == [f"explorers/{script}.js" for script in needed], page
        for script, part in {
            "quiz.js": ".quiz",
            "zoom.js": "main figure img",
            "code.js": ".highlight > pre",
        }.items():
            assert (script in names) == bool(soup.select(part)), page


def test_drawings_are_shown_in_full(chapter):
    stored, page = chapter
    drawings = [
        BeautifulSoup(output.data["text/html"], "html.parser")
        for cell in stored.cells
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    ]
    shown = page.select(".text_html")
    for drawing, box in zip(drawings, shown, strict=True):
        words = [*drawing.stripped_strings]
        assert words and words == [*box.stripped_strings]


def text_outputs(cell):
    for output in cell.outputs:
        data = output.get("data", {})
        text = output.get("text") or data.get("text/plain")
        if text and not {"image/png", "text/html"} & set(data):
            yield text.strip()


def test_code_and_outputs_are_shown_in_full(chapter):
    stored, page = chapter
    shown = "\n".join(box.get_text() for box in page.find_all("pre"))
    for cell in stored.cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type != "code" or {"colab", "explorer"} & {*tags}:
            continue
        for text in text_outputs(cell):
            assert text in shown
        if "nbgrader" not in cell.metadata:
            title = cells.TITLE.match(cell.source)
            assert cell.source[title.end() if title else 0 :] in shown
    assert "### BEGIN" not in shown and "### END" not in shown


def test_solutions_are_folded_and_tasks_show_what_is_given(chapter):
    _, page = chapter
    solutions = page.select(".cell.tag_solution")
    assert solutions
    for cell in solutions:
        assert not cell.details.has_attr("open")
        assert "Show a solution" in cell.summary.get_text()
        stub = cell.find_previous("pre").get_text()
        assert "raise NotImplementedError" in stub
    assert "# given" not in page.main.get_text()
    assert "data-given" not in page.main.get_text()
