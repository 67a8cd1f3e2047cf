"""What is installed when, with commands that are only written down."""

import ast
import shutil
import sys
from pathlib import Path

import pytest

from tools import environment
from tools.source.taught import ROOT


class Clone:
    """A clone of the book, what was run in it, and what shall fail."""

    def __init__(self, root: Path):
        self.root, self.ran, self.failing = root, [], []
        files = "requirements.txt tests/requirements.txt constraints.txt"
        for name in [*files.split(), "tools/chapters/kernels.py"]:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)

    def call(self, command: list[str], **_) -> bool:
        self.ran.append(" ".join(command[1:]))
        if "--clear" in command:  # -m venv --clear FOLDER
            shutil.rmtree(command[-1], ignore_errors=True)
            Path(command[-1], "bin").mkdir(parents=True)
            Path(command[-1], "bin", "python").touch()
            Path(command[-1], "bin", "pip").touch()
        return any(word in command for word in self.failing)

    def install(self, part: str, anew=False) -> list[str]:
        """What runs, beside venv, when a part is asked for."""
        self.ran.clear()
        if anew:
            (self.root / ".venv" / f".{part}").unlink()
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


def test_the_cpu_build_is_asked_for_first_where_there_is_no_gpu(
    clone, monkeypatch, capsys
):
    first, then = clone.install("torch")
    assert environment.CPU_BUILDS in first and "--no-deps" in first
    assert " torch==" in then and "index" not in then
    assert capsys.readouterr().out.count("\n") == 1
    assert clone.install("torch") == []
    clone.failing = [environment.CPU_BUILDS]
    assert clone.install("torch", anew=True) == [first, then]
    assert "is not reached" in capsys.readouterr().out
    for gpu, platform in (("/bin/nvidia-smi", "linux"), (None, "darwin")):
        monkeypatch.setattr(environment, "HAS_GPU", gpu)
        monkeypatch.setattr(sys, "platform", platform)
        assert clone.install("torch", anew=True) == [then]


def test_a_part_is_installed_once_and_when_a_pin_changes(clone, capsys):
    (line,) = clone.install("book")
    assert "jupyter-book==" in line and "torch" not in line
    assert f"-c {clone.root / 'constraints.txt'}" in line
    assert capsys.readouterr().out.startswith("Installing what builds the")
    for name in ("requirements.txt", "constraints.txt"):
        assert clone.install("book") == []
        path = clone.root / name
        path.write_text(path.read_text().replace("pillow==", "pillow==1"))
        assert len(clone.install("book")) == 1


def test_a_failure_says_why_and_leaves_no_stamp(clone):
    clone.failing = environment.read("book")[1]
    for _ in range(2):
        with pytest.raises(SystemExit, match="Is there a network, or"):
            clone.install("book")


def test_a_clone_that_moves_or_loses_its_python_is_made_anew(
    clone, monkeypatch
):
    assert clone.install("tests")[-1] == "-m tools.chapters.kernels"
    moved = clone.root.rename(clone.root.with_name("moved"))
    monkeypatch.setattr(environment, "ROOT", moved)
    assert clone.install("tests")[-1] == "-m tools.chapters.kernels"
    (moved / ".venv" / "bin" / "python").unlink()
    assert len(clone.install("tests")) == 2
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


def test_each_pin_stands_once_and_in_the_lock():
    parts = ("book", "torch", "chapters", "pdf", "lab", "tests")
    pins = [pin for part in parts for pin in environment.read(part)[1]]
    lock = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert len(pins) == len(set(pins)) > 20 and set(pins) <= set(lock)
