"""The built files: links, pictures, headings, previews; nothing left out."""

import gzip
import json
import re
from itertools import pairwise
from pathlib import Path
from urllib.parse import urldefrag

import nbformat
import pytest
from bs4 import BeautifulSoup

from book._ext.book_site.frame import beside
from book._ext.book_site.pages import previews
from book._ext.book_site.pages.library import Library, anchor
from book._ext.book_site.pages.mathematics import in_a_line
from book._ext.book_site.source.chapters import chapters
from book._ext.book_site.source.notebook import curly
from tests.built import (
    CHAPTERS,
    DOCUMENTS,
    NOTEBOOKS,
    PAGES,
    ROOT,
    broken,
    notebook,
    soup_of,
    targets,
)
from tools.source import cells

EMPTY_WORDS = {"here", "this", "link", "click here", "more"}
MOST = 12_000  # bytes of what a page's links show, compressed
SHOWS = re.compile(
    r"^#fig-|bibliography.html#|glossary.html#|notation.html|^\d\d_\w+\.html"
)
ENTRY = re.compile(r"^@\w+\{([^,\s]+),", re.M)


@pytest.fixture
def pages(site):
    """The path and the soup of every page."""
    return [(site / name, soup_of(site / name)) for name in PAGES]


of_chapters = pytest.mark.parametrize("name", CHAPTERS)


@pytest.fixture(params=NOTEBOOKS)
def name(request):
    return request.param


@pytest.fixture
def page(site, name):
    return soup_of(site / f"{name}.html")


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
            whole, line = formula.startswith(" short"), in_a_line(formula)
            assert whole == (len(line) <= 18), (page, line)
            assert not (whole and "<wbr" in formula), (page, line)


def test_drawings_are_shown_in_full(name, page):
    drawings = [
        BeautifulSoup(output.data["text/html"], "html.parser")
        for cell in notebook(name).cells
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


def test_code_and_outputs_are_shown_in_full(name, page):
    shown = "\n".join(box.get_text() for box in page.find_all("pre"))
    for cell in notebook(name).cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type != "code" or {"colab", "explorer"} & {*tags}:
            continue
        for text in text_outputs(cell):
            assert text in shown
        if "nbgrader" not in cell.metadata:
            title = cells.TITLE.match(cell.source)
            assert cell.source[title.end() if title else 0 :] in shown
    assert "### BEGIN" not in shown and "### END" not in shown


@of_chapters
def test_checks_are_folded_and_counted(name, page):
    claims = [
        f"✓ {curly(cells.TITLE.match(cell.source)['claim'])}"
        for cell in notebook(name).cells
        if cells.is_check(cell)
    ]
    folded = page.select(".cell.tag_check details")
    assert [box.summary.p.get_text() for box in folded] == claims
    assert not any(box.has_attr("open") for box in folded)
    said = page.select_one("p.checks").get_text()
    assert said.startswith(f"{len(claims)} check")


@of_chapters
def test_a_chapter_and_the_index_lead_to_its_page_for_teachers(
    site, name, page
):
    target = f"teach/chapter_{Path(name).name[:2]}.html"
    assert page.select_one(f".page-links a[href$='{target}']")
    index = soup_of(site / "book/teach/index.html")
    assert index.main.select_one(f"a[href$='{Path(target).name}']")


@of_chapters
def test_a_picture_follows_the_question(name, page):
    first = page.main.select_one(".tag_imports, img, svg")
    assert first.name in {"img", "svg"}


@of_chapters
def test_solutions_are_folded_and_tasks_show_what_is_given(page):
    solutions = page.select(".cell.tag_solution")
    assert solutions
    for cell in solutions:
        assert not cell.details.has_attr("open")
        assert "Show a solution" in cell.summary.get_text()
        stub = cell.find_previous("pre").get_text()
        assert "raise NotImplementedError" in stub
    assert "# given" not in page.main.get_text()
    assert "data-given" not in page.main.get_text()


# --- What links show, and what programs read


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


def test_the_title_page_says_the_minutes_of_each_chapter(site):
    items = soup_of(site / "book" / "index.html").select(".map > li")
    shown = {
        item.a["href"]: item.select_one(".soon").get_text() for item in items
    }
    for chapter in chapters(ROOT):
        minutes = f"{chapter.minutes}\u00a0min"
        assert shown[f"{chapter.path.stem}.html"] == minutes


@of_chapters
def test_a_chapter_leads_to_its_notebook_and_its_exercises(site, name, page):
    links = {a.get_text(): a for a in page.select(".page-links a")}
    assert links["Notebook"].has_attr("download")
    stored = (site / name).parent / links["Notebook"]["href"]
    assert nbformat.read(stored, as_version=4).cells
    assert page.select_one(f"section{links['Exercises']['href']}")


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


@of_chapters
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
    assert links == [f"{name}.html" for name in [*CHAPTERS, "book/lab"]]
    [theme] = lost.find_all(["script", "img", "link"])
    every_page = soup_of(site / "book/index.html").find("script")
    assert theme.string.split() == every_page.string.split()


@of_chapters
def test_the_text_of_a_chapter_has_no_solution_and_no_picture(site, name):
    path = site / beside.TEXTS / f"{name.removeprefix('book/')}.md"
    text = path.read_text()
    assert text.startswith(f"# {int(path.stem[:2])}. ")
    assert "raise NotImplementedError" in text
    for mark in ("### BEGIN", "data:image", "iVBOR", "# given"):
        assert mark not in text
    assert text.count("```") % 2 == 0
    assert "\n✓ " in text and "> **Figure.** " in text
    for link in re.findall(r"\]\(([\w./]+\.(?:md|html))", text):
        assert (path.parent / link).is_file(), link
