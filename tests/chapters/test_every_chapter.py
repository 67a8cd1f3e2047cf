"""The rules of this folder, held to every chapter of the book."""

import pytest

from tests.chapters import hygiene, quizzes, reading, slides
from tools.chapters import sync
from tools.source.taught import ROOT, chapters, notebooks

RULES = [
    rule for part in (hygiene, reading, quizzes, slides) for rule in part.RULES
]
OF_ALL = [
    hygiene.stored_problems,
    hygiene.code,
    reading.check_cells,
    reading.checks_are_dispensable,
]
PAGES = {path: sync.read(path).cells for path in notebooks()}
every_notebook = pytest.mark.parametrize(
    "path", PAGES, ids=lambda path: path.stem
)


@pytest.mark.parametrize(
    "rule, path",
    [
        pytest.param(rule, path, id=f"{path.stem}-{rule.__name__}")
        for path in PAGES
        for rule in (RULES if path in chapters() else OF_ALL)
    ],
)
def test_a_notebook_keeps(rule, path):
    problems = list(rule(PAGES[path]))
    assert not problems, "\n".join([f"{path.name}:", *problems])


@every_notebook
def test_a_notebook_is_as_make_sync_leaves_it(path):
    is_synced = sync.synced(path, run=False) == path.read_text("utf-8")
    assert is_synced, f"{path.name}: run `make sync`"


def test_few_cells_are_exempt_from_comparison():
    run = [c for page in PAGES.values() for c in hygiene.code_cells(page)]
    assert sum(map(hygiene.is_exempt, run)) <= len(run) / 50


def test_every_notebook_is_in_the_table_of_contents():
    assert sorted(ROOT.glob("book/*.ipynb")) == sorted(notebooks())
    assert notebooks() == [*chapters(), ROOT / "book" / "lab.ipynb"]


def test_names_of_exercises_are_used_once():
    names = [
        cell.metadata["nbgrader"]["grade_id"]
        for page in PAGES.values()
        for cell in page
        if "nbgrader" in cell.metadata
    ]
    assert sorted(names) == sorted(set(names))
