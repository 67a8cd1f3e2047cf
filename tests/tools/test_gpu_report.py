"""The report of a GPU, tested without one."""

import json
from pathlib import Path

import pytest

from tests.tools.small import put, python
from tests.tools.test_plugin import stdout, write_notebook
from tools import gpu
from tools.chapters.alone import git
from tools.source.taught import ROOT

DEVICE = "NVIDIA H200 (fake)"
MACHINE = {"device": DEVICE, "torch": "2.11.0"}
LIBRARY = """\
import os

def test_a():
    assert os.environ["BOOK_DEVICE"] == "cuda"

def test_b():
    assert {}
"""
# Of the kernel and of where it was looked for.
ASKS = """\
import os
print(os.environ["BOOK_DEVICE"], "book-jupyter-" in os.environ["JUPYTER_PATH"])
"""
# What a fake of a GPU does: the report of a run on the kernel book-cpu.
DRY_RUN = f"""\
import functools
from pathlib import Path
from tools import gpu

gpu.refusal = str
gpu.machine = lambda: {MACHINE}
gpu.check = functools.partial(gpu.check, "book-cpu", Path.cwd())
gpu.main()
"""


@pytest.mark.slow
def test_without_a_gpu_it_says_so_in_one_line():
    result = python("-m", "tools.gpu", CUDA_VISIBLE_DEVICES="")
    assert result.returncode == 1
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith("test-gpu: no GPU: torch ")


def test_missing_packages_are_named_in_one_line(monkeypatch):
    assert "missing packages" not in gpu.refusal()
    monkeypatch.setattr(gpu, "NEEDED", ["json", "no_such", "nor_this"])
    message = "test-gpu: missing packages: no_such, nor_this"
    with pytest.raises(SystemExit, match=f"^{message}$"):
        gpu.main()


def put_book(root: Path, is_right: bool) -> None:
    """Two notebooks, unit tests and a benchmark; of each may be one wrong."""
    record = "def record():\n    return {'short': 0.9}"
    wrong = "raise OSError('no flash')"
    put(root, {
        "tests/library/test_a.py": LIBRARY.format(is_right),
        "benchmarks/__init__.py": "",
        "benchmarks/attention.py": record if is_right else wrong,
        "pyproject.toml": "[tool.pytest.ini_options]\n",
        "book/index.md": "",
    })  # fmt: skip
    asks = (ASKS, [stdout("cpu True\n")])
    write_notebook(root / "book/01_a.ipynb", asks)
    more = asks if is_right else ("print(1)", [])
    write_notebook(root / "book/02_b.ipynb", more)


def dry_run(root: Path, **env: str) -> tuple[str, dict]:
    """What it says of a failure, and the report."""
    done = python("-c", DRY_RUN, cwd=root, PYTHONPATH=str(ROOT), **env)
    path = root / "reports" / "nvidia-h200-fake.json"
    assert f"report: {path}" in done.stdout, done.stderr
    assert bool(done.returncode) == bool(done.stderr)
    report = json.loads(path.read_text())
    assert report["torch"] == "2.11.0"
    for name, result in report["notebooks"].items():
        hashed = gpu.source_hash(root / "book" / name)
        assert result.pop("code_sha256") == hashed
    return done.stderr, report


@pytest.mark.parametrize(
    "is_right", [True, pytest.param(False, marks=pytest.mark.slow)]
)
def test_what_passed_and_what_failed_stands_in_the_report(tmp_path, is_right):
    put_book(tmp_path, is_right)
    git("-C", tmp_path, "init", "-q")
    git("-C", tmp_path, "add", ".")
    git("-C", tmp_path, "commit", "-q", "-m", "one")
    head = git("-C", tmp_path, "rev-parse", "HEAD")
    without_git = {} if is_right else {"PATH": ""}
    said, report = dry_run(tmp_path, **without_git)
    assert said == ("" if is_right else f"test-gpu: failed on {DEVICE}\n")
    second = {"passed": int(is_right), "failed": int(not is_right)}
    first = {"passed": 1, "failed": 0}
    assert report["notebooks"] == {"01_a.ipynb": first, "02_b.ipynb": second}
    assert report["library"] == {k: first[k] + second[k] for k in first}
    assert report["commit"] == (head if is_right else None)
    wrong = {"error": "OSError: no flash"}
    measured = {"short": 0.9} if is_right else wrong
    assert report["benchmarks"] == {"attention": measured}
    put(tmp_path, {"pyproject.toml": ""})
    assert gpu.commit(tmp_path) == f"{head}-dirty"


def test_what_did_not_run_has_failed_and_the_hash_is_of_the_code(tmp_path):
    path = tmp_path / "book" / "01_a.ipynb"
    path.parent.mkdir()
    write_notebook(path, ("print(0.23)", []))
    report, before = gpu.outcomes({}, tmp_path), gpu.source_hash(path)
    failed = {"passed": 0, "failed": 1, "code_sha256": before}
    assert report["notebooks"] == {"01_a.ipynb": failed}
    assert report["library"] == {"passed": 0, "failed": 0}
    write_notebook(path, ("print(0.23)", [stdout("0.23\n")]))
    assert gpu.source_hash(path) == before
    write_notebook(path, ("print(0.24)", []))
    assert gpu.source_hash(path) != before
