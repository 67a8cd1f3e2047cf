"""The report of a GPU, tested without one."""

import json
import os

import pytest
import torch

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
    assert False
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


def test_why_it_cannot_be_is_said_in_one_line(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert gpu.refusal().startswith("no GPU: torch ")
    monkeypatch.setattr(gpu, "NEEDED", ["json", "no_such", "nor_this"])
    message = "test-gpu: missing packages: no_such, nor_this"
    with pytest.raises(SystemExit, match=f"^{message}$"):
        gpu.main()


def test_it_succeeds_if_nothing_has_failed(monkeypatch):
    report = {"library": {"failed": 0}, "notebooks": {"a": {"failed": 0}}}
    monkeypatch.setattr(gpu, "refusal", str)
    monkeypatch.setattr(gpu, "check", lambda: (report, "a.json"))
    monkeypatch.setattr(os, "environ", {})
    gpu.main()


def test_what_passed_and_what_failed_stands_in_the_report(
    tmp_path, monkeypatch
):
    put(tmp_path, {
        "tests/library/test_a.py": LIBRARY,
        "benchmarks/__init__.py": "",
        "benchmarks/attention.py": "def record():\n    return {'short': 0.9}",
        "pyproject.toml": "[tool.pytest.ini_options]\n",
        "book/index.md": "",
    })  # fmt: skip
    asks = (ASKS, [stdout("cpu True\n")])
    write_notebook(tmp_path / "book/01_a.ipynb", asks)
    write_notebook(tmp_path / "book/02_b.ipynb", ("print(1)", []))
    git("-C", tmp_path, "init", "-q")
    git("-C", tmp_path, "add", ".")
    git("-C", tmp_path, "commit", "-q", "-m", "one")
    head = git("-C", tmp_path, "rev-parse", "HEAD")

    done = python("-c", DRY_RUN, cwd=tmp_path, PYTHONPATH=str(ROOT))
    path = tmp_path / "reports" / "nvidia-h200-fake.json"
    assert f"report: {path}" in done.stdout, done.stderr
    assert done.returncode == 1
    assert done.stderr == f"test-gpu: failed on {DEVICE}\n"
    report = json.loads(path.read_text())
    counts = [tuple(r.values())[1:] for r in report["notebooks"].values()]
    assert counts == [(1, 0), (0, 1)]
    assert report["library"] == {"passed": 1, "failed": 1}
    assert report["torch"] == "2.11.0" and report["commit"] == head
    assert report["benchmarks"] == {"attention": {"short": 0.9}}

    wrong = {"benchmarks/attention.py": "raise OSError('no flash')"}
    put(tmp_path, wrong)
    assert gpu.ratios(tmp_path) == {"error": "OSError: no flash"}
    infinite = "def record():\n    return {'short': float('inf')}"
    put(tmp_path, {"benchmarks/attention.py": infinite})
    assert gpu.ratios(tmp_path) == {"short": float("inf")}
    assert gpu.commit(tmp_path) == f"{head}-dirty"
    monkeypatch.setenv("PATH", "")
    assert gpu.commit(tmp_path) is None


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
