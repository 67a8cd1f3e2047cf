"""What the targets of the Makefile would run, and what `make help` says."""

import os
import re
import shutil
import subprocess

import pytest

from tools.taught import ROOT

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


def commands(*arguments: str, **env: str) -> list[str]:
    return make("-n", *arguments, **env).stdout.splitlines()


def test_the_gpu_is_tested_in_the_environment():
    lines = commands("test-gpu")
    assert lines[-1] == ".venv/bin/python -m tools.gpu_report"
    assert "tools/environment.py tests" in lines[-2]


@pytest.mark.parametrize(
    "arguments, env", [(["PYTHON=python3"], {}), ([], {"PYTHON": "python3"})]
)
def test_a_python_that_is_named_tests_the_gpu_as_it_is(arguments, env):
    lines = commands("test-gpu", *arguments, **env)
    assert lines == ["python3 -m tools.gpu_report"]


def test_one_chapter_can_be_synced():
    assert commands("sync", "CHAPTER=05")[-1] == (
        ".venv/bin/python -m tools.sync 05"
    )
    chapters, teaching, gallery, shapes = commands("sync")[-4:]
    assert chapters.strip().endswith("-m tools.sync")
    assert teaching.endswith("-m tools.teaching")
    assert gallery.endswith("-m tools.gallery_page")
    assert shapes.endswith("-m tools.shapes_page")


def test_grading_is_told_all_that_was_said():
    said = ["SUBMISSIONS=in box", "OUT=o", "CHAPTER=04", "JOBS=3"]
    line = commands("grade", *said, "ROSTER=r.csv", "OPTIONS=--cpu 60")[-1]
    assert " ".join(line.split()) == (
        '.venv/bin/python -m tools.grading "in box" --out "o" --chapter "04" '
        '--jobs "3" --roster "r.csv" --cpu 60'
    )
    line = commands("answers", "SUBMISSIONS=x")[-1]
    assert " ".join(line.split()) == (
        '.venv/bin/python -m tools.grading "x" --answers'
    )


def test_a_python_that_is_not_there_is_named_in_one_line():
    done = make("book", "PYTHON=python-of-tomorrow")
    first, last = done.stderr.splitlines()
    assert first == (
        "There is no python-of-tomorrow: install Python 3.11 or newer."
    )
    assert done.returncode and "Error 1" in last


def test_help_lists_every_target_in_columns():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*?[^\\])$", makefile, re.M | re.S)[1]
    targets = set(phony.replace("\\", "").split()) - {"FORCE"}
    *lines, hint = make("help").stdout.splitlines()
    listed = {line.split()[1] for line in lines}
    assert listed == targets
    for line in lines:
        assert line.startswith("  make ") and line[34] == " " != line[35]
        assert "|" not in line and len(line) < 100
    assert "README" in hint
