"""The students' edition: what is taken away, what stays, whose numbers.

That its notebooks run is tested in tests/student.
"""

import csv
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from book._ext.answers import SOLUTION
from tests import sample
from tools import colab, exercises, student, sync
from tools.taught import ROOT, chapters

LINK = re.compile(r"\]\(([^)\s#]+)[^)\s]*\)")


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


def book(root: Path, path: str = "", url: str = colab.PLACEHOLDER) -> Path:
    """A book of one chapter with an exercise and a quiz; its chapter."""
    config = f"""\
repository: {{url: '{url}', branch: v1}}
sphinx: {{config: {{student_path: '{path}'}}}}
"""
    files = {
        "_config.yml": config,
        "_toc.yml": "root: book/index\nparts:\n- chapters:\n"
        "  - file: book/04_one\n",
        "book/lib/one.py": "ONE = 1\n",
        "book/data/one.json": "1\n",
        "benchmarks/results/one.json": "1\n",
        "benchmarks/public/reproductions/one.py": "1\n",
        "LICENSE": "MIT\n",
        "LICENSE-TEXT": "CC\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    words = (
        "[Works](bibliography.md#a), [code](lib/one.py), [4](04_one.ipynb), "
        "[lines](../benchmarks/public/reproductions/one.py)"
    )
    first = new_code_cell(f"{colab.FIRST_LINE}\n1", id="colab")
    cells = [
        new_markdown_cell("# 4. One", id="title"),
        first,
        new_markdown_cell(f"{words}\n\n## Exercises", id="words"),
        sample.quiz(),
        sample.proof(),
        *sample.exercise(),
    ]
    chapter = root / "book" / "04_one.ipynb"
    nbformat.write(new_notebook(cells=cells), chapter)
    return chapter


def by_id(notebook) -> dict:
    return {cell.id: cell for cell in notebook.cells}


def test_solutions_and_outputs_are_taken_away(tmp_path):
    path = book(tmp_path)
    made = by_id(student.edition(path, root=tmp_path))
    assert made["answer"].source == (
        "width, length = 3, 7  # given\n\n\n"
        "def window_mask(length, width):\n"
        '    """True at the last `width` positions."""\n'
        "    raise NotImplementedError"
    )
    assert made["check"].source == sample.CHECK
    for cell in made.values():
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)


def test_ids_and_the_metadata_of_nbgrader_stay(tmp_path):
    path = book(tmp_path)
    made = student.edition(path, root=tmp_path)
    before = by_id(sync.read(path))
    assert [*by_id(made)] == [*before]
    for cell in made.cells:
        old = before[cell.id].metadata
        assert cell.metadata.get("nbgrader") == old.get("nbgrader")
        assert cell.metadata.get("tags") == old.get("tags")
    cells = by_id(made)
    assert cells["answer"].metadata["deletable"] is False
    assert cells["check"].metadata["editable"] is False
    assert "editable" not in cells["answer"].metadata
    assert cells["quiz"].source == sample.quiz().source


def test_a_variant_has_numbers_of_its_own_and_the_same_check(tmp_path, capsys):
    path = book(tmp_path)
    find = student.find
    seen = set()
    for variant in range(1, 9):
        made = by_id(student.edition(path, variant, tmp_path))
        own = find("4.1").numbers(variant)
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


def test_links_lead_to_what_the_student_has(tmp_path):
    path = book(tmp_path)
    words = by_id(student.edition(path, root=tmp_path))["words"].source
    assert words.startswith(
        "Works, [code](book/lib/one.py), [4](04_one.ipynb), "
        "[lines](benchmarks/public/reproductions/one.py)\n"
    )


@pytest.mark.parametrize(
    "folder, url, badge",
    [
        ("", colab.PLACEHOLDER, False),
        ("", "https://github.com/some/book", False),
        ("student", colab.PLACEHOLDER, False),
        ("student", "https://github.com/some/book", True),
    ],
)
def test_a_badge_leads_to_this_edition_or_nowhere(
    tmp_path, folder, url, badge
):
    path = book(tmp_path, folder, url)
    title = student.edition(path, root=tmp_path).cells[0].source
    assert title.startswith("# 4. One\n\n")
    assert title.endswith(student.NOTE)
    colab_link = "/github/some/book/blob/v1/student/04_one.ipynb)"
    assert (colab_link in title) == badge
    assert ("colab.research" in title) == badge


def solved(task) -> list[str]:
    """The lines between the markers of an answer."""
    blocks = SOLUTION.findall(task.answer)
    return [line.strip() for _, text in blocks for line in text.splitlines()]


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_no_solution_is_inside(path, edition):
    page = sync.read(path).cells
    tasks = list(exercises.tasks_of(path, page))
    answers = {task.answer for task in tasks}
    elsewhere = "\n".join(c.source for c in page if c.source not in answers)
    elsewhere += "\n".join(task.stub for task in tasks)
    text = "\n".join(c.source for c in sync.read(edition / path.name).cells)
    lines = {line for task in tasks for line in solved(task)}
    told = [line for line in lines if line in text and line not in elsewhere]
    assert tasks and not told
    assert "### BEGIN" not in text and "### END" not in text
    assert text.count("raise NotImplementedError") >= len(tasks)


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


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_a_notebook_is_the_chapter_but_for_its_exercises(path, edition):
    before, after = sync.read(path).cells, sync.read(edition / path.name).cells
    for old, new in zip(before[1:], after[1:], strict=True):
        assert (old.id, old.cell_type) == (new.id, new.cell_type)
        is_answer = old.metadata.get("nbgrader", {}).get("solution")
        if old.cell_type == "code" and not is_answer:
            assert old.source == new.source
    for target in LINK.findall("\n".join(c.source for c in after)):
        if target.endswith((".md", ".ipynb", ".py")) and ":" not in target:
            assert (edition / target).is_file(), target


def test_a_second_run_writes_the_same_bytes(edition, tmp_path):
    student.write(tmp_path)
    assert every(tmp_path) == every(edition)
    student.write(tmp_path)
    assert every(tmp_path) == every(edition)


def test_it_carries_what_it_needs(edition):
    files = every(edition)
    assert {p.name for p in chapters()} <= files.keys()
    wanted = {"README.md", "AGENTS.md", "LICENSE", "requirements.txt"}
    wanted |= {"book/lib/runtime.py", "book/kit/exercises/__init__.py"}
    wanted |= {"book/data/dates.json", "benchmarks/results/costs.json"}
    assert wanted <= files.keys()
    assert not [name for name in files if "__pycache__" in name]
    assert not [name for name in files if "mistakes" in name]
    for name in student.ASSISTANTS:
        assert b"AGENTS.md" in files[name]
    text = files["AGENTS.md"].decode()
    assert "Ask first" in text and "raise NotImplementedError" in text
    assert re.search(r"^torch==", files["requirements.txt"].decode(), re.M)


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
        "student\nAda\nBo Li\nzoë@uni.example\n",
        "id,student\n1,Ada\n2, Bo Li \n3,zoë@uni.example\n",
    ],
)
def test_a_roster_may_have_a_heading(tmp_path, text):
    rows = student.students(roster(tmp_path, text))
    assert [row["student"] for row in rows] == [
        "Ada",
        "Bo Li",
        "zoë@uni.example",
    ]


@pytest.mark.parametrize(
    "text, why",
    [
        ("Ada\n../Bo\n", "'../Bo' cannot name a folder"),
        ("Ada\n=1+1\n", "'=1+1' cannot name a folder"),
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
    root = tmp_path / "root"
    path = book(root)
    names = roster(tmp_path, "ID,Student,Mail\n1,Ada\n2,Bo,b@c.d\n3,Cem\n")
    out = tmp_path / "out"
    arguments = ["--roster", str(names), "--seed", "5", "--out", str(out)]
    assert student.main(arguments, root) == 0
    with (out / "roster.csv").open(encoding="utf-8", newline="") as file:
        table = [*csv.DictReader(file)]
    assert [row["id"] for row in table] == ["1", "2", "3"]
    assert [row["mail"] for row in table] == ["", "b@c.d", ""]
    rows = {row["student"]: row["variant"] for row in table}
    assert [*rows] == ["Ada", "Bo", "Cem"]
    assert len(set(rows.values())) == 3
    for name, variant in rows.items():
        expected = student.edition(path, int(variant), root)
        made = (out / name / "04_one.ipynb").read_text(encoding="utf-8")
        assert made == sync.to_text(expected)
        assert f"variant={variant})" in made
    assert student.variant_of("Bo", 5) == int(rows["Bo"])
    assert student.variant_of("Bo", 6) != int(rows["Bo"])


def test_who_sits_side_by_side_has_other_numbers():
    given = {student.variant_of(f"student {n}", 5) for n in range(300)}
    assert len(given) >= 299
    assert 1 <= min(given) < student.VARIANTS / 10
    assert student.VARIANTS * 0.9 < max(given) <= student.VARIANTS


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
    before = every(folder)
    assert b"student,variant,seed\n" in before["roster.csv"]
    (folder / "Ada" / "notes.txt").write_text("mine")
    said = student.main(more, tmp_path)
    assert (folder / "Ada" / "notes.txt").read_text() == "mine"
    (folder / "Ada" / "notes.txt").unlink()
    assert every(folder) == before
    assert ("students of a roster" in str(said)) == is_kept


def test_a_seed_is_a_natural_number(tmp_path):
    with pytest.raises(SystemExit):
        student.main(["--seed", "-1"], tmp_path)


def test_only_the_folder_of_the_book_is_written_afresh(tmp_path):
    book(tmp_path)
    usual, other = tmp_path / "_build" / "student", tmp_path / "other"
    for folder, arguments in ((usual, []), (other, ["--out", str(other)])):
        folder.mkdir(parents=True)
        (folder / "notes.txt").write_text("mine")
        assert student.main(arguments, tmp_path) == 0
        assert (folder / "04_one.ipynb").is_file()
    assert not (usual / "notes.txt").exists()
    assert (other / "notes.txt").read_text() == "mine"
    shutil.rmtree(other)


def test_the_address_of_this_book_has_a_place_for_the_edition():
    assert colab.student_path(ROOT) == ""
