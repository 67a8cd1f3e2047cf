"""The book as a PDF, made once and read by PDFium, a browser's own reader."""

import os
import re
import subprocess
import sys
from itertools import pairwise

import pikepdf
import pypdfium2
import pytest
from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE

from tests.built import CHAPTERS, CONFIG, PRINTED, ROOT, soup_of
from tools.editions.pdf import source

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

    def __init__(self, path, complaint):
        self.path, self.complaint = path, complaint
        book = pypdfium2.PdfDocument(path)
        self.width, self.height = book[0].get_size()
        self.marks = [
            (mark.level, mark.get_title(), mark.get_dest().get_index())
            for mark in book.get_toc()
        ]
        heads = {name for level, name, _ in self.marks if level < 2}
        self.raw, self.bodies, self.boxes, self.images = "", [], [], []
        for number, page in enumerate(book, start=1):
            words = page.get_textpage()
            text = words.get_text_range()
            self.raw += text
            lines = text.split("\r\n")
            while lines and lines[0] in {*heads, str(number)}:
                lines.pop(0)  # the head of the page and its number
            self.bodies.append(squeezed("".join(lines)))
            rects = range(words.count_rects())
            self.boxes.append([*map(words.get_rect, rects)])
            images = page.get_objects(filter=[FPDF_PAGEOBJ_IMAGE])
            self.images.append([image.get_bounds() for image in images])

    def page_of(self, title):
        """The index of the page of a bookmark."""
        return next(page for _, name, page in self.marks if name == title)

    def between(self, first, last=None):
        """The text of these pages as one string."""
        return "".join(self.bodies[first:last])


@pytest.fixture(scope="module")
def paper(chromium, site, tmp_path_factory):
    """The whole book, printed by the command of `make pdf`."""
    path = tmp_path_factory.mktemp("pdf") / "book.pdf"
    command = [sys.executable, "-m", "tools.editions.pdf", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return Paper(path, done.stderr)


@pytest.fixture(scope="module")
def chapters(paper):
    """The text of the book before the appendices."""
    return paper.between(0, paper.page_of(APPENDIX))


@pytest.fixture(scope="module")
def appendices(paper):
    return paper.between(paper.page_of(APPENDIX))


def test_chapters_and_sections_are_bookmarks(paper, site):
    """The contents name the pages of the parts; these hold chapters."""
    levels, names, pages = zip(*paper.marks, strict=True)
    assert levels[0] == 0 and max(levels) >= 2
    assert all(deep - level <= 1 for level, deep in pairwise(levels))
    assert [*pages] == sorted(pages)
    marks = {*map(squeezed, names)}
    for name in PRINTED:
        found = soup_of(site / f"{name}.html").main.find_all(["h1", "h2"])
        titles = [squeezed(tag.get_text().removesuffix("#")) for tag in found]
        missing = [title for title in titles if title not in marks]
        assert missing == titles[:1] * (name == PRINTED[0])
    contents = paper.between(1, paper.page_of("About this book"))
    for level, title, page in paper.marks:
        if level == 0 and title != "Contents":
            assert squeezed(f"{title}{page + 1}") in contents


CHECKED = ".tag_check, .tag_solution, .tag_exercise-check"


@pytest.mark.parametrize("name", CHAPTERS)
def test_checks_are_left_out_and_solutions_stand_in_the_appendix(
    chapters, appendices, site, name
):
    page = soup_of(site / f"{name}.html").main

    def texts(selector):
        return [squeezed(box.get_text()) for box in page.select(selector)]

    everything = chapters + appendices
    shown = texts(f"pre:not(:is({CHECKED}, .cell_output) pre)")
    calls = texts(".tag_exercise-check summary p")
    assert [code for code in shown + calls if code not in everything] == []
    solutions = texts(".tag_solution .cell_input pre")
    assert [code for code in solutions if code not in appendices] == []
    assert [code for code in solutions if code in chapters] == []
    checks = texts(".tag_check .cell_input pre")
    own = [c for c in checks if not any(c in code for code in shown)]
    assert [code for code in own if code in everything] == []
    assert shown and calls and solutions and own


@pytest.mark.parametrize("name", CHAPTERS)
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
    assert CHINESE.search(paper.raw)


def test_no_page_is_empty_and_nothing_reaches_into_its_margins(paper):
    for number, boxes in enumerate(paper.boxes):
        images = paper.images[number]
        assert images or len(paper.bodies[number]) >= 40, number + 1
        for left, bottom, right, _ in boxes:
            assert left >= SIDE - 3 and bottom >= 8 * MM, number + 1
            assert right <= paper.width - SIDE + 1, number + 1


def test_links_lead_somewhere_and_the_file_says_what_it_is(paper):
    with pikepdf.open(paper.path) as book:
        notes = [n for p in book.pages for n in p.get("/Annots", [])]
        notes = [note for note in notes if note.Subtype == "/Link"]
        inside = {str(note.Dest) for note in notes if "/Dest" in note}
        outside = [str(note.A.URI) for note in notes if "/Dest" not in note]
        assert inside <= {str(name) for name in book.Root.Dests.keys()}
        information = {key: str(book.docinfo[key]) for key in book.docinfo}
        assert book.Root.Lang == "en-GB"
        assert book.Root.MarkInfo.Marked
    assert {f"/{name.split('/')[1]}" for name in CHAPTERS} <= inside
    assert [u for u in outside if not re.match("(https?|mailto):", u)] == []
    assert information.pop("/Subject").startswith("Edition ")
    assert information == {
        "/Title": CONFIG["title"],
        "/Author": CONFIG["author"],
    }


def test_files_of_the_repository_are_linked_once_it_has_an_address(tmp_path):
    for name in ("_toc.yml", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    for address, prefix in (
        ("OWNER/REPO", ""),
        ("a/b.git", "https://github.com/a/b/blob/v1/book/"),
    ):
        (tmp_path / "_config.yml").write_text(
            "title: T\nauthor: A\nrepository:\n  branch: v1\n"
            f"  url: https://github.com/{address}\n"
        )
        assert source.book(tmp_path)["source"] == prefix
