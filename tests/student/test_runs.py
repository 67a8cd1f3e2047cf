"""Every notebook of the students' edition runs from top to bottom.

Each runs whole, in the folder that a student gets, as its variant 1. That
takes as long as running the chapters; only so is it seen that no cell needs
an answer that nobody has given yet. That a notebook opened alone fetches the
rest is tried with the quickest.
"""

import shutil

import pytest

from tools import alone, colab, student, sync
from tools.cells import is_exercise
from tools.taught import ROOT, chapters

VARIANT = 1
SLOWEST_FIRST = chapters()[::-1]  # so that no worker is left with one alone
QUICKEST = next(path for path in chapters() if path.stem == "04_masks")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """What one student gets."""
    folder = tmp_path_factory.mktemp("student")
    student.write(folder, VARIANT)
    return folder


def verdicts(path) -> list[str]:
    """What the checks of a notebook print when it is run where it lies."""
    notebook = sync.read(path)
    checks = [cell for cell in notebook.cells if is_check(cell)]
    sync.execute(notebook, path.parent, path.name)
    return ["".join(o.text for o in cell.outputs) for cell in checks]


def is_check(cell) -> bool:
    return is_exercise(cell) and cell.metadata["nbgrader"]["grade"]


def not_started(path) -> list[str]:
    """What they are to print."""
    checks = filter(is_check, sync.read(path).cells)
    calls = [student.CALL.search(cell.source) for cell in checks]
    return [f"{c['number']} {c['name']}: not started.\n" for c in calls]


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[pytest.mark.slow] * (path != QUICKEST))
        for path in SLOWEST_FIRST
    ],
    ids=lambda path: path.stem,
)
def test_it_runs_in_its_folder(path, folder):
    expected = not_started(path)
    assert verdicts(folder / path.name) == expected


@pytest.mark.slow
def test_it_runs_alone(folder, tmp_path):
    expected = not_started(QUICKEST)
    address = alone.publish(tmp_path / "book.git")
    notebook = sync.read(folder / QUICKEST.name)
    first_cell = colab.first_cell(address, colab.pins(ROOT))
    colab.put_first_cell(notebook, first_cell)
    path = tmp_path / "alone" / QUICKEST.name
    path.parent.mkdir()
    path.write_text(sync.to_text(notebook), encoding="utf-8")
    assert verdicts(path) == expected
    assert (path.parent / "book-files" / "book" / "lib").is_dir()
    shutil.rmtree(path.parent)
