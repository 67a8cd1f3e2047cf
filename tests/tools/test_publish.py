"""Publishing into a bare repository, as the workflow does."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tests.tools.test_plugin import run_pytest
from tools.chapters import alone, sync
from tools.chapters.kernels import write_kernels
from tools.editions.publish import editions
from tools.editions.publish.__main__ import main, publish_notebooks
from tools.editions.publish.branch import Branch, PublishError
from tools.source import colab
from tools.source.address import Place
from tools.source.taught import ROOT, chapters

slow = pytest.mark.slow
FORK = "https://github.com/fork/book"
PAGE = (
    "<header><!-- editions --><!-- /editions --></header>"
    '<a href="{url}/blob/{branch}/x">Source</a>'
    '<a href="https://colab.research.google.com/github/fork/book/blob/'
    '{notebooks}/x">Colab</a>'
)
PAGES = ("index", "book/index", "book/01_one", "book/02_two")


@pytest.fixture(scope="module", autouse=True)
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


def first_cell(book, of="colab", name="book/01_one.ipynb"):
    notebook = nbformat.reads(book.text(of, name), as_version=4)
    return notebook.cells[0].source, notebook.cells[1].source


def test_a_fork_publishes_without_configuration(book, capsys):
    before = git(book.root, "status", "--porcelain")
    (book.root / "book/lib/secret.py").write_text("mine")  # git ignores it
    (book.root / ".git/info/exclude").write_text("secret.py\n")
    assert book.publish() == 0
    assert [*book.heads()] == ["colab", "site"]
    pages = [f"{name}.html" for name in PAGES]
    assert book.files("site") == [
        ".nojekyll", *sorted([*pages, "editions.json"])
    ]  # fmt: skip
    assert book.files("colab") == [
        "LICENSE",
        "README.md",
        "benchmarks/results/one.json",
        "book/01_one.ipynb",
        "book/02_two.ipynb",
        "book/data/one.json",
        "book/lib/__init__.py",
        "book/lib/runtime.py",
    ]
    title, cell = first_cell(book)
    assert f'address = "{FORK}"' in cell and "--branch=colab" in cell
    link = "github/fork/book/blob/colab/book/01_one.ipynb)"
    assert title.startswith("# 01_one\n\n[Open this chapter in Colab](https:")
    assert title.endswith(link)
    commit = git(book.root, "rev-parse", "--short", "HEAD")
    said = f"site: main {commit}\ncolab: main {commit}\n"
    assert capsys.readouterr().out == said
    assert git(book.root, "status", "--porcelain") == before
    assert git(book.root, "branch", "--list").strip() == "* main"
    for path in (book.root / "book").glob("*.ipynb"):
        assert "fork/book" not in path.read_text()


@slow
def test_only_what_has_changed_is_committed(book, capsys):
    book.publish()
    before = book.heads()
    git(book.root, "commit", "-q", "--allow-empty", "-m", "Nothing")
    capsys.readouterr()
    assert book.publish() == 0 and book.heads() == before
    assert capsys.readouterr().out == "site: nothing new\ncolab: nothing new\n"
    (book.root / "book/lib/runtime.py").write_text("ANSWER = 43\n")
    (book.root / "book/data/one.json").unlink()
    book.commit("Another answer, and less")
    book.build(text="new")
    assert book.publish() == 0
    assert "new" in book.text("site", "book/01_one.html")
    assert git(book.bare, "rev-list", "--count", "site") == "1"
    assert git(book.bare, "rev-parse", "colab^") == before["colab"]
    changed = git(book.bare, "diff", "--name-only", "colab^", "colab")
    assert changed.split() == ["book/data/one.json", "book/lib/runtime.py"]
    assert "book/data/one.json" not in book.files("colab")


# editions


def edition(book, tag, *pages):
    """Publish a tag, as its workflow does."""
    git(book.root, "tag", "-f", tag)
    book.run_of(f"refs/tags/{tag}")
    book.build(*pages, branch=tag, notebooks=f"colab-{tag}")
    return book.publish()


@slow
def test_a_tag_is_an_edition_beside_the_latest(book):
    book.publish()
    before = book.heads()["colab"]
    assert edition(book, "v0.2") == 0
    assert [*book.heads()] == ["colab", "colab-v0.2", "site"]
    assert book.heads()["colab"] == before
    for name in PAGES:
        assert {f"{name}.html", f"v0.2/{name}.html"} <= {*book.files("site")}
    assert "/blob/main/" in book.text("site", "book/01_one.html")
    assert "/blob/v0.2/" in book.text("site", "v0.2/book/01_one.html")
    assert "--branch=colab-v0.2" in first_cell(book, "colab-v0.2")[1]
    before = book.heads()
    assert book.publish() == 0 and book.heads() == before
    book.run_of("refs/heads/main")
    book.build(*PAGES, "book/03_new", text="new")
    assert book.publish() == 0
    assert "new" not in book.text("site", "v0.2/book/01_one.html")
    assert "book/03_new.html" in book.files("site")
    said = json.loads(book.text("site", "editions.json"))
    assert said == {"repository": FORK, "editions": ["v0.2"]}


def choice(book, page):
    """The editions that a page offers: names and where they lead."""
    text = book.text("site", page)
    found = editions.PLACE.search(text)[0]
    items = found.split("<li>")[1:]
    links = [item.split('href="')[1].split('"')[0] for item in items]
    names = [item.split("</a>")[0].rpartition(">")[2] for item in items]
    return dict(zip(names, links, strict=True))


@slow
def test_each_page_leads_to_itself_in_every_edition(book):
    book.build(*PAGES, "404")
    book.publish()
    assert choice(book, "book/01_one.html") == {}
    edition(book, "v0.9", "index", "book/01_one", "book/old", "404")
    edition(book, "v0.10")
    assert choice(book, "book/01_one.html") == {
        "latest": "01_one.html",
        "v0.10": "../v0.10/book/01_one.html",
        "v0.9": "../v0.9/book/01_one.html",
    }
    assert [*choice(book, "index.html")] == ["latest", "v0.10", "v0.9"]
    assert choice(book, "v0.9/book/01_one.html") == {
        "latest": "../../book/01_one.html",
        "v0.10": "../../v0.10/book/01_one.html",
        "v0.9": "01_one.html",
    }
    assert choice(book, "v0.9/book/old.html")["latest"] == "../../index.html"
    assert choice(book, "book/02_two.html")["v0.9"] == "../v0.9/index.html"
    old = book.text("site", "v0.9/index.html")
    assert "</span>v0.9</summary>" in old
    assert 'aria-current="true">v0.9<' in old
    # It is shown at any depth, so its relative links would not lead.
    assert choice(book, "404.html") == choice(book, "v0.9/404.html") == {}


@slow
def test_an_edition_can_be_taken_back(book, tmp_path):
    book.publish()
    edition(book, "v0.2")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "-b", "site", str(book.bare), str(clone))
    git(clone, "rm", "-rq", "v0.2")
    git(clone, "commit", "-qm", "Taken back")
    git(clone, "push", "-q")
    book.run_of("refs/heads/main")
    book.build(text="new")
    assert book.publish() == 0
    assert not [n for n in book.files("site") if n.startswith("v0.2")]
    assert choice(book, "index.html") == {}


@slow
def test_the_first_edition_is_also_the_latest(book):
    assert edition(book, "v0.1") == 0
    assert {"v0.1/index.html", "index.html"} <= {*book.files("site")}


@slow
@pytest.mark.parametrize("tag", ["version", "v/1", "v1/../../x"])
def test_a_tag_that_is_no_folder_is_refused(book, tag):
    book.publish()
    before = book.heads()
    book.run_of(f"refs/tags/{tag}")
    book.build(branch=tag, notebooks=f"colab-{tag}")
    assert "cannot name an edition" in book.publish()
    assert book.heads() == before


# what stops it


@slow
@pytest.mark.parametrize("tag", ["", "v0.2"])
def test_a_lost_page_is_refused_and_named(book, tag):
    book.publish()
    if tag:
        edition(book, tag)
    before = book.heads()
    less = [name for name in PAGES if name != "book/02_two"]
    names = dict(branch=tag or "main", notebooks=f"colab-{tag}".strip("-"))
    book.build(*less, **names)
    said = book.publish()
    assert "1 of the pages" in said and "\n  book/02_two.html\n" in said
    assert "moved_pages" in said and "GONE=1" in said
    assert book.heads() == before
    assert book.publish("--gone") == 0
    assert f"{tag}/book/02_two.html".strip("/") not in book.files("site")


@slow
def test_what_was_not_built_for_this_place_is_refused(book):
    for wrong in (
        {"url": "https://github.com/someone/else"},
        {"branch": "old"},
        {"notebooks": "main"},
    ):
        book.build(**wrong)
        assert "run `make clean site`" in book.publish()
    subprocess.run(["rm", "-r", book.root / "_build"], check=True)
    assert "run `make clean site`" in book.publish()
    book.patch.delenv("GITHUB_REPOSITORY")
    assert "nobody says where this book is" in book.publish()
    assert git(book.bare, "branch", "--list") == ""


@slow
def test_a_remote_that_does_not_answer_is_named(book):
    book.bare.rename(book.bare.with_name("gone.git"))
    assert book.publish().startswith("git ls-remote: fatal: ")


# whose address


@slow
def test_on_a_desk_the_remote_says_it(book):
    book.patch.delenv("GITHUB_REPOSITORY")
    git(book.root, "remote", "set-url", "origin", f"{FORK}.git")
    lead = f'[url "{book.bare}"]\n\tinsteadOf = {FORK}.git\n'
    (book.root.parent / "gitconfig").write_text(lead)
    book.patch.setenv("GIT_CONFIG_GLOBAL", str(book.root.parent / "gitconfig"))
    assert book.publish() == 0
    assert f'address = "{FORK}"' in first_cell(book)[1]


@slow
def test_the_configuration_overrides_and_has_its_own_notebooks(book):
    url = "https://git.example/a/b"
    text = f"repository: {{url: '{url}', branch: v1}}"
    (book.root / "_config.yml").write_text(text)
    book.commit("Elsewhere")
    book.build(url=url, branch="v1")
    assert book.publish() == 0
    assert [*book.heads()] == ["site"]


@slow
def test_a_fork_begins_with_its_own_editions(book):
    """It may have got the branches of the book that it was forked from."""
    book.publish()
    edition(book, "v0.2")
    book.run_of("refs/heads/main", "other/book")
    url = "https://github.com/other/book"
    book.build("index", "book/01_one", url=url)
    assert book.publish() == 0
    assert not [n for n in book.files("site") if n.startswith("v0.2")]
    assert 'address = "https://github.com/other/book"' in first_cell(book)[1]


@slow
def test_the_students_edition_is_published_where_it_stands(book):
    config = book.root / "_config.yml"
    more = "\nsphinx: {config: {student_path: student}}\n"
    config.write_text(config.read_text() + more)
    (book.root / "student").mkdir()
    source = (book.root / "book/01_one.ipynb").read_text()
    (book.root / "student/01_one.ipynb").write_text(source)
    (book.root / "student/AGENTS.md").write_text("Tutor.")
    book.commit("For students")
    book.publish()
    assert book.text("colab", "student/AGENTS.md") == "Tutor."
    title, cell = first_cell(book, name="student/01_one.ipynb")
    assert title.endswith("/blob/colab/student/01_one.ipynb)")
    assert "--branch=colab" in cell


# two runs at once


@slow
def test_who_comes_second_builds_on_the_first(book, monkeypatch):
    """Another run publishes a tag between our looking and our pushing."""
    book.publish()
    push, calls = Branch.push, []

    def interrupted(self, folder, before, message):
        if not calls:
            calls.append(self.name)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(book, "patch", patch)
                edition(book, "v0.2")
            book.run_of("refs/heads/main")
        return push(self, folder, before, message)

    book.build(text="new")
    monkeypatch.setattr(Branch, "push", interrupted)
    assert book.publish() == 0
    assert calls == ["site"]
    assert "v0.2/index.html" in book.files("site")


@slow
def test_it_does_not_try_for_ever(book, monkeypatch):
    heads = iter(range(100))
    monkeypatch.setattr(Branch, "head", lambda self: str(next(heads)))
    monkeypatch.setattr(Branch, "fetch", lambda self, folder: "x")

    def refused(*arguments):
        raise PublishError("refused")

    monkeypatch.setattr(Branch, "push", refused)
    assert "all the time" in book.publish()


@slow
def test_files_come_back_as_they_were_and_are_not_overwritten_unseen(
    book, tmp_path
):
    folder = tmp_path / "in"
    contents = {
        "a.txt": b"lines\r\nof Windows\r\n",
        "b/ümlaut name.bin": bytes(range(256)),
        ".gitignore": b"*\n",
        "b/empty": b"",
    }
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    there = Branch(book.root, "things")
    assert there.fetch(tmp_path / "nothing") == ""
    assert there.push(folder, "", "Things")
    back = tmp_path / "out"
    assert there.fetch(back) == there.head() != ""
    for name, content in contents.items():
        assert (back / name).read_bytes() == content
    (folder / "a.txt").write_text("b")
    with pytest.raises(PublishError, match="git push"):
        there.push(folder, "", "Unseen")
    assert "Windows" in book.text("things", "a.txt")


# what was published runs


@pytest.fixture(scope="module")
def branch(tmp_path_factory):
    """The branch that Colab opens, and git that finds the fork here."""
    folder = tmp_path_factory.mktemp("published")
    bare, tree = folder / "fork.git", folder / "fork"
    alone.publish(bare)
    git(folder, "clone", "-q", "-b", alone.EDITION, bare.as_uri(), str(tree))
    publish_notebooks(Place(FORK, "main", "colab"), tree)
    git(folder, "clone", "-q", "-b", "colab", bare.as_uri(), "branch")
    leads = f'[url "{bare.as_uri()}"]\n\tinsteadOf = {FORK}\n'
    (folder / "gitconfig").write_text(leads)
    write_kernels(folder / "jupyter" / "kernels")
    return folder / "branch"


@slow
@pytest.mark.parametrize("name", [path.name for path in chapters()])
def test_it_runs_in_an_empty_folder(branch, tmp_path, name):
    path = branch / "book" / name
    notebook = sync.read(path)
    first = sync.code_cells(notebook)[0]
    assert f'address = "{FORK}"' in first.source
    laid_out = alone.lay_out(path, tmp_path / "alone", first.source)
    *cells, last = sync.read(laid_out).cells
    assert cells == notebook.cells and last.source == alone.WHENCE
    done = run_pytest(
        laid_out.parent,
        *("--nbval-kernel-name", "book-cpu"),
        JUPYTER_PATH=str(branch.parent / "jupyter"),
        GIT_CONFIG_GLOBAL=str(branch.parent / "gitconfig"),
    )
    assert done.returncode == 0, done.stdout
    clone = laid_out.parent / "book-files"
    assert git(clone, "branch", "--show-current") == "colab"
