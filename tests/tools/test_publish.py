"""Publishing into a bare repository, as the workflow does."""

import json
import subprocess

import nbformat
import pytest

from tests.publish.conftest import FORK, PAGES, git
from tools.publish import editions
from tools.publish.branch import Branch, PublishError

pytestmark = pytest.mark.slow


def first_cell(book, of="colab", name="book/01_one.ipynb"):
    notebook = nbformat.reads(book.text(of, name), as_version=4)
    return notebook.cells[0].source, notebook.cells[1].source


def test_the_stored_notebooks_keep_the_placeholder(book):
    book.publish()
    for path in (book.root / "book").glob("*.ipynb"):
        assert "fork/book" not in path.read_text()


def test_publishing_again_changes_nothing(book, capsys):
    book.publish()
    before = book.heads()
    git(book.root, "commit", "-q", "--allow-empty", "-m", "Nothing")
    capsys.readouterr()
    assert book.publish() == 0
    assert book.heads() == before
    assert capsys.readouterr().out == "site: nothing new\ncolab: nothing new\n"


def test_only_what_has_changed_is_committed(book):
    book.publish()
    before = book.heads()
    (book.root / "book/lib/runtime.py").write_text("ANSWER = 43\n")
    book.commit("Another answer")
    assert book.publish() == 0
    after = book.heads()
    assert after["site"] == before["site"]
    assert git(book.bare, "rev-parse", "colab^") == before["colab"]
    changed = git(book.bare, "diff", "--name-only", "colab^", "colab")
    assert changed == "book/lib/runtime.py"


def test_the_site_keeps_no_history(book):
    book.publish()
    book.build(text="new")
    book.publish()
    assert git(book.bare, "rev-list", "--count", "site") == "1"
    assert "new" in book.text("site", "book/01_one.html")


def test_what_git_does_not_track_is_not_published(book):
    (book.root / "book/lib/secret.py").write_text("mine")
    (book.root / "book/data/notes.txt").write_text("mine")
    book.publish()
    assert not [
        n for n in book.files("colab") if "secret" in n or "notes" in n
    ]


def test_a_deleted_file_is_gone_from_the_notebooks(book):
    book.publish()
    (book.root / "book/data/one.json").unlink()
    book.commit("Less")
    book.publish()
    assert "book/data/one.json" not in book.files("colab")


# editions


def edition(book, tag, *pages):
    """Publish a tag, as its workflow does."""
    git(book.root, "tag", tag)
    book.run_of(f"refs/tags/{tag}")
    book.build(*pages, branch=tag, notebooks=f"colab-{tag}")
    return book.publish()


def test_a_tag_is_an_edition_beside_the_latest(book):
    book.publish()
    before = book.heads()["colab"]
    assert edition(book, "v0.2") == 0
    assert [*book.heads()] == ["colab", "colab-v0.2", "site"]
    assert book.heads()["colab"] == before
    files = book.files("site")
    for name in PAGES:
        assert f"{name}.html" in files and f"v0.2/{name}.html" in files
    assert "/blob/main/" in book.text("site", "book/01_one.html")
    assert "/blob/v0.2/" in book.text("site", "v0.2/book/01_one.html")
    assert "--branch=colab-v0.2" in first_cell(book, "colab-v0.2")[1]


def choice(book, page):
    """The editions that a page offers: names and where they lead."""
    text = book.text("site", page)
    found = editions.PLACE.search(text)[0]
    items = found.split("<li>")[1:]
    links = [item.split('href="')[1].split('"')[0] for item in items]
    names = [item.split("</a>")[0].rpartition(">")[2] for item in items]
    return dict(zip(names, links, strict=True))


def test_each_page_leads_to_itself_in_every_edition(book):
    book.publish()
    assert choice(book, "book/01_one.html") == {}
    edition(book, "v0.9", "index", "book/01_one", "book/old")
    edition(book, "v0.10")
    assert choice(book, "book/01_one.html") == {
        "latest": "01_one.html",
        "v0.10": "../v0.10/book/01_one.html",
        "v0.9": "../v0.9/book/01_one.html",
    }
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


def test_old_editions_stay_when_the_latest_is_replaced(book):
    book.publish()
    edition(book, "v0.2")
    before = book.text("site", "v0.2/book/02_two.html")
    book.run_of("refs/heads/main")
    book.build(*PAGES, "book/03_new", text="new")
    assert book.publish() == 0
    assert book.text("site", "v0.2/book/02_two.html") == before
    assert "book/03_new.html" in book.files("site")
    said = json.loads(book.text("site", "editions.json"))
    assert said == {"repository": FORK, "editions": ["v0.2"]}


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


def test_the_page_of_lost_addresses_has_no_list(book):
    """It is shown at any depth, so its relative links would not lead."""
    book.build(*PAGES, "404")
    book.publish()
    git(book.root, "tag", "v0.2")
    book.run_of("refs/tags/v0.2")
    book.build(*PAGES, "404", branch="v0.2", notebooks="colab-v0.2")
    assert book.publish() == 0
    assert choice(book, "404.html") == choice(book, "v0.2/404.html") == {}
    assert choice(book, "index.html")


def test_the_first_edition_is_also_the_latest(book):
    assert edition(book, "v0.1") == 0
    assert "v0.1/index.html" in book.files("site")
    assert "index.html" in book.files("site")


def test_an_edition_published_again_changes_nothing(book):
    book.publish()
    edition(book, "v0.2")
    before = book.heads()
    assert book.publish() == 0
    assert book.heads() == before


@pytest.mark.parametrize("tag", ["version", "v/1", "v", "v1/../../x"])
def test_a_tag_that_is_no_folder_is_refused(book, tag):
    book.publish()
    before = book.heads()
    book.run_of(f"refs/tags/{tag}")
    book.build(branch=tag, notebooks=f"colab-{tag}")
    assert "cannot name an edition" in book.publish()
    assert book.heads() == before


# what stops it


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


def test_a_moved_page_is_not_lost(book):
    """`moved_pages` leaves a page at the old address."""
    book.publish()
    book.build(*PAGES, "book/03_two")
    moved = book.root / "_build/html/book/02_two.html"
    moved.write_text('<meta http-equiv="refresh" content="1; url=03_two">')
    assert book.publish() == 0


def test_pages_of_another_place_are_refused(book):
    book.build(url="https://github.com/someone/else")
    assert "run `make clean site`" in book.publish()
    book.build(branch="old")
    assert "run `make clean site`" in book.publish()
    book.build(notebooks="main")
    assert "run `make clean site`" in book.publish()
    subprocess.run(["rm", "-r", book.root / "_build"], check=True)
    assert "run `make clean site`" in book.publish()
    assert git(book.bare, "branch", "--list") == ""


def test_without_an_address_nothing_is_published(book):
    book.patch.delenv("GITHUB_REPOSITORY")
    assert "nobody says where this book is" in book.publish()
    assert git(book.bare, "branch", "--list") == ""


def test_a_remote_that_does_not_answer_is_named(book):
    book.bare.rename(book.bare.with_name("gone.git"))
    assert book.publish().startswith("git ls-remote: fatal: ")


# whose address


def test_on_a_desk_the_remote_says_it(book):
    book.patch.delenv("GITHUB_REPOSITORY")
    git(book.root, "remote", "set-url", "origin", f"{FORK}.git")
    for number, pair in enumerate(
        [
            (f"url.{book.bare}.insteadOf", f"{FORK}.git"),
        ]
    ):
        book.patch.setenv(f"GIT_CONFIG_KEY_{number}", pair[0])
        book.patch.setenv(f"GIT_CONFIG_VALUE_{number}", pair[1])
    book.patch.setenv("GIT_CONFIG_COUNT", "1")
    assert book.publish() == 0
    assert f'address = "{FORK}"' in first_cell(book)[1]


def test_the_configuration_overrides_and_has_its_own_notebooks(book):
    url = "https://git.example/a/b"
    text = f"repository: {{url: '{url}', branch: v1}}"
    (book.root / "_config.yml").write_text(text)
    book.commit("Elsewhere")
    book.build(url=url, branch="v1")
    assert book.publish() == 0
    assert [*book.heads()] == ["site"]


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


def test_it_does_not_try_for_ever(book, monkeypatch):
    heads = iter(range(100))
    monkeypatch.setattr(Branch, "head", lambda self: str(next(heads)))
    monkeypatch.setattr(Branch, "fetch", lambda self, folder: "x")

    def refused(*arguments):
        raise PublishError("refused")

    monkeypatch.setattr(Branch, "push", refused)
    assert "all the time" in book.publish()


def test_files_come_back_as_they_were(book, tmp_path):
    """Whatever they are called and contain."""
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


def test_a_branch_of_that_name_is_not_overwritten_unseen(book, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a").write_text("a")
    there = Branch(book.root, "things")
    there.push(folder, "", "Mine")
    (folder / "a").write_text("b")
    with pytest.raises(PublishError, match="git push"):
        there.push(folder, "", "Unseen")
    assert book.text("things", "a") == "a"


def test_versions_are_sorted_as_people_do():
    names = ["v0.10", "v0.9", "v1", "v0.9.1", "v0.2-draft", "v0.2"]
    names.sort(key=editions.version)
    assert names == ["v0.2", "v0.2-draft", "v0.9", "v0.9.1", "v0.10", "v1"]
