"""pytest plugin (`-p tools.plugin`): nbval, made to fit a book.

nbval runs the cells. This plugin starts its kernels so that their failures
can be read, replaces its comparison by `compare`, and fails a notebook for
what nbval passes over: cells that were never run, stored errors and
warnings, and cells exempt from comparison without a stated reason.
"""

import os
import re
import tempfile
import time
from importlib import metadata
from pathlib import Path
from queue import Empty
from textwrap import indent

import nbval.kernel
import nbval.plugin
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

from tools.compare import outputs_difference

REQUIREMENTS = Path(__file__).resolve().parents[1] / "requirements.txt"
NBVAL_TIMEOUT, CELL_TIMEOUT = 2000, 600  # seconds, on a busy machine
MAY_RAISE = {"raises-exception", "nbval-raises-exception"}


class KernelFailure(RuntimeError):
    """A kernel that did not start, or died in a cell."""


class BookKernel(nbval.kernel.RunningKernel):
    """A kernel on sockets of its own whose last words are kept.

    nbval sends a kernel's stderr to /dev/null and waits for the full cell
    timeout when it dies.
    """

    def __init__(self, kernel_name, cwd=None, startup_timeout=60):
        self._folder = tempfile.TemporaryDirectory(prefix="book-kernel-")
        self._stderr = tempfile.TemporaryFile("w+")
        self.km = KernelManager(
            kernel_name=kernel_name,
            kernel_spec_manager=nbval.kernel.NbvalKernelspecManager(),
            transport="ipc",  # no two kernels can race for a port
            connection_file=str(Path(self._folder.name, "kernel.json")),
        )
        env = os.environ | {"TQDM_DISABLE": "1"}  # a bar shows times
        self.km.start_kernel(cwd=cwd, stderr=self._stderr, env=env)
        self.kc = self.km.client()
        self.kc.start_channels()
        try:
            self.kc.wait_for_ready(timeout=startup_timeout)
            self._ensure_iopub_up()
        except RuntimeError as error:
            message = f"kernel {kernel_name}: {error}\n{self.last_words()}"
            self.stop()
            raise KernelFailure(message) from None

    def last_words(self) -> str:
        """The end of what the kernel's process wrote to stderr."""
        self._stderr.seek(0)
        return self._stderr.read()[-3000:].strip()

    def execute_cell_input(self, cell_input, allow_stdin=None):
        """Run a cell as Jupyter does, with history.

        nbval switches the history off, and with it the `;` that hides a
        cell's value.
        """
        return self.kc.execute(
            cell_input,
            store_history=True,
            allow_stdin=allow_stdin,
            stop_on_error=False,
        )

    def await_reply(self, msg_id, timeout=None):
        """Wait for the end of a cell, but not for a dead kernel."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                return super().await_reply(msg_id, timeout=1)
            except Empty:
                if not self.is_alive():
                    raise KernelFailure(
                        f"the kernel died in this cell\n{self.last_words()}"
                    ) from None
                if time.monotonic() > deadline:
                    raise

    def stop(self):
        """Stop the kernel, also a dead one, and let its files go."""
        if hasattr(self, "km"):
            super().stop()
            self._stderr.close()
            self._folder.cleanup()


class Notebook(nbval.plugin.IPyNbFile):
    """A notebook: what is wrong with it as it lies there, then its cells."""

    def collect(self):
        cells = list(super().collect())
        yield StoredOutputs.from_parent(self, name="stored outputs")
        for cell in cells:
            yield BookCell.from_parent(
                self,
                name=cell.name,
                cell_num=cell.cell_num,
                cell=cell.cell,
                options=cell.options,
            )

    def teardown(self):
        super().teardown()
        if self.kernel is not None:
            self.kernel.stop()


class StoredOutputs(pytest.Item):
    """Fails for what no comparison can find in a notebook."""

    def runtest(self):
        if problems := stored_problems(self.parent.nb.cells):
            raise StoredOutputsError("\n".join(problems))

    def repr_failure(self, excinfo):
        return f"{self.path.name}:\n{excinfo.value}"

    def reportinfo(self):
        return self.path, None, self.name


class StoredOutputsError(Exception):
    """Lists what is wrong with the outputs a notebook stores."""


def stored_problems(cells: list[dict]) -> list[str]:
    """What is wrong with the stored cells, one line each."""
    problems = []
    code = [cell for cell in cells if cell["cell_type"] == "code"]
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


class BookCell(nbval.plugin.IPyNbCell):
    """A code cell, compared by the book's rules."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.is_exempt = self.options["skip"] or not self.options["check"]
        self.reason = self.cell.metadata.get("book", {}).get("exempt", "")
        outputs = [] if self.is_exempt else self.cell.outputs
        counted = {
            "figures": sum("image/png" in o.get("data", {}) for o in outputs),
            "exempt": f"{self.where}: {self.reason}" * self.is_exempt,
        }
        self.user_properties.append(("book", counted))

    @property
    def where(self) -> str:
        """The cell as a reader sees it, counted from 1."""
        return f"{self.path.name}, In [{self.cell_num + 1}]"

    def runtest(self):
        if self.is_exempt and not self.reason:
            self.raise_cell_error(
                "Exempt from comparison without a reason in the cell's "
                'metadata: "book": {"exempt": "..."}'
            )
        if not self.parent.kernel.is_alive():
            self.raise_cell_error("Not run: the kernel is dead")
        try:
            super().runtest()
        except KernelFailure as error:
            self.raise_cell_error(str(error))

    def compare_outputs(self, test, ref, skip_compare=None) -> bool:
        why = outputs_difference(ref, test, figures=not figures_not_compared())
        self.comparison_traceback = [why]
        return why is None

    def repr_failure(self, excinfo):
        error = excinfo.value
        if not isinstance(error, nbval.plugin.NbCellError):
            return f"{self.where}: {error!r}"
        parts = [
            f"{self.where}: {error}",
            indent(error.source, "    "),
            error.inner_traceback or "",
        ]
        return "\n\n".join(filter(None, parts))

    def reportinfo(self):
        return self.path, None, self.name


def figures_not_compared() -> str:
    """Why figures cannot be compared here; empty if they can.

    Only the pinned matplotlib draws them as stored.
    """
    text = REQUIREMENTS.read_text(encoding="utf-8")
    pinned = re.search(r"^matplotlib==(\S+)", text, re.MULTILINE)[1]
    here = metadata.version("matplotlib")
    return "" if here == pinned else f"matplotlib is {here}, not {pinned}"


class Summary:
    """Counts what was compared; too many exempt cells fail the run."""

    def __init__(self):
        self.cells = []

    def pytest_runtest_logreport(self, report):
        if report.when == "call":
            self.cells += [
                cell for name, cell in report.user_properties if name == "book"
            ]

    @property
    def exempt(self) -> list[str]:
        return [cell["exempt"] for cell in self.cells if cell["exempt"]]

    @property
    def allowed(self) -> int:
        """2% of the cells may be exempt, and in a small book one."""
        return max(1, len(self.cells) // 50)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        too_many = len(self.exempt) > self.allowed
        if too_many and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        if self.cells:
            terminalreporter.write_line(self.line())

    def line(self) -> str:
        exempt, cells = self.exempt, len(self.cells)
        figures = sum(cell["figures"] for cell in self.cells)
        reason = figures_not_compared()
        parts = [
            f"{cells - len(exempt)} cells compared",
            f"{figures} figures {'NOT ' if reason else ''}compared"
            + (f" ({reason})" if reason else ""),
            f"{len(exempt)} exempt ({100 * len(exempt) / cells:.1f}%)",
        ]
        line = f"notebooks: {', '.join(parts)}"
        if exempt:
            line += f": {'; '.join(exempt)}"
        if len(exempt) > self.allowed:
            line += f"\nTOO MANY exempt cells: at most {self.allowed}"
        return line


def pytest_configure(config):
    """Refuse a kernel that cannot work here, before any cell runs."""
    option = config.option
    if not option.nbval:
        return
    if option.nbval_cell_timeout == NBVAL_TIMEOUT:
        option.nbval_cell_timeout = CELL_TIMEOUT
    if why := kernel_problem(option.nbval_kernel_name):
        raise pytest.UsageError(why)
    if getattr(option, "dist", "no") not in ("no", "loadscope", "loadfile"):
        raise pytest.UsageError(
            "with -n, notebooks need --dist loadscope: one kernel runs all "
            "cells of a notebook"
        )
    config.pluginmanager.register(Summary())


def kernel_problem(name: str | None) -> str:
    """Why notebooks cannot run on this kernel; empty if they can."""
    if name and name not in KernelSpecManager().find_kernel_specs():
        return f"no kernel {name}: run `python -m tools.kernels`"
    if name == "book-gpu":
        import torch

        if not torch.cuda.is_available():
            return (
                f"the kernel book-gpu needs a GPU, and torch "
                f"{torch.__version__} sees none here"
            )
    return ""


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(parent):
    """Put a Notebook in the place of nbval's own."""
    return [
        Notebook.from_parent(parent, path=found.path)
        if isinstance(found, nbval.plugin.IPyNbFile)
        else found
        for found in (yield)
    ]


nbval.plugin.RunningKernel = BookKernel  # nbval has no hook for it
