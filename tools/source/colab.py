"""What lets a chapter run alone, as in Colab: its first cell and its badge.

Both are made from the repository's address. The chapters that are stored here
have the one in `_config.yml`: as long as that is the placeholder there is no
badge, and the first cell can only explain. `make publish` writes copies with
the address that it finds.
"""

import re
from pathlib import Path
from textwrap import wrap

import yaml
from nbformat.v4 import new_code_cell

from tools.source.address import Place

# What chapters run, read and link to, and the licences of it all.
COPIED = (
    "book/lib",
    "book/kit",
    "book/data",
    "benchmarks/results",
    "benchmarks/public/reproductions",
)
LICENCES = ("LICENSE", "LICENSE-TEXT")
# What Colab may lack. Everything else, torch above all, is left as it is.
INSTALLED_IF_MISSING = (
    *("jaxtyping", "einops", "safetensors", "tokenizers", "babel", "tqdm"),
)

FIRST_LINE = "# Opened alone, as in Colab: fetch the rest of the book"
# The file .git/index is the last one that `git clone` writes.
FETCH = """\
{first_line}
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

if os.path.exists("book/lib/runtime.py"):
    os.chdir("book")
elif os.path.exists("../lib/runtime.py"):
    os.chdir("..")
if not os.path.exists("lib/runtime.py"):
    files = ["book-files/.git/index", "book-files/book/lib/runtime.py"]
    if not all(os.path.exists(file) for file in files):
        if not shutil.which("git"):
            raise RuntimeError("install git, then run this cell again")
        shutil.rmtree("book-files", ignore_errors=True)
        address = "{url}"
        clone = ["git", "clone", "--depth=1", "--branch={branch}"]
        command = [*clone, address, "book-files"]
        git = subprocess.run(command, capture_output=True, text=True)
        if git.returncode:
            raise RuntimeError(f"cannot fetch {{address}}: {{git.stderr}}")
    os.chdir("book-files/book")
{needed}
missing = [n for n in needed if not find_spec(n.split("==")[0])]
if missing:
    command = [sys.executable, "-m", "pip", "install", "-q", *missing]
    pip = subprocess.run(command, capture_output=True, text=True)
    if pip.returncode:
        raise RuntimeError(f"cannot install {{missing}}: {{pip.stderr}}")"""
EXPLAIN = """\
{first_line}
import os

if os.path.exists("book/lib/runtime.py"):
    os.chdir("book")
elif os.path.exists("../lib/runtime.py"):
    os.chdir("..")
if not os.path.exists("lib/runtime.py"):
    raise FileNotFoundError(
        "this notebook needs the rest of the book, which has no public "
        "address yet: ask whoever gave it to you for the whole folder, and "
        "open the notebook there, in book/"
    )"""

BADGE = "[Open this chapter in Colab]"
BADGE_LINE = re.compile(
    r"\n+\[Open this chapter in Colab\]\([^)\n]*\)(?=\n|$)"
)


def student_path(root: Path) -> str:
    """Where in the repository the students' edition stands; it may not."""
    text = (root / "_config.yml").read_text(encoding="utf-8")
    sphinx = yaml.safe_load(text).get("sphinx", {})
    return sphinx.get("config", {}).get("student_path", "")


def pins(root: Path) -> dict[str, str]:
    """The pinned versions of what Colab may lack."""
    text = (root / "requirements.txt").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^(\S+)==(\S+)", text, re.MULTILINE))
    return {name: pinned[name] for name in INSTALLED_IF_MISSING}


def first_cell(address: Place, needed: dict[str, str]) -> str:
    """The source of the first code cell, the same in every chapter."""
    if not address.is_known:
        return EXPLAIN.format(first_line=FIRST_LINE)
    pinned = " ".join(f"{name}=={needed[name]}" for name in needed)
    lines = [f'needed += "{n}".split()' for n in wrap(pinned, 58)]
    return FETCH.format(
        first_line=FIRST_LINE,
        url=address.url,
        branch=address.branch,
        needed="\n".join(lines).replace("+=", "=", 1),
    )


def put_first_cell(notebook, source: str) -> None:
    """Make this the notebook's first code cell, in place of an older one."""
    cells = [c for c in notebook.cells if not c.source.startswith(FIRST_LINE)]
    place = next(i for i, c in enumerate(cells) if c.cell_type == "code")
    tags = {"tags": ["hide-cell", "colab"]}
    cell = new_code_cell(source, id="colab", metadata=tags)
    notebook.cells = [*cells[:place], cell, *cells[place:]]


def badge(address: Place, name: str, folder: str = "book") -> str:
    """The link that opens a notebook in Colab; empty if Colab cannot."""
    if not address.is_known or not address.url.startswith(
        "https://github.com/"
    ):
        return ""
    repository = address.url.removeprefix("https://github.com/")
    return (
        f"{BADGE}(https://colab.research.google.com/github/{repository}"
        f"/blob/{address.branch}/{folder}/{name})"
    )


def put_badge(notebook, line: str) -> None:
    """Make this the line below the title; an empty one removes the badge.

    Raises:
        ValueError: the notebook does not begin with a title.
    """
    cell = notebook.cells[0]
    title, _, rest = BADGE_LINE.sub("", cell.source).partition("\n")
    if cell.cell_type != "markdown" or not title.startswith("# "):
        raise ValueError("the first cell must begin with the title, `# ...`")
    cell.source = "\n\n".join(filter(None, [title, line, rest.strip("\n")]))
