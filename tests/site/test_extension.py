"""What the extension makes of the library, of citations and of reports."""

import importlib
import inspect
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import citing
import docstrings
import glossary
import gpu_reports
import library_pages
import nbformat
import outline
import pytest
import reading_time
import yaml
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from pybtex.database import parse_string

from tests.site import index_file
from tests.site.conftest import ROOT, build
from tests.site.test_html import soup_of
from tools import cells, taught
from tools.gpu_report import source_hash

GOOGLE = """\
What it does,
in two lines.

More of it, see `other`.

    call(it)  # an example

Args:
    x: the first,
        on two lines.
    y, z: the others.
    **more: options.

Returns:
    Something of
    some shape.

Raises:
    ValueError: it is wrong.
"""


def test_the_extension_needs_nothing_of_the_chapters():
    """The pages are built where there is no PyTorch."""
    code = "import sys; sys.modules |= dict.fromkeys({}); import book_site"
    missing = ["torch", "jaxtyping", "einops", "matplotlib", "lib", "tools"]
    subprocess.run(
        [sys.executable, "-c", code.format(missing)],
        env={"PYTHONPATH": str(ROOT / "book" / "_ext"), "PATH": ""},
        check=True,
    )


def test_a_docstring_is_taken_apart():
    found = docstrings.parse(GOOGLE)
    assert found.summary == "What it does, in two lines."
    assert found.text == [
        "More of it, see `other`.",
        ("call(it)  # an example",),
    ]
    assert found.sections == {
        "Args": [
            ("x", "the first, on two lines."),
            ("y, z", "the others."),
            ("**more", "options."),
        ],
        "Returns": "Something of some shape.",
        "Raises": [("ValueError", "it is wrong.")],
    }


def test_an_entry_without_a_name_is_an_error():
    with pytest.raises(ValueError, match="no name: 'nothing'"):
        docstrings.parse("Do it.\n\nArgs:\n    nothing\n")


SOURCE = '''\
from x import y
SIZES = {"a": 1}
left, right = 1, 2
_hidden = 3


def f(q: Float[
    Tensor, "a b",
], *rest: int, n: int = 5_000, **more) -> str:
    """Do it."""


class Plain(nn.Module):
    def __init__(self, width, heads=4) -> None:
        self.width = width

    def __call__(self, x):
        """Call it."""

    def say_nothing(self):
        pass

    @property
    def best(self) -> int:
        """The best."""

    def _inside(self):
        """Not public."""


@dataclass
class Fields:
    a: int
    names_of_everything: dict[str, str] = field(default_factory=dict, hash=1)
'''


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "made.py"
    path.write_text(SOURCE)
    return docstrings.modules(tmp_path)["made"]


def test_signatures_stand_as_in_the_source(module):
    found = {d.name: d for d in module.definitions}
    assert [*found] == ["SIZES", "f", "Plain", "Fields"]
    assert found["SIZES"].signature == 'SIZES = {"a": 1}'
    assert found["f"].signature == (
        'f(\n    q: Float[Tensor, "a b"],\n    *rest: int,\n'
        "    n: int = 5_000,\n    **more,\n) -> str"
    )
    assert found["f"].parameter_names == ["q", "rest", "n", "more"]
    assert found["Plain"].signature == "Plain(width, heads=4)"
    methods = [m.signature for m in found["Plain"].methods]
    assert methods == ["__call__(x)", "best -> int"]
    assert found["Fields"].signature.splitlines()[1] == "    a: int,"
    assert found["Fields"].code.startswith("@dataclass\nclass Fields:")
    assert found["SIZES"].docstring == docstrings.Docstring("")


@pytest.fixture(scope="module")
def library():
    return library_pages.Library(ROOT)


@pytest.mark.slow
def test_every_public_name_is_described_as_python_sees_it(library):
    for name, module in library.modules.items():
        real = importlib.import_module(f"lib.{name}")
        for definition in module.definitions:
            found = getattr(real, definition.name)
            if not inspect.isfunction(found):
                continue
            parameters = [*inspect.signature(found).parameters]
            shown = definition.signature
            places = [
                re.search(rf"\b{p}\b(?=[:,=)])", shown).start()
                for p in parameters
            ]
            assert places == sorted(places)
            documented = definition.docstring.sections.get("Args", [])
            names = [n for key, _ in documented for n in key.split(", ")]
            assert set(n.lstrip("*") for n in names) <= set(parameters)


def test_each_taught_module_is_on_the_page_of_its_part(library):
    pages = {p: library.of(p) for p in ("1", "2", "3", "4", "5", "helpers")}
    names = [m.name for modules in pages.values() for m in modules]
    assert sorted(names) == sorted(library.modules)
    assert {m.name for m in pages["2"]} >= {"attention", "heads", "masks"}
    for name, chapter in library.homes.items():
        assert taught.homes(ROOT)[name].stem == Path(chapter.document).name


def test_names_in_docstrings_are_found_or_refused(library):
    heads = ("book/library_2", "heads-split_heads")
    for name in ("split_heads", "heads.split_heads", "lib.heads.split_heads"):
        assert library.place(name, "masks") == heads
    assert library.place("split_heads()", "masks") == heads
    assert library.place("lib.heads", "masks") == ("book/library_2", "heads")
    assert library.place("kit.figures", "masks") is None
    assert library.place("torch.softmax", "masks") is None
    with pytest.raises(LookupError):
        library.place("lib.heads.nothing", "masks")


def test_a_name_that_is_not_there_is_a_warning(library, caplog):
    speaker = library_pages.Speaker("masks", frozenset({"ids"}))
    made = library_pages.inline(library, "`ids`, `lib.masks.no`", speaker)
    assert [n.astext() for n in made if n.astext()] == [
        "ids",
        ", ",
        "lib.masks.no",
    ]
    (record,) = caplog.records  # and a warning fails the build
    assert "lib.masks.no" in record.getMessage()


def test_chapters_and_works_in_docstrings_are_links(library):
    text = "Chapter 5, chapter 99; Vaswani et al. 2017, Nobody 2017."
    made = library_pages.inline(library, text, library_pages.Speaker("heads"))
    linked = {
        n.astext(): n["to"]
        for n in made
        if "to" in getattr(n, "attributes", {})
    }
    assert linked == {
        "Chapter 5": ("book/05_heads", ""),
        "Vaswani et al. 2017": ("book/bibliography", "vaswani2017"),
    }


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
    assert citing.address(DATA | {"url": "https://b.example"}, URL) == (
        "https://b.example"
    )


def test_the_citation_file_has_the_version_of_the_project():
    version = citing.read(ROOT)["version"]
    assert f'version = "{version}"' in (ROOT / "pyproject.toml").read_text()


def test_minutes_stand_behind_the_chapters_of_the_map():
    text = (
        "1. [A](01_a.ipynb). Why?\n2. [B](02_b.ipynb). How?\n[A](01_a.ipynb)."
    )
    assert reading_time.with_minutes(text, {"01_a": 35, "02_b": None}) == (
        "1. [A](01_a.ipynb). Why? [35\u00a0min]{.soon}\n"
        "2. [B](02_b.ipynb). How?\n"
        "[A](01_a.ipynb)."
    )


def test_the_outline_agrees_with_the_tools():
    found = outline.chapters(ROOT)
    assert [ROOT / f"{c.document}.ipynb" for c in found] == taught.chapters()
    for chapter in found:
        path = ROOT / f"{chapter.document}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        assert chapter.minutes == cells.effort(notebook.cells).reading
        assert chapter.title in notebook.cells[0].source


@pytest.mark.parametrize(
    "text, name",
    [
        ("Keys", "key"),
        ("probabilities", "probability"),
        ("Student's t", "student's t"),
        ("Averaging of\nweights.", "averaging of weights"),
        ("loss", "loss"),
        ("keyboard", None),
    ],
)
def test_a_bold_text_is_found_among_the_terms(text, name):
    known = {
        "key",
        "probability",
        "student's t",
        "averaging of weights",
        "loss",
    }
    assert glossary.find(text, known) == name


def test_an_entry_has_all_its_names():
    assert glossary.names("key/value cache (KV cache)") == [
        "key/value cache",
        "kv cache",
    ]
    assert glossary.anchor("key/value cache (KV cache)") == (
        "term-key-value-cache"
    )


def report(folder, **changes):
    """A report on two chapters, of which one has changed since."""
    hashes = {p.name: source_hash(p) for p in folder.glob("book/*.ipynb")}
    hashes["02_two.ipynb"] = "of older code"
    return {
        "device": "NVIDIA H200 (fake)",
        "python": "3.12.1",
        "torch": "2.13.0+cu130",
        "cuda": "13.0",
        "matplotlib": "3.11.2",
        "figures": "compared",
        "date": "2026-11-20",
        "commit": "0123456789abcdef",
        "notebooks": {
            name: {"code_sha256": digest, "passed": 7, "failed": 1}
            for name, digest in hashes.items()
        },
        "library": {"passed": 640, "failed": 0},
    } | changes


GLOSSARY = """\
# Glossary

## K

key (name)
: What something is found by.

never used
: A term that no chapter has.
"""
PAGES = {
    "index": "# Index\n\n1. [One](01_one.ipynb). Why?\n\n"
    "```{explorer} dates.date_explorer\n:compact:\n```\n",
    "glossary": GLOSSARY,
    "tested": "# Tested\n\n```{gpu-reports}\n```\n",
    "cite": "# Cite\n\n```{citation} bibtex\n```\n",
    "library_1": "# Part I\n\n```{library} 1\n```\n",
    "library_helpers": "# Helpers\n\n```{library} helpers\n```\n",
    "library": "# Library\n\n```{library-map}\n```\n",
    "bibliography": "# Works\n\n```{bibliography}\n:all:\n```\n",
}
PYTHON = {"language_info": {"name": "python"}}
ONE = """\
# 1. One

> **You will** read.
> **Minutes** 35, and about 20 for the exercises.

A **key** finds; [Vaswani](bibliography.md#vaswani2017) says so.
All **keys** do, and **nothing** else."""


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A built book with two chapters and every page that is made."""
    folder = tmp_path_factory.mktemp("small")
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    config["repository"]["url"] = "https://github.com/someone/book"
    del config["sphinx"]["config"]["moved_pages"]
    (folder / "_config.yml").write_text(yaml.safe_dump(config))
    shutil.copy(ROOT / "CITATION.cff", folder)
    names = ["01_one", "02_two", *list(PAGES)[1:]]
    entries = "".join(f"      - file: book/{name}\n" for name in names)
    (folder / "_toc.yml").write_text(
        "format: jb-book\nroot: book/index\nparts:\n"
        f"  - caption: I\n    chapters:\n{entries}"
    )
    book = folder / "book"
    shutil.copytree(ROOT / "book" / "_static", book / "_static")
    for name in ("_ext", "references.bib"):
        (book / name).symlink_to(ROOT / "book" / name)
    shutil.copytree(ROOT / "book" / "lib", book / "lib")
    for name, text in PAGES.items():
        (book / f"{name}.md").write_text(text)
    shown = taught.as_taught(
        (book / "lib" / "softmax.py").read_text(),
        "# lib/softmax.py\ndef softmax(): ...",
    )
    for name, parts in {
        "01_one": [new_markdown_cell(ONE)],
        "02_two": [
            new_markdown_cell("# 2. Two\n\n## How\n\nA **key**."),
            new_code_cell(shown),
        ],
    }.items():
        notebook = new_notebook(cells=parts, metadata=PYTHON)
        nbformat.write(notebook, book / f"{name}.ipynb")
    (folder / "reports").mkdir()
    path = folder / "reports" / "h200.json"
    path.write_text(json.dumps(report(folder)))
    build(folder)
    return folder


def main_of(small, name):
    return soup_of(small / "_build" / "html" / "book" / f"{name}.html").main


def test_a_term_leads_to_the_glossary_once_a_page(small):
    for name in ("01_one", "02_two"):
        (term,) = main_of(small, name).select("a.term")
        assert term["href"] == "glossary.html#term-key"
        assert term["title"] == "What something is found by."
        assert term.strong.get_text() == "key"


def test_the_glossary_leads_to_the_first_use(small):
    (use,) = main_of(small, "glossary").select("a.first-use")
    assert use.get_text() == "Chapter 1"
    assert use["href"] == "01_one.html#one"


def test_the_title_page_says_how_long_a_chapter_takes(small):
    assert "Why? 35\u00a0min" in main_of(small, "index").get_text()


def test_a_page_of_text_has_an_explorer_where_it_says_so(small):
    (element,) = main_of(small, "index").find_all("date-explorer")
    assert element["data-compact"] == "true" and element.table
    loaded = element["data-scripts"].split()
    page = small / "_build" / "html" / "book" / "index.html"
    sources = BeautifulSoup(page.read_text(), "html.parser").head.find_all(
        "script", src=re.compile("explorers/")
    )
    names = [Path(tag["src"].partition("?")[0]).stem for tag in sources]
    assert names == loaded and "date_model" not in loaded
    beside = small / "_build" / "html" / "_static" / "explorers"
    assert (beside / "date_model.js").exists()


def test_the_library_leads_to_the_chapter_that_teaches_it(small):
    page = main_of(small, "library_1")
    section = page.find(id="softmax-softmax")
    assert section.pre.get_text().startswith("softmax(")
    (line,) = section.select(".api-taught")
    assert line.get_text() == "Taught in Chapter 2: How."
    assert line.a["href"] == "02_two.html#how"
    assert "def softmax(" in section.details.pre.get_text()
    assert not section.details.has_attr("open")
    helpers = main_of(small, "library_helpers")
    assert helpers.find(id="lists-ids") and not helpers.select(".api-taught")
    links = {a["href"] for a in main_of(small, "library").select("li a")}
    assert {"library_1.html#softmax", "library_helpers.html#lists"} <= links


def test_a_work_says_where_it_is_and_who_cites_it(small):
    work = main_of(small, "bibliography").find(id="vaswani2017")
    links = {a.get_text(): a["href"] for a in work.find_all("a")}
    assert links["arXiv:1706.03762"] == "https://arxiv.org/abs/1706.03762"
    assert work.get_text().strip().endswith("Cited in chapter 1.")
    assert links["1"] == "01_one.html"


def test_the_citation_is_a_box(small):
    box = main_of(small, "cite").select_one(".citation-box pre")
    assert box.get_text().startswith("@misc{tet")
    assert "https://github.com/someone/book" in box.get_text()


def test_a_report_says_what_has_changed_since(small):
    page = main_of(small, "tested")
    assert page.h2.get_text().startswith("NVIDIA H200 (fake)")
    rows = [
        [cell.get_text(strip=True) for cell in row.find_all("td")]
        for row in page.find_all("tr")
    ]
    assert ["PyTorch", "2.13.0+cu130"] in rows
    assert ["Commit", "0123456789ab"] in rows
    assert ["Unit tests that passed", "640 of 640"] in rows
    assert ["1. One", "7 of 8", "unchanged"] in rows
    assert ["2. Two", "7 of 8", "changed"] in rows


def test_a_chapter_that_a_report_does_not_know_is_new(small):
    chapter = outline.chapters(small)[0]
    old = report(small, notebooks={})
    assert gpu_reports.state(chapter, old, small) == ("–", "not there yet")
    paths = [small / "book" / "01_one.ipynb", *taught.chapters()[:2]]
    for path in paths:
        code = gpu_reports.code_of(path)
        assert gpu_reports.code_hash(code) == source_hash(path)


def test_without_a_report_the_page_says_so(tmp_path):
    assert gpu_reports.read(tmp_path) == []
    (tmp_path / "reports").mkdir()
    for day in ("2026-01-02", "2026-03-04"):
        text = json.dumps({"date": day})
        (tmp_path / "reports" / f"{day}.json").write_text(text)
    dates = [r["date"] for r in gpu_reports.read(tmp_path)]
    assert dates == ["2026-03-04", "2026-01-02"]


def found(small):
    """What the search knows, by page and place."""
    sections = index_file.sections(small / "_build" / "html")
    return {(Path(s.page).stem, s.anchor): s for s in sections}


def test_the_search_knows_a_term_where_it_is_first_used(small):
    sections = found(small)
    assert sections["01_one", ""].terms == ["key", "name"]
    assert sections["01_one", ""].bold == ["keys", "nothing"]
    assert sections["02_two", "how"].bold == ["key", "name"]
    assert sections["02_two", "how"].terms == ["softmax"]
    entry = sections["glossary", "term-key"]
    assert (entry.title, entry.text) == (
        "key (name)",
        "What something is found by.",
    )
    assert index_file.read(small / "_build" / "html")["aliases"]["name"] == (
        "key"
    )


def test_the_search_knows_the_pages_that_are_made(small):
    sections = found(small)
    name = sections["library_1", "softmax-softmax"]
    assert name.title == "softmax" and "def softmax" not in name.text
    work = sections["bibliography", "vaswani2017"]
    assert work.title == "Vaswani 2017"
    assert "Attention is all you need." in work.text
    assert sections["01_one", ""].title == "One"
    assert sections["01_one", ""].text.endswith(
        "A key finds; Vaswani says so. All keys do, and nothing else."
    )


def test_nothing_of_sphinx_s_search_is_shipped(small):
    site = small / "_build" / "html"
    assert not [*site.rglob("searchindex.js"), *site.rglob("searchtools*")]


@pytest.mark.slow
def test_a_rebuild_keeps_all_pages_in_the_search(small):
    before = found(small)
    path = small / "book" / "02_two.ipynb"
    notebook = nbformat.read(path, 4)
    notebook.cells.append(new_markdown_cell("More."))
    nbformat.write(notebook, path)
    build(small)
    after = found(small)
    assert after.keys() == before.keys()
    assert [key for key in after if after[key] != before[key]] == [
        ("02_two", "how")
    ]
