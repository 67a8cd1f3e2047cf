"""The explorers in the system's Firefox: the same values, the same keys."""

import json

import pytest

from tests.browser.explorers.samples import SAMPLES, listed
from tests.browser.explorers.shown import PROBES, page_of

pytestmark = pytest.mark.slow
FULLEST, SAYS = listed("FULLEST"), listed("SAYS")
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


def test_all_explorers_live_on_one_page(visit):
    firefox = visit(*(sample() for sample in SAMPLES.values()))
    ready = f"{ALL}.map((e) => e.hasAttribute('data-ready'))"
    assert firefox.evaluate(ready) == [True] * len(SAMPLES)


@pytest.mark.parametrize("name", SAMPLES)
def test_it_says_the_same_as_in_chromium(visit, show, name):
    """On a phone, which it fits; what has a model asks it."""
    states = FULLEST[name] + [state for state, *_ in SAYS[name]]
    code = TRY % (ONE, json.dumps(states))
    page = show(SAMPLES[name]()).page
    firefox = visit(SAMPLES[name](), width=320)
    for problem in ("smallTargets", "smallText"):
        assert firefox.evaluate(f"{PROBES}.{problem}()") == []
    wide = "document.documentElement.scrollWidth"
    assert firefox.evaluate(wide) <= firefox.evaluate("innerWidth") == 320
    ask = f"void {ONE}.ask?.({ONE}.value.text)"
    said = [(one.evaluate(ask), one.evaluate(code)) for one in (firefox, page)]
    assert said[0] == said[1]


@pytest.mark.parametrize("name", SAMPLES)
def test_keys_change_it_and_start_again(visit, name):
    firefox = visit(SAMPLES[name]())
    first = firefox.evaluate(f"{ONE}.value")
    firefox.evaluate(f"{AGAIN}.focus()")
    changed = 0
    for _ in range(60):
        firefox.press("Tab")
        if firefox.evaluate(f"{PROBES}.active()") == "The end":
            break
        is_list = firefox.evaluate(f"!!{ACTIVE}?.matches('select')")
        firefox.press(*["ArrowRight", "Space"][: 2 - is_list])
        changed += firefox.evaluate(f"{ONE}.value") != first
    else:
        pytest.fail("the keyboard does not come to the end")
    assert changed
    firefox.evaluate(f"{AGAIN}.focus()")
    firefox.press("Enter")
    assert firefox.evaluate(f"{ONE}.value") == first
