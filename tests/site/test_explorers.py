"""Explorers on their pages; tests/explorers tries each by itself."""

import nbformat
import pytest

from book._ext.explorers import scripts_of
from tests.site.conftest import ROOT
from tests.site.pages import NOTEBOOKS, PAGES
from tests.site.test_html import soup_of
from tests.site.visit import Visit

READY = """[...document.querySelectorAll(".explorer")].map((e) =>
  [e.localName, e.hasAttribute("data-ready")])"""


def explorers_of(name):
    """The names of the elements in the cells of a chapter."""
    notebook = nbformat.read(ROOT / f"{name}.ipynb", as_version=4)
    cells = [
        cell
        for cell in notebook.cells
        if "explorer" in cell.metadata.get("tags", [])
    ]
    texts = [cell.outputs[0].data["text/html"] for cell in cells]
    return [text[1 : text.index(" ")] for text in texts]


WITH_EXPLORERS = [name for name in NOTEBOOKS if explorers_of(name)]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_loads_the_scripts_of_its_explorers_and_no_other(site, name):
    page = soup_of(site / name)
    scripts = [script["src"] for script in page.find_all("script", src=True)]
    loaded = [src for src in scripts if "_static/explorers/" in src]
    needed = scripts_of(str(page.main))
    assert [src.rpartition("/")[2] for src in loaded] == [
        f"{script}.js" for script in needed
    ]
    for src in loaded:
        assert (site / name).parent.joinpath(src).is_file()


@pytest.mark.parametrize("scheme", ["file", "http"])
@pytest.mark.parametrize("name", WITH_EXPLORERS)
def test_the_explorers_of_a_page_live(browser, site, address, scheme, name):
    home = address if scheme == "http" else f"{site.as_uri()}/"
    visit = Visit(browser.new_page(viewport={"width": 360, "height": 740}))
    visit.load(f"{home}{name}.html")
    found = visit.tab.evaluate(READY)
    assert found == [[tag, True] for tag in explorers_of(name)]
    assert [visit.measure(width)["width"] for width in (360, 320)] == [
        360,
        320,
    ]
    assert all(url.startswith((home, "data:")) for url in visit.requests)
    visit.assert_calm()
    visit.tab.close()
