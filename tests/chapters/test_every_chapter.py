"""The rules of this folder, held to every chapter of the book."""

from functools import partial

import pytest

from tests.chapters import hygiene, quizzes, reading, slides
from tools.chapters import sync
from tools.source.taught import (
    ROOT,
    chapters,
    is_deeper,
    is_walk,
    lessons,
    notebooks,
)

OF_LESSONS = [*hygiene.RULES, *reading.OF_LESSONS]
OF_DEEPER = [*OF_LESSONS, reading.one_question]
OF_CHAPTERS = [
    *OF_LESSONS,
    *reading.OF_CHAPTERS,
    *quizzes.RULES,
    *slides.RULES,
]
OF_WALKS = [*OF_CHAPTERS, reading.size_of_a_walk]
RULES = [*OF_CHAPTERS, reading.size, hygiene.practice]
PAGES = {path: sync.read(path).cells for path in notebooks()}


def before(path) -> int:
    """The figures of a chapter that come before one of its deeper pages."""
    own = [p for p in lessons() if p.name[:2] == path.name[:2]]
    return sum(len(reading.drawings(PAGES[p])) for p in own[: own.index(path)])


def rules(path) -> list:
    """What a notebook must keep."""
    if path not in lessons():
        return [hygiene.stored_problems, hygiene.code, *reading.OF_ALL]
    if is_deeper(path):
        chapter = str(int(path.name[:2]))
        figures = partial(reading.figures_after, chapter, before(path))
        figures.__name__ = "figures_after"
        return [*OF_DEEPER, figures]
    return OF_WALKS if is_walk(path) else RULES


every_notebook = pytest.mark.parametrize(
    "path", PAGES, ids=lambda path: path.stem
)


@pytest.mark.parametrize(
    "rule, path",
    [
        pytest.param(rule, path, id=f"{path.stem}-{rule.__name__}")
        for path in PAGES
        for rule in rules(path)
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
    assert sorted(ROOT.glob("book/**/*.ipynb")) == sorted(notebooks())
    assert notebooks() == [*lessons(), ROOT / "book" / "lab.ipynb"]


def test_names_of_notebooks_are_used_once():
    """Students have all of them in one folder."""
    names = [path.name for path in notebooks()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    "walk", [*filter(is_walk, chapters())], ids=lambda path: path.stem
)
def test_a_walk_has_practice_and_leads_to_its_deeper_pages(walk):
    below = [p for p in lessons() if p.name[:2] == walk.name[:2]][1:]
    problems = [*hygiene.practice(PAGES[walk], hygiene.ON_A_WALK)]
    text = "".join(cell.source for cell in PAGES[walk])
    problems += [p.name for p in below if f"](deeper/{p.name})" not in text]
    together = [*PAGES[walk], *(cell for p in below for cell in PAGES[p])]
    numbers = [hygiene.HEADING.match(t)[1] for _, t in hygiene.tasks(together)]
    chapter = int(walk.name[:2])
    assert problems == []
    assert numbers == [f"{chapter}.{n + 1}" for n in range(len(numbers))]


def test_names_of_exercises_are_used_once():
    names = [
        cell.metadata["nbgrader"]["grade_id"]
        for page in PAGES.values()
        for cell in page
        if "nbgrader" in cell.metadata
    ]
    assert sorted(names) == sorted(set(names))
