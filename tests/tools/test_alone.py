"""Chapters laid out alone, and that nbval notices one that is not."""

import os

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from tests.tools.small import put, put_book, run_notebooks
from tools.chapters import alone, sync
from tools.source.taught import chapters

PUBLIC = "https://github.com/some-owner/executable-transformer"


@pytest.mark.slow
def test_another_library_and_an_edit_that_is_not_committed_are_seen(tmp_path):
    asks = new_code_cell("from lib.runtime import ANSWER\n\nANSWER")
    cells = [new_markdown_cell("# Title"), asks]
    book = tmp_path / "book"
    put_book(book, {"01_one": cells, "02_two": cells}, url=PUBLIC)
    assert sync.main([], book) == 0
    (path,) = alone.main(["01"], book)
    assert os.listdir(path.parent) == ["01_one.ipynb"]
    put(path.parent, {"lib/runtime.py": "ANSWER = 42\n"})
    assert "01_one.ipynb, In [3]" in run_notebooks(path).stdout
    put(book / "book/lib", {"runtime.py": "ANSWER = 43\n", "new.py": ""})
    (path,) = alone.main(["01"], book)
    result = run_notebooks(path)
    assert "01_one.ipynb, In [2]" in result.stdout
    assert "42" in result.stdout and "43" in result.stdout
    assert (path.parent / "book-files" / "book" / "lib" / "new.py").exists()


def test_only_the_first_cell_of_a_chapter_changes_and_one_is_added(tmp_path):
    path = chapters()[0]
    before = sync.read(path).cells
    after = sync.read(alone.lay_out(path, tmp_path / "a", "pass")).cells
    assert after.pop().source == alone.WHENCE
    changed = [a.source for a, b in zip(after, before, strict=True) if a != b]
    assert changed == ["pass"]
