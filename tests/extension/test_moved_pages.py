"""Old addresses lead to where the pages went."""

from types import SimpleNamespace

import pytest
import yaml

from book._ext.book_site.frame.moved_pages import addresses, write_moved_pages
from tests.extension.conftest import ROOT, soup_of

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text())
MOVED = CONFIG["sphinx"]["config"]["moved_pages"]


def test_addresses_are_relative_to_the_old_page():
    moved = {"book/old": "book/new", "book/old#part": "new"}
    assert addresses(moved) == {
        "book/old": {"": "new.html", "part": "../new.html"}
    }


@pytest.mark.parametrize(
    "moved", [{"old": "missing"}, {"new": "book/new"}, {"old#part": "new"}]
)
def test_what_leads_nowhere_is_refused(tmp_path, moved):
    app = SimpleNamespace(
        config=SimpleNamespace(moved_pages=moved),
        env=SimpleNamespace(found_docs={"new", "book/new"}),
        outdir=tmp_path,
    )
    with pytest.raises(ValueError, match="moved_pages: "):
        write_moved_pages(app)


def test_a_link_to_an_old_address_arrives(browser, site, address):
    tab = browser.new_page()
    for old, new in MOVED.items():
        name, _, section = old.partition("#")
        end = f"#{section}" if section else ""
        tab.goto(f"{address}{name}.html{end}")
        tab.wait_for_url(f"{address}{new}.html{end}")
        link = soup_of(site / f"{name}.html").a["href"]  # without a script
        assert (site / "book" / link).is_file()
    tab.close()
