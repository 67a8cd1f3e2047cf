"""What a browser shows of every page on a desktop and as a file."""

import gzip
from functools import cache
from urllib.parse import unquote, urlsplit

import nbformat
import pytest

from tests.built import ROOT
from tests.built import BY_KIND, KINDS, NOTEBOOKS, PAGES, quickly


@cache
def bytes_of(path):
    return len(gzip.compress(path.read_bytes()))


def explorers_of(page):
    """The names of the elements in the cells of a chapter."""
    name = page.removesuffix(".html")
    if name not in NOTEBOOKS:
        return None
    notebook = nbformat.read(ROOT / f"{name}.ipynb", as_version=4)
    texts = [
        cell.outputs[0].data["text/html"]
        for cell in notebook.cells
        if "explorer" in cell.metadata.get("tags", [])
    ]
    return [text[1 : text.index(" ")] for text in texts]


def assert_quiet(told, site):
    """All that is needed is there, is light, and comes from the site."""
    home = (told["root"], "data:")
    assert [u for u in told["requests"] if not u.startswith(home)] == []
    assert told["failures"] == told["messages"] == []
    for seen in told["looks"]:
        assert seen["mistakes"] == 0
        assert seen["rawTex"] == []
        assert seen["typeset"] == seen["formulas"]
    for name, is_ready in told["explorers"]:
        assert is_ready, name
    wanted = explorers_of(told["page"])
    if wanted is not None:
        assert [name for name, _ in told["explorers"]] == wanted
    paths = {unquote(urlsplit(url).path) for url in told["loaded"]}
    if told["root"].startswith("http"):
        sizes = {path: bytes_of(site / path[1:]) for path in paths}
        assert sum(sizes.values()) <= 300_000, sizes


def assert_in_order(told):
    """Tab begins at the way past the menu, and never leads back up."""
    for seen in told["looks"]:
        assert seen["firstStop"] == "skip-link"
        assert seen["outOfOrder"] == []


@pytest.fixture(params=BY_KIND)
def served(request, visit):
    return visit(request.param, "desktop")


@pytest.fixture(params=quickly(PAGES, KINDS[:4].__contains__))
def opened(request, visit):
    return visit(request.param, "file")


def test_a_desktop_gets_a_whole_and_quiet_page(served, site):
    assert_quiet(served, site)


def test_works_as_a_file(opened, site):
    assert_quiet(opened, site)


def test_nothing_moves_while_loading(served):
    assert served["shift"] < 0.001


def test_nothing_is_cut_on_a_desktop(served):
    for view in (*served["usual"].values(), *served["wide"].values()):
        assert view["cutFormulas"] == []
        assert view["cutOutputs"] == []
        assert view["spilled"] == []
        assert view["covering"] == []


def test_is_legible_on_a_desktop(served):
    assert [view["tooFaint"] for view in served["looks"]] == [[], []]


def test_tab_follows_the_text_on_a_desktop(served):
    assert_in_order(served)


def test_axe_has_no_complaint(served):
    assert served["violations"] == []
