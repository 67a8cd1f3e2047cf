"""The pages after the chapters, as they lie there: complete and in step."""

import re
from functools import cache

import nbformat
import pytest
import yaml

from book._ext.book_site.pages import glossary
from tools.chapters.prose import CHAPTER, numbers_of_code
from tools.source.cells import before_exercises
from tools.source.taught import ROOT, chapters, toc_files

BOOK = ROOT / "book"
BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
# Bold, but no term: what begins a paragraph or a point of a list and ends in
# a mark, and what is said loudly.
SENTENCE = re.compile(r".*[.?,:]$|.* .* .* .* .*", re.DOTALL)
# Bold, but no term: words that stand out for a reason of their page.
NO_TERMS = {
    "What fills the gaps": "the fourth of four questions",
    "ratio": "a plain word, stressed",
    "Road one": "a name on this page only",
    "Road two": "a name on this page only",
    "True means: may attend": "the convention, said loudly",
    "left": "a plain word, stressed",
    "$-\\infty$": "one of four answers in a list",
    "$-10^9$": "one of four answers in a list",
    "PyTorch and this book": "one of four answers in a list",
    "`nn.MultiheadAttention`": "one of four answers in a list",
    "NaN": "what a cell of a table warns of",
    "True": "what a cell of a table warns of",
    "True hides": "the opposite convention, said loudly",
    "Two axes": "one of three points in a list",
    "Three axes": "one of three points in a list",
    "Four axes": "one of three points in a list",
    "set": "a plain word, stressed",
    "Depth saves width": "a claim, said loudly",
    "It looks and does not need": "a claim, said loudly",
    "decoder's self-attention": "a part that is silenced",
    "encoder's attention": "a part that is silenced",
    "decoder's feed-forward network": "a part that is silenced",
    "Without the causal mask": "a row of a table",
    "Without the padding mask": "a row of a table",
    "Without positions": "a row of a table",
    "Without the scale": "a row of a table",
    "Rows without a word": "rows of a table",
    "Shared keys": "one of three points in a list",
    "The window": "one of three points in a list",
    "plan": "a plain word, stressed",
    "batch": "a plain word, stressed",
    "A beam search": "a row of a list",
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


def bold(path) -> list[str]:
    """What a chapter sets in bold, once each."""
    found = BOLD.findall(markdown(path))
    return [*dict.fromkeys(" ".join(text.split()) for text in found)]


GLOSSARY = (BOOK / "glossary.md").read_text(encoding="utf-8")
TERMS = re.findall(r"^(\S.*)\n: ((?:.+\n)+)", GLOSSARY, re.MULTILINE)
ENTRIES = {name: text for t, text in TERMS for name in glossary.names(t)}


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_every_term_of_a_chapter_is_in_the_glossary(path):
    missing = [
        text
        for text in bold(path)
        if not glossary.find(text, ENTRIES)
        and not SENTENCE.fullmatch(text)
        and text not in NO_TERMS
    ]
    assert missing == [], "book/glossary.md, or NO_TERMS above"


def test_every_term_of_the_glossary_and_every_exception_is_in_a_chapter():
    said = {text for path in chapters() for text in bold(path)}
    known = {glossary.find(text, ENTRIES) for text in said}
    unused = [t for t, _ in TERMS if not known & set(glossary.names(t))]
    assert unused == []
    assert NO_TERMS.keys() - said == set()


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


BIB = (BOOK / "references.bib").read_text(encoding="utf-8")
WORK = re.compile(r"^@\w+\{([^,\s]+),\n(.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*)\},?$", re.MULTILINE)
WORKS = {key: dict(FIELD.findall(body)) for key, body in WORK.findall(BIB)}
NO_ADDRESS = {"firth1957": "a chapter of a book of 1957, on paper only"}


def test_every_work_is_cited_and_every_citation_is_a_work():
    texts = [markdown(path) for path in chapters()]
    texts += [p.read_text(encoding="utf-8") for p in BOOK.glob("*.md")]
    cited = re.findall(r"bibliography\.md#([\w-]+)", "\n".join(texts))
    assert len(WORKS) == len(re.findall("^@", BIB, re.MULTILINE))
    assert WORKS.keys() == set(cited)


@pytest.mark.parametrize("key", WORKS)
def test_an_entry_is_complete(key):
    work = WORKS[key]
    assert {"author", "title", "year"} <= set(work)
    assert work["year"] in key
    note = work.get("note", "") + work.get("journal", "")
    is_preprint = "arXiv:" in note
    venue = {"booktitle", "journal", "institution", "publisher"} & set(work)
    assert venue or is_preprint or "https://" in note
    has_address = is_preprint or {"doi", "url"} & set(work)
    assert has_address or "https://" in note or key in NO_ADDRESS
