"""Chapters opened alone: the first cell and the badge.

Whole chapters are run alone by `make test-notebooks`; see test_alone.py.
"""

import ast
import importlib.util
import os
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from book._ext.book_site.source.notebook import page_cells
from tools import gpu as gpu_report
from tools.chapters import alone
from tools.source import colab
from tools.source.colab import Address
from tools.source.taught import ROOT, chapters

TAG = "v1.0"
PUBLIC = Address("https://github.com/some-owner/executable-transformer", TAG)
PLACEHOLDER = Address(colab.PLACEHOLDER, "main")
WHERE = "import lib, os\nprint(os.getcwd())\nprint(lib.__file__)"


@pytest.fixture(scope="module", autouse=True)
def clean_environment():
    """No settings of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith("GIT_") or name == "PYTHONPATH":
                patch.delenv(name)
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        yield


@pytest.fixture(scope="module")
def published(clean_environment, tmp_path_factory) -> Address:
    """A bare repository with the files that the first cell looks for."""
    folder = tmp_path_factory.mktemp("public")
    library = folder / "tree" / "book" / "lib"
    library.mkdir(parents=True)
    for name in ("__init__.py", "runtime.py"):
        (library / name).touch()
    return alone.publish(folder / "book.git", folder / "tree")


def fetch(address: Address) -> str:
    return colab.first_cell(address, colab.pins(ROOT))


def run(source: str, folder) -> subprocess.CompletedProcess:
    """Run cells in a folder; as in a kernel, imports look there first."""
    return subprocess.run(
        [sys.executable, "-c", source],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,  # of a busy machine
    )


def assert_fetched(address: Address, folder) -> None:
    """The first cell runs, says nothing and leads into the clone."""
    done = run(f"{fetch(address)}\n{WHERE}", folder)
    book = folder / "book-files" / "book"
    assert done.stderr == ""
    assert done.stdout == f"{book}\n{book / 'lib' / '__init__.py'}\n"


# the first cell


def test_it_fetches_the_book_and_keeps_what_it_fetched(published, tmp_path):
    assert_fetched(published, tmp_path)
    note = tmp_path / "book-files" / "note"
    note.write_text("mine")
    assert_fetched(Address("file:///nowhere", published.branch), tmp_path)
    assert note.exists()


@pytest.mark.parametrize(
    "stray", ["lib/__init__.py", "book/x", "book-files/x"]
)
def test_folders_of_these_names_do_not_matter(published, tmp_path, stray):
    (tmp_path / stray).parent.mkdir()
    (tmp_path / stray).write_text("raise ImportError")
    assert_fetched(published, tmp_path)


@pytest.mark.parametrize("lost", [".git/index", "book/lib/runtime.py"])
def test_an_incomplete_clone_is_replaced(published, tmp_path, lost):
    assert_fetched(published, tmp_path)
    (tmp_path / "book-files" / lost).rename(tmp_path / "lost")
    assert_fetched(published, tmp_path)
    assert (tmp_path / "book-files" / lost).exists()


@pytest.mark.parametrize("part", ["url", "branch"])
def test_a_wrong_address_is_named(published, tmp_path, part):
    wrong = vars(published) | {part: f"{getattr(published, part)}-wrong"}
    done = run(fetch(Address(**wrong)), tmp_path)
    assert done.returncode == 1
    assert f"RuntimeError: cannot fetch {wrong['url']}: " in done.stderr
    assert wrong[part] in done.stderr and "fatal:" in done.stderr
    assert_fetched(published, tmp_path)


@pytest.mark.parametrize("address", [PUBLIC, PLACEHOLDER])
def test_in_the_root_of_the_repository_it_enters_the_book(tmp_path, address):
    library = tmp_path / "book" / "lib"
    library.mkdir(parents=True)
    for name in ("__init__.py", "runtime.py"):
        (library / name).touch()
    done = run(f"{fetch(address)}\n{WHERE}", tmp_path)
    assert done.stderr == ""
    assert done.stdout == f"{library.parent}\n{library / '__init__.py'}\n"
    assert os.listdir(tmp_path) == ["book"]


def last_words(source: str, folder) -> str:
    return run(source, folder).stderr.strip().splitlines()[-1]


def test_without_git_or_an_address_it_says_so(tmp_path, monkeypatch):
    assert last_words(fetch(PLACEHOLDER), tmp_path) == (
        "FileNotFoundError: this notebook needs the rest of the book, which "
        "has no public address yet: ask whoever gave it to you for the whole "
        "folder, and open the notebook there, in book/"
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    said = last_words(fetch(PUBLIC), tmp_path)
    assert said == "RuntimeError: install git, then run this cell again"


@pytest.fixture
def in_the_book(tmp_path, monkeypatch):
    """The current folder has the file that the first cell looks for."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "runtime.py").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("address", [PUBLIC, PLACEHOLDER])
def test_beside_the_library_it_does_nothing(
    in_the_book, monkeypatch, capfd, address
):
    monkeypatch.setattr(subprocess, "run", None)
    exec(fetch(address), {})
    assert capfd.readouterr() == ("", "")
    assert os.getcwd() == str(in_the_book)
    assert os.listdir() == ["lib"]


def test_it_installs_the_pinned_version_of_what_is_missing(
    in_the_book, monkeypatch
):
    commands = []
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: name != "jaxtyping"
    )

    def install(command, **_):
        commands.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", install)
    exec(fetch(PUBLIC), {})
    version = colab.pins(ROOT)["jaxtyping"]
    pip = [sys.executable, "-m", "pip", "install", "-q"]
    assert commands == [[*pip, f"jaxtyping=={version}"]]


def test_it_shows_what_pip_says(in_the_book, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    cell = colab.first_cell(PUBLIC, {"no_such_package": "1.0"})
    said = run(cell, in_the_book).stderr
    assert "RuntimeError: cannot install ['no_such_package==1.0']: " in said
    assert "No matching distribution found for no_such" in said


def imported():
    """What chapters and library import, but for Python's own."""
    ours = [
        p
        for name in ("lib", "kit")
        for p in (ROOT / "book" / name).rglob("*.py")
    ]
    sources = [path.read_text() for path in ours]
    for path in chapters():
        cells = nbformat.read(path, as_version=4).cells
        sources += [c.source for c in cells if c.cell_type == "code"]
    names = set()
    for node in (n for text in sources for n in ast.walk(ast.parse(text))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


def test_it_brings_all_that_colab_may_lack_and_nothing_else():
    there = {"IPython", "kit", "lib", "matplotlib", "numpy", "torch"}
    needed = imported() - sys.stdlib_module_names - there
    assert colab.pins(ROOT).keys() == needed
    assert needed <= {*gpu_report.NEEDED}  # it has no network to fetch them


def test_it_becomes_the_first_code_cell_and_stays_it():
    notebook = new_notebook(
        cells=[
            new_markdown_cell("# Title"),
            new_code_cell("import torch"),
            new_code_cell(colab.FIRST_LINE + "\nold"),
        ]
    )
    for _ in range(2):
        colab.put_first_cell(notebook, fetch(PUBLIC))
        title, first, rest = notebook.cells
        assert first.source == fetch(PUBLIC) and first.id == "colab"
        assert first.metadata == {"tags": ["hide-cell", "colab"]}
        assert rest.source == "import torch"


# the badge


@pytest.mark.parametrize("url", [colab.PLACEHOLDER, "https://example.org/a/b"])
def test_where_colab_cannot_go_there_is_no_badge(url):
    assert colab.badge(Address(url, "main"), "01_tokens.ipynb") == ""


@pytest.mark.parametrize("text", ["", "\n\n**Why?**\n\nBecause."])
def test_the_badge_is_added_changed_and_removed(text):
    before = f"# Title{text}"
    notebook = new_notebook(cells=[new_markdown_cell(before)])
    for branch in ("main", "main", TAG):
        line = (
            "[Open this chapter in Colab](https://colab.research.google.com/"
            f"github/some-owner/executable-transformer/blob/{branch}/book/"
            "01.ipynb)"
        )
        address = Address(PUBLIC.url, branch)
        colab.put_badge(notebook, colab.badge(address, "01.ipynb"))
        assert notebook.cells[0].source == f"# Title\n\n{line}{text}"
    colab.put_badge(notebook, "")
    assert notebook.cells[0].source == before


def test_the_website_shows_neither_first_cell_nor_badge():
    notebook = new_notebook(
        cells=[new_markdown_cell("# Title\n\nText"), new_code_cell("1")]
    )
    colab.put_first_cell(notebook, fetch(PUBLIC))
    colab.put_badge(notebook, colab.badge(PUBLIC, "01.ipynb"))
    shown = [c.source for cell in notebook.cells for c in page_cells(cell)]
    assert shown == ["# Title\n\nText", "1"]
