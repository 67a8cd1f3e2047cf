"""What is installed when, with commands that are only written down."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import environment
from tools.taught import ROOT

FILES = "requirements.txt tests/requirements.txt constraints.txt".split()
FAILING = "pip could not install it. Is there a network, or a mirror"


class Clone:
    """A clone of the book, and what was run in it."""

    def __init__(self, root: Path):
        self.root, self.ran, self.failing = root, [], ()
        for name in [*FILES, "tools/kernels.py"]:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)

    def call(self, command: list[str], **_) -> int:
        self.ran.append(" ".join(command[1:]))
        if "--clear" in command:  # -m venv --clear FOLDER
            shutil.rmtree(command[-1], ignore_errors=True)
            Path(command[-1], "bin").mkdir(parents=True)
            for name in ("python", "pip"):
                Path(command[-1], "bin", name).touch()
        return int(any(word in command for word in self.failing))

    def install(self, part: str) -> list[str]:
        """What runs when a part is asked for."""
        self.ran.clear()
        environment.main(part)
        return [line for line in self.ran if "--clear" not in line]


@pytest.fixture
def clone(tmp_path, monkeypatch):
    clone = Clone(tmp_path / "clone")
    monkeypatch.setattr(environment, "ROOT", clone.root)
    monkeypatch.setattr(environment, "call", clone.call)
    monkeypatch.setattr(environment, "HAS_GPU", False)
    monkeypatch.setattr(sys, "platform", "linux")
    return clone


def test_without_a_gpu_the_cpu_build_is_asked_for_first(clone, capsys):
    first, then = clone.install("torch")
    assert environment.CPU_BUILDS in first and "--no-deps" in first
    assert " torch==" in then and "index" not in then
    assert capsys.readouterr().out.count("\n") == 1


def test_without_its_index_pip_takes_what_it_has(clone, capsys):
    clone.failing = [environment.CPU_BUILDS]
    assert len(clone.install("torch")) == 2
    assert "is not reached" in capsys.readouterr().out
    assert clone.install("torch") == []


def test_with_a_gpu_or_a_mac_it_is_not_asked_for(clone, monkeypatch):
    monkeypatch.setattr(environment, "HAS_GPU", "/usr/bin/nvidia-smi")
    (line,) = clone.install("torch")
    assert "index" not in line
    (clone.root / ".venv" / ".torch").unlink()
    monkeypatch.setattr(environment, "HAS_GPU", False)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert clone.install("torch") == [line]


def test_a_part_is_installed_once_and_when_a_pin_changes(clone, capsys):
    (line,) = clone.install("book")
    assert "jupyter-book==" in line and "torch" not in line
    assert capsys.readouterr().out.startswith("Installing what builds the")
    assert clone.install("book") == []
    for name in ("requirements.txt", "constraints.txt"):
        path = clone.root / name
        path.write_text(path.read_text().replace("pillow==", "pillow==1"))
        assert len(clone.install("book")) == 1 and clone.install("book") == []


def test_a_failure_says_why_and_leaves_no_stamp(clone):
    clone.failing = environment.read("book")[1]
    for _ in range(2):
        with pytest.raises(SystemExit, match=FAILING):
            clone.install("book")


def test_the_kernels_are_written_again_where_the_clone_goes(
    clone, monkeypatch
):
    assert clone.install("tests")[-1] == "-m tools.kernels"
    clone.root = clone.root.rename(clone.root.with_name("moved"))
    monkeypatch.setattr(environment, "ROOT", clone.root)
    assert clone.install("tests")[-1] == "-m tools.kernels"


def test_a_lost_python_makes_the_environment_anew(clone):
    clone.install("book")
    python = clone.root / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/nowhere/python3.11")
    assert len(clone.install("book")) == 1
    assert clone.ran[0].startswith("-m venv --clear")


def test_a_python_that_cannot_work_is_refused_in_a_line(clone, monkeypatch):
    monkeypatch.setattr(environment, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="apt-get install python3-venv"):
        clone.install("book")
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    with pytest.raises(SystemExit, match="is Python 3.9, the book needs 3.11"):
        clone.install("book")
    source = Path(environment.__file__).read_text("utf-8")
    ast.parse(source, feature_version=(3, 6))


@pytest.mark.parametrize(
    "target, parts",
    [
        ("book", "book"),
        (".venv/.tests", "book torch chapters pdf tests"),
        (".venv-nbgrader/.done", "torch chapters"),
        (".venv-conformance/.done", "torch"),
    ],
)
def test_make_asks_for_the_parts_in_order(target, parts):
    mine = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}
    outer = {name: os.environ[name] for name in os.environ.keys() - mine}
    done = subprocess.run(
        ["make", "-n", target], cwd=ROOT, env=outer, capture_output=True
    )
    asked = re.findall(rb"environment\.py (\w+)", done.stdout)
    assert b" ".join(asked).decode() == parts


def test_each_pin_stands_once_and_in_the_lock():
    parts = ("book", "torch", "chapters", "pdf", "lab", "tests")
    pins = [pin for part in parts for pin in environment.read(part)[1]]
    lock = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert len(pins) == len(set(pins)) > 20 and set(pins) <= set(lock)
