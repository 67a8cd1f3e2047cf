"""A quiz and the exercises, as a reader goes through them on the site.

The page is built here from the sample that all tests share.
"""

import re
import shutil

import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup
from nbformat.v4 import new_markdown_cell, new_notebook

from tests import sample
from tests.site.conftest import ROOT, build
from tests.site.record import LATE, in_every_light
from tests.site.visit import Visit, comes

SCRIPT = ROOT / "book" / "_static" / "quiz.js"
MOST_BYTES = 5_000  # of the script
NONE = "5 questions. First tries count."
FILL = """(text) => {
  for (const key of Object.keys(localStorage)) localStorage[key] = text;
}"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The address, as a file, of a chapter with a quiz and an exercise."""
    folder = tmp_path_factory.mktemp("practice")
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    del config["sphinx"]["config"]["moved_pages"]  # to pages that it lacks
    (folder / "_config.yml").write_text(yaml.safe_dump(config))
    (folder / "_toc.yml").write_text("format: jb-book\nroot: book/one\n")
    book = folder / "book"
    book.mkdir()
    for name in ("_ext", "references.bib"):
        (book / name).symlink_to(ROOT / "book" / name)
    shutil.copytree(ROOT / "book" / "_static", book / "_static")
    words = new_markdown_cell("# 4. One\n\nWords.\n\n## Exercises")
    cells = [words, sample.quiz(), sample.proof(), *sample.exercise()]
    python = {"language_info": {"name": "python"}}
    notebook = new_notebook(cells=cells, metadata=python)
    nbformat.write(notebook, book / "one.ipynb")
    build(folder)
    return (folder / "_build" / "html" / "book" / "one.html").as_uri()


@pytest.fixture
def visit(browser, page):
    """A first visit: nothing has been picked before."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    visit = Visit(context.new_page())
    visit.load(page)
    yield visit
    context.close()


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


def test_the_script_is_small():
    assert len(SCRIPT.read_bytes()) <= MOST_BYTES


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
    assert button.locator(".katex").count() == 1
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


def test_a_choice_may_hold_code_and_a_formula(tab):
    text = tab.locator(".choice > button").first
    assert text.locator("code").inner_text() == "1 + 1"
    assert text.locator(".katex-html").count() == 1


@pytest.mark.slow
def test_without_a_script_choices_are_boxes(browser, page):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(page)
    boxes = tab.locator(".quiz details")
    assert boxes.count() == 15
    assert tab.locator(".quiz button, .solution-buttons").count() == 0
    boxes.nth(1).locator("summary").click()
    assert boxes.nth(1).locator("p").last.inner_text().startswith("Yes. A")
    context.close()


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
    tab.emulate_media(media="screen")


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


@pytest.mark.slow
def test_nothing_moves_while_loading(visit):
    visit.tab.evaluate(LATE)
    assert visit.look()["shift"] < 0.001


def test_the_page_has_no_marks_of_its_source(page):
    with open(page.removeprefix("file://"), encoding="utf-8") as file:
        text = BeautifulSoup(file.read(), "html.parser").main.get_text()
    assert not re.search(r"###|# given|data-given|<span|\*\*\w", text)
    assert "Try it with a width of\n3 and a length of\n7." in text
