"""The GPU report, tested without a GPU."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.notebooks.test_plugin import stdout, write_notebook
from tools import gpu_report
from tools.kernels import write_kernels

ROOT = Path(__file__).resolve().parents[2]
MACHINE = {"device": "NVIDIA H200 (fake)", "torch": "2.11.0"}


def python(*arguments: str, **env: str):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | env,
        capture_output=True,
        text=True,
        timeout=600,  # of a busy machine
    )


@pytest.fixture
def book(tmp_path):
    """A folder with two notebooks, no git repository."""
    (tmp_path / "book").mkdir()
    for name in ("01_a", "02_b"):
        write_notebook(
            tmp_path / "book" / f"{name}.ipynb",
            [("print(0.25)", [stdout("0.26\n")], {}), (f"'{name}';", [], {})],
        )
    return tmp_path


@pytest.mark.slow
def test_without_a_gpu_it_says_so_in_one_line():
    result = python("-m", "tools.gpu_report", CUDA_VISIBLE_DEVICES="")
    assert result.returncode == 1
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith("test-gpu: no GPU: torch ")


def test_missing_packages_are_named_in_one_line(monkeypatch):
    assert gpu_report.missing_packages() == []
    monkeypatch.setattr(
        gpu_report, "NEEDED", ["json", "no_such_package", "nor_this"]
    )
    message = "test-gpu: missing packages: no_such_package, nor_this"
    with pytest.raises(SystemExit, match=f"^{message}$"):
        gpu_report.main()


def test_the_hash_is_of_the_code_alone(book):
    path = book / "book" / "01_a.ipynb"
    notebook = json.loads(path.read_text())
    first = gpu_report.source_hash(path)
    notebook["cells"].append({"cell_type": "markdown", "source": "words"})
    notebook["cells"][0]["outputs"] = []
    path.write_text(json.dumps(notebook))
    assert gpu_report.source_hash(path) == first
    notebook["cells"][0]["source"] = "print(0.24)"
    path.write_text(json.dumps(notebook))
    assert gpu_report.source_hash(path) != first


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    done = subprocess.run(
        ["git", *identity, *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def test_the_commit_and_whether_files_were_edited_since(book, monkeypatch):
    assert gpu_report.commit(book) is None
    git(book, "init", "-q")
    assert gpu_report.commit(book) is None
    git(book, "add", ".")
    git(book, "commit", "-q", "-m", "one")
    head = git(book, "rev-parse", "HEAD")
    assert gpu_report.commit(book) == head
    (book / "book" / "01_a.ipynb").write_text("{}")
    assert gpu_report.commit(book) == f"{head}-dirty"
    monkeypatch.setenv("PATH", "")
    assert gpu_report.commit(book) is None


def test_the_report(book):
    results = {
        "book/01_a.ipynb": {"passed": 2, "failed": 1},
        "tests/library/test_a.py": {"passed": 5, "failed": 0},
        "tests/library/test_b.py": {"passed": 3, "failed": 1},
    }
    report = gpu_report.make_report(MACHINE, results, book)
    path = gpu_report.write_report(report, book)
    assert path == book / "reports" / "nvidia-h200-fake.json"
    stored = json.loads(path.read_text())
    first, second = stored["notebooks"].values()
    notebook = book / "book" / "01_a.ipynb"
    assert first == {
        "code_sha256": gpu_report.source_hash(notebook),
        "passed": 2,
        "failed": 1,
    }
    assert (second["passed"], second["failed"]) == (0, 1), "it did not run"
    assert stored["library"] == {"passed": 8, "failed": 1}
    assert stored["torch"] == "2.11.0" and stored["commit"] is None


@pytest.mark.slow
def test_passed_and_failed_are_counted_by_file(book):
    write_kernels(book / "jupyter" / "kernels")
    bad = [("print(1)", [stdout("2\n")], {})]
    write_notebook(book / "book" / "02_b.ipynb", bad)
    test = book / "test_units.py"
    test.write_text("def test_a():\n    pass\ndef test_b():\n    assert 0\n")
    targets = [*map(str, sorted((book / "book").iterdir())), str(test)]
    code = (
        "import json, sys; from tools.gpu_report import run_tests;"
        f"print(json.dumps(run_tests({targets!r}, 'book-cpu')))"
    )
    result = python("-c", code, JUPYTER_PATH=str(book / "jupyter"))
    passed, counts = json.loads(result.stdout.splitlines()[-1])
    assert not passed
    assert {Path(file).name: count for file, count in counts.items()} == {
        "01_a.ipynb": {"passed": 3, "failed": 0},  # its stored outputs, too
        "02_b.ipynb": {"passed": 1, "failed": 1},
        "test_units.py": {"passed": 1, "failed": 1},
    }


@pytest.mark.parametrize("passes", [True, False])
def test_a_failure_is_written_down_and_ends_in_an_error(
    book, monkeypatch, capsys, passes
):
    ran = []

    def run_tests(targets, kernel):
        ran.extend([*targets, kernel, os.environ["BOOK_DEVICE"]])
        assert Path(os.environ["JUPYTER_PATH"], "kernels/book-gpu").is_dir()
        return passes, {}

    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr(gpu_report, "machine", lambda: MACHINE)
    monkeypatch.setattr(gpu_report, "run_tests", run_tests)
    monkeypatch.setattr(gpu_report, "ROOT", book)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.chdir(book)
    try:
        gpu_report.main()
    except SystemExit as stop:
        assert not passes and "failed on NVIDIA H200" in str(stop)
    else:
        assert passes
    report = book / "reports" / "nvidia-h200-fake.json"
    assert f"report: {report}" in capsys.readouterr().out
    assert report.exists()
    notebooks = ["book/01_a.ipynb", "book/02_b.ipynb"]
    assert ran == [*notebooks, "tests/library", "book-gpu", "cuda"]


def test_benchmark_ratios_come_from_the_benchmark(tmp_path):
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    source = folder / "attention.py"
    source.write_text("def record():\n    return {'short': 0.9}\n")
    other = folder / "model.py"
    other.write_text("def record():\n    return {'base': 1.1}\n")
    growth = folder / "costs.py"
    growth.write_text("def record():\n    return {'n': [128]}\n")
    assert gpu_report.benchmark_ratios(tmp_path) == {
        "attention": {"short": 0.9},
        "model": {"base": 1.1},
        "costs": {"n": [128]},
    }
    source.write_text("raise RuntimeError('no flash here')\n")
    expected = {"error": "RuntimeError: no flash here"}
    assert gpu_report.benchmark_ratios(tmp_path) == expected
