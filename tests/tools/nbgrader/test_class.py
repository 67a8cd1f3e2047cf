"""A class with nbgrader: the chapters go through unchanged.

`make test-nbgrader` runs this in an environment of its own. Generate,
release, fetch, submit, collect, autograde and feedback are the commands that
a teacher types, on a folder as exchange.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("nbgrader", reason="make test-nbgrader installs it")
ROOT = Path(__file__).resolve().parents[3]
CHAPTER = "04_masks"
CONFIG = """
c = get_config()
c.CourseDirectory.course_id = "attention"
c.Exchange.root = {exchange!r}
c.ClearSolutions.code_stub = {{"python": "raise NotImplementedError"}}
c.ClearSolutions.begin_solution_delimeter = "### BEGIN SOLUTION"
c.ClearSolutions.end_solution_delimeter = "### END SOLUTION"
c.NbGrader.logfile = ""
"""


class Class:
    """A course folder, an exchange, and students with a home each."""

    def __init__(self, folder: Path):
        self.course, self.exchange = folder / "course", folder / "exchange"
        self.homes = folder / "homes"
        source = self.course / "source" / "masks"
        source.mkdir(parents=True)
        self.exchange.mkdir(mode=0o777)
        shutil.copy(ROOT / "book" / f"{CHAPTER}.ipynb", source)
        for part in ("lib", "kit", "data"):
            shutil.copytree(
                ROOT / "book" / part,
                source / part,
                ignore=shutil.ignore_patterns("__pycache__"),
            )
        config = CONFIG.format(exchange=str(self.exchange))
        (self.course / "nbgrader_config.py").write_text(config)

    def home(self, student: str) -> Path:
        home = self.homes / student
        home.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.course / "nbgrader_config.py", home)
        return home

    def teacher(self, *command: str, **environment: str) -> None:
        self.run(self.course, *command, **environment)

    def student(self, name: str, *command: str) -> None:
        home = self.home(name)
        self.run(home, *command, HOME=str(home), USER=name)

    def run(self, folder: Path, *command: str, **environment: str) -> None:
        """Run nbgrader, which calls programs beside its interpreter."""
        programs = Path(sys.executable).parent
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *command],
            cwd=folder,
            env=os.environ | {"PATH": path} | environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def answer(path: Path, answers: dict[str, str]) -> None:
    """Write answers into the cells for them."""
    notebook = nbformat.read(path, 4)
    for cell in notebook.cells:
        grader = cell.metadata.get("nbgrader", {})
        if grader.get("solution") and grader["grade_id"] in answers:
            cell.source = answers[grader["grade_id"]]
    nbformat.write(notebook, path)


PAGE = nbformat.read(ROOT / "book" / f"{CHAPTER}.ipynb", 4)
GRADED = [
    (cell.metadata["nbgrader"], cell.source)
    for cell in PAGE.cells
    if "nbgrader" in cell.metadata
]
SOLUTIONS = {m["grade_id"]: text for m, text in GRADED if m["solution"]}
POINTS = {m["grade_id"]: m["points"] for m, _ in GRADED if m["grade"]}
WRONG = {
    "window_mask": "def window_mask(length, width):\n"
    "    return causal_mask(length)"
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The whole way of three students: all right, one wrong, nothing."""
    room = Class(tmp_path_factory.mktemp("class"))
    room.teacher("generate_assignment", "masks", "--create")
    room.teacher("release_assignment", "masks")
    answers = {"ada": SOLUTIONS, "ben": SOLUTIONS | WRONG, "cai": {}}
    for name, theirs in answers.items():
        room.student(name, "fetch_assignment", "masks")
        answer(room.home(name) / "masks" / f"{CHAPTER}.ipynb", theirs)
        room.student(name, "submit", "masks")
        collect(room, name)
    room.teacher(
        "autograde",
        "masks",
        "--create",
        "--ExecutePreprocessor.timeout=300",
        BOOK_STRICT="1",
    )
    room.teacher("generate_feedback", "masks")
    return room


def collect(room: Class, name: str) -> None:
    """What `nbgrader collect` does where each student has an account.

    One account plays all of them here, so the name of the folder in the
    exchange is the only thing that tells them apart.
    """
    inbound = room.exchange / "attention" / "inbound"
    newest = max(inbound.iterdir(), key=lambda path: path.stat().st_mtime)
    target = room.course / "submitted" / name / "masks"
    shutil.copytree(newest, target)
    shutil.rmtree(newest)


def table(room: Class) -> dict[tuple[str, str], float]:
    """The points of each student for each exercise."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{room.course / 'gradebook.db'}") as book:
        return {
            (work.student.id, grade.name): grade.auto_score
            for work in book.assignment_submissions("masks")
            for notebook in work.notebooks
            for grade in notebook.grades
        }


def test_what_is_released_holds_no_solution(graded):
    path = graded.course / "release" / "masks" / f"{CHAPTER}.ipynb"
    text = path.read_text(encoding="utf-8")
    assert "SOLUTION" not in text
    cells = {
        c["metadata"].get("nbgrader", {}).get("grade_id"): "".join(c["source"])
        for c in json.loads(text)["cells"]
    }
    for name, source in SOLUTIONS.items():
        assert "raise NotImplementedError" in cells[name]
        body = source.partition("### BEGIN SOLUTION")[2].strip().splitlines()
        assert body[-2].strip() not in cells[name]


def test_each_answer_earns_its_points(graded):
    earned = table(graded)
    for exercise, most in POINTS.items():
        is_wrong = exercise == "window_mask-check"
        assert earned["ada", exercise] == most
        assert earned["ben", exercise] == (0 if is_wrong else most)
        assert earned["cai", exercise] == 0


def test_the_feedback_shows_the_hint(graded):
    path = graded.course / "feedback" / "ben" / "masks" / f"{CHAPTER}.html"
    assert "window_mask: not yet." in path.read_text(encoding="utf-8")
