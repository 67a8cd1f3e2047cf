"""Run the chapters over a faulty book, without a kernel.

The cells run in this process, in IPython's own shell, and their outputs are
compared with the stored ones by the rules of `make test`. Only drawing is
left out: a figure must be there, not look the same. A kernel for each fault
and chapter would cost four seconds more.
"""

import io
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import nbformat
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from matplotlib import pyplot
from matplotlib.figure import Figure
from nbval.plugin import coalesce_streams
from traitlets.config import Config

from tools.compare import outputs_difference
from tools.faults.fault import Answer, Fault
from tools.faults.reach import reached_by_cells
from tools.plugin import MAY_RAISE
from tools.taught import as_taught, chapters

At = Callable[[str], None]  # told of each cell or test before it runs
# Half a minute of processor time each: tried after all others.
SLOW = ("08_encoder", "11_training")


@cache
def stored() -> dict:
    """The chapters by name. Read once: all faults meet the same book."""
    return {p.stem: nbformat.read(p, as_version=4) for p in chapters()}


def code_of(notebook) -> list:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shows(notebook, module: str) -> bool:
    """Some cell of the chapter is a definition of the module."""
    marker = f"# lib/{module}.py\n"
    return any(cell.source.startswith(marker) for cell in notebook.cells)


@cache
def reached_by(name: str) -> set[str]:
    """The modules that a chapter can see."""
    return reached_by_cells(cell.source for cell in code_of(stored()[name]))


def chapters_for(module: str, first: str = "") -> list[str]:
    """The chapters that can see a module, in the order to be tried.

    The chapter of the cell that noticed the fault last time comes first,
    then those that show the module. Then come the others, last to first,
    because it is the later ones that use it; the slow ones at the end.
    """
    names = [
        name
        for name, notebook in reversed(stored().items())
        if shows(notebook, module) or module in reached_by(name)
    ]
    known = first.partition(", ")[0]
    return sorted(
        names,
        key=lambda name: (
            name != known,
            not shows(stored()[name], module),
            name in SLOW,
        ),
    )


def caught_by_notebooks(
    fault: Fault, book: Path, at: At, first: str = ""
) -> Answer:
    """The first cell that notices the fault."""
    wrong = (book / "lib" / f"{fault.module}.py").read_text("utf-8")
    marker = f"# lib/{fault.module}.py\n"
    for name in chapters_for(fault.module, first):
        notebook = stored()[name]
        for cell in notebook.cells:
            if cell.source.startswith(marker):
                cell.source = as_taught(wrong, cell.source)
        answer = first_difference(name, code_of(notebook), book, at)
        if answer.noticed:
            return answer
    return Answer()


def chapter_is_right(
    fault: Fault, book: Path, at: At, name: str, cells: int
) -> Answer:
    """Whether the first cells of a chapter do what is stored."""
    return first_difference(name, code_of(stored()[name])[:cells], book, at)


def first_difference(name: str, code: list, book: Path, at: At) -> Answer:
    """Which code cell first does something else than is stored, and what."""
    forget_library()
    os.chdir(book)
    sys.path.insert(0, str(book))
    shell = Shell()
    for number, cell in enumerate(code, start=1):
        at(where := f"{name}, In [{number}]")
        if why := cell_difference(shell, cell):
            return Answer(where, " ".join(why.split()))
    return Answer()


def cell_difference(shell: "Shell", cell) -> str:
    """What a cell does that is not stored; empty if nothing."""
    tags = set(cell.metadata.get("tags", []))
    if "nbval-skip" in tags:
        return ""
    outputs = shell.outputs_of(cell.source)
    errors = [o for o in outputs if o.output_type == "error"]
    if errors and not tags & MAY_RAISE:
        return f"{errors[0].ename}: {errors[0].evalue}"
    if "nbval-ignore-output" in tags:
        return ""
    expected = coalesce_streams(cell.outputs)
    return outputs_difference(expected, outputs, figures=False) or ""


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
        pyplot.uninstall_repl_displayhook()  # it draws after each cell

    def enable_gui(self, gui=None):
        pass

    def showtraceback(self, exc_tuple=None, **_):
        """Without the lines around each call, which take a second."""
        etype, evalue, _ = self._get_exc_info(exc_tuple)
        self._showtraceback(etype, evalue, [])

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
