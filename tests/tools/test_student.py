"""The students' edition: what is taken away, what stays, whose numbers."""

import csv
import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tests import sample
from tools.chapters import sync
from tools.editions import student
from tools.exercises import tasks as exercises
from tools.source import colab
from tools.source.answers import SOLUTION
from tools.source.cells import is_exercise
from tools.source.taught import chapters

LINK = re.compile(r"\]\(([^)\s#]+)[^)\s]*\)")
QUICKEST = next(path for path in chapters() if path.stem == "04_masks")


def every(path: Path) -> dict[str, bytes]:
    """The files of a folder by their place in it."""
    files = (p for p in path.rglob("*") if p.is_file())
    return {str(p.relative_to(path)): p.read_bytes() for p in files}


@pytest.fixture(scope="module")
def edition(tmp_path_factory) -> Path:
    """All of it, as a student gets it."""
    folder = tmp_path_factory.mktemp("edition")
    student.write(folder)
    return folder


WORDS = """\
[Works](bibliography.md#a), [code](lib/one.py), [4](04_one.ipynb), \
[lines](../benchmarks/public/reproductions/one.py)
"""
FILES = {
    "_toc.yml": "root: book/index\nparts:\n- chapters:\n"
    "  - file: book/04_one\n",
    "book/lib/one.py": "ONE = 1\n",
    "book/kit/two.py": "TWO = 2\n",
    "book/data/one.json": "1\n",
    "benchmarks/results/one.json": "1\n",
    "benchmarks/public/reproductions/one.py": "1\n",
    "LICENSE": "MIT\n",
    "LICENSE-TEXT": "CC\n",
}


def book(root: Path, path: str = "", url: str = colab.PLACEHOLDER) -> Path:
    """A book of one chapter with an exercise and a quiz; its chapter."""
    config = f"""\
repository: {{url: '{url}', branch: v1}}
sphinx: {{config: {{student_path: '{path}'}}}}
"""
    for name, text in (FILES | {"_config.yml": config}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    cells = [
        new_markdown_cell("# 4. One", id="title"),
        new_code_cell(f"{colab.FIRST_LINE}\n1", id="colab"),
        new_markdown_cell(WORDS, id="words"),
        sample.quiz(),
        *sample.exercise(),
    ]
    chapter = root / "book" / "04_one.ipynb"
    nbformat.write(new_notebook(cells=cells), chapter)
    return chapter


def by_id(notebook) -> dict:
    return {cell.id: cell for cell in notebook.cells}


def test_solutions_and_outputs_are_taken_away_and_the_rest_stays(tmp_path):
    path = book(tmp_path)
    before = by_id(sync.read(path))
    made = by_id(student.edition(path, root=tmp_path))
    assert [*made] == [*before]
    for name, cell in made.items():
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)
        for key in ("nbgrader", "tags"):
            assert cell.metadata.get(key) == before[name].metadata.get(key)
    assert made["answer"].source == (
        "width, length = 3, 7  # given\n\n\n"
        "def window_mask(length, width):\n"
        '    """True at the last `width` positions."""\n'
        "    raise NotImplementedError"
    )
    assert made["check"].source == sample.CHECK
    assert made["quiz"].source == sample.quiz().source
    assert made["answer"].metadata["deletable"] is False
    assert made["check"].metadata["editable"] is False
    assert "editable" not in made["answer"].metadata
    assert made["words"].source.startswith(
        "Works, [code](book/lib/one.py), [4](04_one.ipynb), "
        "[lines](benchmarks/public/reproductions/one.py)\n"
    )


def test_a_variant_has_numbers_of_its_own_and_the_same_check(tmp_path, capsys):
    path = book(tmp_path)
    seen = set()
    for variant in range(1, 9):
        made = by_id(student.edition(path, variant, tmp_path))
        own = student.find("4.1").numbers(variant)
        width, length = own["width"], own["length"]
        seen.add((width, length))
        assert f'"width">{width}</span>' in made["task"].source
        assert f'"length">{length}</span>' in made["task"].source
        given = f"width, length = {width}, {length}  # given\n"
        assert made["answer"].source.startswith(given)
        call = f'check("4.1", window_mask, variant={variant})'
        assert made["check"].source.endswith(call)
        names = {}
        right = exercises.with_given(sample.ANSWER, own)
        for source in ("import torch", right, made["check"].source):
            exec(source, names)
        assert capsys.readouterr().out == sample.RIGHT
    assert len(seen) > 1


@pytest.mark.parametrize("folder", ["", "student"])
@pytest.mark.parametrize(
    "url", [colab.PLACEHOLDER, "https://github.com/some/book"]
)
def test_a_badge_leads_to_this_edition_or_nowhere(tmp_path, folder, url):
    path = book(tmp_path, folder, url)
    title = student.edition(path, root=tmp_path).cells[0].source
    assert title.startswith("# 4. One\n\n")
    assert title.endswith(student.NOTE)
    has_badge = folder and url != colab.PLACEHOLDER
    link = "/github/some/book/blob/v1/student/04_one.ipynb)"
    assert (link in title) == ("colab.research" in title) == bool(has_badge)


def solved(task) -> list[str]:
    """The lines between the markers of an answer."""
    blocks = SOLUTION.findall(task.answer)
    return [line.strip() for _, text in blocks for line in text.splitlines()]


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_a_notebook_is_the_chapter_without_its_solutions(path, edition):
    before, after = sync.read(path).cells, sync.read(edition / path.name).cells
    tasks = list(exercises.tasks_of(path, before))
    answers = {task.answer for task in tasks}
    for old, new in zip(before[1:], after[1:], strict=True):
        assert (old.id, old.cell_type) == (new.id, new.cell_type)
        if old.cell_type == "code" and old.source not in answers:
            assert old.source == new.source
    elsewhere = "\n".join(c.source for c in before if c.source not in answers)
    elsewhere += "\n".join(task.stub for task in tasks)
    text = "\n".join(c.source for c in after)
    lines = {line for task in tasks for line in solved(task)}
    told = [line for line in lines if line in text and line not in elsewhere]
    assert tasks and not told
    assert "### BEGIN" not in text and "### END" not in text
    assert text.count("raise NotImplementedError") >= len(tasks)
    for target in LINK.findall(text):
        if target.endswith((".md", ".ipynb", ".py")) and ":" not in target:
            assert (edition / target).is_file(), target


def test_no_solution_lies_beside_the_notebooks(edition):
    """Longer ones, word for word; a line alone may be the library's."""
    texts = {
        name: " ".join(content.decode(errors="ignore").split())
        for name, content in every(edition).items()
        if name.endswith((".py", ".md", ".json", ".txt"))
    }
    assert len(texts) > 50
    for task in exercises.tasks():
        block = " ".join(" ".join(solved(task)).split())
        if len(solved(task)) > 2:
            assert not [name for name in texts if block in texts[name]], task


def test_it_carries_what_it_needs_and_a_second_run_changes_nothing(edition):
    files = every(edition)
    wanted = {path.name for path in chapters()}
    wanted |= {"README.md", "AGENTS.md", "LICENSE", *student.ASSISTANTS}
    wanted |= {"book/lib/runtime.py", "book/kit/exercises/__init__.py"}
    wanted |= {"book/data/dates.json", "benchmarks/results/costs.json"}
    assert wanted <= files.keys() and len(student.ASSISTANTS) == 2
    unwanted = re.compile("__pycache__|mistakes")
    assert not [*filter(unwanted.search, files)]
    assert re.search(rb"^torch==", files["requirements.txt"], re.M)
    student.write(edition)
    assert every(edition) == files


# Students.


def roster(folder: Path, text: str) -> Path:
    path = folder / "names.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "Ada\nBo Li\nzoë@uni.example\n",
        "\ufeffStudent,Mail\nAda,a@b.c\nBo Li,\n\nzoë@uni.example,x\n",
        "id,student\n1,Ada\n2, Bo Li \n3,zoë@uni.example\n",
    ],
)
def test_a_roster_may_have_a_heading(tmp_path, text):
    rows = student.students(roster(tmp_path, text))
    names = [row["student"] for row in rows]
    assert names == ["Ada", "Bo Li", "zoë@uni.example"]


@pytest.mark.parametrize(
    "text, why",
    [
        ("Ada\n../Bo\n", "'../Bo' cannot name a folder"),
        ("Ada\nBo.\n", "'Bo.' cannot name a folder"),
        ("mail,student\na@b.c\n", "'' cannot name a folder"),
        ("First name,Last name\nAda,L\n", "no column is called `student`"),
        ("Ada\nada\n", "two students have the same name"),
        ("student\n", "nobody is in it"),
        ("", "nobody is in it"),
    ],
)
def test_a_roster_that_cannot_be_is_refused(tmp_path, text, why):
    path = roster(tmp_path, text)
    book(tmp_path / "root")
    said = student.main(["--roster", str(path)], tmp_path / "root")
    assert said == f"student: {path}: {why}"


def test_every_student_gets_a_folder_and_grading_a_roster(tmp_path):
    root, out = tmp_path / "root", tmp_path / "out"
    path = book(root)
    names = roster(tmp_path, "ID,Student,Mail\n1,Ada\n2,Bo,b@c.d\n3,Cem\n")
    arguments = ["--roster", str(names), "--seed", "5", "--out", str(out)]
    assert student.main(arguments, root) == 0
    with (out / "roster.csv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [row["id"] for row in rows] == ["1", "2", "3"]
    assert [row["mail"] for row in rows] == ["", "b@c.d", ""]
    variants = {row["student"]: int(row["variant"]) for row in rows}
    assert [*variants] == ["Ada", "Bo", "Cem"]
    assert len(set(variants.values())) == 3
    for name, variant in variants.items():
        expected = student.edition(path, variant, root)
        made = (out / name / "04_one.ipynb").read_text(encoding="utf-8")
        assert made == sync.to_text(expected)
    assert student.variant_of("Bo", 5) == variants["Bo"]
    assert student.variant_of("Bo", 6) != variants["Bo"]


def test_who_sits_side_by_side_has_other_numbers():
    given = {student.variant_of(f"student {n}", 5) for n in range(300)}
    assert len(given) >= 299


@pytest.mark.parametrize(
    "more, is_kept",
    [
        ([], True),
        (["--seed", "5"], True),
        (["--roster", "names.csv"], True),
        (["--roster", "names.csv", "--seed", "6"], True),
        (["--roster", "names.csv", "--seed", "5"], False),
        (["--roster", "_build/student/roster.csv"], False),
    ],
)
def test_what_students_were_given_is_not_written_over(
    tmp_path, monkeypatch, more, is_kept
):
    """A roster says by which seed, and only the same one writes it again."""
    monkeypatch.chdir(tmp_path)
    book(tmp_path)
    roster(tmp_path, "Ada\nBo\n")
    first = ["--roster", "names.csv", "--seed", "5"]
    assert student.main(first, tmp_path) == 0
    folder = tmp_path / "_build" / "student"
    (folder / "Ada" / "notes.txt").write_text("mine")
    before = every(folder)
    said = student.main(more, tmp_path)
    assert every(folder) == before
    assert ("students of a roster" in str(said)) == is_kept


def test_a_seed_is_a_natural_number(tmp_path):
    with pytest.raises(SystemExit):
        student.main(["--seed", "-1"], tmp_path)


@pytest.mark.parametrize("out", [[], ["--out", "_build/student"]])
def test_only_a_folder_that_nobody_has_named_is_written_afresh(
    tmp_path, monkeypatch, out
):
    monkeypatch.chdir(tmp_path)
    book(tmp_path)
    folder = tmp_path / "_build" / "student"
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("mine")
    assert student.main(out, tmp_path) == 0
    assert (folder / "04_one.ipynb").is_file()
    assert (folder / "notes.txt").exists() == bool(out)


# Each notebook runs whole, as a student gets it: so it is seen that no cell
# needs an answer that nobody has given yet.


@pytest.fixture(scope="session")
def variant(tmp_path_factory):
    """What a student of a roster gets."""
    folder = tmp_path_factory.mktemp("student")
    student.write(folder, variant=1)
    return folder


def is_check(cell) -> bool:
    return is_exercise(cell) and cell.metadata["nbgrader"]["grade"]


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[pytest.mark.slow] * (path != QUICKEST))
        for path in chapters()[::-1]  # the slowest begins
    ],
    ids=lambda path: path.stem,
)
def test_it_runs_in_its_folder(path, variant):
    checks = filter(is_check, sync.read(path).cells)
    calls = [student.CALL.search(cell.source) for cell in checks]
    notebook = sync.read(variant / path.name)
    sync.execute(notebook, variant, path.name)
    said = [c.outputs[0].text for c in notebook.cells if is_check(c)]
    assert said == [f"{c[1]} {c[2]}: not started.\n" for c in calls]
