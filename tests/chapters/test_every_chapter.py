"""The rules of this folder, held to every chapter of the book."""

import nbformat
import pytest

from tests.chapters import hygiene, quizzes, reading, slides
from tools.chapters import sync
from tools.source.address import PLACEHOLDER
from tools.source.taught import ROOT, chapters

RULES = [
    rule for part in (hygiene, reading, quizzes, slides) for rule in part.RULES
]
every_chapter = pytest.mark.parametrize(
    "path", chapters(), ids=lambda path: path.stem
)
PAGES = {path: sync.read(path).cells for path in chapters()}


@every_chapter
@pytest.mark.parametrize("rule", RULES)
def test_a_chapter_keeps(rule, path):
    problems = list(rule(PAGES[path]))
    assert not problems, "\n".join([f"{path.name}:", *problems])


@every_chapter
def test_a_chapter_is_as_make_sync_leaves_it(path):
    is_synced = sync.synced(path, run=False) == path.read_text("utf-8")
    assert is_synced, f"{path.name}: run `make sync`"


@pytest.mark.parametrize("url", [PLACEHOLDER, "https://github.com/some/book"])
def test_the_first_cell_keeps_the_rules_with_and_without_an_address(
    url, tmp_path
):
    for name in ("_toc.yml", "book", "requirements.txt"):
        (tmp_path / name).symlink_to(ROOT / name)
    config = f"repository: {{url: '{url}', branch: v0.2}}"
    (tmp_path / "_config.yml").write_text(config)
    text = sync.synced(chapters()[0], tmp_path, run=False)
    page = nbformat.reads(text, 4).cells
    has_address = url != PLACEHOLDER
    assert ("colab.research" in page[0].source) == has_address
    assert not [problem for rule in RULES for problem in rule(page)]


def test_few_cells_are_exempt_from_comparison():
    run = [c for page in PAGES.values() for c in hygiene.code_cells(page)]
    assert sum(map(hygiene.is_exempt, run)) <= len(run) / 50


def test_every_notebook_is_in_the_table_of_contents():
    assert sorted(ROOT.glob("book/*.ipynb")) == sorted(chapters())


def test_names_of_exercises_are_used_once():
    names = [
        cell.metadata["nbgrader"]["grade_id"]
        for page in PAGES.values()
        for cell in page
        if "nbgrader" in cell.metadata
    ]
    assert sorted(names) == sorted(set(names))
