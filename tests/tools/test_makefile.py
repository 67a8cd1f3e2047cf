"""What the targets of the Makefile would run, and what `make help` says."""

import os
import re
import shutil
import subprocess

import pytest

from tools.source.taught import ROOT

pytestmark = pytest.mark.skipif(
    not shutil.which("make"), reason="make is not installed"
)


def make(*arguments: str, **env: str) -> subprocess.CompletedProcess:
    """Run make as a user does, not as a child of `make test`."""
    mine = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTHON", "CHAPTER"}
    outer = {name: os.environ[name] for name in os.environ.keys() - mine}
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=ROOT,
        env=outer | env,
        capture_output=True,
        text=True,
        timeout=60,
    )


GRADE = ".venv/bin/python -m tools.grading"
BOX = "SUBMISSIONS=in box"


@pytest.mark.parametrize(
    "arguments, last",
    [
        (["test-gpu"], ".venv/bin/python -m tools.gpu"),
        (["test-gpu", "PYTHON=python3"], "python3 -m tools.gpu"),
        (["sync", "CHAPTER=05"], ".venv/bin/python -m tools.chapters.sync 05"),
        (["grade", BOX, "OUT=o"], f'{GRADE} "in box" --out "o"'),
        (
            ["grade", "CHAPTER=04", "JOBS=3", "ROSTER=r", "OPTIONS=--cpu 60"],
            f'{GRADE} --chapter "04" --jobs "3" --roster "r" --cpu 60',
        ),
        (["answers", BOX], f'{GRADE} "in box" --answers'),
    ],
)
def test_what_is_said_to_make_is_said_to_the_tool(arguments, last):
    said = make("-n", *arguments).stdout.splitlines()
    assert " ".join(said[-1].split()) == last
    assert "PYTHON=python3" not in arguments or len(said) == 1


def test_what_is_made_of_several_parts_is_made_of_all():
    said = make("-n", "test-gpu", PYTHON="python3").stdout
    assert said == "python3 -m tools.gpu\n"
    said = make("-n", "test-notebooks").stdout
    assert said.count("--nbval-cell-timeout 600") == said.count("--nbval ") > 0
    said = make("-n", "sync").stdout
    for page in ("exercises.teaching", "chapters.gallery_page"):
        assert f"-m tools.{page}\n" in said
    assert "-m tools.chapters.shapes_page\n" in said
    for target, parts in {
        ".venv/.tests": "book torch chapters pdf tests",
        ".venv-nbgrader/.done": "torch chapters",
    }.items():
        said = re.findall(r"environment\.py (\w+)", make("-n", target).stdout)
        assert said == parts.split()


def test_a_python_that_is_not_there_is_named_in_one_line():
    done = make("book", "PYTHON=python-of-tomorrow")
    first, last = done.stderr.splitlines()
    assert first == (
        "There is no python-of-tomorrow: install Python 3.11 or newer."
    )
    assert done.returncode and "Error 1" in last


def test_help_lists_every_target():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*?[^\\])$", makefile, re.M | re.S)[1]
    targets = set(phony.replace("\\", "").split()) - {"FORCE"}
    *lines, _ = make("help").stdout.splitlines()
    assert {line.split()[1] for line in lines} == targets
