"""The kernels and the report of a GPU, tested without one."""

import json
import sys
from pathlib import Path

import pytest

from tests.tools.small import put, python
from tests.tools.test_plugin import stdout, write_notebook
from tools import gpu
from tools.chapters.alone import git
from tools.chapters.kernels import GPU_LAUNCHER
from tools.source.taught import ROOT

MACHINE = {"device": "NVIDIA H200 (fake)", "torch": "2.11.0"}
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


def test_both_kernels_run_this_python_alike_but_for_the_device(kernels):
    cpu, gpu = (
        json.loads((kernels / name / "kernel.json").read_text())
        for name in ("book-cpu", "book-gpu")
    )
    for spec in (cpu, gpu):
        assert spec["argv"][0] == sys.executable
        assert (
            spec["env"].items()
            > {
                "OMP_NUM_THREADS": "1",
                "MKL_NUM_THREADS": "1",
                "PYTHONHASHSEED": "0",
                "TQDM_DISABLE": "1",
            }.items()
        )
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
        ([GPU_LAUNCHER], "book-gpu needs a GPU"),
    ],
)
def test_without_a_gpu_it_says_so_in_one_line(program, said):
    result = python(*program, CUDA_VISIBLE_DEVICES="")
    assert result.returncode == 1
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith(said)


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


def test_all_is_run_and_stands_in_the_report(tmp_path):
    put_book(tmp_path, is_right=True)
    git("-C", tmp_path, "init", "-q")
    git("-C", tmp_path, "add", ".")
    git("-C", tmp_path, "commit", "-q", "-m", "one")
    said, report = dry_run(tmp_path)
    passed = {"passed": 1, "failed": 0}
    assert said == ""
    assert report["notebooks"] == {"01_a.ipynb": passed, "02_b.ipynb": passed}
    assert report["library"] == {"passed": 2, "failed": 0}
    head = git("-C", tmp_path, "rev-parse", "HEAD")
    assert report["commit"] == head
    assert report["benchmarks"] == {"attention": {"short": 0.9}}
    put(tmp_path, {"pyproject.toml": ""})
    assert gpu.commit(tmp_path) == f"{head}-dirty"


@pytest.mark.slow
def test_a_failure_ends_in_an_error_and_stands_in_the_report(tmp_path):
    put_book(tmp_path, is_right=False)
    said, report = dry_run(tmp_path, PATH="")  # without git
    assert said == "test-gpu: failed on NVIDIA H200 (fake)\n"
    assert report["notebooks"] == {
        "01_a.ipynb": {"passed": 1, "failed": 0},
        "02_b.ipynb": {"passed": 0, "failed": 1},
    }
    assert report["library"] == {"passed": 1, "failed": 1}
    assert report["commit"] is None
    assert report["benchmarks"]["attention"] == {"error": "OSError: no flash"}


def test_what_did_not_run_has_failed_and_the_hash_is_of_the_code(tmp_path):
    path = tmp_path / "book" / "01_a.ipynb"
    path.parent.mkdir()

    def outcomes(source, outputs, *more):
        write_notebook(path, (source, outputs))
        notebook = json.loads(path.read_text())
        notebook["cells"] += more
        path.write_text(json.dumps(notebook))
        return gpu.outcomes({}, tmp_path)

    before = outcomes("print(0.23)", [])
    assert before["notebooks"]["01_a.ipynb"]["failed"] == 1
    assert before["library"] == {"passed": 0, "failed": 0}
    words = {"cell_type": "markdown", "source": "words"}
    assert outcomes("print(0.23)", [stdout("0.23\n")], words) == before
    assert outcomes("print(0.24)", []) != before
