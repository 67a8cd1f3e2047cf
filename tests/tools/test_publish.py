"""Publishing a fork into a bare repository, as its workflow does."""

import json
import re
import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from tests.tools.small import put, put_book, run_notebooks
from tools.chapters import alone, sync
from tools.chapters.alone import git
from tools.editions.publish import editions
from tools.editions.publish.__main__ import main, publish_notebooks
from tools.editions.publish.branch import Branch
from tools.source import colab
from tools.source.address import PLACEHOLDER, Place
from tools.source.taught import ROOT, notebooks

slow = pytest.mark.slow
FORK = "https://github.com/fork/book"
# What publishing looks for on a page: its address and a place for editions.
PAGE = (
    "<title>{name}</title><!-- editions --><!-- /editions -->{text}"
    "{url}/blob/{branch}/x colab/blob/{notebooks}/x"
)
PAGES = ("index", "book/index", "book/01_one", "book/02_two")
LESS = PAGES[:-1]
FILES = {
    ".gitattributes": "* text=auto eol=lf\n",
    "tools/tool.py": "TOOL = 1\n",
    "book/index.md": "# A book\n",
    "book/data/one.json": "1\n",
    "benchmarks/results/one.json": "1\n",
    "LICENSE": "MIT\n",
}


class Fork:
    """A clone of a fork, its bare repository, and its workflow's variables."""

    def __init__(self, folder, patch: pytest.MonkeyPatch):
        self.root, self.bare, self.patch = folder / "fork", folder / "b", patch
        first = new_code_cell(f"{colab.FIRST_LINE}\n1", execution_count=1)
        cells = [new_markdown_cell("# One"), first, new_code_cell("2")]
        put_book(self.root, {"01_one": cells, "02_two": cells}, FILES)
        git("init", "-q", "--bare", self.bare)
        git("init", "-q", "-b", "main", self.root)
        self.git("remote", "add", "origin", self.bare)
        self.commit("Begun")
        patch.setenv("GITHUB_REPOSITORY", "fork/book")
        patch.setenv("GITHUB_SERVER_URL", "https://github.com")

    def git(self, *arguments) -> str:
        return git("-C", self.root, *arguments)

    def commit(self, words: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", words)

    def run(self, tag="", pages=PAGES, text="", gone=False, **wrong):
        """Build for `main` or a tag, and publish: its status or why not."""
        ref = f"refs/tags/{tag}" if tag else "refs/heads/main"
        self.patch.setenv("GITHUB_REF", ref)
        notebooks = f"colab-{tag}".rstrip("-")
        said = {"url": FORK, "branch": tag or "main", "notebooks": notebooks}
        said |= {"text": text} | wrong
        html = self.root / "_build" / "html"
        shutil.rmtree(html, ignore_errors=True)
        files = {f"{n}.html": PAGE.format(name=n, **said) for n in pages}
        put(html, files | {".buildinfo": "when it was built"})
        return main(["--gone"] * gone, self.root)

    def heads(self) -> dict[str, str]:
        """The branches of the bare repository."""
        lines = git("ls-remote", "--heads", self.bare).splitlines()
        found = (line.split("\trefs/heads/") for line in lines)
        return {name: commit for commit, name in found}

    def files(self, branch: str) -> list[str]:
        listed = git("-C", self.bare, "ls-tree", "-r", "--name-only", branch)
        return listed.splitlines()

    def text(self, branch: str, name: str) -> str:
        return git("-C", self.bare, "show", f"{branch}:{name}")

    def head(self, branch="colab", name="book/01_one.ipynb") -> list[str]:
        """The title and the first code cell of a published notebook."""
        cells = nbformat.reads(self.text(branch, name), as_version=4).cells
        return [cell.source for cell in cells[:2]]

    def choice(self, page: str) -> dict[str, str]:
        """The editions that a page offers: names and where they lead."""
        shown = editions.PLACE.search(self.text("site", page))[0]
        found = re.findall(r'<li><a href="([^"]+)"[^>]*>([^<]+)</a>', shown)
        return {name: target for target, name in found}


@pytest.fixture
def fork(tmp_path, monkeypatch) -> Fork:
    return Fork(tmp_path, monkeypatch)


def test_a_fork_publishes_without_configuration(fork, capsys):
    (fork.root / "book/lib/secret.py").write_text("mine")
    (fork.root / ".git/info/exclude").write_text("secret.py\n")
    before = fork.git("status", "--porcelain", "--branch")
    assert fork.run() == 0
    assert [*fork.heads()] == ["colab", "site"]
    pages = [f"{name}.html" for name in PAGES]
    listed = [".nojekyll", *sorted([*pages, "editions.json"])]
    assert fork.files("site") == listed
    lists = """
        LICENSE README.md benchmarks/results/one.json book/01_one.ipynb
        book/02_two.ipynb book/data/one.json book/lib/__init__.py
        book/lib/runtime.py"""
    assert fork.files("colab") == lists.split()
    title, cell = fork.head()
    assert f'address = "{FORK}"' in cell and "--branch=colab" in cell
    assert title.startswith("# One\n\n[Open this chapter in Colab](https:")
    assert title.endswith("github/fork/book/blob/colab/book/01_one.ipynb)")
    assert '"execution_count": 1' in fork.text("colab", "book/01_one.ipynb")
    commit = fork.git("rev-parse", "--short", "HEAD")
    said = f"site: main {commit}\ncolab: main {commit}\n"
    assert capsys.readouterr().out == said
    assert fork.git("status", "--porcelain", "--branch") == before


@slow
def test_only_what_has_changed_is_committed(fork, capsys):
    fork.run()
    before = fork.heads()
    fork.git("commit", "-q", "--allow-empty", "-m", "Nothing")
    capsys.readouterr()
    assert fork.run() == 0 and fork.heads() == before
    assert capsys.readouterr().out == "site: nothing new\ncolab: nothing new\n"
    (fork.root / "book/lib/runtime.py").write_text("ANSWER = 43\n")
    (fork.root / "book/data/one.json").unlink()
    fork.commit("Another answer, and less")
    assert fork.run(text="new") == 0
    assert "new" in fork.text("site", "book/01_one.html")
    assert git("-C", fork.bare, "rev-list", "--count", "site") == "1"
    assert git("-C", fork.bare, "rev-parse", "colab^") == before["colab"]
    changed = git("-C", fork.bare, "diff", "--name-only", "colab^", "colab")
    assert changed.split() == ["book/data/one.json", "book/lib/runtime.py"]


@slow
def test_a_tag_is_an_edition_beside_the_latest(fork, tmp_path):
    fork.run(pages=[*PAGES, "404"])
    assert fork.choice("book/01_one.html") == {}
    colab_before = fork.heads()["colab"]
    fork.run("v0.9", ["index", "book/01_one", "book/old", "404"])
    assert fork.run("v0.10") == 0
    assert [*fork.heads()] == ["colab", "colab-v0.10", "colab-v0.9", "site"]
    assert fork.heads()["colab"] == colab_before
    assert "--branch=colab-v0.9" in fork.head("colab-v0.9")[1]
    assert fork.choice("book/01_one.html") == {
        "latest": "01_one.html",
        "v0.10": "../v0.10/book/01_one.html",
        "v0.9": "../v0.9/book/01_one.html",
    }
    assert fork.choice("v0.9/book/01_one.html") == {
        "latest": "../../book/01_one.html",
        "v0.10": "../../v0.10/book/01_one.html",
        "v0.9": "01_one.html",
    }
    assert fork.choice("book/02_two.html")["v0.9"] == "../v0.9/index.html"
    # It is shown at any depth, so its relative links would not lead.
    assert fork.choice("404.html") == fork.choice("v0.9/404.html") == {}

    fork.run(pages=[*PAGES, "404", "book/03_new"], text="new")
    assert "book/03_new.html" in fork.files("site")
    old = fork.text("site", "v0.9/index.html")
    assert "new" not in old and "/blob/v0.9/" in old
    assert "</span>v0.9</summary>" in old
    assert 'aria-current="true">v0.9<' in old
    said = {"repository": FORK, "editions": ["v0.10", "v0.9"]}
    assert json.loads(fork.text("site", "editions.json")) == said

    git("-C", tmp_path, "clone", "-qb", "site", fork.bare, "taken-back")
    there = ("-C", tmp_path / "taken-back")
    git(*there, "rm", "-rq", "v0.9")
    git(*there, "commit", "-qm", "Taken back")
    git(*there, "push", "-q")
    assert fork.run(text="newer", gone=True) == 0
    assert [*fork.choice("index.html")] == ["latest", "v0.10"]

    # A fork of the fork may have got its branches.
    fork.patch.setenv("GITHUB_REPOSITORY", "other/book")
    other = "https://github.com/other/book"
    assert fork.run(pages=LESS, url=other) == 0
    assert not [n for n in fork.files("site") if n.startswith("v0")]
    assert f'address = "{other}"' in fork.head()[1]


@slow
def test_what_stops_it_is_said_and_nothing_is_published(fork):
    fork.run("v0.2")  # the first edition is also the latest
    assert {"v0.2/index.html", "index.html"} <= {*fork.files("site")}
    fork.run()
    before = fork.heads()
    elsewhere = "run `make clean site`"
    for run, why in [
        ({"tag": "version"}, "the tag version cannot name an edition"),
        ({"tag": "v/1"}, "cannot name an edition"),
        ({"tag": "v1/../../x"}, "cannot name an edition"),
        ({"pages": LESS}, "\n  book/02_two.html\n"),
        ({"tag": "v0.2", "pages": LESS}, "1 of the pages"),
        ({"url": "https://github.com/someone/else"}, elsewhere),
        ({"branch": "old"}, elsewhere),
        ({"notebooks": "main"}, elsewhere),
        ({"pages": ()}, elsewhere),
    ]:
        assert why in fork.run(**run), run
        assert fork.heads() == before
    for tag in ("", "v0.2"):
        assert fork.run(tag, LESS, gone=True) == 0
        page = f"{tag}/book/02_two.html".strip("/")
        assert page not in fork.files("site")
    fork.patch.delenv("GITHUB_REPOSITORY")
    assert "nobody says where this book is" in fork.run()
    fork.patch.setenv("GITHUB_REPOSITORY", "fork/book")
    fork.bare.rename(fork.bare.with_name("gone"))
    assert fork.run().startswith("git ls-remote: fatal: ")


@slow
def test_the_configuration_overrides_and_on_a_desk_the_remote_says_it(
    fork, tmp_path
):
    """Without notebooks, for they have a branch only where it is known."""
    config, url = fork.root / "_config.yml", "https://git.example/a/b"
    before = config.read_text()
    config.write_text(before.replace(PLACEHOLDER, url))
    assert fork.run(url=url, branch="v1") == 0
    assert [*fork.heads()] == ["site"]
    config.write_text(before)
    fork.patch.delenv("GITHUB_REPOSITORY")
    fork.git("remote", "set-url", "origin", f"{FORK}.git")
    lead = f'[url "{fork.bare}"]\n\tinsteadOf = {FORK}.git\n'
    (tmp_path / "gitconfig").write_text(lead)
    fork.patch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    assert fork.run(branch="v1") == 0  # by its configuration
    assert f'address = "{FORK}"' in fork.head()[1]


@slow
def test_the_students_edition_is_published_where_it_stands(fork):
    config = fork.root / "_config.yml"
    put(fork.root, {
        "_config.yml": config.read_text().replace("''", "student"),
        "student/01_one.ipynb": (fork.root / "book/01_one.ipynb").read_text(),
        "student/AGENTS.md": "Tutor.",
    })  # fmt: skip
    fork.commit("For students")
    fork.run()
    assert fork.text("colab", "student/AGENTS.md") == "Tutor."
    title, cell = fork.head(name="student/01_one.ipynb")
    assert title.endswith("/blob/colab/student/01_one.ipynb)")
    assert "--branch=colab" in cell


@slow
def test_who_comes_second_builds_on_the_first(fork, monkeypatch):
    """Another run publishes a tag between our looking and our pushing."""
    fork.run()
    push = Branch.push

    def interrupted(self, *arguments):
        monkeypatch.setattr(Branch, "push", push)
        html = fork.root / "_build" / "html"
        ours = html.rename(html.with_name("ours"))
        fork.run("v0.2")
        shutil.rmtree(html)
        ours.rename(html)
        return push(self, *arguments)

    monkeypatch.setattr(Branch, "push", interrupted)
    assert fork.run(text="new") == 0
    assert "v0.2/index.html" in fork.files("site")
    assert "new" in fork.text("site", "index.html")


@slow
def test_files_come_back_as_they_were(fork, tmp_path):
    folder, back = tmp_path / "in", tmp_path / "out"
    contents = {"a.txt": b"of\r\nWindows\r\n", ".gitignore": b"*\n"}
    contents |= {"ümlaut name.bin": bytes(range(256)), "empty": b""}
    folder.mkdir()
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    there = Branch(fork.root, "things")
    assert there.push(folder, "", "Things")
    there.fetch(back)
    assert {p.name: p.read_bytes() for p in back.iterdir()} == contents


@pytest.fixture(scope="module")
def branch(tmp_path_factory):
    """The branch that Colab opens, and git that finds the fork here."""
    folder = tmp_path_factory.mktemp("published")
    bare, tree = folder / "fork.git", folder / "fork"
    alone.publish(bare)
    git("clone", "-q", "-b", alone.EDITION, bare.as_uri(), tree)
    publish_notebooks(Place(FORK, "main", "colab"), tree)
    git("clone", "-q", "-b", "colab", bare.as_uri(), folder / "branch")
    leads = f'[url "{bare.as_uri()}"]\n\tinsteadOf = {FORK}\n'
    (folder / "gitconfig").write_text(leads)
    return folder / "branch"


@slow
@pytest.mark.parametrize("notebook", notebooks(), ids=lambda path: path.stem)
def test_what_was_published_runs_in_an_empty_folder(
    branch, tmp_path, notebook
):
    path = branch / notebook.relative_to(ROOT)
    first = sync.code_cells(sync.read(path))[0].source
    assert f'address = "{FORK}"' in first
    laid_out = alone.lay_out(path, tmp_path / "alone", first)
    config = str(branch.parent / "gitconfig")
    done = run_notebooks(laid_out.parent, GIT_CONFIG_GLOBAL=config)
    assert done.returncode == 0, done.stdout
    clone = laid_out.parent / "book-files"
    assert git("-C", clone, "branch", "--show-current") == "colab"
