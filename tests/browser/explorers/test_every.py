"""What holds for every explorer: it is readable, reachable and quiet."""

import gzip
import re
from html import escape

import pytest

from book._ext.book_site.pages.explorers import scripts_of
from kit.explorers import source
from tests.browser.explorers.samples import SAMPLES, listed
from tests.browser.explorers.shown import jupyter_page_of, page_of
from tests.built import first_quick
from tools.source.cells import without_scripts

# No other file, no code from text, no attribute that a policy would refuse.
FORBIDDEN = re.compile(
    r"\b(fetch|eval|import|Function)\b\s*\(|innerHTML|XMLHttp|\bstyle="
)
LIGHT = "(e) => getComputedStyle(e).colorScheme === 'light'"
POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src '
    "'none'; script-src 'nonce-n'\">"
)
SCREENS = {
    "small": {"width": 320},
    "phone": {"width": 360, "height": 740, "touch": True},
    "dark phone": {"width": 360, "height": 740, "touch": True, "dark": True},
    "tablet": {"width": 768},
    "dark": {"dark": True},
    "wide": {"width": 1440},
}
FULLEST, KEYS, SAYS = map(listed, ("FULLEST", "KEYS", "SAYS"))
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
        shown.assert_fits()
        if n < few(100, 1):
            assert shown.violations() == [], state


def test_keys_alone_do_everything(explorer, name, show):
    """Tab comes by each part once; all begins again; keys change values."""
    stops = show(explorer).stops()
    assert 1 < len(stops) < 60
    assert stops[0] == "Start again"
    shown = show(explorer, still=True)
    first = shown.value
    shown.follow(KEYS[name])
    shown.get("button", "Start again").press("Enter")
    assert shown.value == first


def test_it_says_what_is_seen(explorer, name, show):
    shown = show(explorer)
    first = shown.value
    for state, selector, words in SAYS[name]:
        shown.set(**first | state)
        wanted = [words] if isinstance(words, str) else words
        assert shown.all(selector) == wanted, state
    seen = shown.all("[type=range] + output", "(e) => e.textContent")
    assert shown.all("[type=range]", "(e) => e.ariaValueText") == seen


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_in_jupyter(explorer, show, dark):
    """JupyterLab has a theme of its own, whatever the system's is."""
    shown = show(explorer, home=lambda html, _: jupyter_page_of(html, dark))
    assert shown.violations() == []
    assert shown.element.evaluate(LIGHT) == (not dark)


@any_of
def test_it_works_in_a_sandbox_as_in_colab(explorer, show):
    def home(html, dark):
        """A page that shows this in a frame with no rights but to run it."""
        inside = escape(jupyter_page_of(html, dark))
        frame = f'<iframe sandbox="allow-scripts" srcdoc="{inside}"></iframe>'
        mark = '<p class="explorer" data-ready>A frame</p>'
        return page_of(mark + frame, dark)

    frame = show(explorer, home=home).page.frame_locator("iframe")
    frame.locator(f"{explorer.tag}[data-ready]").wait_for()


@any_of
def test_a_policy_against_inline_styles_changes_nothing(explorer, show):
    def strict(html, dark):
        html = html.replace("<script data", '<script nonce="n" data')
        page = page_of(html, dark).replace("<meta ", f"{POLICY}<meta ", 1)
        return re.sub("<style>.*?</style>", "", page, flags=re.DOTALL)

    root = "(e) => getComputedStyle(e.shadowRoot.querySelector('.frame'))"
    radius = f"{root}.borderTopLeftRadius"
    assert show(explorer, home=strict).element.evaluate(radius) == "8px"


def test_what_fails_to_build_gives_way_to_its_children(browser):
    html = SAMPLES["softmax"]()._repr_html_()
    assert "this.build(root);" in html
    page, messages = browser.new_page(), []
    page.on("console", lambda message: messages.append(message.text))
    page.set_content(page_of(html.replace("this.build(root);", "fail();")))
    explorer = page.locator(".explorer")
    assert explorer.locator("> *").first.is_visible()
    assert explorer.get_attribute("data-ready") is None
    assert "fail is not defined" in messages[0]
    page.close()


@any_of
def test_on_paper_and_without_scripts_its_children_are_read(explorer, show):
    shown = show(explorer)
    child = shown.element.locator("> *").first
    assert not child.is_visible()
    shown.page.emulate_media(media="print")
    assert child.is_visible()
    assert not shown.get("button").first.is_visible()
    shown = show(explorer, script=False)
    assert shown.element.locator("> *").first.is_visible()


@any_of
def test_the_page_needs_no_copy_of_the_scripts(explorer):
    html = explorer._repr_html_()
    assert without_scripts(html) == explorer.element()
    assert scripts_of(html) == explorer.scripts


def test_its_script_is_small_and_strict(explorer):
    text = source(explorer.scripts[1:])
    most = 14_000 if "engine" in explorer.scripts else 6_000
    assert len(gzip.compress(text.encode())) < most
    assert text.count('"use strict";\n') == len(explorer.scripts) - 1
    assert not FORBIDDEN.search(text)
