"""Where the book is: configuration, workflow, remote, in this order."""

import pytest

from tests.tools.small import put
from tools.chapters.alone import git
from tools.source import address
from tools.source.address import PLACEHOLDER, Place

OWN = "https://github.com/fork/book"
RUN = {"GITHUB_REPOSITORY": "fork/book", "GITHUB_REF": "refs/heads/course"}


def book(root, url=PLACEHOLDER, remote=None, branch="main"):
    """A book with this configuration and this remote."""
    text = f"repository: {{url: '{url}', branch: {branch}}}"
    put(root, {"_config.yml": text})
    if remote is not None:
        git("init", "-q", root)
        git("-C", root, "remote", "add", "origin", remote)
    return root


def test_nobody_says_where_it_is(tmp_path):
    """A repository further up is another one."""
    book(tmp_path, remote="https://github.com/other/things")
    inside = book(tmp_path / "inside")
    assert address.read(inside, {}) is None


@pytest.mark.parametrize("url", ["https://a.example/b", "file:///b/c"])
def test_the_configuration_comes_first(tmp_path, url):
    root = book(tmp_path, f"{url}.git", "https://github.com/me/book", "v1")
    assert address.read(root, RUN) == Place(url, "v1")


@pytest.mark.parametrize("url", [PLACEHOLDER, f"{OWN}/", f"{OWN}.git"])
def test_a_workflow_knows_its_repository_and_its_branch(tmp_path, url):
    root = book(tmp_path, url, "https://github.com/me/book", "trunk")
    course = Place(OWN, "course", "colab")
    for ref, place in [
        ("refs/heads/course", course),
        ("refs/tags/v0.2", Place(OWN, "v0.2", "colab-v0.2", edition="v0.2")),
        ("refs/pull/7/merge", Place(OWN, "trunk", "")),  # publishes nothing
        ("", Place(OWN, "trunk", "")),
    ]:
        assert address.read(root, RUN | {"GITHUB_REF": ref}) == place
    if url == PLACEHOLDER:
        run = RUN | {"GITHUB_SERVER_URL": "https://git.school.example/"}
        school = "https://git.school.example/fork/book"
        assert address.read(root, run).url == school


def test_a_clone_knows_where_it_comes_from(tmp_path):
    root = book(tmp_path, remote=f"{OWN}/", branch="v1")
    assert address.read(root, {}) == Place(OWN, "v1", "")
    git("-C", root, "commit", "-q", "--allow-empty", "-m", "Begun")
    git("-C", root, "update-ref", "refs/remotes/origin/colab", "HEAD")
    assert address.read(root, {}) == Place(OWN, "v1", "colab")


@pytest.mark.parametrize(
    "remote, url",
    [
        ("https://someone:secret@github.com/fork/book.git", OWN),
        ("git@github.com:fork/book.git", OWN),
        ("ssh://git@ssh.github.com:443/fork/book.git", OWN),
        ("https://notgithub.com/fork/book", ""),
        ("https://github-com/fork/book", ""),
        ("https://github.com.example/fork/book", ""),
        ("https://github.com/fork", ""),
        ("https://github.com/fork/book/wiki", ""),
        ("/srv/github.com/fork/book.git", ""),
    ],
)
def test_only_a_remote_at_github_says_it(tmp_path, monkeypatch, remote, url):
    monkeypatch.setattr(address, "git", lambda *_: remote)
    assert address.of_remote(tmp_path) == url


def test_only_the_git_of_the_book_is_asked(tmp_path, monkeypatch):
    root = book(tmp_path, remote="https://github.com/fork/book")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))  # a hook's
    assert address.read(root, {}).url == OWN
    monkeypatch.setenv("GITHUB_REPOSITORY", "fork/book")
    assert not address.configured(root).is_known
    monkeypatch.setenv("PATH", "")
    assert address.read(root, {}) is None
