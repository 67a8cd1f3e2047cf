"""The kernels and the report of a GPU, tested without one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.test_plugin import stdout, write_notebook
from tools import gpu as gpu_report
from tools.chapters.kernels import GPU_LAUNCHER, write_kernels
from tools.source.taught import ROOT

MACHINE = {"device": "NVIDIA H200 (fake)", "torch": "2.11.0"}
LIBRARY = "def test_a():\n    pass\ndef test_b():\n    assert {}\n"
# What a fake of a GPU does: the report of a run on the kernel book-cpu.
DRY_RUN = f"""\
import functools, os
from pathlib import Path
from tools import gpu as gpu_report

gpu_report.refusal = str
gpu_report.machine = lambda: {MACHINE}
on_cpu = functools.partial(gpu_report.check, "book-cpu", Path.cwd())
gpu_report.check = on_cpu
gpu_report.main()
"""


def python(*arguments: str, cwd=ROOT, **env: str):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=os.environ | env,
        capture_output=True,
        text=True,
        timeout=600,  # of a busy machine
    )


def test_both_kernels_run_this_python_alike_but_for_the_device(tmp_path):
    write_kernels(tmp_path)
    cpu, gpu = (
        json.loads((tmp_path / name / "kernel.json").read_text())
        for name in ("book-cpu", "book-gpu")
    )
    for spec in (cpu, gpu):
        assert spec["argv"][0] == sys.executable
        assert spec["env"]["OMP_NUM_THREADS"] == "1"
        assert spec["env"]["MKL_NUM_THREADS"] == "1"
        assert spec["env"]["PYTHONHASHSEED"] == "0"
        assert spec["env"]["TQDM_DISABLE"] == "1"
    assert cpu["env"]["BOOK_DEVICE"] == "cpu"
    assert cpu["env"]["CUDA_VISIBLE_DEVICES"] == ""
    assert gpu["env"]["BOOK_DEVICE"] == "cuda"
    assert gpu["env"]["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    assert gpu["argv"][1] == str(GPU_LAUNCHER)


@pytest.mark.slow
@pytest.mark.parametrize(
    "program, said",
    [
        (["-m", "tools.gpu"], "test-gpu: no GPU: torch "),
        ([str(GPU_LAUNCHER)], "book-gpu needs a GPU"),
    ],
)
def test_without_a_gpu_it_says_so_in_one_line(program, said):
    result = python(*program, CUDA_VISIBLE_DEVICES="")
    assert result.returncode == 1
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith(said)


def test_missing_packages_are_named_in_one_line(monkeypatch):
    assert "missing packages" not in gpu_report.refusal()
    monkeypatch.setattr(gpu_report, "NEEDED", ["json", "no_such", "nor_this"])
    message = "test-gpu: missing packages: no_such, nor_this"
    with pytest.raises(SystemExit, match=f"^{message}$"):
        gpu_report.main()


@pytest.fixture
def book(tmp_path):
    """Two notebooks, unit tests and benchmarks of which one fails."""
    (tmp_path / "book").mkdir()
    asks = "import os; print(os.environ['BOOK_DEVICE'])"
    write_notebook(tmp_path / "book/01_a.ipynb", (asks, [stdout("cpu\n")]))
    write_notebook(tmp_path / "book/02_b.ipynb", ("print(1)", []))
    files = {
        "tests/library/test_a.py": LIBRARY.format(0),
        "benchmarks/__init__.py": "",
        "benchmarks/attention.py": "def ratios():\n    return {'short': 0.9}",
        "benchmarks/model.py": "def ratios():\n    return {'base': 1.1}",
        "benchmarks/costs.py": "def ratios():\n    return {'n': [128]}",
        "pyproject.toml": "[tool.pytest.ini_options]\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    command = ["git", *who, *arguments]
    return subprocess.check_output(command, cwd=folder, text=True).strip()


@pytest.mark.slow
def test_a_dry_run_writes_the_report_and_fails_with_its_notebooks(book):
    git(book, "init", "-q")
    git(book, "add", ".")
    git(book, "commit", "-q", "-m", "one")
    done = python("-c", DRY_RUN, cwd=book, PYTHONPATH=str(ROOT))
    path = book / "reports" / "nvidia-h200-fake.json"
    assert f"report: {path}" in done.stdout, done.stderr
    assert done.stderr.endswith("failed on NVIDIA H200 (fake)\n")
    report = json.loads(path.read_text())
    assert report["notebooks"] == {
        name: {
            "code_sha256": gpu_report.source_hash(book / "book" / name),
            "passed": passed,
            "failed": 1 - passed,
        }
        for name, passed in {"01_a.ipynb": 1, "02_b.ipynb": 0}.items()
    }
    assert report["library"] == {"passed": 1, "failed": 1}
    assert report["torch"] == "2.11.0"
    assert report["commit"] == git(book, "rev-parse", "HEAD")
    assert report["benchmarks"] == {
        "attention": {"short": 0.9},
        "model": {"base": 1.1},
        "costs": {"n": [128]},
    }


@pytest.mark.parametrize("failed", [0, 1])
def test_all_is_run_on_the_gpu_and_a_failure_ends_in_an_error(
    book, monkeypatch, capsys, failed
):
    asked = []

    def run_tests(targets, kernel):
        asked.extend([*targets, kernel, os.environ["BOOK_DEVICE"]])
        assert Path(os.environ["JUPYTER_PATH"], "kernels/book-gpu").is_dir()
        counts = {"passed": 2, "failed": 0}
        names = ("book/01_a.ipynb", "book/02_b.ipynb", "tests/library/t.py")
        return dict.fromkeys(names, counts) | {
            names[2 * failed]: counts | {"failed": failed}
        }

    (book / "benchmarks/model.py").write_text("raise OSError('no flash')")
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.chdir(book)
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr(gpu_report, "machine", lambda: MACHINE)
    monkeypatch.setattr(gpu_report, "run_tests", run_tests)
    monkeypatch.setattr(gpu_report.check, "__defaults__", ("book-gpu", book))
    try:
        gpu_report.main()
    except SystemExit as stop:
        assert failed and "failed on NVIDIA H200" in str(stop)
    else:
        assert not failed
    notebooks = ["book/01_a.ipynb", "book/02_b.ipynb"]
    assert asked == [*notebooks, "tests/library", "book-gpu", "cuda"]
    path = book / "reports" / "nvidia-h200-fake.json"
    assert f"report: {path}" in capsys.readouterr().out
    report = json.loads(path.read_text())
    assert report["benchmarks"] == {"error": "OSError: no flash"}
    assert report["commit"] is None


def test_what_did_not_run_has_failed_and_the_hash_is_of_the_code(book):
    path = book / "book" / "01_a.ipynb"
    before = gpu_report.outcomes({}, book)
    assert before["notebooks"]["01_a.ipynb"]["failed"] == 1
    assert before["library"] == {"passed": 0, "failed": 0}
    notebook = json.loads(path.read_text())
    notebook["cells"].append({"cell_type": "markdown", "source": "words"})
    notebook["cells"][0]["outputs"] = []
    path.write_text(json.dumps(notebook))
    assert gpu_report.outcomes({}, book) == before
    notebook["cells"][0]["source"] = "print(0.24)"
    path.write_text(json.dumps(notebook))
    assert gpu_report.outcomes({}, book) != before


def test_an_edited_file_shows_in_the_commit(book, monkeypatch):
    git(book, "init", "-q")
    git(book, "add", ".")
    git(book, "commit", "-q", "-m", "one")
    (book / "pyproject.toml").write_text("")
    head = git(book, "rev-parse", "HEAD")
    assert gpu_report.commit(book) == f"{head}-dirty"
    monkeypatch.setenv("PATH", "")
    assert gpu_report.commit(book) is None
