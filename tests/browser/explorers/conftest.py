"""Explorers in a browser, each on a page of its own: the fixture `show`."""

import pytest

from tests.browser.explorers.shown import Shown, page_of


@pytest.fixture(scope="session")
def few(pytestconfig):
    """`few(40, 4)`: how many to draw, in full and with --quick."""
    place = pytestconfig.getoption("quick")
    return lambda *counts: counts[place]


@pytest.fixture(scope="session")
def tabs(browser):
    """The tabs of all tests: a new one takes four times as long as a page."""
    return {}


@pytest.fixture
def show(browser, tabs, tmp_path):
    """Open an explorer; at the end, nothing was asked for and nothing said.

    `show(explorer)` takes the size of the window in `width` and `height`,
    `dark`, `touch` for a phone, `still` for a reader who wants no motion,
    `script=False` for one without, `apart=True` for a tab whose clock is set,
    and in `home` what makes a page of its HTML. It returns a `Shown`. What a
    tab showed before is gone.
    """
    opened = []

    def tab(touch, script, apart):
        if apart or (touch, script) not in tabs:
            context = browser.new_context(
                has_touch=touch, is_mobile=touch, java_script_enabled=script
            )
            page = context.new_page()
            page.set_default_timeout(20_000)
            if apart:
                return page
            tabs[touch, script] = page
        return tabs[touch, script]

    def open_page(
        explorer,
        *,
        width=1100,
        height=900,
        dark=False,
        touch=False,
        still=False,
        script=True,
        apart=False,
        home=page_of,
    ):
        path = tmp_path / f"page-{len(opened)}.html"
        html = home(explorer._repr_html_(), dark)
        path.write_text(html, encoding="utf-8")
        page = tab(touch, script, apart)
        for before in opened:
            if before.page is page:
                before.leave()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(
            media="null",
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce" if still else "null",
        )
        page.mouse.move(0, 0)
        opened.append(Shown(page, path.as_uri(), ".frame " * script))
        page.goto(path.as_uri())
        if script:
            page.wait_for_selector(".explorer[data-ready]")
        return opened[-1]

    yield open_page
    for shown in opened:
        shown.leave()
        if shown.page not in tabs.values():
            shown.page.context.close()
        assert shown.messages == []
        assert shown.requests == [shown.address]
