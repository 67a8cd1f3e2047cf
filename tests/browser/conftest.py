"""Pages of the built site in a browser."""

import pytest

from tests.browser.record import Records
from tests.browser.visit import Visit


@pytest.fixture(scope="session")
def record(browser, site, address, pytestconfig):
    """`record(page, device)` says what a page told when it was loaded."""
    return Records(browser, site, address, pytestconfig.getoption("quick"))


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
def bare(window, address):
    """Open a page for a reader without scripts: `bare("search.html")`."""

    def open_page(page, **options):
        tab = window(java_script_enabled=False, **options).tab
        tab.goto(address + page)
        return tab

    return open_page
