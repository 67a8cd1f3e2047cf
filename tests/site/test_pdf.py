"""The book as a PDF, made once and read by PDFium, a browser's own reader."""

import os
import re
import subprocess
import sys
from copy import copy
from itertools import pairwise

import nbformat
import pikepdf
import pypdfium2
import pytest
from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE

from book._ext.book_site.source.notebook import CALL
from tests.site.conftest import ROOT
from tests.site.pages import CONFIG, NOTEBOOKS, PRINTED
from tests.site.test_html import soup_of
from tools.source.answers import solution, stub, without_marks
from tools.source.cells import TITLE

pytestmark = pytest.mark.slow  # the whole book is printed
MM = 72 / 25.4
SIDE = 25 * MM  # the margins of paper.css
FOOT = 22 * MM
APPENDIX = "Appendix A. Solutions"


CHINESE = re.compile("[\u2e80-\u9fff]")  # not every machine has a font
MOVED = r"[\s\x02\ufffe-]"  # at the end of a line PDFium drops or marks them


def squeezed(text):
    """The text without what paper moves, or may not be able to show."""
    return CHINESE.sub("", re.sub(MOVED, "", text))


class Paper:
    """What the tests ask of the file, read once."""

    def __init__(self, path):
        self.path = path
        self.book = pypdfium2.PdfDocument(path)
        self.width, self.height = self.book[0].get_size()
        self.marks = [
            (mark.level, mark.get_title(), mark.get_dest().get_index())
            for mark in self.book.get_toc()
        ]
        self.texts, self.boxes, self.images = [], [], []
        for page in self.book:
            self.read(page)

    def read(self, page):
        words = page.get_textpage()
        self.texts.append(words.get_text_range())
        self.boxes.append([*map(words.get_rect, range(words.count_rects()))])
        images = page.get_objects(filter=[FPDF_PAGEOBJ_IMAGE])
        self.images.append([image.get_bounds() for image in images])

    def page_of(self, title):
        """The index of the page of a bookmark."""
        return next(page for _, name, page in self.marks if name == title)

    def body(self, number):
        """The text of a page without its head and its number."""
        lines = self.texts[number].split("\r\n")
        while lines and lines[0] in {*self.heads, str(number + 1)}:
            lines.pop(0)
        return squeezed("".join(lines))

    @property
    def heads(self):
        return {name for level, name, _ in self.marks if level < 2}

    def between(self, first, last=None):
        """The text of these pages as one string."""
        pages = range(len(self.texts))[first:last]
        return "".join(map(self.body, pages))


@pytest.fixture(scope="module")
def paper(chromium, site, tmp_path_factory):
    """The whole book, printed by the command of `make pdf`."""
    path = tmp_path_factory.mktemp("pdf") / "book.pdf"
    command = [sys.executable, "-m", "tools.editions.pdf", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    paper = Paper(path)
    paper.complaint = done.stderr
    return paper


@pytest.fixture(scope="module")
def chapters(paper):
    """The text of the book before the appendices."""
    return paper.between(0, paper.page_of(APPENDIX))


@pytest.fixture(scope="module")
def appendices(paper):
    return paper.between(paper.page_of(APPENDIX))


def heading(tag):
    """The words of a heading as they are among the bookmarks."""
    tag = copy(tag)
    for idle in tag.select(".headerlink, .katex-mathml"):
        idle.extract()
    return squeezed(tag.get_text())


@pytest.mark.parametrize("name", PRINTED)
def test_chapters_and_sections_are_bookmarks(paper, site, name):
    soup = soup_of(site / f"{name}.html").main
    marks = {squeezed(title) for _, title, _ in paper.marks}
    wanted = [*map(heading, soup.find_all(["h1", "h2"]))]
    if name == PRINTED[0]:
        wanted[0] = squeezed("About this book")
    assert [title for title in wanted if title not in marks] == []


def test_parts_hold_chapters_and_chapters_sections(paper):
    levels = [level for level, _, _ in paper.marks]
    assert levels[0] == 0 and max(levels) >= 2
    assert all(deep - level <= 1 for level, deep in pairwise(levels))
    pages = [page for _, _, page in paper.marks]
    assert pages == sorted(pages)


def test_contents_name_the_pages(paper):
    last = paper.page_of("About this book")
    contents = paper.between(1, last)
    for level, title, page in paper.marks:
        if level == 0 and title != "Contents":
            assert squeezed(f"{title}{page + 1}") in contents


def code_cells(name):
    """The code of a notebook: what is to be shown, and the checks."""
    shown, solutions, checks = [], [], []
    for cell in nbformat.read(ROOT / f"{name}.ipynb", 4).cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type != "code" or "colab" in tags:
            continue
        titled = TITLE.match(cell.source)
        grader = cell.metadata.get("nbgrader", {})
        if grader.get("solution"):
            source = without_marks(cell.source)
            shown.append(stub(source))
            solutions.append(solution(source))
        elif grader.get("grade"):
            call = CALL.search(cell.source)
            shown.append(call[0] if call else cell.source)
        elif "explorer" in tags or (titled and titled["claim"]):
            start = titled.end() if titled else 0
            checks.append(cell.source[start:])
        else:
            shown.append(cell.source[titled.end() if titled else 0 :])
    return [[*map(squeezed, kind)] for kind in (shown, solutions, checks)]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_code_is_there_and_checks_are_not(chapters, appendices, name):
    shown, _, checks = code_cells(name)
    everything = chapters + appendices
    assert shown and checks
    assert [code for code in shown if code not in everything] == []
    own = [c for c in checks if not any(c in code for code in shown)]
    assert [code for code in own if code in everything] == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_solutions_stand_in_the_appendix_only(chapters, appendices, name):
    _, solutions, _ = code_cells(name)
    assert solutions
    assert [code for code in solutions if code not in appendices] == []
    assert [code for code in solutions if code in chapters] == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_quiz_is_asked_in_its_place_and_answered_in_the_appendix(
    chapters, appendices, site, name
):
    for box in soup_of(site / f"{name}.html").select(".quiz details"):
        assert squeezed(next(box.summary.stripped_strings)) in chapters
        why = box.find("p", recursive=False)
        told = max(why.find_all(string=True, recursive=False), key=len)
        assert squeezed(told) in appendices
        assert len(told) < 25 or squeezed(told) not in chapters


def test_every_figure_is_there_and_whole(paper, site, chapters):
    figures = 0
    for name in PRINTED:
        for figure in soup_of(site / f"{name}.html").find_all("figure"):
            figures += bool(figure.find("img"))
            number = figure.find(class_="caption-number")
            assert squeezed(number.get_text()) in chapters
    large = [box for page in paper.images for box in page]
    assert len(large) == figures > 0
    for left, bottom, right, top in large:
        assert SIDE - 1 <= left < right <= paper.width - SIDE + 1
        assert FOOT - 1 <= bottom < top <= paper.height - 20 * MM


def test_every_letter_has_its_shape(paper):
    if "No font" in paper.complaint:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(paper.complaint)
    assert paper.complaint == ""
    assert CHINESE.search("".join(paper.texts))


def test_no_page_is_empty(paper):
    empty = [
        number + 1
        for number, images in enumerate(paper.images)
        if len(paper.body(number)) < 40 and not images
    ]
    assert empty == []


def test_nothing_reaches_into_the_margins(paper):
    for number, boxes in enumerate(paper.boxes, start=1):
        for left, bottom, right, _ in boxes:
            assert left >= SIDE - 3 and bottom >= 8 * MM, number
            assert right <= paper.width - SIDE + 1, number


def links(book):
    for page in book.pages:
        for note in page.get("/Annots", []):
            if note.Subtype == "/Link":
                yield note


def test_links_lead_somewhere(paper):
    with pikepdf.open(paper.path) as book:
        inside = [note.Dest for note in links(book) if "/Dest" in note]
        outside = [note.A.URI for note in links(book) if "/A" in note]
        assert len(inside) + len(outside) == len([*links(book)])
        names = set(book.Root.Dests.keys())
    assert len(inside) > 10 * len(NOTEBOOKS)
    assert [name for name in inside if str(name) not in names] == []
    assert [
        u for u in outside if not re.match("(https?|mailto):", str(u))
    ] == []


def test_links_between_chapters_stay(paper, site):
    with pikepdf.open(paper.path) as book:
        names = {str(note.Dest) for note in links(book) if "/Dest" in note}
    for name in NOTEBOOKS:
        assert f"/{name.split('/')[1]}" in names


def test_the_file_says_what_it_is(paper):
    with pikepdf.open(paper.path) as book:
        information = {key: str(book.docinfo[key]) for key in book.docinfo}
        assert information.pop("/Subject").startswith("Edition ")
        assert information == {
            "/Title": CONFIG["title"],
            "/Author": CONFIG["author"],
        }
        assert book.Root.Lang == "en-GB"
        assert book.Root.MarkInfo.Marked
