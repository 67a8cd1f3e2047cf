"""The zip of the site: what is in it, and that it needs no network."""

import shutil
from pathlib import Path
from zipfile import ZipFile

import pytest

from book._ext.book_site.pages import downloads
from tests.built import broken, slow, soup_of, targets
from tools.editions import offline


@pytest.fixture(
    scope="module", params=["with the PDF", slow("without the PDF")]
)
def unpacked(request, site, tmp_path_factory):
    """An empty folder into which the zip of a copy of the site went."""
    folder = tmp_path_factory.mktemp("offline")
    copy = folder / "site"
    shutil.copytree(site, copy, ignore=lambda *_: [downloads.FOLDER])
    target = copy / downloads.FOLDER / downloads.OFFLINE
    if request.param == "with the PDF":
        target.parent.mkdir()
        target.with_name(downloads.PDF).write_bytes(b"%PDF-1.7")
    offline.pack(copy, target)
    with ZipFile(target) as packed:
        packed.extractall(folder / "empty")
        rights = {info.external_attr >> 16 for info in packed.infolist()}
    assert rights == {0o644}  # `unzip` gives a file what stands there
    (inside,) = (folder / "empty").iterdir()
    return inside


def files(folder):
    """All but what can be downloaded."""
    found = {p.relative_to(folder) for p in folder.rglob("*") if p.is_file()}
    return {path for path in found if path.parts[0] != downloads.FOLDER}


def test_it_holds_the_site_and_a_word_to_the_reader(unpacked, site):
    left = {Path("README.txt"), Path(".buildinfo")}
    assert files(unpacked) - left == files(site) - left
    readme = (unpacked / "README.txt").read_text()
    assert "Open index.html" in readme
    has_pdf = (unpacked / downloads.FOLDER / downloads.PDF).exists()
    assert has_pdf == (downloads.PDF in readme)
    assert not [*unpacked.rglob("*.zip")]
    page = unpacked / f"{downloads.PAGE}.html"
    assert [t for t in targets(soup_of(page)) if broken(page, t)] == []
    listed = soup_of(page).find(id="downloads").find_all("a")
    links = [link["href"] for link in listed]
    assert links == [f"../downloads/{downloads.PDF}"] * has_pdf


def test_packed_again_it_is_the_same(tmp_path):
    """Not with the zip of before inside."""
    (tmp_path / "index.html").touch()
    target = tmp_path / downloads.OFFLINE
    offline.pack(tmp_path, target)
    first = target.read_bytes()
    offline.pack(tmp_path, target)
    assert target.read_bytes() == first


def test_its_front_door_leads_to_the_book(unpacked, window):
    visit = window(offline=True)
    visit.tab.goto((unpacked / "index.html").as_uri())
    visit.tab.wait_for_url("**/book/index.html")
    visit.assert_calm()
