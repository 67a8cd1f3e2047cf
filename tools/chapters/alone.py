"""`python -m tools.chapters.alone`: each chapter alone, as Colab opens it.

A chapter stands in an empty folder of `_build/alone`. Its first cell fetches
the book from a bare repository of the working tree, committed or not; a cell
at its end says where the library came from. nbval runs it in that folder.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from nbformat.v4 import new_code_cell, new_output

from tools.chapters.sync import to_text
from tools.source import colab
from tools.source.address import Place
from tools.source.taught import ROOT, code_cells, named, read

EDITION = "alone"  # the branch that first cells fetch
WHENCE = """\
from pathlib import Path

import lib

print(Path(lib.__file__).relative_to(Path.cwd().parents[1]).as_posix())"""
CLONE = "book-files/book/lib/__init__.py\n"


def git(*arguments: str | Path) -> str:
    """What git says, with no settings of whoever calls it."""
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    plain = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    name = ["-c", "user.name=Book", "-c", "user.email=book@localhost"]
    command = ["git", *name, *map(str, arguments)]
    return subprocess.check_output(
        command, env=plain | settings, text=True
    ).strip()


def publish(bare: Path, root: Path = ROOT) -> Place:
    """Make the working tree a bare repository with one branch."""
    tree = [f"--git-dir={bare}", f"--work-tree={root}"]
    git("init", "-q", "--bare", f"--initial-branch={EDITION}", bare)
    git(*tree, "-C", root, "add", "--all")
    git(*tree, "commit", "-q", "-m", "The working tree")
    git(*tree, "repack", "-adq")  # or each clone would pack it anew
    return Place(bare.resolve().as_uri(), EDITION)


def lay_out(path: Path, folder: Path, first_cell: str) -> Path:
    """Write a chapter into a new folder; returns its path there."""
    notebook = read(path)
    colab.put_first_cell(notebook, first_cell)
    first, *others = code_cells(notebook)
    first.execution_count, count = 1, 2 + len(others)
    said = new_output("stream", name="stdout", text=CLONE)
    last = new_code_cell(WHENCE, outputs=[said], execution_count=count)
    notebook.cells.append(last)
    folder.mkdir(parents=True)
    alone = folder / path.name
    alone.write_text(to_text(notebook), encoding="utf-8")
    return alone


def main(names: list[str], root: Path = ROOT) -> list[Path]:
    """Lay out the chapters whose names begin so; all if none is named."""
    paths = named(names, root)
    build = root / "_build"
    for old in (build / "alone", build / "book.git"):
        shutil.rmtree(old, ignore_errors=True)
    build.mkdir(exist_ok=True)
    address = publish(build / "book.git", root)
    first = colab.first_cell(address, colab.pins(root))
    return [lay_out(p, build / "alone" / p.stem, first) for p in paths]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.chapters.alone")
    parser.add_argument("names", nargs="*", help="chapters, such as 05")
    if not shutil.which("git"):
        sys.exit("chapters run alone fetch the book with git: install git")
    try:
        main(parser.parse_args().names)
    except LookupError as error:
        sys.exit(str(error))
