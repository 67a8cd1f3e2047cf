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

from tools import plugin
from tools.kernels import write_kernels

ROOT = Path(__file__).resolve().parents[2]
SHOW = "from IPython.display import Image; Image('{}.png')"


def stdout(text: str) -> dict:
    return new_output("stream", name="stdout", text=text)


def value(text: str, **data) -> dict:
    data = {"text/plain": text} | data
    return new_output("execute_result", data, execution_count=1)


def figure(png: bytes) -> dict:
    text = "<IPython.core.display.Image object>"
    return value(text, **{"image/png": base64.b64encode(png).decode()})


def error(name: str, text: str) -> dict:
    return new_output("error", ename=name, evalue=text, traceback=[])


def write_notebook(path: Path, cells: list[tuple[str, list, dict]]) -> None:
    """Write (source, stored outputs, metadata) as cells run in order."""
    notebook = new_notebook(
        cells=[
            new_code_cell(
                source,
                outputs=outputs,
                execution_count=count,
                metadata=metadata,
            )
            for count, (source, outputs, metadata) in enumerate(cells, 1)
        ]
    )
    nbformat.write(notebook, path)


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
            *("-p", "tools.plugin", "--nbval", str(folder)),
            *arguments,
        ],
        cwd=ROOT,
        env=clean | kernels | env,
        capture_output=True,
        text=True,
        timeout=600,  # of a busy machine
    )


REASON = {"book": {"exempt": "prints the time"}}
IGNORED = {"tags": ["nbval-ignore-output"]}
RAISES = {"tags": ["raises-exception"]}


def passing(same_figure: bytes) -> dict[str, tuple]:
    return {
        "last digit": ("print(0.3374)", [stdout("0.3375\n")], {}),
        "value": ("(3, 4)", [value("(3, 4)")], {}),
        "hidden value": ("1 + 1;", [], {}),
        "figure": (SHOW.format("same"), [figure(same_figure)], {}),
        "error": ("1 / 0", [error("ZeroDivisionError", "division by zero")],
                  RAISES),
        "exempt": ("print(2)", [figure(b"old")], IGNORED | REASON),
    }  # fmt: skip


def failing(other_figure: bytes) -> dict[str, tuple]:
    """Cells that must fail, each with what its message must say."""
    return {
        "two units": ("print(0.3374)", [stdout("0.3376\n")], {},
                      "2 units of the last printed digit"),
        "word": ("print('key')", [stdout("keys\n")], {}, "stdout, line 1"),
        "integer": ("(3, 4)", [value("(3, 5)")], {}, "text/plain, line 1"),
        "changed figure": (SHOW.format("same"), [figure(other_figure)], {},
                           "the figure changed"),
        "no figure": ("None", [figure(other_figure)], {}, "no output"),
        "new warning": ("import warnings; warnings.warn('old')", [], {},
                        "UserWarning: old"),
        "error": ("1 / 0", [], {}, "ZeroDivisionError"),
        "other error": ("1 / 0", [error("ZeroDivisionError", "by 0")], RAISES,
                        "evalue, line 1"),
        "no reason": ("print(2)", [stdout("1\n")], IGNORED,
                      "without a reason"),
    }  # fmt: skip


FAILING = [*failing(b"")]
PASSING = [*passing(b"")]


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """One run over all the notebooks, read back by notebook and cell."""
    folder = tmp_path_factory.mktemp("notebooks")
    write_kernels(folder / "jupyter" / "kernels")
    same, other = draw(folder / "same.png", 0.5), draw(folder / "x.png", 0.52)
    write_notebook(folder / "good.ipynb", [*passing(same).values()])
    bad = [cell[:3] for cell in failing(other).values()]
    write_notebook(folder / "bad.ipynb", bad)
    write_notebook(
        folder / "dies.ipynb",
        [("import os; os._exit(1)", [], {}), ("1", [value("1")], {})],
    )
    result = run_pytest(
        folder,
        *("--nbval-kernel-name", "book-cpu", "-n", "2"),
        *("--dist", "loadscope", f"--junitxml={folder / 'report.xml'}"),
    )
    report = ElementTree.parse(folder / "report.xml")
    cells = {}
    for case in report.iter("testcase"):
        notebook = case.get("classname").split(".")[-2]
        failure = case.find("failure")
        message = None if failure is None else failure.text
        cells[notebook, case.get("name")] = message
    return SimpleNamespace(cells=cells, result=result)


@pytest.mark.parametrize("name", PASSING)
def test_a_cell_passes(outcome, name):
    assert outcome.cells["good", f"Cell {PASSING.index(name)}"] is None


@pytest.mark.parametrize("name", FAILING)
def test_a_cell_fails_and_says_why(outcome, name):
    number = FAILING.index(name)
    failure = outcome.cells["bad", f"Cell {number}"]
    assert failure.startswith(f"bad.ipynb, In [{number + 1}]: ")
    assert failing(b"")[name][3] in failure


def test_a_kernel_that_dies_fails_fast(outcome):
    assert "the kernel died in this cell" in outcome.cells["dies", "Cell 0"]
    assert "Not run: the kernel is dead" in outcome.cells["dies", "Cell 1"]


def test_the_run_fails_and_says_what_it_compared(outcome):
    assert outcome.result.returncode == 1
    line = next(
        line
        for line in outcome.result.stdout.splitlines()
        if line.startswith("notebooks: ")
    )
    assert "15 cells compared, 3 figures compared, 2 exempt (11.8%)" in line
    assert "good.ipynb, In [6]: prints the time" in line
    assert "TOO MANY exempt cells: at most 1" in outcome.result.stdout


def test_stored_outputs_are_looked_at(outcome):
    assert outcome.cells["good", "stored outputs"] is None
    assert outcome.cells["dies", "stored outputs"] is None


CELL = {"cell_type": "code", "execution_count": 1, "metadata": {}}
STDERR = new_output("stream", name="stderr", text="old")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, None),
        ({"execution_count": None}, "its execution count is None, not 1"),
        ({"execution_count": 2}, "its execution count is 2, not 1"),
        ({"outputs": [error("NameError", "x")]}, "stores a NameError"),
        ({"outputs": [error("NameError", "x")], "metadata": RAISES}, None),
        ({"outputs": [STDERR]}, "stores stderr: 'old'"),
        ({"outputs": [stdout("new")]}, None),
    ],
)
def test_stored_problems(change, message):
    text = {"cell_type": "markdown", "metadata": {}, "source": "words"}
    problems = plugin.stored_problems([text, CELL | {"outputs": []} | change])
    assert len(problems) == bool(message)
    assert all(p.startswith(f"code cell 1: {message}") for p in problems)


def test_a_cell_that_was_never_run_fails_and_no_kernel_shows_bars(tmp_path):
    bar = "from tqdm import trange\nfor _ in trange(9): pass"
    cells = [new_code_cell("1"), new_code_cell(bar, execution_count=2)]
    nbformat.write(new_notebook(cells=cells), tmp_path / "other.ipynb")
    result = run_pytest(tmp_path, TQDM_DISABLE="")  # not on the book's kernel
    assert "code cell 1: its execution count is None" in result.stdout
    assert "1 failed, 2 passed" in result.stdout


@pytest.mark.slow
def test_a_kernel_that_cannot_start_says_why(tmp_path):
    folder = tmp_path / "jupyter" / "kernels" / "broken"
    folder.mkdir(parents=True)
    code = "import sys; sys.exit('no such thing here')"
    (folder / "kernel.json").write_text(
        f'{{"argv": ["{sys.executable}", "-c", "{code}"],'
        ' "display_name": "broken", "language": "python"}'
    )
    write_notebook(tmp_path / "one.ipynb", [("1", [value("1")], {})])
    result = run_pytest(tmp_path, "--nbval-kernel-name", "broken")
    assert result.returncode == 1
    assert "no such thing here" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--nbval-kernel-name", "book-gpu"], "book-gpu needs a GPU"),
        (["--nbval-kernel-name", "other"], "no kernel other: run `python -m"),
        (["-n", "2"], "need --dist loadscope"),
    ],
)
def test_a_run_that_cannot_work_is_refused(tmp_path, arguments, message):
    write_kernels(tmp_path / "jupyter" / "kernels")
    write_notebook(tmp_path / "one.ipynb", [("1", [value("1")], {})])
    result = run_pytest(tmp_path, *arguments, CUDA_VISIBLE_DEVICES="")
    assert result.returncode == pytest.ExitCode.USAGE_ERROR
    assert not result.stdout.strip()
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith("ERROR: ") and message in line


@pytest.mark.parametrize(
    ("cells", "exempt", "passes"),
    [(10, 0, True), (10, 1, True), (10, 2, False), (99, 2, False),
     (100, 2, True), (100, 3, False), (150, 3, True)],
)  # fmt: skip
def test_how_many_cells_may_be_exempt(cells, exempt, passes):
    summary = plugin.Summary()
    summary.cells = [
        {"figures": 0, "exempt": "a.ipynb, In [1]: why" * (number < exempt)}
        for number in range(cells)
    ]
    session = SimpleNamespace(exitstatus=pytest.ExitCode.OK)
    summary.pytest_sessionfinish(session)
    assert (session.exitstatus == pytest.ExitCode.OK) == passes
    assert ("TOO MANY" not in summary.line()) == passes


def configured(timeout: float) -> float:
    """The cell timeout after the plugin saw the command line's."""
    option = SimpleNamespace(
        nbval=True, nbval_kernel_name=None, nbval_cell_timeout=timeout
    )
    plugins = SimpleNamespace(register=lambda summary: None)
    plugin.pytest_configure(
        SimpleNamespace(option=option, pluginmanager=plugins)
    )
    return option.nbval_cell_timeout


def test_a_cell_has_ten_minutes_unless_told_otherwise(pytestconfig):
    nbval_default = pytestconfig.getoption("nbval_cell_timeout")
    assert configured(timeout=nbval_default) == 600
    assert configured(timeout=300) == 300


def test_another_matplotlib_is_reported(monkeypatch):
    assert plugin.figures_not_compared() == ""
    monkeypatch.setattr(plugin.metadata, "version", lambda name: "3.10.0")
    assert "matplotlib is 3.10.0, not 3." in plugin.figures_not_compared()
    summary = plugin.Summary()
    summary.cells = [{"figures": 1, "exempt": ""}]
    assert "1 figures NOT compared (matplotlib is 3.10.0" in summary.line()


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
