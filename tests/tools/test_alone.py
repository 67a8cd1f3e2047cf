"""Chapters laid out alone, and that nbval notices one that is not."""

import os
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tests.tools.test_plugin import run_pytest
from tools.chapters import alone, sync
from tools.chapters.kernels import write_kernels
from tools.source.taught import ROOT, chapters

PUBLIC = "https://github.com/some-owner/executable-transformer"


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> Path:
    """A book of two synced chapters, with an address that is not asked."""
    root = tmp_path_factory.mktemp("book")
    files = {
        "_config.yml": f"repository: {{url: '{PUBLIC}', branch: v1}}",
        "_toc.yml": "root: book/index\nparts:\n- chapters:\n"
        "  - file: book/01_one\n  - file: book/02_two\n",
        "requirements.txt": (ROOT / "requirements.txt").read_text("utf-8"),
        ".gitignore": "_build/\n",
        "book/lib/__init__.py": "",
        "book/lib/runtime.py": "ANSWER = 42\n",
    }
    (root / "book" / "lib").mkdir(parents=True)
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
    for name in ("01_one", "02_two"):
        asks = "from lib.runtime import ANSWER\n\nANSWER"
        cells = [new_markdown_cell("# Title"), new_code_cell(asks)]
        path = root / "book" / f"{name}.ipynb"
        nbformat.write(new_notebook(cells=cells), path)
    write_kernels(root / "_build" / "jupyter" / "kernels")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(root / "_build" / "jupyter"))
        assert sync.main([], root) == 0
    return root


def run(book: Path, *paths: Path):
    """Run notebooks as `make test-notebooks` does."""
    jupyter = {"JUPYTER_PATH": str(book / "_build" / "jupyter")}
    kernel = ("--nbval-kernel-name", "book-cpu")
    return run_pytest(*paths, *kernel, **jupyter)


@pytest.mark.slow
def test_each_stands_in_an_empty_folder_and_passes_there(book):
    paths = alone.main([], book)
    folder = book / "_build" / "alone"
    assert paths == [folder / n / f"{n}.ipynb" for n in ("01_one", "02_two")]
    for path in paths:
        assert os.listdir(path.parent) == [path.name]
    result = run(book, folder)
    assert result.returncode == 0, result.stdout
    assert "6 passed" in result.stdout
    assert (folder / "01_one" / "book-files" / "book" / "lib").is_dir()


@pytest.mark.slow
def test_another_library_and_an_edit_that_is_not_committed_are_seen(book):
    (path,) = alone.main(["01"], book)
    (path.parent / "lib").mkdir()
    (path.parent / "lib" / "runtime.py").write_text("ANSWER = 42\n")
    assert "01_one.ipynb, In [3]" in run(book, path).stdout
    (book / "book" / "lib" / "runtime.py").write_text("ANSWER = 43\n")
    (book / "book" / "lib" / "new.py").touch()
    (path,) = alone.main(["01"], book)
    result = run(book, path)
    assert "01_one.ipynb, In [2]" in result.stdout
    assert "42" in result.stdout and "43" in result.stdout
    assert (path.parent / "book-files" / "book" / "lib" / "new.py").exists()


def test_a_chapter_that_does_not_exist_is_refused(book):
    with pytest.raises(LookupError, match="no chapter in _toc.yml is named"):
        alone.main(["13"], book)


def test_only_the_first_cell_of_a_chapter_changes_and_one_is_added(tmp_path):
    path = chapters()[0]
    laid_out = sync.read(alone.lay_out(path, tmp_path / "a", "pass"))
    before, after = sync.read(path).cells, laid_out.cells
    assert after[-1].source == alone.WHENCE
    changed = [
        a.source for a, b in zip(after[:-1], before, strict=True) if a != b
    ]
    assert changed == ["pass"]
