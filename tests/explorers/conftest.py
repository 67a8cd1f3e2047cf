"""Explorers in a browser, each on a page of its own: the fixture `show`."""

import pytest

from tests.explorers.shown import Shown, mutated, page_of


@pytest.fixture
def show(browser, tmp_path):
    """Open an explorer; at the end, nothing was asked for and nothing said.

    `show(explorer)` takes the size of the window in `width` and `height`,
    `dark`, `touch` for a phone, `script=False` for a reader without,
    `fault=(old, new)` to break a script, and in `home` what makes a page of
    its HTML. It returns a `Shown`.
    """
    contexts, calm = [], []

    def open_page(
        explorer,
        *,
        width=1100,
        height=900,
        dark=False,
        touch=False,
        script=True,
        fault=None,
        home=page_of,
    ):
        html = explorer._repr_html_()
        if fault:
            html = mutated(html, *fault)
        path = tmp_path / f"page-{len(contexts)}.html"
        path.write_text(home(html, dark), encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            has_touch=touch,
            is_mobile=touch,
            java_script_enabled=script,
        )
        contexts.append(context)
        shown = Shown(context.new_page())
        shown.page.set_default_timeout(20_000)
        shown.page.goto(path.as_uri())
        if not fault:
            calm.append((shown, path.as_uri()))
            if script:
                shown.page.wait_for_selector(".explorer[data-ready]")
        return shown

    yield open_page
    for context in contexts:
        context.close()
    for shown, address in calm:
        assert shown.messages == []
        assert shown.requests == [address]
