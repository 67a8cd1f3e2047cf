"""The students' edition: what is taken away, what stays, whose numbers."""

import csv
import re
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from tests.built import quickly
from tests.chapters.made import exercise
from tests.tools.small import put_book
from tools.chapters import sync
from tools.editions import student
from tools.exercises import tasks as exercises
from tools.source import colab
from tools.source.address import PLACEHOLDER
from tools.source.answers import SOLUTION
from tools.source.cells import is_exercise
from tools.source.taught import is_deeper, lessons

LINK = re.compile(r"\]\(([^)\s#]+)[^)\s]*\)")
QUICKEST = next(path for path in lessons() if path.stem == "04_masks")
FILES = {
    "book/lib/one.py": "ONE = 1\n",
    "book/lib/__pycache__/one.pyc": "",
    "book/kit/two.py": "TWO = 2\n",
    "book/data/one.json": "1\n",
    "benchmarks/results/one.json": "1\n",
    "benchmarks/public/reproductions/one.py": "1\n",
    "LICENSE": "MIT\n",
    "LICENSE-TEXT": "CC\n",
}


def every(path: Path) -> dict[str, bytes]:
    """The files of a folder by their place in it."""
    files = (p for p in path.rglob("*") if p.is_file())
    return {str(p.relative_to(path)): p.read_bytes() for p in files}


def book(root: Path, **where: str) -> Path:
    """A book of one chapter with an exercise; its chapter."""
    cells = [
        new_markdown_cell("# 4. One", id="title"),
        new_code_cell(f"{colab.FIRST_LINE}\n1", id="colab"),
        *exercise(),
    ]
    put_book(root, {"04_one": cells}, FILES, **where)
    return root / "book" / "04_one.ipynb"


def test_a_variant_has_numbers_of_its_own_and_the_same_check(tmp_path):
    path, seen = book(tmp_path), set()
    for variant in range(1, 9):
        cells = student.edition(path, variant, tmp_path).cells
        task, answer, check = cells[2:]
        own = student.find("window_mask").numbers(variant)
        width, length = own["width"], own["length"]
        seen.add((width, length))
        assert all(f'"{n}">{own[n]}</span>' in task.source for n in own)
        given = f"width, length = {width}, {length}  # given\n"
        assert answer.source.startswith(given)
        call = f'check("window_mask", window_mask, variant={variant})'
        assert check.source.endswith(call)
    assert len(seen) > 1


def test_a_badge_leads_to_this_edition_or_nowhere(tmp_path):
    public = "https://github.com/some/book"
    for url in (PLACEHOLDER, public):
        for folder in ("", "student"):
            path = book(tmp_path, url=url, student=folder)
            title = student.edition(path, root=tmp_path).cells[0].source
            assert title.startswith("# 4. One\n\n")
            assert title.endswith(student.NOTE)
            link = "/github/some/book/blob/v1/student/04_one.ipynb)"
            has_badge = url == public and bool(folder)
            assert (link in title) == ("colab.research" in title) == has_badge


# The edition of this book.


@pytest.fixture(scope="session")
def edition(tmp_path_factory) -> Path:
    """All of it, as a student gets it."""
    folder = tmp_path_factory.mktemp("edition")
    student.write(folder)
    return folder


def solved(task) -> list[str]:
    """The lines between the markers of an answer."""
    blocks = SOLUTION.findall(task.answer)
    return [line.strip() for _, text in blocks for line in text.splitlines()]


@pytest.mark.parametrize("path", lessons(), ids=lambda path: path.stem)
def test_a_notebook_is_the_chapter_without_its_solutions(path, edition):
    before, after = sync.read(path).cells, sync.read(edition / path.name).cells
    tasks = list(exercises.tasks_of(path, before))
    answers = {task.answer for task in tasks}
    for old, new in zip(before[1:], after[1:], strict=True):
        assert (old.id, old.cell_type) == (new.id, new.cell_type)
        kept = [n.metadata.get("nbgrader", {}) for n in (old, new)]
        assert kept[0] == kept[1]
        assert ("deletable" in new.metadata) == bool(kept[0])
        assert ("editable" in new.metadata) == kept[0].get("grade", False)
        if old.cell_type == "code":
            assert (new.outputs, new.execution_count) == ([], None)
        if old.cell_type == "code" and old.source not in answers:
            assert old.source == new.source
    elsewhere = "\n".join(c.source for c in before if c.source not in answers)
    elsewhere += "\n".join(task.stub for task in tasks)
    text = "\n".join(c.source for c in after)
    lines = {line for task in tasks for line in solved(task)}
    assert tasks or is_deeper(path)
    assert all(li not in text or li in elsewhere for li in lines)
    assert "### BEGIN" not in text and "### END" not in text
    assert text.count("raise NotImplementedError") >= len(tasks)
    for target in LINK.findall(text):
        if target.endswith((".md", ".ipynb", ".py")) and ":" not in target:
            assert (edition / target).is_file(), target


def test_it_carries_what_it_needs_and_no_solution(edition):
    """Of solutions longer ones are looked for: a line may be the library's."""
    files = every(edition)
    wanted = {path.name for path in lessons()}
    wanted |= {"README.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md", "LICENSE"}
    wanted |= {"book/lib/runtime.py", "book/kit/exercises/__init__.py"}
    wanted |= {"book/data/dates.json", "benchmarks/results/costs.json"}
    assert wanted <= files.keys()
    assert not [name for name in files if "mistakes" in name]
    assert re.search(rb"^torch==", files["requirements.txt"], re.M)
    texts = {
        name: " ".join(content.decode(errors="ignore").split())
        for name, content in files.items()
        if name.endswith((".py", ".md", ".json", ".txt"))
    }
    for task in exercises.tasks():
        block = " ".join(" ".join(solved(task)).split())
        if len(solved(task)) > 2:
            assert not [name for name in texts if block in texts[name]], task


def is_check(cell) -> bool:
    return is_exercise(cell) and cell.metadata["nbgrader"]["grade"]


@pytest.mark.parametrize(
    "path",
    quickly(lessons()[::-1], QUICKEST.__eq__),  # the slowest begins
    ids=lambda path: path.stem,
)
def test_a_variant_runs_whole_though_no_answer_is_given_yet(path, edition):
    checks = filter(is_check, sync.read(path).cells)
    calls = [student.CALL.search(cell.source) for cell in checks]
    notebook = student.edition(path, variant=1)
    sync.execute(notebook, edition, path.name)
    said = [c.outputs[0].text for c in notebook.cells if is_check(c)]
    assert said == [f"{call[1]}: not started.\n" for call in calls]


# Students.


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes the edition of a small book, with a roster if there is one."""
    book(tmp_path)
    monkeypatch.chdir(tmp_path)

    def write(options: str, roster: str = ""):
        if roster:
            Path("names.csv").write_text(roster, encoding="utf-8")
            options += " --roster names.csv"
        return student.main(options.split(), tmp_path)

    return write


FOLDER = Path("_build", "student")


def test_a_roster_that_cannot_be_is_refused(write):
    for text, why in {
        "Ada\n../Bo\n": "'../Bo' cannot name a folder",
        "Ada\nBo.\n": "'Bo.' cannot name a folder",
        "First name,Last name\nAda,L\n": "no column is called `student`",
        "Ada\nada\n": "two students have the same name",
        "student\n": "nobody is in it",
        " ": "nobody is in it",
    }.items():
        assert write("", text) == f"student: names.csv: {why}"


def test_every_student_gets_a_folder_and_grading_a_roster(write, tmp_path):
    names = "\ufeffID,Student,Mail\n1,Ada\n\n2, Bo ,'b\x0c\n@c.d'\n3,zoë@uni\n"
    names = names.replace("'", '"')
    assert write("--seed 5 --out out", names) == 0
    with Path("out", "roster.csv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [row["id"] for row in rows] == ["1", "2", "3"]
    assert [row["mail"] for row in rows] == ["", "b\x0c\n@c.d", ""]
    variants = {row["student"]: int(row["variant"]) for row in rows}
    assert [*variants] == ["Ada", "Bo", "zoë@uni"]
    path = Path("book", "04_one.ipynb")
    for name, variant in variants.items():
        expected = sync.to_text(student.edition(path, variant, tmp_path))
        assert Path("out", name, path.name).read_text("utf-8") == expected
    assert student.variant_of("Bo", 5) == variants["Bo"]
    assert student.variant_of("Bo", 6) != variants["Bo"]
    given = {student.variant_of(f"student {n}", 5) for n in range(300)}
    assert len(given) >= 299


def test_what_students_were_given_is_written_again_by_its_seed_alone(write):
    names = "Ada\nBo\n"
    assert write("--seed 5", names) == 0
    (FOLDER / "Ada" / "notes.txt").write_text("mine")
    before = every(FOLDER)
    for options, roster, is_kept in [
        ("", "", True),
        ("--seed 5", "", True),
        ("", names, True),
        ("--seed 6", names, True),
        ("--seed 5", names, False),
        ("", (FOLDER / "roster.csv").read_text(), False),
        ("", "student,variant,seed\nAda,1,5\nBo,,\n", False),
    ]:
        said = write(options, roster)
        assert every(FOLDER) == before
        assert ("students of a roster" in str(said)) == is_kept, options
    with pytest.raises(SystemExit):
        write("--seed -1")


def test_only_a_folder_that_nobody_has_named_is_written_afresh(write):
    FOLDER.mkdir(parents=True)
    (FOLDER / "notes.txt").write_text("mine")
    for out in ("--out _build/student", ""):
        assert write(out) == 0
        assert (FOLDER / "04_one.ipynb").is_file()
        assert (FOLDER / "notes.txt").exists() == bool(out)
    assert not [*FOLDER.rglob("__pycache__")]
