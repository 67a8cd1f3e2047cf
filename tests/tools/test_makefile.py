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
        (["test-gpu", "PYTHON=python3"], "python3 -m tools.gpu"),
        (["sync", "CHAPTER=05"], ".venv/bin/python -m tools.chapters.sync 05"),
        (
            ["grade", BOX, "OUT=o", *"CHAPTER=04 JOBS=3 ROSTER=r".split()],
            f'{GRADE} "in box" --out "o" --chapter "04" --jobs "3" '
            '--roster "r"',
        ),
        (["answers", BOX, "OPTIONS=-x"], f'{GRADE} "in box" -x --answers'),
    ],
)
def test_what_is_said_to_make_is_said_to_the_tool(arguments, last):
    said = make("-n", *arguments).stdout.splitlines()
    assert " ".join(said[-1].split()) == last
    assert "PYTHON=python3" not in arguments or len(said) == 1


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
