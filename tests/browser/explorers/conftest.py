"""Explorers in a browser, each on a page of its own: the fixture `show`."""

import pytest

from kit.explorers import FOLDER
from tests.browser.explorers.shown import Shown, page_of


@pytest.fixture(scope="session")
def few(pytestconfig):
    """`few(40, 4)`: how many to draw, in full and with --quick."""
    place = pytestconfig.getoption("quick")
    return lambda *counts: counts[place]


@pytest.fixture(scope="module")
def page(browser):
    """A page with the engine and the trainer alone."""
    page = browser.new_page()
    for name in ("engine", "trainer"):
        page.add_script_tag(path=FOLDER / f"{name}.js")
    yield page
    page.close()


@pytest.fixture
def show(window, tmp_path):
    """Open an explorer; at the end, nothing was asked for and nothing said.

    `show(explorer)` takes `dark`, `still` for a reader who wants no motion,
    in `home` what makes a page of its HTML, and the options of `window`. It
    returns a `Shown`.
    """
    visits = {}

    def open_page(
        explorer, home=page_of, dark=False, still=False, width=1100, **options
    ):
        path = tmp_path / f"page-{len(visits)}.html"
        html = home(explorer._repr_html_(), dark)
        path.write_text(html, encoding="utf-8")
        visit = visits[path.as_uri()] = window(
            width,
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce" if still else "no-preference",
            **options,
        )
        visit.tab.goto(path.as_uri())
        if options.get("java_script_enabled", True):
            visit.tab.wait_for_selector(".explorer[data-ready]")
        return Shown(visit.tab)

    yield open_page
    for address, visit in visits.items():
        visit.tab.evaluate("0")  # what it says until now is heard
        visit.assert_calm()
        assert visit.requests == [address]


@pytest.fixture
def shown(show, request):
    """The explorer of the module that asks, as its `sample` has it."""
    return show(request.module.sample())
