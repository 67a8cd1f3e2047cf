"""A fork is published, as its workflow does it; see also test_publish.py."""

from tests.publish.conftest import FORK, PAGES, git
from tests.publish.test_publish import first_cell


def test_a_fork_publishes_without_configuration(book, capsys):
    before = git(book.root, "status", "--porcelain")
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
