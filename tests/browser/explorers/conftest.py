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
    """Open tabs, and say what each of them hears: words and requests.

    `tabs(touch, script)` is the same for all tests, since a new one takes
    four times as long as a page; with `apart`, a new one.
    """
    opened = {}

    def tab(touch, script, apart=False):
        if apart or (touch, script) not in opened:
            page = browser.new_context(
                has_touch=touch, is_mobile=touch, java_script_enabled=script
            ).new_page()
            page.set_default_timeout(20_000)
            heard = []
            page.on("console", lambda message: heard.append(message.text))
            page.on("pageerror", lambda error: heard.append(str(error)))
            page.on("request", lambda request: heard.append(request.url))
            if apart:
                return page, heard
            opened[touch, script] = page, heard
        return opened[touch, script]

    return tab


@pytest.fixture
def show(tabs, tmp_path):
    """Open an explorer; at the end, nothing was asked for and nothing said.

    `show(explorer)` takes the size of the window in `width` and `height`,
    `dark`, `touch` for a phone, `still` for a reader who wants no motion,
    `script=False` for one without, `apart=True` for a tab whose clock is set,
    and in `home` what makes a page of its HTML. It returns a `Shown`. What a
    tab showed before is gone.
    """
    addresses, used = [], []

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
        path = tmp_path / f"page-{len(addresses)}.html"
        html = home(explorer._repr_html_(), dark)
        path.write_text(html, encoding="utf-8")
        page, heard = tabs(touch, script, apart)
        if all(heard is not other for _, other in used):
            page.goto("about:blank")
            heard.clear()
            used.append((page, heard))
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(
            media="null",
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce" if still else "null",
        )
        page.mouse.move(0, 0)
        addresses.append(path.as_uri())
        page.goto(addresses[-1])
        if script:
            page.wait_for_selector(".explorer[data-ready]")
        return Shown(page)

    yield open_page
    for page, _ in used:
        page.evaluate("0")  # what it says until now is heard
    assert sorted(sum((heard for _, heard in used), [])) == addresses


@pytest.fixture
def shown(show, request):
    """The explorer of the module that asks, as its `sample` has it."""
    return show(request.module.sample())
