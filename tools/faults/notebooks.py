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

import nbformat
from ipykernel.inprocess.manager import InProcessKernelManager
from matplotlib.figure import Figure
from nbformat.v4 import output_from_msg
from nbval.plugin import coalesce_streams

from tools.chapters.compare import outputs_difference
from tools.chapters.plugin import MAY_RAISE
from tools.faults.fault import At, Fault
from tools.source.taught import MARKER, as_taught, chapters

SHOWN = {"stream", "display_data", "execute_result", "error"}


@cache
def stored() -> dict:
    """The chapters by name."""
    return {p.stem: nbformat.read(p, as_version=4) for p in chapters()}


def module_of(cell: dict) -> str:
    """The module of which a cell shows definitions."""
    marked = MARKER.match(cell.source)
    return marked[1] if marked else ""


def shown(name: str) -> set[str]:
    """The modules of which a chapter shows definitions."""
    return {module_of(cell) for cell in stored()[name].cells}


def targets(module: str) -> list[str]:
    """The chapters, those that show a module first."""
    return sorted(stored(), key=lambda name: module not in shown(name))


def failure(place: str, fault: Fault, book: Path, at: At) -> str:
    """The first cell of a chapter that does not do what is stored."""
    sys.path.insert(0, str(book))
    run = kernel()
    code = [c for c in stored()[place].cells if c.cell_type == "code"]
    for number, cell in enumerate(code, start=1):
        at(here := f"{place}::{number}")
        if module_of(cell) == fault.module:
            cell.source = as_taught(fault.wrong, cell.source)
        if not is_as_stored(cell, run):
            return here
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
        return [output_from_msg(m) for m in messages if m["msg_type"] in SHOWN]

    return run


def is_as_stored(cell: dict, run: Callable[[str], list]) -> bool:
    """Whether a cell does what its stored outputs say."""
    tags = {*cell.metadata.get("tags", [])}
    if "nbval-skip" in tags:
        return True
    outputs = run(cell.source)
    is_error = any(o.output_type == "error" for o in outputs)
    if is_error and not tags & MAY_RAISE:
        return False
    pair = coalesce_streams(cell.outputs), coalesce_streams(outputs)
    wrong = outputs_difference(*pair, figures=False)
    return "nbval-ignore-output" in tags or not wrong
