"""The explorers in the system's Firefox: the same values, the same keys."""

import json

import pytest

from kit.dates import generate, splits
from kit.trained import date_model
from lib.decoding import greedy
from lib.text import pad_batch
from tests.explorers.samples import SAMPLES, STATES
from tests.explorers.shown import PROBES, page_of
from tests.explorers.test_engine import rounded as rounded_to_half

pytestmark = pytest.mark.slow
ALL = "[...document.querySelectorAll('.explorer')]"
ONE = "document.querySelector('.explorer')"
END = '<p><a href="#main">The end</a></p>'
ACTIVE = f"{ONE}.shadowRoot.activeElement"
TRY = """((e, states) => {
  const first = e.value;
  return [first, ...states.map((state) => {
    e.value = state;
    return e.value;
  })];
})(%s, %s)"""


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


def rounded(value):
    """The same with numbers that two browsers agree on."""
    text = json.dumps(value)
    return json.loads(text, parse_float=lambda x: float(f"{float(x):.9g}"))


def test_all_explorers_live_on_one_page(visit):
    firefox = visit(*(sample() for sample in SAMPLES.values()))
    ready = f"{ALL}.map((e) => e.hasAttribute('data-ready'))"
    assert firefox.evaluate(ready) == [True] * len(SAMPLES)


@pytest.mark.parametrize("name", SAMPLES)
def test_values_are_those_of_chromium(visit, show, name):
    code = TRY % (ONE, json.dumps(STATES[name]))
    found = visit(SAMPLES[name]()).evaluate(code)
    page = show(SAMPLES[name]()).page
    expected = json.loads(page.evaluate(f"JSON.stringify({code})"))
    assert len(found) == 1 + len(STATES[name])
    assert rounded(found) == rounded(expected)


@pytest.mark.parametrize("name", SAMPLES)
def test_keys_change_it_and_start_again(visit, name):
    firefox = visit(SAMPLES[name]())
    first = firefox.evaluate(f"{ONE}.value")
    button = f"{ONE}.shadowRoot.querySelector('button').focus()"
    firefox.evaluate(button)
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
    firefox.evaluate(button)
    firefox.press("Enter")
    assert firefox.evaluate(f"{ONE}.value") == first


@pytest.mark.parametrize("width", [320, 360])
@pytest.mark.parametrize("name", SAMPLES)
def test_it_fits_a_phone(visit, name, width):
    firefox = visit(SAMPLES[name](), width=width)
    assert firefox.evaluate("innerWidth") == width
    wide = "document.documentElement.scrollWidth - innerWidth"
    assert firefox.evaluate(wide) <= 0
    assert firefox.evaluate(f"{PROBES}.smallTargets()") == []
    assert firefox.evaluate(f"{PROBES}.smallText()") == []


def test_the_model_writes_there_as_in_the_library(visit):
    model, source, target, _ = date_model()
    texts = [e.text for e in generate(splits()["test"], 50, seed=6)]
    ids = pad_batch([source.encode(text) for text in texts])
    rows = greedy(rounded_to_half(model), ids)
    expected = [target.decode(row) for row in rows]
    firefox = visit(SAMPLES["dates"]())
    firefox.evaluate(f"void {ONE}.ask()")
    ask = (
        "((e, texts) => texts.map((text) => (e.value = {text}, e.value.iso)))"
    )
    assert firefox.evaluate(f"{ask}({ONE}, {json.dumps(texts)})") == expected
    assert firefox.evaluate(f"{ONE}.live !== null")
