"""Run a chapter over a faulty book, without a kernel.

The cells run in this process, in IPython's own shell, and their outputs are
compared with the stored ones by the rules of `make test`. Only drawing is
left out: a figure must be there, not look the same. A kernel for each fault
and chapter would cost four seconds more.
"""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from ipykernel.inprocess.manager import InProcessKernelManager
from matplotlib.figure import Figure
from nbformat.v4 import output_from_msg
from nbval.plugin import coalesce_streams

from tools.chapters.compare import outputs_difference
from tools.faults.generate import Fault
from tools.source.taught import (
    MARKER,
    as_taught,
    code_cells,
    is_walk,
    lessons,
    read,
)

SHOWN = {"stream", "display_data", "execute_result", "error"}


@cache
def stored() -> dict[str, list]:
    """The code cells of each lesson."""
    return {path.stem: code_cells(read(path)) for path in lessons()}


@cache
def walks() -> set[str]:
    """The lessons that show definitions in plain form."""
    return {path.stem for path in lessons() if is_walk(path)}


def shown(name: str) -> set[str]:
    """The modules of which a lesson shows definitions."""
    marks = (MARKER.match(cell.source) for cell in stored()[name])
    return {marked[1] for marked in marks if marked}


def targets(module: str) -> list[str]:
    """The lessons, those that show a module first."""
    return sorted(stored(), key=lambda name: module not in shown(name))


def failure(place: str, fault: Fault, book: Path) -> str:
    """The first cell of a chapter that does not do what is stored."""
    sys.path.insert(0, str(book))
    run = kernel()
    for number, cell in enumerate(stored()[place], start=1):
        if cell.source.startswith(f"# lib/{fault.module}.py\n"):
            is_plain = place in walks()
            cell.source = as_taught(fault.wrong, cell.source, is_plain)
        outputs = run(cell.source)
        wrong = outputs_difference(cell.outputs, outputs, figures=False)
        if "nbval-ignore-output" in cell.metadata.get("tags", []):
            wrong = any(o.output_type == "error" for o in outputs)
        if wrong:
            return f"code cell {number}: {wrong}"
    return ""


def kernel() -> Callable[[str], list]:
    """A new kernel in this process: what runs a cell and gives its outputs."""
    manager = InProcessKernelManager()
    manager.start_kernel()
    shell, client = manager.kernel.shell, manager.client()
    client.start_channels()
    shell.run_line_magic("xmode", "Minimal")  # others take a second
    shell.enable_matplotlib("inline")
    png = shell.display_formatter.formatters["image/png"]
    png.for_type(Figure, lambda figure: "not drawn")

    def run(source: str) -> list:
        client.execute(source)
        messages = [client.get_iopub_msg()]
        while messages[-1]["content"].get("execution_state") != "idle":
            messages.append(client.get_iopub_msg())
        made = [m for m in messages if m["msg_type"] in SHOWN]
        return coalesce_streams(map(output_from_msg, made))

    return run
