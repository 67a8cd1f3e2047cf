"""The plugin, both ways: on notebooks made to pass and made to fail.

The notebooks need no torch, so that a kernel starts within a second.
"""

import base64
import re
from pathlib import Path

import nbformat
import pytest
from matplotlib.figure import Figure
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tests.tools.small import run_notebooks
from tools.chapters import plugin

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
            metadata={"tags": tags},
        )
        for count, (source, outputs, *tags) in enumerate(cells, 1)
    ]
    nbformat.write(new_notebook(cells=made), path)


def draw(path: Path, height: float) -> bytes:
    drawing = Figure(figsize=(4, 3))
    drawing.subplots().bar(["cat", "sat", "mat"], [0.2, height, 0.3])
    drawing.savefig(path)
    return path.read_bytes()


def test_cells_pass_or_fail_and_say_why(tmp_path):
    other, drawn = (draw(tmp_path / "drawn.png", size) for size in (0.52, 0.5))
    passing = [
        ("print(0.3374)", [stdout("0.3375\n")]),
        ("(3, 4)", [value("(3, 4)")]),
        (SHOW, [figure(drawn)]),
        ("1 / 0", [error("division by zero")], "raises-exception"),
        ("print(2)", [stdout("1\n")], "nbval-ignore-output"),
    ]
    failing = {
        "2 units of the last printed digit": (
            "print(0.3374)",
            [stdout("0.3376\n")],
        ),
        "the figure changed": (SHOW, [figure(other)]),
        "UserWarning: old": ("import warnings; warnings.warn('old')", []),
        "ZeroDivisionError": ("1 / 0", []),
        "evalue, line 1": ("1 / 0", [error("by 0")], "raises-exception"),
    }
    path = tmp_path / "both.ipynb"
    write_notebook(path, *passing, *failing.values())
    said = run_notebooks(path).stdout
    assert f"{len(failing)} failed, {len(passing)} passed" in said
    failures = re.split(r"^_+ .*, In \[(\d+)\].* _+$", said, flags=re.M)
    messages = dict(zip(failures[1::2], failures[2::2], strict=True))
    for number, problem in enumerate(failing, 1 + len(passing)):
        assert problem in messages[str(number)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "source, kernel, says",
    [
        ("import os; os._exit(1)", "book-cpu", "1 failed, 1 xfailed"),
        ("1", "book-gpu", "book-gpu needs a GPU"),
    ],
)
def test_a_kernel_that_dies_or_cannot_start_fails_the_run(
    tmp_path, source, kernel, says
):
    write_notebook(tmp_path / "one.ipynb", (source, []), ("1", [value("1")]))
    limit, without = "--nbval-cell-timeout=3", {"CUDA_VISIBLE_DEVICES": ""}
    done = run_notebooks(tmp_path, limit, kernel=kernel, **without)
    assert done.returncode == 1 and says in done.stdout


def test_another_matplotlib_is_reported(monkeypatch):
    assert plugin.figures_not_compared() == ""
    monkeypatch.setattr(plugin.metadata, "version", lambda name: "3.10.0")
    why = "matplotlib is 3.10.0, not 3."
    assert plugin.figures_not_compared().startswith(why)
