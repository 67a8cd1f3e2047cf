"""The pages that are made, in a small book and one by one."""

import re
import subprocess
import sys

import yaml
from pybtex.database import parse_string

from book._ext.book_site.pages import citing, glossary, made
from book._ext.book_site.source.chapters import chapters
from tests.built import ROOT, soup_of
from tools.gpu import source_hash

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
    code += "assert len([*modules_with('setup')]) > 10"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_the_citation_says_what_the_file_says():
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


def test_the_citation_file_names_the_last_edition():
    said = yaml.safe_load((ROOT / citing.FILE).read_text())
    version, day = said["version"], said["date-released"]
    assert f'version = "{version}"' in (ROOT / "pyproject.toml").read_text()
    changes = (ROOT / "CHANGELOG.md").read_text()
    last = next(re.finditer(r"^## ([\d.]+) \((\d.*)\)", changes, re.M))
    assert (f"{last[1]}.0", last[2]) == (version, str(day))


def test_a_word_that_begins_like_a_term_is_none():
    assert glossary.find("Averaging of\nkeys.", {"averaging of keys"})
    assert glossary.find("keyboard", {"key"}) is None


def test_a_term_leads_to_the_glossary_once_a_page_and_back(site):
    entries = soup_of(site / "book" / "glossary.html").main.select("dt[id]")
    for entry in entries:
        use = entry.find_next_sibling("dd").select_one("a.first-use")
        page, _, section = use["href"].partition("#")
        first = soup_of(site / "book" / page).main
        (link,) = first.select(f"a[href$='glossary.html#{entry['id']}'].term")
        assert link["title"] and link.find_parent(id=section)


def test_a_box_says_how_to_cite(site):
    boxes = soup_of(site / "book" / "cite.html").main.select(".citation-box")
    assert boxes[-1].pre.get_text().startswith("@misc{tet")


def test_a_report_says_what_has_changed_since():
    book = chapters(ROOT)
    hashes = {book[0]: source_hash(book[0].path), book[1]: "older"}
    report = {
        "device": "NVIDIA H200 (fake)",
        "date": "2026-11-20",
        "torch": "2.13.0+cu130",
        "commit": "0123456789abcdef",
        "library": {"passed": 640, "failed": 0},
        "notebooks": {
            chapter.path.name: {"code_sha256": code, "passed": 7, "failed": 1}
            for chapter, code in hashes.items()
        },
    }
    older = {
        "device": "Old",
        "date": "2026-01-02",
        "library": report["library"],
    }
    reports = [older | {"notebooks": {}}, report]
    text = made.text("gpu-reports", reports=reports, chapters=book)
    devices = [line for line in text.splitlines() if line.startswith("## ")]
    assert devices == ["## NVIDIA H200 (fake)", "## Old"]
    for row in (
        "| PyTorch | 2.13.0+cu130 |",
        "| Commit | 0123456789ab |",
        "| Unit tests that passed | 640 of 640 |",
        f"({book[0].path.name}) | 7 of 8 | unchanged |",
        f"({book[1].path.name}) | 7 of 8 | changed |",
        f"({book[2].path.name}) | – | not there yet |",
    ):
        assert row in text, row
