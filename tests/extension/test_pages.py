"""The pages that are made, in a small book and one by one."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from pybtex.database import parse_string

from book._ext.book_site.pages import citing, glossary
from tests.built import ROOT, soup_of

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
    code += "from book._ext.book_site import modules_with\n"
    code += "assert len([*modules_with('setup')]) > 15"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_the_citation_says_what_the_file_says():
    assert citing.cited(DATA, "text", "") == (
        "Ada, B. and The Others: A Book on Things. Edition 1.2, 2026-01-02."
    )
    elsewhere = "https://b.example"
    assert citing.cited(DATA | {"url": elsewhere}, "apa", URL) == (
        "Ada, B., & The Others (2026). A Book on Things (Version 1.2) "
        f"[Computer software]. {elsewhere}"
    )
    assert "url" not in citing.cited(DATA, "bibtex", "")
    entry = citing.cited(DATA, "bibtex", URL)
    (found,) = parse_string(entry, "bibtex").entries.values()
    assert found.key == "abot2026" and found.fields["year"] == "2026"
    assert found.fields["url"] == URL
    assert found.fields["title"] == "{A Book on Things}"
    people = [str(person) for person in found.persons["author"]]
    assert people == ["Ada, B.", "{The Others}"]


def test_the_citation_file_has_the_version_of_the_project():
    version = yaml.safe_load((ROOT / citing.FILE).read_text())["version"]
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


def test_a_term_leads_to_the_glossary_once_a_page_and_back(main):
    for name in ("01_one", "02_two"):
        (term,) = main(name).select("a.term")
        assert term["href"] == "glossary.html#term-key"
        assert term["title"] == "What something is found by."
        assert term.strong.get_text() == "key"
    (use,) = main("glossary").select("a.first-use")
    assert use.get_text() == "Chapter 1"
    assert use["href"] == "01_one.html#one"


def test_the_title_page_has_minutes_and_an_explorer(small, main):
    shown = [item.get_text() for item in main("index").select("ol > li")]
    assert shown == ["One. Why? 35\u00a0min", "Two. How?"]
    (element,) = main("index").find_all("date-explorer")
    assert element["data-compact"] == "true" and element.table
    page = small / "book" / "index.html"
    loaded = [tag.get("src", "") for tag in soup_of(page).head("script")]
    paths = [Path(s.partition("?")[0]) for s in loaded if "explorers/" in s]
    assert [p.stem for p in paths] == element["data-scripts"].split()
    assert all((page.parent / path).is_file() for path in paths)


def test_a_work_says_where_it_is_and_who_cites_it(main):
    work = main("bibliography").find(id="vaswani2017")
    links = {a.get_text(): a["href"] for a in work.find_all("a")}
    assert links["arXiv:1706.03762"] == "https://arxiv.org/abs/1706.03762"
    assert work.get_text().strip().endswith("Cited in chapter 1.")
    assert links["1"] == "01_one.html"
    box = main("cite").select_one(".citation-box pre").get_text()
    assert box.startswith("@misc{tet")
    assert "https://github.com/someone/book" in box


def test_a_report_says_what_has_changed_since(main):
    new, old = main("tested").select("section section")
    assert new.h2.get_text().startswith("NVIDIA H200 (fake)")
    assert old.h2.get_text().startswith("Old")
    rows = [
        [cell.get_text(strip=True) for cell in row.find_all("td")]
        for row in new.find_all("tr")
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
