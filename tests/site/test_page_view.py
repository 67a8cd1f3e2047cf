"""The page view of a notebook, and a book whose address is known."""

import shutil

import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_notebook,
    new_output,
)

from book._ext.book_site.pages.mathematics import typeset_node
from book._ext.book_site.source.notebook import (
    adapt_outputs,
    note_on_checks,
    page_cells,
)
from kit.explorers import FOLDER as EXPLORERS
from kit.explorers import Explorer
from tests import sample
from tests.site.conftest import ROOT, build

ANSWER = '''\
def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
'''
CHECK = """\
assert double(2) == 4
### BEGIN HIDDEN TESTS
assert double(3) == 6
### END HIDDEN TESTS
"""
BADGE = (
    "[Open this chapter in Colab]"
    "(https://colab.research.google.com/github/someone/book/blob/main/x.ipynb)"
)


def test_colab_cell_is_left_out():
    cell = new_code_cell("import os", metadata={"tags": ["colab"]})
    assert page_cells(cell) == []


def test_title_loses_number_and_badge():
    cell = new_markdown_cell(f"# 7. A title\n\n{BADGE}\n\n1. A list")
    assert page_cells(cell)[0].source == "# A title\n\n1. A list"


def test_checks_and_imports_are_folded_to_one_line():
    check = new_code_cell("# @title Check: a set {1} is <small>\nassert {1}")
    (check,) = page_cells(check)
    assert check.source == "assert {1}"
    assert check.metadata["tags"] == ["hide-input", "check"]
    line = check.metadata["mystnb"]["code_prompt_show"]
    assert line == "✓ a set {1} is <small>"
    (imports,) = page_cells(new_code_cell("# @title Imports\nimport math"))
    assert imports.source == "import math"
    assert imports.metadata["mystnb"]["code_prompt_show"] == "Imports"


def test_a_page_says_how_many_checks_it_holds():
    imports = new_code_cell("# @title Imports\nimport math")
    check = new_code_cell("# @title Check: one is one\nassert 1 == 1")
    (one,) = note_on_checks([imports, check])
    assert "1 check is folded" in one.source
    (two,) = note_on_checks([check, imports, check])
    assert "2 checks are folded" in two.source
    assert note_on_checks([imports]) == []


def test_answer_becomes_stub_and_folded_solution():
    cell = new_code_cell(ANSWER, metadata={"nbgrader": {"solution": True}})
    stub, solution = page_cells(cell)
    assert "return 2 * x" not in stub.source
    assert "\n    raise NotImplementedError\n```" in stub.source
    assert solution.source == (
        'def double(x):\n    """Twice x."""\n    return 2 * x'
    )
    assert {"hide-input", "solution"} <= set(solution.metadata["tags"])


def test_the_page_does_not_say_what_variants_change():
    _, answer, _ = sample.exercise()
    for cell in page_cells(answer):
        assert "width, length = 3, 7\n\n\ndef" in cell.source


def test_the_check_of_an_exercise_is_folded_to_its_call():
    *_, check = sample.exercise()
    (shown,) = page_cells(check)
    call = 'check("4.1", window_mask)'
    assert shown.source == sample.CHECK
    assert shown.metadata["tags"] == ["hide-input", "exercise-check"]
    assert shown.metadata["mystnb"]["code_prompt_show"] == call
    assert [output.text for output in shown.outputs] == [sample.RIGHT]


def test_the_questions_of_a_quiz_are_boxes():
    (quiz,) = page_cells(sample.quiz())
    assert quiz.source.count('<div class="question">') == 5
    assert sample.quiz().source.startswith("### Quiz")


def test_hidden_tests_stay_hidden():
    cell = new_code_cell(CHECK, metadata={"nbgrader": {"grade": True}})
    assert page_cells(cell)[0].source == "assert double(2) == 4"


def test_other_cells_stay_as_they_are():
    cell = new_code_cell("1 + 1")
    assert page_cells(cell) == [new_code_cell("1 + 1", id=cell.id)]


@pytest.mark.parametrize(
    "link, shown",
    [
        ('<a href="05_heads.ipynb">', '<a href="05_heads.html">'),
        ('<a href="https://b.example/05_heads.ipynb">', None),
        ("text: 05_heads.ipynb", None),
    ],
)
def test_links_of_a_drawing_lead_to_pages(link, shown):
    data = {"text/html": f"<p>{link * 2}</p>", "text/plain": link}
    cell = new_code_cell("drawing", outputs=[new_output("display_data", data)])
    adapt_outputs(cell)
    (output,) = cell.outputs
    assert output.data["text/html"] == f"<p>{(shown or link) * 2}</p>"
    assert output.data["text/plain"] == link


def explorer():
    """A cell that has just been run in Jupyter."""
    made = Explorer("mask-explorer", "<p>A table.</p>", words=["a"])
    output = new_output("execute_result", {"text/html": made._repr_html_()})
    tags = {"tags": ["hide-input", "explorer"]}
    return new_code_cell("masks()", metadata=tags, outputs=[output])


def test_an_explorer_stands_on_the_page_without_code_and_scripts():
    (shown,) = page_cells(explorer())
    adapt_outputs(shown)
    assert shown.metadata["tags"] == ["remove-input", "explorer"]
    html = shown.outputs[0].data["text/html"]
    assert html.startswith("<mask-explorer ")
    assert html.endswith("<p>A table.</p>\n</mask-explorer>")


@pytest.mark.parametrize(
    "output",
    [
        new_output("stream", text="short\n" + "a word " * 12),
        new_output("execute_result", {"text/plain": "a word " * 12}),
    ],
)
def test_sentences_longer_than_the_page_wrap(output):
    cell = new_code_cell("speak", outputs=[output])
    assert "long-lines" in page_cells(cell)[0].metadata["tags"]


@pytest.mark.parametrize("text", ["x" * 79 + "\n" + "y" * 79, ""])
def test_tables_as_wide_as_the_page_do_not_wrap(text):
    cell = new_code_cell("show", outputs=[new_output("stream", text=text)])
    assert "tags" not in page_cells(cell)[0].metadata


def test_a_wrong_formula_is_a_warning_that_names_it(caplog):
    assert "katex-html" in typeset_node(None, "x = 1")
    assert caplog.text == ""
    assert typeset_node(None, r"\notacommand") == ""
    (record,) = caplog.records  # and a warning fails the build
    assert record.levelname == "WARNING"
    assert r"\notacommand" in record.getMessage()


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A built book of one page whose repository has an address."""
    folder = tmp_path_factory.mktemp("published")
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    address = "https://github.com/someone/book.git"
    config["repository"] = {"url": address, "branch": "v1.0"}
    del config["sphinx"]["config"]["moved_pages"]  # to pages that it lacks
    (folder / "_config.yml").write_text(yaml.safe_dump(config))
    (folder / "_toc.yml").write_text("format: jb-book\nroot: book/one\n")
    book = folder / "book"
    book.mkdir()
    for name in ("_ext", "references.bib"):
        (book / name).symlink_to(ROOT / "book" / name)
    shutil.copytree(ROOT / "book" / "_static", book / "_static")
    shutil.copytree(EXPLORERS, book / "lib" / "explorers")
    title = new_markdown_cell(f"# One\n\n{BADGE}\n\nText.")
    cells = [title, explorer()]
    nbformat.write(new_notebook(cells=cells), book / "one.ipynb")
    build(folder)
    return folder


def page_of(folder):
    page = folder / "_build" / "html" / "book" / "one.html"
    return BeautifulSoup(page.read_text(), "html.parser")


def test_links_appear_with_the_address(published):
    page = page_of(published)
    links = {a.get_text(): a["href"] for a in page.select(".page-links a")}
    assert links == {
        "Run in Colab": "https://colab.research.google.com/github/someone/"
        "book/blob/v1.0/book/one.ipynb",
        "Notebook": "../notebooks/one.ipynb",
    }
    links = {a.get_text(): a["href"] for a in page.select(".page-footer a")}
    report = links.pop("Report a mistake here")
    assert report.startswith("https://github.com/someone/book/issues/new?")
    assert links == {
        "Source": "https://github.com/someone/book/blob/v1.0/book/one.ipynb",
    }
    assert not page.main.find("img")


def test_a_page_loads_the_scripts_of_its_explorers(published):
    page = page_of(published)
    scripts = [s["src"] for s in page.find_all("script", src=True)]
    own = [name for name in scripts if "explorers/" in name]
    assert own == [
        f"../_static/explorers/{name}.js" for name in ("core", "mask-explorer")
    ]
    for name in own:
        copy = published / "_build" / "html" / "book" / name
        assert copy.read_text() == (EXPLORERS / copy.name).read_text()
    assert page.select_one("mask-explorer p").get_text() == "A table."
    assert not page.find("script", attrs={"data-explorer": True})
    assert not page.select(".tag_explorer .cell_input")
    search = published / "_build" / "html" / "search.html"
    assert "explorers/" not in search.read_text()


COPIES = {
    "_static/custom.css": ["custom.css", "book.css"],
    "_static/page.css": ["book.css"],
    "kit/explorers/core.js": ["explorers/core.js"],
}


@pytest.mark.slow
@pytest.mark.parametrize("source", COPIES)
def test_a_changed_file_reaches_the_pages(published, source):
    changed = f"/* another look of {source} */"
    with (published / "book" / source).open("a") as file:
        file.write(changed)
    build(published)
    static = published / "_build" / "html" / "_static"
    linked = page_of(published).find("link", rel="stylesheet")["href"]
    assert linked.endswith("_static/book.css")
    for name in COPIES[source]:
        assert changed in (static / name).read_text()
