"""Explorers in a browser, each on a page of its own: the fixture `show`."""

from functools import cache

import pytest

from tests.browser.explorers.shown import Shown, page_of
from tests.browser.visit import Visit


@pytest.fixture(scope="session")
def few(pytestconfig):
    """`few(40, 4)`: how many to draw, in full and with --quick."""
    place = pytestconfig.getoption("quick")
    return lambda *counts: counts[place]


@pytest.fixture(scope="session")
def context(browser):
    """For a phone or not, with scripts or not; made once, which takes long."""
    return cache(
        lambda touch, script: browser.new_context(
            has_touch=touch, is_mobile=touch, java_script_enabled=script
        )
    )


@pytest.fixture
def show(context, tmp_path):
    """Open an explorer; at the end, nothing was asked for and nothing said.

    `show(explorer)` takes the size of the window in `width` and `height`,
    `dark`, `touch` for a phone, `still` for a reader who wants no motion,
    `script=False` for one without, `apart=True` where the clock is set, and
    in `home` what makes a page of its HTML. It returns a `Shown`.
    """
    visits = {}

    def open_page(
        explorer,
        home=page_of,
        width=1100,
        height=900,
        touch=False,
        dark=False,
        still=False,
        script=True,
        apart=False,
    ):
        path = tmp_path / f"page-{len(visits)}.html"
        html = home(explorer._repr_html_(), dark)
        path.write_text(html, encoding="utf-8")
        make = context.__wrapped__ if apart else context
        page = make(touch, script).new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce" if still else "no-preference",
        )
        visits[path.as_uri()] = Visit(page)
        page.goto(path.as_uri())
        if script:
            page.wait_for_selector(".explorer[data-ready]")
        return Shown(page)

    yield open_page
    for address, visit in visits.items():
        visit.tab.evaluate("0")  # what it says until now is heard
        visit.assert_calm()
        assert visit.requests == [address]
        visit.tab.close()


@pytest.fixture
def shown(show, request):
    """The explorer of the module that asks, as its `sample` has it."""
    return show(request.module.sample())
