"""The page of downloads, and what the PDF takes of the site."""

import json

import pytest
from bs4 import BeautifulSoup

from book._ext.book_site.pages import downloads
from tests.site.conftest import ROOT
from tests.site.pages import PRINTED, TOC
from tools.editions.pdf import source


@pytest.fixture
def built(tmp_path, site):
    """A site of one page, that of downloads, as `make book` leaves it."""
    page = tmp_path / f"{downloads.PAGE}.html"
    page.parent.mkdir()
    page.write_text((site / f"{downloads.PAGE}.html").read_text())
    downloads.show(tmp_path)
    return tmp_path


def links(site):
    text = (site / f"{downloads.PAGE}.html").read_text()
    listed = BeautifulSoup(text, "html.parser").find(id="downloads")
    assert text.count('<div id="downloads">') == 1
    return [link["href"] for link in listed.find_all("a")]


def test_without_files_there_is_no_link(built):
    assert links(built) == []
    assert downloads.NONE in (built / f"{downloads.PAGE}.html").read_text()


def test_files_are_linked_as_they_come_and_go(built):
    folder = built / downloads.FOLDER
    folder.mkdir()
    for name in (downloads.OFFLINE, downloads.PDF):
        (folder / name).write_bytes(b"0" * 1_550_000)
    downloads.show(built)
    assert links(built) == [f"../downloads/{name}" for name in downloads.WORDS]
    text = (built / f"{downloads.PAGE}.html").read_text()
    assert "(1.6 MB)" in text and downloads.NONE not in text
    (folder / downloads.PDF).unlink()
    downloads.show(built)
    assert links(built) == [f"../downloads/{downloads.OFFLINE}"]


def test_a_site_without_the_page_stays_as_it_is(tmp_path):
    downloads.show(tmp_path)
    assert not any(tmp_path.iterdir())


def test_the_pdf_takes_its_pages_from_the_table_of_contents():
    book = source.book()
    assert [part["caption"] for part in book["parts"]] == [
        part["caption"]
        for part in TOC["parts"]
        if part["caption"] != source.ONLINE
    ]
    assert source.documents(book) == PRINTED
    assert json.loads(source.as_argument(book)) == book


@pytest.mark.parametrize(
    "address, prefix",
    [
        ("https://github.com/OWNER/REPO", ""),
        ("https://github.com/a/b.git", "https://github.com/a/b/blob/v1/book/"),
    ],
)
def test_files_of_the_repository_are_linked_once_it_has_an_address(
    tmp_path, address, prefix
):
    for name in ("_toc.yml", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "_config.yml").write_text(
        f"title: T\nauthor: A\nrepository: {{url: '{address}', branch: v1}}\n"
    )
    assert source.book(tmp_path)["source"] == prefix


def test_every_page_lies_in_the_file_once_and_unread(site):
    book = source.book()
    text = source.compose(book, site)
    assert text.count("<template ") == len(source.documents(book))
    assert "<main" not in text.split("</main>", 1)[1]
