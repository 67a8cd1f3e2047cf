"""`make grade` from end to end, with a sandbox that only pretends."""

import csv
import json
import os
import threading
import time
from pathlib import Path

import pytest

from tests.grading.handed_in import NAME, chapter, handed_in, save, solutions
from tools.grading import __main__ as command
from tools.grading import apart, attempts, notebook, running, sandbox
from tools.grading.answers import file_name

RIGHT = solutions("window_mask")["window_mask"]
MASK = "def window_mask(length, width):\n    return {}"


class Pretended(sandbox.Sandbox):
    """Says that an answer is right if it says so itself."""

    jobs: list[dict] = []
    fails = 0

    def start(self):
        self.process, self.apart = True, True

    def attempt(self, job):
        if type(self).fails:
            type(self).fails -= 1
            self.close()
            raise sandbox.SandboxError("it broke off")
        self.jobs.append(job)
        answer = job["own"][-1]
        state = "right" if "return" in answer else "wrong"
        return {"state": state, "share": 1.0, "hint": "no", "seconds": 0.5}

    def close(self):
        self.process = None


def forget(known=(sandbox.program, sandbox.as_root)):
    for remembered in known:
        remembered.cache_clear()


@pytest.fixture(autouse=True)
def fresh():
    """What is remembered of this system is asked anew, here and later."""
    forget()
    yield
    forget()


@pytest.fixture
def pretended(monkeypatch):
    """Grading without bubblewrap."""
    monkeypatch.setattr(Pretended, "jobs", [])
    monkeypatch.setattr(Pretended, "fails", 0)
    monkeypatch.setattr(running, "Sandbox", Pretended)
    monkeypatch.setattr(sandbox, "as_root", lambda: False)
    return Pretended


@pytest.fixture
def folder(tmp_path):
    """Three notebooks: one answer, two answers, none."""
    both = {"window_mask": MASK.format(2), "my_attention": "x = 1"}
    for student, answers in (
        ("alice", {"window_mask": MASK.format(1)}),
        ("bob", both),
        ("carol", {}),
    ):
        save(handed_in(answers), tmp_path / "in" / student / f"{NAME}.ipynb")
    return tmp_path


def grade(folder: Path, *more: str) -> list[dict]:
    """The rows of grades.csv after a run."""
    arguments = [f"{folder}/in", "--out", f"{folder}/out", "--chapter", "04"]
    assert command.main([*arguments, *more]) == 0
    with (folder / "out" / "grades.csv").open(encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def test_a_run_writes_all_that_it_promises(pretended, folder, capsys):
    rows = grade(folder)
    assert len(rows) == 3 * len(chapter().tasks)
    earned = {(r["student"], r["exercise"].split()[0]): r for r in rows}
    assert earned["alice", "4.1"]["points"] == "1"
    assert earned["alice", "4.1"]["seconds"] == "0.50"
    assert earned["bob", "4.2"]["points"] != earned["bob", "4.2"]["of"]
    assert {r["hint"] for r in rows if r["student"] == "carol"} == {
        "not started"
    }
    assert {path.name for path in (folder / "out").iterdir()} == {
        "grades.csv",
        "students.csv",
        "summary.html",
        "canvas.csv",
        "moodle.csv",
        "moodle.xml",
        "results.jsonl",
        "seed.txt",
    }
    assert "summary.html" in capsys.readouterr().out
    lines = (folder / "out" / "results.jsonl").read_text().splitlines()
    states = sorted(json.loads(line)["state"] for line in lines)
    assert states == ["right", "right", "wrong"]


def test_only_what_has_changed_is_tried_again(pretended, folder, monkeypatch):
    """And of the first run no stub: they need no sandbox."""

    def tried() -> list[str]:
        """The last cells of what is tried now."""
        pretended.jobs.clear()
        rows.append(grade(folder))
        return [job["own"][-1] for job in pretended.jobs]

    rows = []
    assert len(tried()) == 3
    assert tried() == [] and rows[0] == rows[1]
    answers = {"window_mask": MASK.format(2), "my_attention": "x = 2"}
    save(handed_in(answers), folder / "in" / "bob" / f"{NAME}.ipynb")
    save(handed_in(answers), folder / "in" / "dave" / f"{NAME}.ipynb")
    assert tried() == ["x = 2"]
    monkeypatch.setattr(attempts, "library_digest", lambda: "changed")
    assert len(tried()) == 3


def test_an_interrupted_run_goes_on(pretended, folder, monkeypatch):
    """What was done is kept; the rest is done by the next run."""
    real = pretended.attempt

    def attempt(box, job):
        if len(pretended.jobs) == 2:
            raise KeyboardInterrupt
        return real(box, job)

    with monkeypatch.context() as patch:
        patch.setattr(pretended, "attempt", attempt)
        patch.setattr(threading.Thread, "start", threading.Thread.run)
        arguments = [f"{folder}/in", "--out", f"{folder}/out", "--jobs", "1"]
        said = command.main(arguments)
    assert said == "Stopped. Run it again to go on from here."
    assert not (folder / "out" / "grades.csv").exists()
    pretended.jobs.clear()
    assert len(grade(folder)) == 3 * len(chapter().tasks)
    assert len(pretended.jobs) == 1


def test_a_sandbox_that_fails_once_costs_nothing(pretended, folder):
    pretended.fails = 1
    points = [row["points"] for row in grade(folder, "--jobs", "1")]
    assert "" not in points


def test_an_answer_that_no_sandbox_survives_is_not_graded(pretended, folder):
    pretended.fails = running.TRIES
    rows = grade(folder, "--jobs", "1")
    (row,) = (row for row in rows if not row["points"])
    assert row["hint"] == "could not be graded (it broke off)"
    assert "" not in [row["points"] for row in grade(folder)]


def test_a_sandbox_that_never_starts_ends_the_run(
    pretended, folder, monkeypatch
):
    def start(self):
        raise sandbox.SandboxError("there can be none")

    monkeypatch.setattr(pretended, "start", start)
    said = command.main([f"{folder}/in", "--out", f"{folder}/out"])
    assert said == "there can be none"


# Variants, seeds and limits.


def roster(folder: Path, text: str) -> list[str]:
    (folder / "roster.csv").write_text(text)
    return ["--roster", f"{folder}/roster.csv"]


def test_the_rosters_variant_wins_and_the_other_is_noted(pretended, folder):
    more = roster(folder, "student,variant\nalice,3\nbob,\n")
    rows = grade(folder, *more)
    notes = {row["student"]: row["notes"] for row in rows}
    assert "variant 0 in the notebook, 3 in the roster" in notes["alice"]
    assert "variant" not in notes["bob"]
    assert "not in the roster" in notes["carol"]
    checks = {job["own"][-1]: job["check"] for job in pretended.jobs}
    assert "variant=3" in checks[MASK.format(1)]
    assert "variant=0" in checks[MASK.format(2)]


def test_everybody_gets_the_same_seed_in_every_run(pretended, folder):
    grade(folder)
    seed = int((folder / "out" / "seed.txt").read_text())
    assert all(f"seed={seed}" in job["check"] for job in pretended.jobs)
    pretended.jobs.clear()
    grade(folder, "--seed", str(seed + 1))
    assert len(pretended.jobs) == 3
    pretended.jobs.clear()
    grade(folder, "--seed", "7", "--out", f"{folder}/out/new")
    assert all("seed=7" in job["check"] for job in pretended.jobs)
    assert (folder / "out" / "new" / "grades.csv").exists()


def test_limits_are_read():
    given = command.options(["x", "--cpu", "7", "--memory", "100"])
    assert command.limits(given) == sandbox.Limits(
        cpu=7, wall=14, memory=100 << 20
    )
    assert command.limits(command.options(["x"])) == sandbox.Limits()


def test_limits_reach_every_sandbox(pretended, folder, monkeypatch):
    given, plain = [], pretended.__init__
    monkeypatch.setattr(
        pretended,
        "__init__",
        lambda box, limits, *more: (
            given.append(limits) or plain(box, limits, *more)
        ),
    )
    grade(folder, "--cpu", "7", "--memory", "100", "--jobs", "2")
    wanted = sandbox.Limits(cpu=7, wall=14, memory=100 << 20)
    assert given == [wanted, wanted]


# What one notebook can do to the others: nothing.


@pytest.mark.slow
def test_what_is_too_large_costs_only_itself(pretended, folder, monkeypatch):
    monkeypatch.setattr(apart, "SECONDS", 1)
    monkeypatch.setattr(apart, "MEMORY", 64 << 20)
    answers = {"window_mask": MASK.format(7)}
    path = folder / "in" / "many magics" / f"{NAME}.ipynb"
    save(handed_in(answers, last=["%a\n" * 60_000]), path)
    much = save({}, folder / "in" / "much memory" / f"{NAME}.ipynb")
    much.write_text('{"cells": [' + "[]," * 4_000_000 + "[]]}")
    rows = grade(folder)
    for student, why in {
        "many magics": "more than 1 s to read",
        "much memory": "to read",
    }.items():
        hers = [row for row in rows if row["student"] == student]
        assert len(hers) == len(chapter().tasks)
        assert {row["points"] for row in hers} == {"0"}
        assert all(why in row["hint"] for row in hers), hers[0]
    assert len(pretended.jobs) == 3, "those of the others"


def test_who_reads_may_come_to_an_end(pretended, folder, monkeypatch):
    """Whatever a text does to the reader, the others are read."""
    real = notebook.read

    def read(path):
        if "bob" in str(path):
            os._exit(1)
        return real(path)

    monkeypatch.setattr(notebook, "read", read)
    rows = {r["student"]: r for r in grade(folder)}
    assert rows["bob"]["hint"] == "it ends Python when it is read"
    assert len(pretended.jobs) == 1


@pytest.mark.slow
def test_who_comes_to_an_end_early_has_not_taken_too_long(monkeypatch):
    """Whatever time is used up: only the limit itself says so."""
    monkeypatch.setattr(apart, "SECONDS", 1)

    def work(seconds):
        while time.process_time() < seconds:
            pass
        os._exit(1)

    with pytest.raises(apart.Overrun, match="^it ends Python when it is read"):
        apart.apart(lambda: work(0.7))
    with pytest.raises(apart.Overrun, match="^it takes more than 1 s"):
        apart.apart(lambda: work(30))


def test_a_name_that_is_in_the_notebook_is_looked_for(
    pretended, folder, monkeypatch
):
    """It was missing where the answer ran: that may be our fault."""
    said = "your code stops with NameError: name '{}' is not defined (line 2)"

    def attempt(self, job):
        name = "mine" if "mine" in job["own"][-1] else "yours"
        return {"state": "stopped", "hint": said.format(name)}

    monkeypatch.setattr(pretended, "attempt", attempt)
    for student in ("mine", "yours"):
        answers = {"window_mask": MASK.format(student)}
        raw = handed_in(answers, last=["%time mine = 1"])
        save(raw, folder / "in" / student / f"{NAME}.ipynb")
    rows = {r["student"]: r for r in grade(folder) if r["seconds"]}
    assert rows["mine"]["notes"] == "look by hand: mine is in the notebook"
    assert rows["yours"]["notes"] == ""


# What is said when something is missing.


@pytest.mark.parametrize(
    "arguments, why",
    [
        ("", "SUBMISSIONS=folder"),
        ("none", "no folder"),
        ("in --out out", "nothing was handed in"),
        ("in --chapter 99", "named 99"),
    ],
)
def test_what_is_missing_is_said(tmp_path, monkeypatch, arguments, why):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    assert why in command.main(arguments.split())


def test_bubblewrap_that_is_missing_is_named(folder, monkeypatch):
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    said = command.main([f"{folder}/in", "--out", f"{folder}/out"])
    assert "apt-get install -y bubblewrap" in said


def test_a_system_that_forbids_sandboxes_is_told_from_it(
    folder, monkeypatch, tmp_path
):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'setting up uid map: denied' >&2\nexit 1")
    fake.chmod(0o755)
    monkeypatch.setattr(sandbox, "program", lambda: str(fake))
    said = command.main([f"{folder}/in", "--out", f"{folder}/out"])
    assert "setting up uid map: denied" in said
    assert "sysctl" in said and "container" in said


def test_another_system_than_linux_is_sent_to_a_container(monkeypatch):
    monkeypatch.setattr(sandbox.sys, "platform", "darwin")
    with pytest.raises(sandbox.SandboxError, match="needs Linux"):
        sandbox.program()


# The answers as files.


def test_answers_become_files(folder, tmp_path):
    """They need no sandbox, and nothing that was not begun is written."""
    helper = handed_in(
        {"window_mask": MASK.format("mine")}, first=["%time\nmine = 1"]
    )
    save(helper, folder / "in" / "../x" / f"{NAME}.ipynb")
    save(helper, folder / "in" / "a b:c*d" / f"{NAME}.ipynb")
    save(helper, folder / "in" / "a b:c*d" / f"{NAME} (1).ipynb")
    out = folder / "out"
    arguments = [f"{folder}/in", "--out", f"{out}", "--answers"]
    for _ in range(2):
        assert command.main(arguments) == 0
        place = out / "answers" / NAME / "4.1 window_mask"
        names = {path.name for path in place.iterdir()}
        assert names == {
            "alice.py", "bob.py", "a b_c_d.py", "a b_c_d 2.py"
        }  # fmt: skip
    text = (place / "a b_c_d.py").read_text()
    assert text == f"pass\nmine = 1\n\n\n{MASK.format('mine')}\n"
    stub = out / "answers" / "given" / NAME / "4.1 window_mask" / "stub.py"
    assert "NotImplementedError" in stub.read_text()
    for path in out.rglob("*.py"):
        compile(path.read_text(), path, "exec")


def test_a_name_of_a_student_cannot_leave_the_folder():
    for name in ("../../x", "..", "", "/etc/passwd", "a" * 500, "\n"):
        found = file_name(name)
        assert found and "/" not in found and not found.startswith(".")
        assert len(found) <= 100
