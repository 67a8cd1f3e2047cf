"""The date explorer as the home page has it."""

from kit.explorers.dates import COMPACT, date_explorer, examples
from tests.explorers.test_dates import halves, iso_of

STATES = [{"text": "March 3rd, 2019", "step": 3}]


def sample():
    return date_explorer(compact=True)


def test_an_example_is_there_at_once(show):
    shown, first = show(sample()), examples()[0]
    assert shown.value["text"] == first["text"]
    assert shown.value["iso"] == iso_of(halves(), first["text"])
    assert shown.element.locator(".tile").count() == 11
    assert shown.element.locator("summary").count() == 0


def test_its_examples_can_be_pressed(show):
    shown = show(sample())
    shown.page.emulate_media(reduced_motion="reduce")
    chosen = [e["text"] for e in examples() if e["language"] in COMPACT]
    assert len(chosen) == len(COMPACT)
    for text in chosen:
        shown.get("button", text).click()
        assert shown.value["iso"] == iso_of(halves(), text)


def test_a_date_of_ones_own_can_be_asked(show):
    shown = show(sample())
    shown.page.emulate_media(reduced_motion="reduce")
    shown.get("textbox").fill("8 grudnia 1975")
    shown.press("Enter")
    shown.page.wait_for_function(
        "document.querySelector('date-explorer').live"
    )
    assert shown.value["iso"] == iso_of(halves(), "8 grudnia 1975")
