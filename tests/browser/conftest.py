"""Pages of the built site in a browser."""

from functools import cache

import pytest

from tests.browser.record import Recorder
from tests.browser.visit import CHAPTER, Visit
from tests.built import slow


@pytest.fixture(scope="session")
def record(browser, site, address, pytestconfig):
    """`record(page, device)`: what a page told when it was loaded, once."""
    quick = pytestconfig.getoption("quick")
    return cache(Recorder(browser, site, address, quick).ask)


@pytest.fixture(params=["http", slow("file")])
def root(request, site, address):
    """Where the pages are: on a server, or files in a folder."""
    return address if request.param == "http" else f"{site.as_uri()}/"


@pytest.fixture
def window(browser):
    """Open windows of their own: `window(width=360)` returns a `Visit`.

    `touch` makes it a phone's; other options are those of Playwright's
    `new_context`. What is copied there can be read.
    """
    opened = []

    def open_window(width=1400, height=900, touch=False, **options):
        context = browser.new_context(
            viewport={"width": width, "height": height},
            has_touch=touch,
            is_mobile=touch,
            permissions=["clipboard-read", "clipboard-write"],
            **options,
        )
        opened.append(context)
        return Visit(context.new_page())

    yield open_window
    for context in opened:
        context.close()


@pytest.fixture
def opened(window):
    """Load a page in a window of its own: `opened(url, width=360)`.

    At the end it has been calm: nothing failed, and nothing was said.
    """
    visits = []

    def open_page(url, *size, **options):
        visits.append(window(*size, **options))
        visits[-1].load(url)
        return visits[-1]

    yield open_page
    for visit in visits:
        visit.assert_calm()


@pytest.fixture
def visit(opened, address, request):
    """Chapter 5, or the PAGE of the module that asks, on a desktop.

    At the end, nobody else was asked, and nothing is kept.
    """
    visit = opened(address + getattr(request.module, "PAGE", CHAPTER))
    yield visit
    assert [u for u in visit.requests if not u.startswith(address)] == []
    assert visit.tab.context.cookies() == []


@pytest.fixture
def tab(visit):
    """The tab of `visit`."""
    return visit.tab
