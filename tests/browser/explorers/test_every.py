"""What holds for every explorer: it is readable, reachable and quiet.

A `test_<name>.py` beside this file that has a function `sample` takes part.
It may also have

- `FULLEST`: values at which there is most to read;
- `KEYS`: keys that a reader presses one after the other, or a value to begin
  anew with, and where the keyboard then is, or a part of the value;
- `GROWS`: why its height may change, as a page's own does;
- `SAYS`: a value, a part by its selector, and its words.
"""

import json
from html import escape
from importlib import import_module
from pathlib import Path

import pytest

from book._ext.book_site.pages.explorers import scripts_of
from tests.browser.explorers.shown import PROBES, jupyter_page_of, page_of
from tests.built import first_quick
from tools.source.cells import without_scripts

HERE = Path(__file__)
MODULES = {
    path.stem.removeprefix("test_"): import_module(
        f".{path.stem}", __package__
    )
    for path in sorted(HERE.parent.glob("test_*.py"))
    if path != HERE
}
SAMPLES = {
    name: module.sample
    for name, module in MODULES.items()
    if hasattr(module, "sample")
}
FULLEST, KEYS, SAYS = (
    {name: getattr(MODULES[name], what, []) for name in SAMPLES}
    for what in ("FULLEST", "KEYS", "SAYS")
)
LIGHT = "(e) => getComputedStyle(e).colorScheme === 'light'"
SCREENS = {
    "small": {"width": 320},
    "phone": {"width": 360, "height": 740, "touch": True},
    "dark phone": {"width": 360, "height": 740, "touch": True, "dark": True},
    "tablet": {"width": 768},
    "dark": {"dark": True},
    "wide": {"width": 1440},
}
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


@pytest.mark.parametrize("width", first_quick([360, 1100]))
def test_its_height_stays_under_the_hand(explorer, name, show, width, few):
    """And what there is to see has the room that is kept for it."""
    if why := getattr(MODULES[name], "GROWS", ""):
        pytest.skip(why)
    shown = show(explorer, width=width)
    assert shown.probe("restless", few(150, 10), width) == []
    high = shown.element.bounding_box()["height"]
    for state in FULLEST[name]:
        shown.set(**state)
        assert shown.element.bounding_box()["height"] == high
        frame = shown.element.locator(".frame")
        assert frame.evaluate("(e) => e.scrollHeight - e.clientHeight") <= 1


def test_keys_alone_do_everything(explorer, name, show):
    """Tab comes by each part once; all begins again; keys change values."""
    shown = show(explorer, still=True)
    first, stops = shown.value, shown.stops()
    assert 1 < len(stops) < 60
    assert stops[0] == "Start again"
    shown.begin()
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
    shown = show(explorer, java_script_enabled=False)
    assert shown.element.locator("> *").first.is_visible()


@any_of
def test_the_page_needs_no_copy_of_the_scripts(explorer):
    html = explorer._repr_html_()
    assert without_scripts(html) == explorer.element()
    assert scripts_of(html) == explorer.scripts


# --- In the system's Firefox

ALL = "[...document.querySelectorAll('.explorer')]"
ONE = "document.querySelector('.explorer')"
END = '<p><a href="#main">The end</a></p>'
ACTIVE = f"{ONE}.shadowRoot.activeElement"
# All that it says in each of some states, and its value.
TRY = """((e, states) => [{}, ...states].map((state) => {
  e.value = { ...e.start, ...state };
  return [e.value, e.shadowRoot.textContent];
}))(%s, %s)"""
AGAIN = f"{ONE}.shadowRoot.querySelector('button')"


@pytest.fixture
def visit(firefox, tmp_path):
    """Open a page of explorers; at the end, its console is empty."""

    def open_page(*explorers, width=1100):
        html = "\n".join(e._repr_html_() for e in explorers) + END
        path = tmp_path / "page.html"
        path.write_text(page_of(html), encoding="utf-8")
        firefox.open(path.as_uri(), width)
        return firefox

    yield open_page
    assert firefox.messages == []


@pytest.mark.slow
def test_all_explorers_live_on_one_page(visit):
    firefox = visit(*(sample() for sample in SAMPLES.values()))
    ready = f"{ALL}.map((e) => e.hasAttribute('data-ready'))"
    assert firefox.evaluate(ready) == [True] * len(SAMPLES)


@pytest.mark.slow
def test_it_says_the_same_as_in_chromium(explorer, name, visit, show):
    """On a phone, which it fits; what has a model asks it."""
    states = FULLEST[name] + [state for state, *_ in SAYS[name]]
    code = TRY % (ONE, json.dumps(states))
    page = show(explorer).page
    firefox = visit(explorer, width=320)
    for problem in ("smallTargets", "smallText"):
        assert firefox.evaluate(f"{PROBES}.{problem}()") == []
    wide = "document.documentElement.scrollWidth"
    assert firefox.evaluate(wide) <= firefox.evaluate("innerWidth") == 320
    ask = f"void {ONE}.ask?.({ONE}.value.text)"
    said = [(one.evaluate(ask), one.evaluate(code)) for one in (firefox, page)]
    assert said[0] == said[1]


@pytest.mark.slow
def test_keys_change_it_and_start_again(explorer, visit):
    firefox = visit(explorer)
    first = firefox.evaluate(f"{ONE}.value")
    firefox.evaluate(f"{AGAIN}.focus()")
    changed = 0
    for _ in range(60):
        firefox.press("Tab")
        if firefox.evaluate(f"{PROBES}.active()") == "The end":
            break
        opens = "select, [type=file], .saves"  # a window of the system
        is_list = firefox.evaluate(f"!!{ACTIVE}?.matches('{opens}')")
        keys = ["ArrowRight", "Space"][: 2 - is_list]
        if firefox.evaluate(f"!!{ACTIVE}?.matches('[type=number]')"):
            keys = ["ArrowUp"]
        firefox.press(*keys)
        changed += firefox.evaluate(f"{ONE}.value") != first
    else:
        pytest.fail("the keyboard does not come to the end")
    assert changed
    firefox.evaluate(f"{AGAIN}.focus()")
    firefox.press("Enter")
    assert firefox.evaluate(f"{ONE}.value") == first
