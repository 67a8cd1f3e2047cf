"""What holds for every explorer: it is readable, reachable and quiet."""

import gzip
import re
from html import escape

import pytest

from book._ext.book_site.pages.explorers import scripts_of
from kit.explorers import source
from tests.explorers.samples import FULLEST, SAMPLES
from tests.explorers.shown import first_quick, jupyter_page_of, page_of
from tools.source.cells import without_scripts

BREAKS = ("        this.build(root);", "this.broken();")
# No other file, no code from text, no attribute that a policy would refuse.
FORBIDDEN = re.compile(
    r"\b(fetch|eval|import|Function)\b\s*\(|innerHTML|XMLHttp|\bstyle="
)
LIGHT = "(e) => getComputedStyle(e).colorScheme === 'light'"
POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src '
    "'none'; script-src 'nonce-n'\">"
)
slow = pytest.mark.slow
SCREENS = {
    "small": {"width": 320},
    "phone": {"width": 360, "height": 740, "touch": True},
    "dark phone": {"width": 360, "height": 740, "touch": True, "dark": True},
    "tablet": {"width": 768},
    "dark": {"dark": True},
    "wide": {"width": 1440},
}


both = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
# What `core.js` does for all is asked of one at once.
any_of = pytest.mark.parametrize("name", first_quick(SAMPLES), indirect=True)


@pytest.fixture(params=SAMPLES)
def name(request):
    return request.param


@pytest.fixture
def explorer(name):
    return SAMPLES[name]()


@pytest.mark.parametrize("screen", first_quick(SCREENS))
def test_it_is_read_and_pressed_on_every_screen(
    explorer, name, show, screen, few
):
    shown = show(explorer, **SCREENS[screen])
    for n, state in enumerate([{}, *FULLEST[name]]):
        shown.set(**state)
        assert shown.overflow() <= 0, state
        assert shown.outside() == [], state
        assert shown.small_targets() == [], state
        assert shown.small_text() == [], state
        if n < few(100, 1):
            assert shown.violations() == [], state


@slow
@both
def test_axe_finds_nothing_in_jupyter(explorer, show, dark):
    shown = show(explorer, home=in_jupyter(dark))
    assert shown.violations() == []
    assert shown.element.evaluate(LIGHT) == (not dark)


def in_jupyter(dark):
    """JupyterLab has a theme of its own, whatever the system's is."""
    return lambda html, _: jupyter_page_of(html, dark)


@any_of
def test_it_works_in_a_sandbox_as_in_colab(explorer, show):
    shown = show(explorer, home=sandboxed)
    frame = shown.page.frame_locator("iframe")
    frame.locator(f"{explorer.tag}[data-ready]").wait_for()


def sandboxed(html, dark):
    """A page that shows this in a frame with no rights but to run it."""
    inside = escape(jupyter_page_of(html, dark))
    frame = f'<iframe sandbox="allow-scripts" srcdoc="{inside}"></iframe>'
    mark = '<p class="explorer" data-ready>A frame</p>'
    return page_of(mark + frame, dark)


@any_of
def test_a_policy_against_inline_styles_changes_nothing(explorer, show):
    def strict(html, dark):
        html = html.replace("<script data", '<script nonce="n" data')
        page = page_of(html, dark).replace("<meta ", f"{POLICY}<meta ", 1)
        return re.sub("<style>.*?</style>", "", page, flags=re.DOTALL)

    root = "(e) => getComputedStyle(e.shadowRoot.querySelector('.frame'))"
    radius = f"{root}.borderTopLeftRadius"
    assert show(explorer, home=strict).element.evaluate(radius) == "8px"


def test_without_script_its_children_are_read(explorer, show):
    shown = show(explorer, script=False)
    assert shown.element.bounding_box()["height"] > 20
    assert shown.element.locator("> *").first.is_visible()


@any_of
def test_what_fails_to_build_gives_way_to_its_children(explorer, show):
    shown = show(explorer, fault=BREAKS)
    assert "broken is not a function" in shown.messages[0]
    child = shown.element.locator("> *").first
    assert child.is_visible()
    assert not shown.element.get_attribute("data-ready")


@any_of
def test_on_paper_its_children_are_read(explorer, show):
    shown = show(explorer)
    child = shown.element.locator("> *").first
    assert not child.is_visible()
    shown.page.emulate_media(media="print")
    assert child.is_visible()
    assert not shown.element.get_by_role("button").first.is_visible()


def test_the_keyboard_reaches_everything_once_and_starts_again(explorer, show):
    shown = show(explorer)
    first, stops = shown.value, shown.stops()
    assert 1 < len(stops) < 60
    assert stops[0] == "Start again"
    shown.page.evaluate(
        "addEventListener('explorer-change', (e) => window.told = e.detail)"
    )
    shown.get("button", "Start again").press("Enter")
    assert shown.page.evaluate("window.told") == shown.value == first


def test_the_page_needs_no_copy_of_the_scripts(explorer):
    html = explorer._repr_html_()
    assert html.count("<script") == html.count("</script>") == 1
    assert without_scripts(html) == explorer.element()
    assert scripts_of(html) == explorer.scripts
    assert scripts_of(html)[0] == "core"
    assert len(repr(explorer)) < 79


def test_a_script_has_a_few_kilobytes(explorer):
    text = source(explorer.scripts[1:]).encode()
    most = 14_000 if "engine" in explorer.scripts else 6_000
    assert len(gzip.compress(text)) < most


def test_a_script_is_strict_plain_and_narrow(explorer):
    for name in explorer.scripts:
        text = source([name])
        assert text.startswith('"use strict";\n')
        assert max(map(len, text.splitlines())) <= 80
        assert not FORBIDDEN.search(text)
