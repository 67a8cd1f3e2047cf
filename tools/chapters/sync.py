"""`make sync`: write, run and tidy the notebooks.

Every notebook gets its first cell, its badge and the library's text in its
definition cells, is run from top to bottom on the kernel book-cpu, and is
stored in one normal form, so that a second run changes nothing.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import (
    CellExecutionError,
    CellTimeoutError,
    DeadKernelError,
)
from traitlets.config import Config

from tools.source import cells, colab
from tools.source.address import configured
from tools.source.taught import (
    MARKER,
    ROOT,
    as_taught,
    code_cells,
    is_walk,
    library,
    named,
    read,
    write_page,
)

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
METADATA = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
# What the site, nbval and nbgrader read; editors leave much more behind.
CELL_METADATA = {"book", "mystnb", "nbgrader", "slideshow", "tags"}
# A cell with a title is folded: in Colab, and in Jupyter.
FOLDED = {"cellView": "form", "jupyter": {"source_hidden": True}}
SECONDS = 300  # a cell may take
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class SyncError(Exception):
    """Why a notebook cannot be synced: notebook, cell and reason."""


def to_text(notebook) -> str:
    """The text of a notebook's file."""
    text = nbformat.writes(notebook, nbformat.NO_CONVERT, ensure_ascii=False)
    return text.rstrip("\n") + "\n"


def write_cells(notebook, path: Path, root: Path) -> None:
    """Write what is not the author's.

    That is the first cell, the badge, the minutes and the definitions.
    """
    address, name = configured(root), path.name
    folder = path.parent.relative_to(root).as_posix()
    colab.put_first_cell(notebook, colab.first_cell(address, colab.pins(root)))
    try:
        colab.put_badge(notebook, colab.badge(address, name, folder))
    except ValueError as error:
        raise SyncError(f"{name}: {error}") from None
    modules = library(root)
    for number, cell in enumerate(code_cells(notebook), start=1):
        if marked := MARKER.match(cell.source):
            try:
                module = modules[marked[1]]
                cell.source = as_taught(module, cell.source, is_walk(path))
            except (LookupError, SyntaxError) as error:
                raise SyncError(
                    f"{name}, code cell {number}: lib/{marked[1]}.py does "
                    f"not define this: {error}"
                ) from None
    cells.put_effort(notebook.cells)


def execute(notebook, folder: Path, name: str) -> None:
    """Run a notebook in a folder, on book-cpu.

    Raises:
        SyncError: a cell fails, takes too long, or ends the kernel.
    """
    with tempfile.TemporaryDirectory(prefix="book-kernel-") as sockets:
        client = NotebookClient(
            notebook,
            kernel_name="book-cpu",
            timeout=SECONDS,
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": str(folder)}},
            config=Config(KernelManager={
                "transport": "ipc",  # no two kernels can race for a port
                "connection_file": f"{sockets}/kernel.json",
            }),
        )  # fmt: skip
        try:
            client.execute()
        except CellExecutionError as error:
            lines = COLOURS.sub("", error.traceback).split("\n")
            why = "\n".join(lines[-12:]).rstrip()
        except (CellTimeoutError, DeadKernelError) as error:
            why = str(error)
        else:
            return
        number = client.code_cells_executed
        raise SyncError(f"{name}, code cell {number}:\n{why}")


def normalise(notebook) -> None:
    """Bring a notebook into the one form in which it is stored."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = nbformat.from_dict(METADATA)
    give_ids(notebook.cells)
    for cell in notebook.cells:
        kept = CELL_METADATA & {k for k, v in cell.metadata.items() if v}
        kept_metadata = {key: cell.metadata[key] for key in kept}
        if cells.is_folded(cell):
            kept_metadata |= FOLDED
        cell.metadata = nbformat.from_dict(kept_metadata)
    for count, cell in enumerate(code_cells(notebook), start=1):
        cell.execution_count = count
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = count
            if "text/html" in output.get("data", {}):
                html = cells.without_scripts(output.data["text/html"])
                output.data["text/html"] = html


def give_ids(all_cells: list) -> None:
    """Number the cells that have no id, or that of a cell before them."""
    used, next_number = set(), 1
    known = {cell.get("id") for cell in all_cells}
    for cell in all_cells:
        if cell.get("id") is None or cell.id in used:
            while f"cell-{next_number}" in known:
                next_number += 1
            cell.id = f"cell-{next_number}"
            next_number += 1
        used.add(cell.id)


def synced(path: Path, root: Path = ROOT, run: bool = True) -> str:
    """The text that a chapter's file must have.

    With `run` False the stored outputs are taken as they are: nbval proves
    them.
    """
    notebook = read(path)
    write_cells(notebook, path, root)
    if run:
        execute(notebook, path.parent, path.name)
    normalise(notebook)
    return to_text(notebook)


def main(arguments: list[str] | None = None, root: Path = ROOT) -> str | int:
    """Sync the chapters; returns what `sys.exit` is to be given."""
    parser = argparse.ArgumentParser(prog="sync", description=__doc__)
    add = parser.add_argument
    add("names", nargs="*", help="chapters, such as 02; all if none is named")
    add("--stored", action="store_true", help="run nothing, keep the outputs")
    options = parser.parse_args(arguments)
    try:
        for path in named(options.names, root):
            text = synced(path, root, run=not options.stored)
            print(write_page(path, text, root))
    except LookupError as error:
        return f"sync: {error}"
    except SyncError as error:
        return f"sync: {error}\nThe file is as it was."
    return 0


if __name__ == "__main__":
    sys.exit(main())
