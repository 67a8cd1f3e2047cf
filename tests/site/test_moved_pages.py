"""Old addresses lead to where the pages went."""

from types import SimpleNamespace

import pytest

from book._ext.moved_pages import addresses, write_moved_pages
from tests.site.pages import CONFIG, DOCUMENTS, quickly
from tests.site.test_html import broken, soup_of, targets

MOVED = CONFIG["sphinx"]["config"]["moved_pages"]
FIRST = [next(iter(MOVED)), next(old for old in MOVED if "#" in old)]


def app(folder, moved, builder="html"):
    """What Sphinx hands over, for a book of two pages."""
    return SimpleNamespace(
        builder=SimpleNamespace(format=builder),
        config=SimpleNamespace(moved_pages=moved),
        env=SimpleNamespace(found_docs={"new", "book/new"}),
        outdir=folder,
    )


def test_addresses_are_relative_to_the_old_page():
    moved = {"book/old": "book/new", "book/old#part": "new"}
    assert addresses(moved) == {
        "book/old": {"": "new.html", "part": "../new.html"}
    }


@pytest.mark.parametrize(
    "moved",
    [
        {"old": "missing"},
        {"new": "book/new"},
        {"old#part": "new"},
    ],
)
def test_what_leads_nowhere_is_refused(tmp_path, moved):
    with pytest.raises(ValueError, match="moved_pages: "):
        write_moved_pages(app(tmp_path, moved), None)


def test_only_a_finished_site_gets_the_pages(tmp_path):
    write_moved_pages(app(tmp_path, {"old": "new"}, "latex"), None)
    write_moved_pages(app(tmp_path, {"old": "new"}), OSError())
    assert not any(tmp_path.iterdir())
    write_moved_pages(app(tmp_path, {"old": "new"}), None)
    assert [path.name for path in tmp_path.iterdir()] == ["old.html"]


@pytest.mark.parametrize("name", sorted({m.partition("#")[0] for m in MOVED}))
def test_an_old_page_links_to_the_new_one(site, name):
    path = site / f"{name}.html"
    links = [*targets(soup_of(path))]
    assert links and not any(broken(path, link) for link in links)
    assert f'content="1; url={links[0]}"' in path.read_text()


@pytest.mark.parametrize("old", quickly(MOVED, FIRST.__contains__))
def test_a_link_to_an_old_address_arrives(browser, address, old):
    name, _, section = old.partition("#")
    tab = browser.new_page()
    tab.goto(address + f"{name}.html" + (f"#{section}" if section else ""))
    wanted = f"{address}{MOVED[old]}.html" + (f"#{section}" if section else "")
    tab.wait_for_url(wanted)
    tab.close()
    assert MOVED[old] in DOCUMENTS
