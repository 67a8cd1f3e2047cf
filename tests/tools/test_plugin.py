"""The plugin, both ways: on notebooks made to pass and made to fail.

The notebooks need no torch, so that a kernel starts within a second.
"""

import base64
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import nbformat
import pytest
from matplotlib.figure import Figure
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tools.chapters import plugin
from tools.chapters.kernels import write_kernels
from tools.source.taught import ROOT

SHOW = "from IPython.display import Image; Image('drawn.png')"


def stdout(text: str) -> dict:
    return new_output("stream", name="stdout", text=text)


def value(text: str, **data) -> dict:
    data = {"text/plain": text} | data
    return new_output("execute_result", data, execution_count=1)


def figure(png: bytes) -> dict:
    text = "<IPython.core.display.Image object>"
    return value(text, **{"image/png": base64.b64encode(png).decode()})


def error(text: str) -> dict:
    kind = {"ename": "ZeroDivisionError", "evalue": text, "traceback": []}
    return new_output("error", **kind)


def write_notebook(path: Path, *cells: tuple) -> None:
    """Write cells as run in order: source, stored outputs, tags."""
    made = [
        new_code_cell(
            source,
            outputs=outputs,
            execution_count=count,
            metadata={"tags": list(tags)},
        )
        for count, (source, outputs, *tags) in enumerate(cells, 1)
    ]
    nbformat.write(new_notebook(cells=made), path)


def draw(path: Path, height: float) -> bytes:
    drawing = Figure(figsize=(4, 3))
    drawing.subplots().bar(["cat", "sat", "mat"], [0.2, height, 0.3])
    drawing.savefig(path)
    return path.read_bytes()


def run_pytest(folder: Path, *arguments: str, **env: str):
    """Run the notebooks of a folder as `make test` runs the book."""
    clean = {k: v for k, v in os.environ.items() if "PYTEST" not in k}
    kernels = {"JUPYTER_PATH": str(folder / "jupyter")}
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-c", "pyproject.toml"),
            *("-p", "tools.chapters.plugin", "--nbval", str(folder)),
            *arguments,
        ],
        cwd=ROOT,
        env=clean | kernels | env,
        capture_output=True,
        text=True,
        timeout=600,  # of a busy machine
    )


def passing(png: bytes) -> list[tuple]:
    return [
        ("print(0.3374)", [stdout("0.3375\n")]),
        ("(3, 4)", [value("(3, 4)")]),
        (SHOW, [figure(png)]),
        ("1 / 0", [error("division by zero")], "raises-exception"),
        ("print(2)", [stdout("1\n")], "nbval-ignore-output"),
    ]


def failing(png: bytes) -> dict[str, tuple]:
    """Cells that must fail, by what their message must say."""
    return {
        "2 units of the last printed digit": (
            "print(0.3374)",
            [stdout("0.3376\n")],
        ),
        "stdout, line 1": ("print('key')", [stdout("keys\n")]),
        "text/plain, line 1": ("(3, 4)", [value("(3, 5)")]),
        "the figure changed": (SHOW, [figure(png)]),
        "no output": ("None", [figure(png)]),
        "UserWarning: old": ("import warnings; warnings.warn('old')", []),
        "ZeroDivisionError": ("1 / 0", []),
        "evalue, line 1": ("1 / 0", [error("by 0")], "raises-exception"),
    }


FAILING = [*failing(b"")]


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """One run over all the notebooks, read back by notebook and cell."""
    folder = tmp_path_factory.mktemp("notebooks")
    write_kernels(folder / "jupyter" / "kernels")
    other, drawn = (draw(folder / "drawn.png", size) for size in (0.52, 0.5))
    write_notebook(folder / "good.ipynb", *passing(drawn))
    write_notebook(folder / "bad.ipynb", *failing(other).values())
    report = folder / "report.xml"
    result = run_pytest(
        folder,
        *("--nbval-kernel-name", "book-cpu"),
        *("-n", "2", "--dist", "loadscope", f"--junitxml={report}"),
    )
    cells = {}
    for case in ElementTree.parse(report).iter("testcase"):
        notebook = case.get("classname").split(".")[-2]
        failure = case.find("failure")
        message = None if failure is None else failure.text
        cells.setdefault(notebook, []).append(message)
    return SimpleNamespace(cells=cells, result=result)


def test_equal_outputs_pass(outcome):
    assert outcome.cells["good"] == [None] * len(passing(b""))


@pytest.mark.parametrize("number, problem", [*enumerate(FAILING)])
def test_a_cell_fails_and_says_why(outcome, number, problem):
    assert problem in outcome.cells["bad"][number]


def test_the_run_fails_and_names_the_cells(outcome):
    assert f"bad.ipynb, In [{len(FAILING)}]" in outcome.result.stdout
    assert f"{len(FAILING)} failed, 5 passed" in outcome.result.stdout


@pytest.mark.slow
def test_a_kernel_that_dies_fails_the_run(tmp_path):
    write_kernels(tmp_path / "jupyter" / "kernels")
    dies = ("import os; os._exit(1)", [])
    write_notebook(tmp_path / "one.ipynb", dies, ("1", [value("1")]))
    arguments = (
        "--nbval-kernel-name",
        "book-cpu",
        "--nbval-cell-timeout",
        "3",
    )
    result = run_pytest(tmp_path, *arguments)
    assert "1 failed, 1 xfailed" in result.stdout


@pytest.mark.slow
def test_a_kernel_that_cannot_start_says_why(tmp_path):
    write_kernels(tmp_path / "jupyter" / "kernels")
    write_notebook(tmp_path / "one.ipynb", ("1", [value("1")]))
    gpu = ("--nbval-kernel-name", "book-gpu")
    result = run_pytest(tmp_path, *gpu, CUDA_VISIBLE_DEVICES="")
    assert result.returncode == 1
    assert "book-gpu needs a GPU" in result.stdout


def test_another_matplotlib_is_reported(monkeypatch):
    assert plugin.figures_not_compared() == ""
    monkeypatch.setattr(plugin.metadata, "version", lambda name: "3.10.0")
    assert "matplotlib is 3.10.0, not 3." in plugin.figures_not_compared()
    said = []
    plugin.pytest_terminal_summary(
        SimpleNamespace(write_line=said.append),
        SimpleNamespace(option=SimpleNamespace(nbval=True)),
    )
    assert said[0].startswith("figures are NOT compared: matplotlib is 3.10")


def test_each_reason_to_skip_is_shown_once(tmp_path):
    (tmp_path / "test_skips.py").write_text(
        "import pytest\n"
        "@pytest.fixture\n"
        "def device(): pytest.skip('no such device')\n"
        "def test_one(device): pass\n"
        "def test_two(device): pass\n"
        "def test_three(): pytest.skip('not today')\n"
    )
    result = run_pytest(tmp_path, "-q", "-p", "tests.conftest")
    lines = [li for li in result.stdout.splitlines() if "Skipped" in li]
    assert lines == ["2 x Skipped: no such device", "1 x Skipped: not today"]
    assert "3 skipped" in result.stdout
