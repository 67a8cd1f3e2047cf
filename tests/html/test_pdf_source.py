"""What the PDF takes of the site."""

import pytest

from tests.built import PRINTED, ROOT, TOC
from tools.editions.pdf import source


def test_the_pdf_takes_its_pages_from_the_table_of_contents():
    book = source.book()
    assert [part["caption"] for part in book["parts"]] == [
        part["caption"]
        for part in TOC["parts"]
        if part["caption"] != source.ONLINE
    ]
    assert source.documents(book) == PRINTED


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
