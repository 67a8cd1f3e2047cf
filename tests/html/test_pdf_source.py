"""What the PDF takes of the site."""

import pytest

from tests.built import ROOT
from tools.editions.pdf import source


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
