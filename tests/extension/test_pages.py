"""The pages that are made, in a small book and one by one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pybtex.database import parse_string

from book._ext.book_site.pages import citing, glossary, gpu_reports
from tests.extension.conftest import ROOT, soup_of

DATA = {
    "title": "A Book on Things",
    "version": "1.2",
    "date-released": "2026-01-02",
    "authors": [
        {"family-names": "Ada", "given-names": "B."},
        {"name": "The Others"},
    ],
}
URL = "https://a.example/book"


def test_the_extension_needs_nothing_of_the_chapters():
    """The pages are built where there is no PyTorch."""
    missing = ["torch", "jaxtyping", "einops", "matplotlib", "lib", "kit"]
    code = f"import sys; sys.modules |= dict.fromkeys({missing})\n"
    code += "import book._ext.book_site"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_what_the_extension_reads_the_book_with_knows_nothing_of_it():
    """So the tools that read chapters stand below it, and it has no copy."""
    code = "import sys\nfrom tools.source import answers, cells, colab, taught"
    code += "\nassert not any('book_site' in name for name in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_the_citation_says_what_the_file_says():
    names = "Ada, B. and The Others"
    assert citing.as_text(DATA, "") == (
        f"{names}: A Book on Things. Edition 1.2, 2026-01-02."
    )
    assert citing.as_apa(DATA, URL) == (
        "Ada, B., & The Others (2026). A Book on Things (Version 1.2) "
        f"[Computer software]. {URL}"
    )
    entry = parse_string(citing.as_bibtex(DATA, URL), "bibtex").entries
    (found,) = entry.values()
    assert found.key == "abot2026" and found.fields["year"] == "2026"
    assert found.fields["url"] == URL
    assert found.fields["title"] == "{A Book on Things}"
    people = [str(person) for person in found.persons["author"]]
    assert people == ["Ada, B.", "{The Others}"]


def test_the_address_is_that_of_the_file_or_of_the_configuration():
    assert citing.address(DATA, "") == ""
    assert citing.address(DATA, URL) == URL
    elsewhere = "https://b.example"
    assert citing.address(DATA | {"url": elsewhere}, URL) == elsewhere


def test_the_citation_file_has_the_version_of_the_project():
    version = citing.read(ROOT)["version"]
    assert f'version = "{version}"' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    "text, name",
    [
        ("Keys", "key"),
        ("probabilities", "probability"),
        ("Averaging of\nweights.", "averaging of weights"),
        ("loss", "loss"),
        ("keyboard", None),
    ],
)
def test_a_bold_text_is_found_among_the_terms(text, name):
    known = {"key", "probability", "averaging of weights", "loss"}
    assert glossary.find(text, known) == name


def test_reports_are_read_the_newest_first(tmp_path):
    assert gpu_reports.read(tmp_path) == []
    (tmp_path / "reports").mkdir()
    for day in ("2026-01-02", "2026-03-04"):
        text = json.dumps({"date": day})
        (tmp_path / "reports" / f"{day}.json").write_text(text)
    dates = [report["date"] for report in gpu_reports.read(tmp_path)]
    assert dates == ["2026-03-04", "2026-01-02"]


@pytest.fixture
def main(small):
    """`main(name)` is the text of a page of the small book."""
    site = small / "_build" / "html" / "book"
    return lambda name: soup_of(site / f"{name}.html").main


def test_a_term_leads_to_the_glossary_once_a_page_and_back(main):
    for name in ("01_one", "02_two"):
        (term,) = main(name).select("a.term")
        assert term["href"] == "glossary.html#term-key"
        assert term["title"] == "What something is found by."
        assert term.strong.get_text() == "key"
    (use,) = main("glossary").select("a.first-use")
    assert use.get_text() == "Chapter 1"
    assert use["href"] == "01_one.html#one"


def test_the_title_page_says_how_long_a_chapter_takes(main):
    shown = [item.get_text() for item in main("index").select("ol > li")]
    assert shown == ["One. Why? 35\u00a0min", "Two. How?"]


def test_a_page_of_text_has_an_explorer_where_it_says_so(small, main):
    (element,) = main("index").find_all("date-explorer")
    assert element["data-compact"] == "true" and element.table
    needed = element["data-scripts"].split()
    page = small / "_build" / "html" / "book" / "index.html"
    loaded = [tag.get("src", "") for tag in soup_of(page).head("script")]
    loaded = [src for src in loaded if "explorers/" in src]
    assert [Path(s.partition("?")[0]).stem for s in loaded] == needed
    for src in loaded:
        assert (page.parent / src.partition("?")[0]).is_file()


def test_a_work_says_where_it_is_and_who_cites_it(main):
    work = main("bibliography").find(id="vaswani2017")
    links = {a.get_text(): a["href"] for a in work.find_all("a")}
    assert links["arXiv:1706.03762"] == "https://arxiv.org/abs/1706.03762"
    assert work.get_text().strip().endswith("Cited in chapter 1.")
    assert links["1"] == "01_one.html"


def test_the_citation_is_a_box(main):
    box = main("cite").select_one(".citation-box pre")
    assert box.get_text().startswith("@misc{tet")
    assert "https://github.com/someone/book" in box.get_text()


def test_a_report_says_what_has_changed_since(main):
    page = main("tested")
    assert page.h2.get_text().startswith("NVIDIA H200 (fake)")
    rows = [
        [cell.get_text(strip=True) for cell in row.find_all("td")]
        for row in page.find_all("tr")
    ]
    for row in (
        ["PyTorch", "2.13.0+cu130"],
        ["Commit", "0123456789ab"],
        ["Unit tests that passed", "640 of 640"],
        ["1. One", "7 of 8", "unchanged"],
        ["2. Two", "7 of 8", "changed"],
        ["3. Three", "–", "not there yet"],
    ):
        assert row in rows
