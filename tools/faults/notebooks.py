"""Run a chapter over a faulty book, without a kernel.

The cells run in this process, in IPython's own shell, and their outputs are
compared with the stored ones by the rules of `make test`. Only drawing is
left out: a figure must be there, not look the same. A kernel for each fault
and chapter would cost four seconds more.
"""

import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

import nbformat
from IPython.core.displayhook import CapturingDisplayHook
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from matplotlib import pyplot
from matplotlib.figure import Figure
from nbformat.v4 import new_output
from nbval.plugin import coalesce_streams
from traitlets.config import Config

from tools.compare import outputs_difference
from tools.faults.fault import At, Fault
from tools.plugin import MAY_RAISE
from tools.taught import MARKER, as_taught, chapters, homes


@cache
def stored() -> dict:
    """The chapters by name."""
    return {p.stem: nbformat.read(p, as_version=4) for p in chapters()}


def module_of(cell: dict) -> str:
    """The module of which a cell shows definitions."""
    marked = MARKER.match(cell.source)
    return marked[1].replace("/", ".") if marked else ""


def shown(name: str) -> set[str]:
    """The modules of which a chapter shows definitions."""
    return {module_of(cell) for cell in stored()[name].cells}


def targets(module: str) -> list[str]:
    """The chapters: those that show a module, the later, the earlier."""
    names = list(stored())
    start = names.index(homes()[module].stem) if module in homes() else 0
    ordered = names[start:] + names[:start]
    return sorted(ordered, key=lambda name: module not in shown(name))


def failure(places: list[str], fault: Fault, book: Path, at: At) -> str:
    """The first cell of a chapter that does not do what is stored.

    If `places` are cells and not a chapter, none is run after them.
    """
    name = places[0].partition("::")[0]
    last = max(int(p.partition("::")[2] or sys.maxsize) for p in places)
    sys.path.insert(0, str(book))
    shell = Shell()
    code = [c for c in stored()[name].cells if c.cell_type == "code"]
    for number, cell in enumerate(code[:last], start=1):
        at(place := f"{name}::{number}")
        if module_of(cell) == fault.module:
            cell.source = as_taught(fault.wrong, cell.source)
        if not shell.does_as_stored(cell):
            return place
    return ""


class Shell(InteractiveShell):
    """IPython as in a kernel, with its outputs collected as a notebook's."""

    def __init__(self):
        config = Config()
        config.HistoryManager.enabled = False
        super().__init__(config=config)
        type(self)._instance = InteractiveShell._instance = self
        self.display_pub = CapturingDisplayPublisher()
        shown = self.display_pub.outputs
        self.display_trap.hook = CapturingDisplayHook(self, shown)
        self.enable_matplotlib("inline")
        png = self.display_formatter.formatters["image/png"]
        png.for_type(Figure, lambda figure: "not drawn")
        pyplot.uninstall_repl_displayhook()  # it draws after each cell

    def enable_gui(self, gui=None):
        pass

    def showtraceback(self, *_, **__):
        """Not at all: the lines around each call take a second."""

    def does_as_stored(self, cell: dict) -> bool:
        """Run a cell; whether that is what its stored outputs say.

        What it said is compared first, then what it showed.
        """
        tags = {*cell.metadata.get("tags", [])}
        if "nbval-skip" in tags:
            return True
        self.display_pub.outputs.clear()
        with redirect_stdout(StringIO()) as out:
            with redirect_stderr(StringIO()) as err:
                result = self.run_cell(cell.source, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        if error and not tags & MAY_RAISE:
            return False
        outputs = [
            new_output("stream", name=name, text=stream.getvalue())
            for name, stream in (("stdout", out), ("stderr", err))
            if stream.getvalue()
        ]
        for output in self.display_pub.outputs:
            outputs.append(new_output("display_data", data=output["data"]))
        if error:
            words = {"ename": type(error).__name__, "evalue": str(error)}
            outputs.append(new_output("error", **words))
        streams = {"stdout": 0, "stderr": 1}
        expected = coalesce_streams(cell.outputs)
        expected.sort(key=lambda output: streams.get(output.get("name"), 2))
        wrong = outputs_difference(expected, outputs, figures=False)
        return "nbval-ignore-output" in tags or not wrong
