"""The date explorer as the home page has it."""

from kit.explorers.dates import COMPACT, date_explorer, examples
from tests.browser.explorers.test_dates import (
    LIVE,
    iso_of,
    type_in,
    written,
)

KEYS = [("Tab Tab Tab Enter", {"text": "March 3rd, 2019"})]


def sample():
    return date_explorer(compact=True)


def test_its_examples_and_ones_own_date_are_written_as_torch_does(show):
    shown = show(sample(), still=True)
    chosen = [e["text"] for e in examples() if e["language"] in COMPACT]
    assert len(chosen) == len(COMPACT)
    assert shown.value["text"] == examples()[0]["text"]
    for text in chosen:
        shown.get("button", text).click()
        assert written(shown) == iso_of(text)
    type_in(shown, "8 grudnia 1975")
    shown.page.wait_for_function(LIVE)
    assert written(shown) == iso_of("8 grudnia 1975")
