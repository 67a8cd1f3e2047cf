"""A quiz and the exercises, as a reader goes through them on the site."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.record import assert_legible

NONE = "7 questions. First tries count."
REWORD = """for (const key of Object.keys(localStorage))
  localStorage[key] = localStorage[key].replaceAll("columns", "rows")"""


def choice(tab, question: int, verdict: str):
    """The first choice of a question, counted from 1, that is right or not."""
    group = tab.locator("fieldset.question").nth(question - 1)
    kind = ".is-right" if verdict == "Yes" else ":not(.is-right)"
    return group.locator(f".choice{kind}").first


def pick(tab, question, verdict):
    choice(tab, question, verdict).locator("button").click()


def score(tab):
    return tab.locator(".quiz [role=status]").inner_text()


def shown(tab):
    """The explanations in sight."""
    return tab.locator(".choice p:visible").all_inner_texts()


def test_each_choice_is_told_why_and_to_a_screen_reader_too(tab):
    assert shown(tab) == []
    question = tab.get_by_role("group", name=re.compile("^1. Vectors of wid"))
    assert question.get_by_role("button").count() == 3
    for verdict, word, why in (
        ("No", "Wrong", "No. That deals the columns out in turn"),
        ("Yes", "Right", "Yes. Each head is 4 wide"),
    ):
        one = choice(tab, 1, verdict)
        button, region = one.locator("button"), one.locator("[aria-live]")
        assert button.get_attribute("aria-expanded") == "false"
        assert region.inner_text() == ""
        button.click()
        assert button.inner_text().split()[-1] == word
        assert button.get_attribute("aria-expanded") == "true"
        assert region.get_attribute("aria-live") == "polite"
        inside = region.locator(f"#{button.get_attribute('aria-controls')}")
        assert inside.inner_text().startswith(why)
    assert len(shown(tab)) == 2


@pytest.mark.slow
def test_a_formula_in_a_choice_is_read_out(tab, address):
    tab.goto(address + "book/06_positions.html")
    name = "It multiplies the score by 1/2."
    button = tab.get_by_role("button", name=name, exact=True)
    assert button.locator(".katex-html").count() == 1
    button.click()
    told = re.compile("It multiplies the score by 1.2. ?Wrong")
    assert tab.get_by_role("button", name=told).count() == 1


def test_the_first_try_counts_until_it_is_begun_again(tab):
    again = tab.locator(".quiz").get_by_role("button", name="Start again")
    assert score(tab) == NONE and not again.is_visible()
    for verdict in ("No", "Yes"):
        pick(tab, 1, verdict)
        assert score(tab) == "0 of 1 at the first try. 6 to go."
    for number in range(2, 8):
        pick(tab, number, "Yes")
    assert score(tab) == "6 of 7 at the first try."
    again.click()
    assert score(tab) == NONE and shown(tab) == []
    assert not again.is_visible()
    assert tab.evaluate("document.activeElement.matches('.choice > button')")
    pick(tab, 1, "Yes")
    assert score(tab) == "1 of 1 at the first try. 6 to go."


def test_the_browser_remembers_and_forgets_what_was_reworded(tab):
    status = tab.locator(".quiz [role=status]")
    pick(tab, 1, "Yes")
    pick(tab, 2, "No")
    tab.reload()
    expect(status).to_have_text("1 of 2 at the first try. 5 to go.")
    assert len(shown(tab)) == 2
    tab.evaluate(REWORD)
    tab.reload()
    expect(status).to_have_text("0 of 1 at the first try. 6 to go.")


@pytest.mark.slow
def test_all_solutions_and_the_call_of_a_check_open(tab):
    folded = tab.locator(".tag_solution pre")
    status = tab.locator(".solution-buttons [role=status]")
    for word, state, key in (("Open", "open", "Enter"),
                             ("Close", "closed", "Space")):  # fmt: skip
        tab.get_by_role("button", name=f"{word} all solutions").press(key)
        seen = [one.is_visible() for one in folded.all()]
        assert seen == [word == "Open"] * 6
        assert status.inner_text() == f"All solutions are {state}."
    cell = tab.locator(".tag_exercise-check").first
    assert cell.locator(".cell_output").inner_text().strip().endswith("right.")
    code = cell.locator(".cell_input")
    assert not code.is_visible()
    cell.locator("summary").press("Enter")
    assert "from kit.exercises" in code.inner_text()


@pytest.mark.slow
def test_a_picked_choice_is_legible_and_fits_a_phone(visit):
    pick(visit.tab, 1, "Yes")
    pick(visit.tab, 1, "No")
    assert_legible(visit, ".quiz")
    for width in (360, 320):
        assert visit.measure(width)["width"] <= width
