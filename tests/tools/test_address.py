"""Where the book is: configuration, workflow, remote, in this order."""

import subprocess

import pytest

from tools.source import address, colab
from tools.source.address import PLACEHOLDER, Place

OWN = "https://github.com/fork/book"
WHO = ("-c", "user.name=A", "-c", "user.email=a@b.example")
RUN = {"GITHUB_REPOSITORY": "fork/book", "GITHUB_REF": "refs/heads/course"}


def book(root, url=PLACEHOLDER, remote=None, branch="main"):
    """A book with this configuration and this remote."""
    text = f"repository: {{url: '{url}', branch: {branch}}}"
    (root / "_config.yml").write_text(text)
    if remote is not None:
        git(root, "init", "-q")
        git(root, "remote", "add", "origin", remote)
    return root


def git(root, *arguments):
    subprocess.run(["git", "-C", root, *arguments], check=True)


def test_nobody_says_where_it_is(tmp_path):
    assert address.read(book(tmp_path), {}) is None
    assert not colab.read_address(tmp_path, {}).is_known


@pytest.mark.parametrize("url", ["https://a.example/b", "file:///b/c"])
def test_the_configuration_comes_first(tmp_path, url):
    root = book(tmp_path, f"{url}.git", "https://github.com/me/book", "v1")
    assert address.read(root, RUN) == Place(url, "v1")
    assert colab.read_address(root, RUN) == colab.Address(url, "v1")


@pytest.mark.parametrize("url", [PLACEHOLDER, f"{OWN}/", f"{OWN}.git"])
def test_a_workflow_knows_its_repository_and_its_branch(tmp_path, url):
    root = book(tmp_path, url, "https://github.com/me/book")
    assert address.read(root, RUN) == Place(OWN, "course", "colab")
    assert colab.read_address(root, RUN) == colab.Address(OWN, "course")
    tag = address.read(root, RUN | {"GITHUB_REF": "refs/tags/v0.2"})
    assert tag == Place(OWN, "v0.2", "colab-v0.2", edition="v0.2")
    server = {"GITHUB_SERVER_URL": "https://git.school.example/"}
    if url == PLACEHOLDER:
        found = address.read(root, RUN | server)
        assert found.url == "https://git.school.example/fork/book"


@pytest.mark.parametrize("ref", ["refs/pull/7/merge", "", "refs/heads/"])
def test_a_run_that_publishes_nothing_has_no_notebooks(tmp_path, ref):
    root = book(tmp_path, branch="trunk")
    found = address.read(root, RUN | {"GITHUB_REF": ref})
    assert found == Place(OWN, "trunk", "")


@pytest.mark.parametrize(
    "remote",
    [
        "https://github.com/fork/book/",
        "https://someone:secret@github.com/fork/book.git",
        "git@github.com:fork/book.git",
        "ssh://git@ssh.github.com:443/fork/book.git",
        "git://github.com/fork/book.git",
    ],
)
def test_a_clone_knows_where_it_comes_from(tmp_path, remote):
    root = book(tmp_path, remote=remote, branch="v1")
    assert address.read(root, {}) == Place(OWN, "v1", "")
    git(root, *WHO, "commit", "-q", "--allow-empty", "-m", "Begun")
    git(root, "update-ref", "refs/remotes/origin/colab", "HEAD")
    assert address.read(root, {}) == Place(OWN, "v1", "colab")


@pytest.mark.parametrize(
    "remote",
    [
        "https://gitlab.com/fork/book",
        "https://notgithub.com/fork/book",
        "https://github-com/fork/book",
        "https://github.com.example/fork/book",
        "https://example.org/github.com/fork/book",
        "https://github.com/fork",
        "https://github.com/fork/book/wiki",
        "/srv/github.com/fork/book.git",
    ],
)
def test_a_remote_elsewhere_says_nothing(tmp_path, remote):
    assert address.read(book(tmp_path, remote=remote), {}) is None


def test_a_repository_further_up_is_another_one(tmp_path):
    book(tmp_path, remote="https://github.com/other/things")
    inside = tmp_path / "inside"
    inside.mkdir()
    assert address.read(book(inside), {}) is None


def test_only_the_git_of_the_book_is_asked(tmp_path, monkeypatch):
    root = book(tmp_path, remote="https://github.com/fork/book")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))  # a hook's
    assert address.read(root, {}).url == OWN
    monkeypatch.setenv("GITHUB_REPOSITORY", "fork/book")
    assert not colab.stored_address(root).is_known
    monkeypatch.setenv("PATH", "")
    assert address.read(root, {}) is None
