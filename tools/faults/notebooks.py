"""Run the chapters over a faulty book, without a kernel.

The cells run in this process, in IPython's own shell, and their outputs are
compared with the stored ones by the rules of `make test`. Only drawing is
left out: a figure must be there, not look the same. A kernel for each fault
and chapter would cost four seconds more.
"""

import io
import os
import sys
from functools import cache
from pathlib import Path

import nbformat
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from matplotlib.figure import Figure
from nbval.plugin import coalesce_streams
from traitlets.config import Config

from tools.compare import outputs_difference
from tools.faults.fault import Fault
from tools.plugin import MAY_RAISE
from tools.taught import as_taught, chapters


@cache
def stored() -> dict:
    """The chapters by name. Read once: all faults meet the same book."""
    return {p.stem: nbformat.read(p, as_version=4) for p in chapters()}


def caught_by_notebooks(fault: Fault, book: Path) -> str:
    """The first cell that notices the fault; empty if none does.

    Chapters that show the module come first: they will notice soonest. Then
    the others, last to first, because it is the later ones that use it.
    """
    marker = f"# lib/{fault.module}.py\n"

    def is_elsewhere(chapter) -> bool:
        return not any(c.source.startswith(marker) for c in chapter[1].cells)

    last_to_first = reversed(stored().items())
    for name, notebook in sorted(last_to_first, key=is_elsewhere):
        wrong = (book / "lib" / f"{fault.module}.py").read_text("utf-8")
        for cell in notebook.cells:
            if cell.source.startswith(marker):
                cell.source = as_taught(wrong, cell.source)
        if where := first_difference(notebook, book):
            return f"{name}, {where}"
    return ""


def first_difference(notebook, book: Path) -> str:
    """Which code cell first does something else than is stored, and what."""
    forget_library()
    os.chdir(book)
    sys.path.insert(0, str(book))
    shell = Shell()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(code, start=1):
        tags = set(cell.metadata.get("tags", []))
        if "nbval-skip" in tags:
            continue
        outputs = shell.outputs_of(cell.source)
        errors = [o for o in outputs if o.output_type == "error"]
        if errors and not tags & MAY_RAISE:
            why = f"{errors[0].ename}: {errors[0].evalue}"
        elif "nbval-ignore-output" in tags:
            continue
        else:
            expected = coalesce_streams(cell.outputs)
            why = outputs_difference(expected, outputs, figures=False)
        if why:
            return f"In [{number}]: {' '.join(why.split())}"
    return ""


def forget_library() -> None:
    """Let the next import of `lib` read the files again."""
    for name in list(sys.modules):
        if name == "lib" or name.startswith("lib."):
            del sys.modules[name]
    sys.path[:] = [p for p in sys.path if not p.endswith("/book")]


class Shown(DisplayHook):
    """Collects the value of a cell's last line."""

    def write_output_prompt(self):
        pass

    def finish_displayhook(self):
        pass

    def write_format_data(self, format_dict, md_dict=None):
        self.shell.collected.append(
            nbformat.v4.new_output("execute_result", data=format_dict)
        )


class Published(DisplayPublisher):
    """Collects what a cell displays."""

    def publish(self, data, metadata=None, **_):
        self.shell.collected.append(
            nbformat.v4.new_output("display_data", data=data)
        )


class Stream(io.TextIOBase):
    """Collects what a cell prints."""

    def __init__(self, name, collected):
        self.name, self.collected = name, collected

    def write(self, text):
        self.collected.append(
            nbformat.v4.new_output("stream", name=self.name, text=text)
        )
        return len(text)


class Shell(InteractiveShell):
    """IPython as in a kernel, with its outputs collected as a notebook's."""

    def __init__(self):
        self.collected = []
        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "nocolor"
        super().__init__(
            config=config,
            displayhook_class=Shown,
            display_pub_class=Published,
        )
        type(self)._instance = InteractiveShell._instance = self
        self.enable_matplotlib("inline")
        png = self.display_formatter.formatters["image/png"]
        png.for_type(Figure, lambda figure: "not drawn")

    def enable_gui(self, gui=None):
        pass

    def _showtraceback(self, etype, evalue, stb):
        self.collected.append(
            nbformat.v4.new_output(
                "error", ename=etype.__name__, evalue=str(evalue)
            )
        )

    def outputs_of(self, source: str) -> list:
        """Run a cell; its outputs, streams merged."""
        self.collected.clear()
        streams = sys.stdout, sys.stderr
        sys.stdout = Stream("stdout", self.collected)
        sys.stderr = Stream("stderr", self.collected)
        try:
            self.run_cell(source, store_history=True)
        finally:
            sys.stdout, sys.stderr = streams
        return coalesce_streams(list(self.collected))
