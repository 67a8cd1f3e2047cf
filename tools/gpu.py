"""Check the book on this machine's GPU and write reports/<device>.json.

`make test-gpu` runs every notebook on the kernel book-gpu and the library's
unit tests with BOOK_DEVICE=cuda, in `.venv`. `make test-gpu PYTHON=python3`
uses that Python instead: it changes nothing in that Python's environment and
needs neither a network nor the book's own versions of the packages.
"""

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from datetime import date
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from tools.chapters.kernels import write_kernels

ROOT = Path(__file__).resolve().parents[1]
NEEDED = (
    "torch einops jaxtyping matplotlib safetensors tokenizers babel tqdm "
    "IPython ipykernel pytest nbval nbformat hypothesis beartype bs4"
).split()
UNIT_TESTS = "tests/library"
BENCHMARK = (
    "import json; from benchmarks import attention; "
    "print(json.dumps(attention.record()))"
)


def refusal() -> str:
    """Why this Python cannot check the book on a GPU; empty if it can."""
    if missing := [name for name in NEEDED if not find_spec(name)]:
        return f"missing packages: {', '.join(missing)}"
    import torch

    if not torch.cuda.is_available():
        return f"no GPU: torch {torch.__version__} sees none here"
    return ""


def notebooks(root: Path) -> list[Path]:
    """The chapters, the lab and the deeper pages."""
    return sorted((root / "book").rglob("*.ipynb"))


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
        self.files = defaultdict(lambda: Counter(passed=0, failed=0))

    def pytest_runtest_logreport(self, report):
        if report.failed or report.when == "call":
            file = report.nodeid.partition("::")[0]
            self.files[file][report.outcome] += 1


def run_tests(targets: list[str], kernel: str) -> dict[str, Counter]:
    """Run notebooks and tests; how many passed and failed in each file."""
    import pytest

    tally = Tally()
    status = pytest.main(
        [
            *("-p", "tools.chapters.plugin", "--nbval"),
            *("--nbval-cell-timeout", "600"),
            *("--nbval-kernel-name", kernel),
            *("-W", "default"),  # other versions warn of other things
            *targets,
        ],
        plugins=[tally],
    )
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        sys.exit(f"test-gpu: pytest could not run ({status!r})")
    return tally.files


def machine() -> dict[str, str]:
    """The device and the versions that its numbers depend on."""
    import torch

    from tools.chapters.plugin import figures_not_compared

    return {
        "device": torch.cuda.get_device_name(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "matplotlib": metadata.version("matplotlib"),
        "figures": figures_not_compared() or "compared",
    }


def ratios(root: Path) -> dict:
    """What the benchmark of attention measures, in a process of its own."""
    path = f"book{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    run = subprocess.run(
        [sys.executable, "-c", BENCHMARK],
        cwd=root,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    if run.returncode:
        return {"error": run.stderr.strip().splitlines()[-1]}
    return json.loads(run.stdout)


def outcomes(results: dict[str, Counter], root: Path) -> dict:
    """Of each notebook and of the library; what did not run has failed."""
    library, by_name = Counter(passed=0, failed=0), {}
    for file, counts in results.items():
        if file.startswith(UNIT_TESTS):
            library.update(counts)
    for path in notebooks(root):
        name = path.relative_to(root).as_posix()
        counts = results.get(name, {"passed": 0, "failed": 1})
        by_name[path.name] = {"code_sha256": source_hash(path)} | counts
    return {"notebooks": by_name, "library": library}


def check(kernel: str = "book-gpu", root: Path = ROOT) -> tuple[dict, Path]:
    """Run everything on a kernel; the report, and where it is written."""
    targets = [p.relative_to(root).as_posix() for p in notebooks(root)]
    os.chdir(root)
    with tempfile.TemporaryDirectory(prefix="book-jupyter-") as folder:
        write_kernels(Path(folder, "kernels"))
        os.environ["JUPYTER_PATH"] = folder  # searched before all others
        results = run_tests([*targets, UNIT_TESTS], kernel)
    about = {"date": date.today().isoformat(), "commit": commit(root)}
    report = machine() | about | outcomes(results, root)
    report["benchmarks"] = {"attention": ratios(root)}
    name = re.sub(r"[^a-z0-9]+", "-", report["device"].lower()).strip("-")
    path = root / "reports" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return report, path


def main() -> None:
    if why := refusal():
        sys.exit(f"test-gpu: {why}")
    os.environ |= {"BOOK_DEVICE": "cuda", "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
    report, path = check()
    print(f"report: {path}")
    parts = [report["library"], *report["notebooks"].values()]
    if any(counts["failed"] for counts in parts):
        sys.exit(f"test-gpu: failed on {report['device']}")


if __name__ == "__main__":
    main()
