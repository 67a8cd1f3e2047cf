"""A quiz and the exercises, as a reader goes through them on the site.

The page is built here from the sample that all tests share.
"""

import re

import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_markdown_cell

from tests import sample
from tests.browser.record import LATE, in_every_light
from tests.browser.visit import comes
from tests.built import small_book

TOC = "format: jb-book\nroot: book/one\n"
NONE = "5 questions. First tries count."
FILL = """(text) => {
  for (const key of Object.keys(localStorage)) localStorage[key] = text;
}"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A chapter with a quiz and an exercise."""
    words = new_markdown_cell("# 4. One\n\nWords.\n\n## Exercises")
    cells = [words, sample.quiz(), sample.proof(), *sample.exercise()]
    folder = tmp_path_factory.mktemp("practice")
    return small_book(folder, TOC, {"one": cells}) / "book" / "one.html"


@pytest.fixture
def visit(window, page):
    """A first visit: nothing has been picked before."""
    visit = window()
    visit.load(page.as_uri())
    return visit


@pytest.fixture
def tab(visit):
    return visit.tab


def choice(tab, question: int, verdict: str, nth: int = 0):
    """A choice of a question, the first one being 1, by what it is."""
    group = tab.locator("fieldset.question").nth(question - 1)
    kind = ".is-right" if verdict == "Yes" else ":not(.is-right)"
    return group.locator(f".choice{kind}").nth(nth)


def pick(tab, *place):
    choice(tab, *place).locator("button").click()


def score(tab):
    return tab.locator(".quiz [role=status]").inner_text()


def shown(tab):
    """The explanations in sight."""
    return tab.locator(".choice p:visible").all_inner_texts()


def test_each_choice_is_told_why(tab):
    assert shown(tab) == []
    pick(tab, 1, "No")
    pick(tab, 1, "Yes")
    wrong, right = choice(tab, 1, "No"), choice(tab, 1, "Yes")
    assert wrong.locator("button").inner_text().split()[-1] == "Wrong"
    assert right.locator("button").inner_text().split()[-1] == "Right"
    assert wrong.locator("p").inner_text().startswith("No. Adding 1")
    assert right.locator("p").inner_text().startswith("Yes. A power")
    assert len(shown(tab)) == 2


@pytest.mark.slow
def test_a_formula_in_a_choice_is_read_out(tab):
    spoken = "The sum 3 + 3, or 2 ⋅ 3."
    button = tab.get_by_role("button", name=spoken, exact=True)
    assert button.locator(".katex-html").count() == 1
    assert button.locator("code").inner_text() == "3 + 3"
    button.click()
    verdict = r"(Right|Wrong)"
    named = re.compile(f"{re.escape(spoken)} ?{verdict}")
    assert tab.get_by_role("button", name=named).count() == 1


def test_the_first_try_counts(tab):
    assert score(tab) == NONE
    pick(tab, 1, "No")
    assert score(tab) == "0 of 1 at the first try. 4 to go."
    pick(tab, 1, "Yes")
    assert score(tab) == "0 of 1 at the first try. 4 to go."
    for number in range(2, 6):
        pick(tab, number, "Yes")
    assert score(tab) == "4 of 5 at the first try."


@pytest.mark.slow
def test_it_can_be_begun_again(tab):
    again = tab.get_by_role("button", name="Start again")
    assert not again.is_visible()
    pick(tab, 1, "No")
    again.click()
    assert score(tab) == NONE and shown(tab) == []
    assert not again.is_visible()
    assert tab.evaluate("document.activeElement.matches('.choice > button')")
    pick(tab, 1, "Yes")
    assert score(tab) == "1 of 1 at the first try. 4 to go."


def test_the_browser_remembers_and_nobody_else(visit):
    pick(visit.tab, 2, "No")
    pick(visit.tab, 3, "Yes")
    visit.tab.reload()
    kept = "1 of 2 at the first try. 3 to go."
    assert comes(visit.tab, lambda: score(visit.tab) == kept)
    assert len(shown(visit.tab)) == 2
    assert {url.partition(":")[0] for url in visit.requests} == {"file"}
    visit.assert_calm()


@pytest.mark.slow
def test_an_answer_to_a_question_that_has_changed_is_forgotten(tab):
    pick(tab, 1, "Yes")
    tab.evaluate(
        "Object.keys(localStorage).forEach((key) => localStorage.setItem(key, "
        "localStorage[key].replaceAll('power', 'root')))"
    )
    tab.reload()
    assert score(tab) == NONE and shown(tab) == []


@pytest.mark.slow
def test_what_lies_in_the_browser_may_be_anything(visit):
    for stored in ("{", "null", '{"1": 2}', "[]"):
        pick(visit.tab, 1, "Yes")
        visit.tab.evaluate(FILL, stored)
        visit.load(visit.tab.url)
        assert score(visit.tab) == NONE, stored
    visit.assert_calm()


def test_the_keyboard_is_enough(tab):
    first = tab.locator(".choice > button").first
    first.focus()
    names = []
    for key in ("Enter", "Space", "Enter"):
        tab.keyboard.press(key)
        names.append(tab.evaluate("document.activeElement.innerText"))
        tab.keyboard.press("Tab")
    assert [name.split()[-1] for name in names] == ["Wrong", "Right", "Wrong"]
    tab.keyboard.press("Shift+Tab")
    tab.keyboard.press("Enter")
    assert len(shown(tab)) == 2  # the last one is folded again


def test_a_screen_reader_is_told(tab):
    question = tab.get_by_role("group", name=re.compile("^1. What is 1"))
    buttons = question.get_by_role("button")
    assert buttons.count() == 3
    button = buttons.nth(1)
    assert button.get_attribute("aria-expanded") == "false"
    region = choice(tab, 1, "Yes").locator("[aria-live=polite]")
    assert region.inner_text() == ""
    button.click()
    assert button.get_attribute("aria-expanded") == "true"
    assert region.inner_text().startswith("Yes. A power")
    inside = button.get_attribute("aria-controls")
    assert region.locator(f"#{inside}").count() == 1


@pytest.mark.slow
def test_without_a_script_choices_are_boxes(window, page):
    tab = window(java_script_enabled=False).tab
    tab.goto(page.as_uri())
    boxes = tab.locator(".quiz details")
    assert boxes.count() == 15
    assert tab.locator(".quiz button, .solution-buttons").count() == 0
    boxes.nth(1).locator("summary").click()
    assert boxes.nth(1).locator("p").last.inner_text().startswith("Yes. A")


@pytest.mark.slow
def test_paper_shows_the_question_and_the_right_answer(tab):
    tab.emulate_media(media="print")
    seen = shown(tab)
    assert len(seen) == 5 and all(text.startswith("Yes.") for text in seen)
    assert tab.locator(".choice > button:visible").count() == 15
    assert not tab.locator(".score").is_visible()
    assert not tab.locator(".solution-buttons").is_visible()
    assert tab.locator(".tag_exercise-check summary").is_visible()
    assert not tab.locator(".tag_exercise-check .cell_input").is_visible()
    assert not tab.locator(".tag_solution pre").is_visible()


@pytest.mark.slow
def test_all_solutions_open_and_close(tab):
    folded = tab.locator(".tag_solution pre")
    status = tab.locator(".solution-buttons [role=status]")
    assert not folded.is_visible()
    tab.get_by_role("button", name="Open all solutions").press("Enter")
    assert folded.is_visible()
    assert status.inner_text() == "All solutions are open."
    tab.get_by_role("button", name="Close all solutions").press("Space")
    assert not folded.is_visible()
    assert status.inner_text() == "All solutions are closed."


def test_the_call_of_a_check_opens_to_its_code(tab):
    cell = tab.locator(".tag_exercise-check")
    assert cell.locator(".cell_output").inner_text().strip() == (
        sample.RIGHT.strip()
    )
    assert not cell.locator(".cell_input").is_visible()
    cell.locator("summary").press("Enter")
    assert "from kit.exercises" in cell.locator(".cell_input").inner_text()


@pytest.mark.slow
def test_a_picked_choice_is_legible_and_fits_a_phone(visit):
    pick(visit.tab, 1, "Yes")
    pick(visit.tab, 1, "No")
    assert [seen["tooFaint"] for seen in in_every_light(visit)] == [[], []]
    for width in (360, 320):
        assert visit.measure(width)["width"] <= width


def test_the_page_has_no_marks_of_its_source(visit, page):
    text = BeautifulSoup(page.read_text(), "html.parser").main.get_text()
    assert not re.search(r"###|# given|data-given|<span|\*\*\w", text)
    assert "Try it with a width of\n3 and a length of\n7." in text
    visit.tab.evaluate(LATE)
    assert visit.look()["shift"] < 0.001
