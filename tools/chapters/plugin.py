"""pytest plugin (`-p tools.chapters.plugin`): nbval, made to fit a book.

nbval runs the cells. This plugin replaces its comparison by `compare`, and
starts its kernels so that several can start at once, and each in no time.
"""

import os
import re
import signal
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

import nbval.kernel
import nbval.plugin
import pytest
from jupyter_client.manager import KernelManager

from tools.chapters import kernels
from tools.chapters.compare import outputs_difference

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements.txt"
DRAWN = Path(__file__).resolve().with_name("drawn.py")
LOOK = f"""\
import runpy as _runpy
_look = _runpy.run_path({str(DRAWN)!r})["look"]
get_ipython().events.register("post_execute", _look)
del _runpy, _look"""
PATIENCE = 15  # seconds without a sign of life; a busy machine is slow
MAY_RAISE = {"raises-exception", "nbval-raises-exception"}


class Kernel(nbval.kernel.RunningKernel):
    """A kernel on sockets of its own, so that no two race for a port.

    What its process writes to stderr is shown with the cell that failed;
    nbval sends it to /dev/null.
    """

    def __init__(self, name: str, folder: str, timeout: float):
        self.sockets = TemporaryDirectory(prefix="book-kernel-")
        self.km = KernelManager(
            kernel_name=name,
            transport="ipc",
            connection_file=f"{self.sockets.name}/kernel.json",
        )
        self.km.write_connection_file()
        self.process = kernels.forked(self.km, folder)
        self.kc = self.km.client(parent=None)  # which did not start it
        self.kc.hb_channel.time_to_dead = PATIENCE
        try:
            self.kc.start_channels()
            self.kc.wait_for_ready(timeout=timeout)
            self._ensure_iopub_up()
            self.kc.execute(LOOK, silent=True, store_history=False)
        except BaseException:
            self.stop()
            raise

    def is_alive(self):
        return self.process.is_alive()

    def interrupt(self):
        self.tell(signal.SIGINT)

    def stop(self):
        """Stop the kernel and what it has started."""
        self.kc.stop_channels()
        self.tell(signal.SIGKILL)
        self.process.kill()  # where it has no group yet
        self.process.join()
        self.sockets.cleanup()

    def tell(self, what: signal.Signals):
        """Send this to the kernel and its children; it may have died."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, what)


class Notebook(nbval.plugin.IPyNbFile):
    """A notebook whose cells are compared by the book's rules."""

    def collect(self):
        for cell in super().collect():
            parts = {"cell": cell.cell, "options": cell.options}
            yield Cell.from_parent(
                self, name=cell.name, cell_num=cell.cell_num, **parts
            )

    def setup(self):
        option = self.config.option
        stored = self.nb.metadata.get("kernelspec", {}).get("name", "python3")
        self.kernel = Kernel(
            option.nbval_kernel_name or stored,
            str(self.path.parent),
            option.nbval_kernel_startup_timeout,
        )

    def teardown(self):
        if self.kernel:
            self.kernel.stop()


class Cell(nbval.plugin.IPyNbCell):
    """A code cell; nbval shows why it differs."""

    def compare_outputs(self, test, ref, skip_compare=None) -> bool:
        why = outputs_difference(ref, test, figures=not figures_not_compared())
        self.comparison_traceback = [why]
        return why is None

    def reportinfo(self):
        return self.path, None, f"{self.path.name}, In [{self.cell_num + 1}]"


def stored_problems(cells: list[dict]) -> list[str]:
    """What nbval passes over: cells not run, stored errors and warnings."""
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    problems = []
    for number, cell in enumerate(code, start=1):
        where = f"code cell {number}"
        if (count := cell["execution_count"]) != number:
            problems.append(
                f"{where}: its execution count is {count}, not {number}: "
                "store the outputs of one run from top to bottom"
            )
        tags = set(cell["metadata"].get("tags", []))
        for output in cell["outputs"]:
            if output["output_type"] == "error" and not tags & MAY_RAISE:
                problems.append(f"{where}: stores a {output['ename']}")
            if output.get("name") == "stderr":
                problems.append(f"{where}: stores stderr: {output['text']!r}")
    return problems


def figures_not_compared() -> str:
    """Why figures cannot be compared here; empty if they can.

    Only the pinned matplotlib draws them as stored.
    """
    text = REQUIREMENTS.read_text(encoding="utf-8")
    pinned = re.search(r"^matplotlib==(\S+)", text, re.MULTILINE)[1]
    here = metadata.version("matplotlib")
    return "" if here == pinned else f"matplotlib is {here}, not {pinned}"


def pytest_terminal_summary(terminalreporter, config):
    if config.option.nbval and (why := figures_not_compared()):
        terminalreporter.write_line(f"figures are NOT compared: {why}")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(parent):
    """Put a Notebook in the place of nbval's own."""
    return [
        Notebook.from_parent(parent, path=collector.path)
        if isinstance(collector, nbval.plugin.IPyNbFile)
        else collector
        for collector in (yield)
    ]
