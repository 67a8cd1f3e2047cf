"""The pages after the chapters, as they lie there: complete and in step."""

import re
from functools import cache

import nbformat
import pytest
import yaml

from book._ext.book_site.pages import glossary
from tools.chapters.prose import CHAPTER, numbers_of_code
from tools.source.cells import MINUTES, before_exercises
from tools.source.taught import ROOT, lessons, toc_files

BOOK = ROOT / "book"
BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
# Bold, but no term: what begins a paragraph or a point of a list and ends in
# a mark, and what is said loudly.
SENTENCE = re.compile(r".*[.?,:]$|.* .* .* .* .*", re.DOTALL)
# Bold, but no term: words that stand out for a reason of their page.
NO_TERMS = """\
plain words, stressed: ratio | left | set | plan | batch
names on one page only: Road one | Road two
the convention, said loudly: True means: may attend | True hides
claims, said loudly: Depth saves width | It looks and does not need
questions of a list: What fills the gaps | PyTorch and this book
its answers: $-\\infty$ | $-10^9$ | `nn.MultiheadAttention`
points of a list: Two axes | Three axes | Four axes
other points: Shared keys | The window | A beam search
what the cells of a table warn of: NaN | True
its rows: Without the causal mask | Without the padding mask
more rows: Without positions | Without the scale | Rows without a word
what is silenced: decoder's self-attention | encoder's attention
also silenced: decoder's feed-forward network"""
NO_TERMS = {
    term
    for line in NO_TERMS.splitlines()
    for term in line.split(": ", 1)[1].split(" | ")
}


@cache
def markdown(path) -> str:
    """The words of a chapter, without formulas, code and summaries."""
    notebook = nbformat.read(path, as_version=4)
    text = "\n\n".join(
        cell.source for cell in notebook.cells if cell.cell_type == "markdown"
    )
    text = re.sub(r"```.*?```|<!--.*?-->", "", text, flags=re.DOTALL)
    return re.sub(r"^>.*$", "", text, flags=re.MULTILINE)


def bold(path) -> set[str]:
    """What a chapter sets in bold."""
    return {" ".join(text.split()) for text in BOLD.findall(markdown(path))}


GLOSSARY = (BOOK / "glossary.md").read_text(encoding="utf-8")
TERMS = re.findall(r"^(\S.*)\n: ((?:.+\n)+)", GLOSSARY, re.MULTILINE)
ENTRIES = {name: text for t, text in TERMS for name in glossary.names(t)}


@pytest.mark.parametrize("path", lessons(), ids=lambda path: path.stem)
def test_every_term_of_a_chapter_is_in_the_glossary(path):
    missing = [
        text
        for text in bold(path) - NO_TERMS
        if not glossary.find(text, ENTRIES) and not SENTENCE.fullmatch(text)
    ]
    assert missing == [], "book/glossary.md, or NO_TERMS above"


def test_every_term_of_the_glossary_is_in_a_chapter():
    said = {text for path in lessons() for text in bold(path)}
    known = {glossary.find(text, ENTRIES) for text in said}
    unused = [t for t, _ in TERMS if not known & set(glossary.names(t))]
    assert unused == []


def test_the_glossary_is_in_order_and_short():
    terms = [term for term, _ in TERMS]
    assert terms == sorted(terms, key=lambda t: t.lower().replace("'", ""))
    for letter, block in re.findall(
        r"^## (.)\n(.*?)(?=^## |\Z)", GLOSSARY, re.MULTILINE | re.DOTALL
    ):
        inside = re.findall(r"^(\S.*)\n: ", block, re.MULTILINE)
        assert inside and all(t[0].upper() == letter for t in inside)
    for name, words in ENTRIES.items():
        assert 3 <= len(words.split()) <= 50, name


def questions() -> list[tuple[str, str]]:
    text = (BOOK / "questions.md").read_text(encoding="utf-8")
    return [
        tuple(part.split("\n", 1))
        for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]
    ]


@pytest.mark.parametrize("question, answer", questions())
def test_an_answer_is_short_and_has_a_number_of_its_chapter(question, answer):
    text = re.sub(r"<!--.*?-->|^## .*$", "", answer, flags=re.MULTILINE)
    text, links = text.split("{.answer-links}\n")
    assert question.endswith("?")
    assert 60 <= len(text.split()) <= 150
    linked = CHAPTER.findall(links)
    assert linked and len(linked) == links.count("ipynb#")
    known = set()
    for name in linked:
        cells = nbformat.read(BOOK / f"{name}.ipynb", as_version=4).cells
        known |= {str(n) for n in numbers_of_code(before_exercises(cells))}
    said = re.findall(r"\d[\d,]*(?:\.\d+)?", text)
    quoted = {n.replace(",", "") for n in said} & known
    assert any(len(n) > 1 for n in quoted), (said, question)


def test_the_title_page_leads_to_every_page_of_the_back_matter():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    pages = [ROOT / f"{file}.md" for file in toc_files(toc)]
    text = (BOOK / "index.md").read_text(encoding="utf-8")
    for page in pages:
        is_top = page.parent == BOOK and not page.stem.startswith("library_")
        if page.exists() and is_top and page.stem != "index":
            assert f"]({page.name})" in text


def test_the_title_page_says_how_long_it_takes():
    reading, exercises = [], []
    for path in lessons():
        text = "\n".join(c.source for c in nbformat.read(path, 4).cells)
        if minutes := MINUTES.search(text):
            reading.append(int(minutes["reading"]))
            exercises.append(int(minutes["exercises"]))
    parts = sum(reading[:11]), sum(reading), sum(exercises)
    said = "about {} hours .*trained model, and {} for all. .* {} hours more"
    text = (BOOK / "index.md").read_text(encoding="utf-8")
    assert re.search(said.format(*(round(n / 60) for n in parts)), text)


NO_ADDRESS = ["firth1957"]  # a chapter of a book of 1957, on paper only


def test_a_work_of_the_bibliography_has_an_address():
    text = (BOOK / "references.bib").read_text(encoding="utf-8")
    _, *works = re.split(r"^@\w+\{", text, flags=re.MULTILINE)
    has_address = re.compile("doi *=|url *=|arXiv:|https://").search
    without = [work for work in works if not has_address(work)]
    assert [work.partition(",")[0] for work in without] == NO_ADDRESS
