"""Check the book on this machine's GPU and write reports/<device>.json.

`make test-gpu` runs every notebook on the kernel book-gpu and the library's
unit tests with BOOK_DEVICE=cuda, in `.venv`. `make test-gpu PYTHON=python3`
uses that Python instead: it changes nothing in that Python's environment and
needs neither a network nor the book's own versions of the packages.
"""

import hashlib
import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from datetime import date
from importlib import metadata
from pathlib import Path

from tools.kernels import write_kernels

ROOT = Path(__file__).resolve().parents[1]
NEEDED = [
    *("torch", "einops", "jaxtyping", "matplotlib", "IPython", "ipykernel"),
    *("pytest", "nbval", "nbformat", "hypothesis", "beartype"),
]
UNIT_TESTS = "tests/library"


def missing_packages() -> list[str]:
    """Those of the needed packages that this Python cannot import."""
    return [name for name in NEEDED if not importlib.util.find_spec(name)]


def source_hash(notebook: Path) -> str:
    """SHA-256 of the code of a notebook: what was run, not the words."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    return hashlib.sha256(json.dumps(code).encode()).hexdigest()


def commit(root: Path) -> str | None:
    """The commit of the files, with `-dirty` if they were edited since.

    None outside a git repository and where git is not installed.
    """
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40"]
    try:
        done = subprocess.run(
            [*command, "--exclude=*"], cwd=root, capture_output=True, text=True
        )
    except OSError:
        return None
    return done.stdout.strip() or None


class Tally:
    """pytest plugin: how many tests of each file passed and failed."""

    def __init__(self):
        self.files = defaultdict(lambda: {"passed": 0, "failed": 0})

    def pytest_runtest_logreport(self, report):
        file = self.files[report.nodeid.partition("::")[0]]
        if report.failed:
            file["failed"] += 1
        elif report.passed and report.when == "call":
            file["passed"] += 1


def run_tests(targets: list[str], kernel: str) -> tuple[bool, dict]:
    """Run notebooks and tests.

    Returns:
        Whether all is well, and how many passed and failed in each file.
    """
    import pytest

    tally = Tally()
    status = pytest.main(
        [
            *("-p", "tools.plugin", "--nbval"),
            *("--nbval-kernel-name", kernel),
            *("-W", "default"),  # other versions warn of other things
            *targets,
        ],
        plugins=[tally],
    )
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        sys.exit(f"test-gpu: pytest could not run ({status!r})")
    return status == pytest.ExitCode.OK, dict(tally.files)


def machine() -> dict[str, str]:
    """The device and the versions that its numbers depend on."""
    import torch

    from tools.plugin import figures_not_compared

    return {
        "device": torch.cuda.get_device_name(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "matplotlib": metadata.version("matplotlib"),
        "figures": figures_not_compared() or "compared",
    }


def make_report(
    machine: dict[str, str], results: dict[str, dict[str, int]], root: Path
) -> dict:
    """The report as it is stored; a notebook that did not run has failed."""
    notebooks = {}
    for path in sorted(root.glob("book/*.ipynb")):
        counts = results.get(f"book/{path.name}", {"passed": 0, "failed": 1})
        notebooks[path.name] = {"code_sha256": source_hash(path)} | counts
    library = {
        outcome: sum(
            counts[outcome]
            for file, counts in results.items()
            if file.startswith(UNIT_TESTS)
        )
        for outcome in ("passed", "failed")
    }
    return machine | {
        "date": date.today().isoformat(),
        "commit": commit(root),
        "notebooks": notebooks,
        "library": library,
    }


def benchmark_ratios(root: Path) -> dict:
    """What the benchmarks measure here, in a process of its own."""
    code = (
        "import json; from benchmarks import attention, costs, model;"
        "found = {'attention': attention.record(), 'model': model.record(),"
        " 'costs': costs.record()};"
        "print(json.dumps(found))"
    )
    paths = [str(root), str(root / "book"), os.environ.get("PYTHONPATH", "")]
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=root,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
    )
    if run.returncode:
        return {"error": run.stderr.strip().splitlines()[-1]}
    return json.loads(run.stdout)


def write_report(report: dict, root: Path) -> Path:
    """Write the report under the name of its device."""
    name = re.sub(r"[^a-z0-9]+", "-", report["device"].lower()).strip("-")
    path = root / "reports" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return path


def main() -> None:
    if missing := missing_packages():
        sys.exit(f"test-gpu: missing packages: {', '.join(missing)}")
    os.environ |= {
        "BOOK_DEVICE": "cuda",
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    }
    import torch

    if not torch.cuda.is_available():
        sys.exit(f"test-gpu: no GPU: torch {torch.__version__} sees none here")
    os.chdir(ROOT)
    targets = [str(p) for p in sorted(Path("book").glob("*.ipynb"))]
    with tempfile.TemporaryDirectory(prefix="book-jupyter-") as folder:
        write_kernels(Path(folder, "kernels"))
        os.environ["JUPYTER_PATH"] = folder  # searched before all others
        passed, results = run_tests([*targets, UNIT_TESTS], "book-gpu")
    report = make_report(machine(), results, ROOT)
    report["benchmarks"] = benchmark_ratios(ROOT)
    print(f"report: {write_report(report, ROOT)}")
    if not passed:
        sys.exit(f"test-gpu: failed on {report['device']}")


if __name__ == "__main__":
    main()
