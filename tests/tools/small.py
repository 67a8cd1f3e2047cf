"""A small book on disk, and programs that run as a user runs them."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_notebook

from tools.source.address import PLACEHOLDER
from tools.source.taught import ROOT


def put(root: Path, files: dict[str, str]) -> None:
    """Write files by their place in a folder."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def put_book(
    root: Path,
    chapters: dict[str, list],
    files: dict[str, str] | None = None,
    url: str = PLACEHOLDER,
    student: str = "",
) -> None:
    """Write a book of these chapters (cells by name) with other files.

    It has an address of the branch v1, and a place of the students' edition.
    """
    config = f"repository: {{url: '{url}', branch: v1}}\n"
    config += f"sphinx: {{config: {{student_path: '{student}'}}}}\n"
    toc = "".join(f"  - file: book/{name}\n" for name in chapters)
    always = {
        "_config.yml": config,
        "_toc.yml": f"root: book/index\nparts:\n- chapters:\n{toc}",
        "requirements.txt": (ROOT / "requirements.txt").read_text("utf-8"),
        ".gitignore": "_build/\n",
        "book/lib/__init__.py": "",
        "book/lib/runtime.py": "ANSWER = 42\n",
    }
    put(root, always | (files or {}))
    for name, cells in chapters.items():
        path = root / "book" / f"{name}.ipynb"
        nbformat.write(new_notebook(cells=cells), path)


def python(*arguments, cwd=ROOT, **env) -> subprocess.CompletedProcess:
    """Run this Python; what it says is kept."""
    clean = {k: v for k, v in os.environ.items() if "PYTEST" not in k}
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env=clean | env,
        capture_output=True,
        text=True,
        timeout=600,  # of a busy machine
    )


def run_notebooks(*arguments, kernel="book-cpu", **env):
    """Run notebooks as `make test-notebooks` does."""
    return python(
        *("-m", "pytest", "-c", "pyproject.toml"),
        *("-p", "tools.chapters.plugin", "--nbval"),
        *("--nbval-kernel-name", kernel),
        *arguments,
        **env,
    )
