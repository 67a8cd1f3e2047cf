"""A small book in a repository, and a bare one to which it is published."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import colab
from tools.publish.__main__ import main
from tools.taught import ROOT

FORK = "https://github.com/fork/book"
PAGE = (
    "<header><!-- editions --><!-- /editions --></header>"
    '<a href="{url}/blob/{branch}/x">Source</a>'
    '<a href="https://colab.research.google.com/github/fork/book/blob/'
    '{notebooks}/x">Colab</a>'
)
PAGES = ("index", "book/index", "book/01_one", "book/02_two")


@pytest.fixture(scope="session", autouse=True)
def own_git():
    """Git has no settings of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [n for n in os.environ if n.startswith("GIT_")]:
            patch.delenv(name)
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        yield


def git(root: Path, *arguments: str) -> str:
    """What git says there."""
    who = ["-c", "user.name=A", "-c", "user.email=a@b.example"]
    done = subprocess.run(
        ["git", "-C", root, *who, *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@dataclass
class Book:
    """A working copy with a built site, and where it is pushed to."""

    root: Path
    bare: Path
    patch: pytest.MonkeyPatch

    def commit(self, words: str) -> None:
        git(self.root, "add", "-A")
        git(self.root, "commit", "-qm", words)

    def run_of(self, ref: str, name: str = "fork/book") -> None:
        """From here on a workflow runs, for this branch or tag."""
        self.patch.setenv("GITHUB_REPOSITORY", name)
        self.patch.setenv("GITHUB_SERVER_URL", "https://github.com")
        self.patch.setenv("GITHUB_REF", ref)

    def build(
        self, *pages: str, branch="main", notebooks="colab", url=FORK, text=""
    ) -> None:
        """What `make site` would leave behind."""
        html = self.root / "_build" / "html"
        subprocess.run(["rm", "-rf", html], check=True)
        said = PAGE.format(url=url, branch=branch, notebooks=notebooks)
        for name in pages or PAGES:
            path = html / f"{name}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"<title>{name}</title>{said}{text}")
        (html / ".buildinfo").write_text("when it was built")

    def publish(self, *arguments: str) -> str | int:
        """What `make publish` does after `make site`."""
        return main(list(arguments), self.root)

    def heads(self) -> dict[str, str]:
        """The branches of the bare repository."""
        lines = git(self.bare, "show-ref", "--heads").splitlines()
        pairs = (line.split(" refs/heads/") for line in lines)
        return {name: commit for commit, name in pairs}

    def files(self, branch: str) -> list[str]:
        named = ("ls-tree", "-r", "--name-only", branch)
        return git(self.bare, *named).splitlines()

    def text(self, branch: str, name: str) -> str:
        return git(self.bare, "show", f"{branch}:{name}")


FILES = {
    "_config.yml": f"repository: {{url: '{colab.PLACEHOLDER}', branch: main}}",
    "_toc.yml": "root: book/index\nparts:\n- chapters:\n"
    "  - file: book/01_one\n  - file: book/02_two\n",
    ".gitignore": "_build/\n",
    ".gitattributes": "* text=auto eol=lf\n",
    ".github/workflows/test.yml": "name: test\n",
    "tools/tool.py": "TOOL = 1\n",
    "book/index.md": "# A book\n",
    "book/lib/__init__.py": "",
    "book/lib/runtime.py": "ANSWER = 42\n",
    "book/data/one.json": "1\n",
    "benchmarks/results/one.json": "1\n",
    "LICENSE": "MIT\n",
}


@pytest.fixture
def book(tmp_path, monkeypatch) -> Book:
    """A fork of the book, with nothing published yet."""
    root, bare = tmp_path / "fork", tmp_path / "fork.git"
    git(tmp_path, "init", "-q", "--bare", str(bare))
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "requirements.txt").symlink_to(ROOT / "requirements.txt")
    for name in ("01_one", "02_two"):
        first = new_code_cell(f"{colab.FIRST_LINE}\n1", id="colab")
        cells = [new_markdown_cell(f"# {name}"), first, new_code_cell("2")]
        nbformat.write(
            new_notebook(cells=cells), root / "book" / f"{name}.ipynb"
        )
    git(root, "init", "-q", "-b", "main")
    git(root, "remote", "add", "origin", str(bare))
    made = Book(root, bare, monkeypatch)
    made.commit("Begun")
    made.run_of("refs/heads/main")
    made.build()
    return made
