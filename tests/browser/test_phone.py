"""What a telephone shows of every page."""

import pytest

from tests.built import CHAPTERS_TOO, NOTEBOOKS
from tests.browser.test_browser import assert_in_order, assert_quiet


@pytest.fixture(params=CHAPTERS_TOO)
def told(request, visit):
    return visit(request.param, "phone")


def test_it_is_whole_and_quiet(told, site):
    assert_quiet(told, site)


def test_it_fits(told):
    for view in told["looks"]:
        assert view["width"] <= 360
    for width, view in [*told["usual"].items(), *told["wide"].items()]:
        assert view["width"] <= width
        assert view["spilled"] == []
        assert view["stranded"] == []
        assert view["covering"] == []


def test_every_exercise_can_be_ticked(told):
    found = told["exercises"]
    assert all(is_one == boxes for is_one, boxes in found)
    if told["page"].removesuffix(".html") in NOTEBOOKS:
        assert sum(boxes for _, boxes in found) >= 4


def test_it_is_legible(told):
    faint = [view["tooFaint"] for view in told["looks"]]
    assert len(faint) >= 2 and not any(faint)


def test_tab_follows_the_text(told):
    assert_in_order(told)


def test_no_formula_and_no_table_is_cut(told):
    for view in told["usual"].values():
        assert view["cutFormulas"] == []
        assert view["cutTables"] == []


def test_a_formula_that_scrolls_says_so(told):
    for view in told["wide"].values():
        assert view["unmarked"] == []
