"""Every chapter has a quiz that explains each answer that may be given.

The rules list what is wrong with the quiz of a chapter. They are run on every
chapter, and below on quizzes that are made to break them.
"""

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from book._ext.book_site.source.quiz import Question, boxed, is_quiz, questions
from tests import sample
from tools import cells, sync
from tools.taught import chapters

QUESTIONS, CHOICES = range(5, 9), (3, 4)
FEWEST_WORDS = 6  # of an explanation
HEAD = re.compile(
    r"### Quiz\n\n\*\*(?P<minutes>\d+) minutes · easy\.\*\* \S.*?\n\n"
    r"(?=\*\*1\.\*\* )",
    re.DOTALL,
)
NUMBER = re.compile(r"\*\*(\d+)\.\*\* ")
VERDICT = re.compile(r"\n\*\*(Yes|No)\.\*\* (?P<why>.*)\n\n\Z", re.DOTALL)
# A choice is HTML inside of Markdown: formulas work, and tags do.
MARKDOWN = re.compile(r"`|\*\*\w|\]\(|\n")
PROOF = "# @title Check: The answers of the quiz are right\n"


def quizzes(page: list) -> list[int]:
    """The places of its quizzes, those without the tag as well."""
    return [
        place
        for place, cell in enumerate(page)
        if is_quiz(cell) or cell.source.startswith("### Quiz")
    ]


def problems(page: list) -> Iterator[str]:
    """What is wrong with the quiz of a chapter."""
    places = quizzes(page)
    if len(places) != 1:
        yield f"{len(places)} quizzes, not one"
        return
    (place,) = places
    cell = page[place]
    if not is_quiz(cell):
        yield "the quiz has no tag `quiz`"
    if not cells.EXERCISES.search(page[place - 1].source):
        yield "it does not stand below the heading `## Exercises`"
    if not page[place + 1].source.startswith(PROOF):
        yield f"no `{PROOF.strip()}` below it"
    asked = questions(cell.source)
    yield from frame(cell.source, asked)
    for number, question in enumerate(asked, start=1):
        for problem in flaws(question):
            yield f"question {number}: {problem}"


def frame(source: str, asked: list[Question]) -> Iterator[str]:
    """The heading, the minutes, and how the questions are numbered."""
    head = HEAD.match(source)
    if not head:
        yield "no `### Quiz`, `**<n> minutes · easy.**` and a sentence above"
    elif int(head["minutes"]) != len(asked):
        yield f"{head['minutes']} minutes for {len(asked)} questions"
    if len(asked) not in QUESTIONS:
        yield f"{len(asked)} questions, not 5 to 8"
    numbers = [int(NUMBER.match(question.text)[1]) for question in asked]
    if numbers != [*range(1, len(asked) + 1)]:
        yield f"the questions are numbered {numbers}"
    right = Counter(
        [choice.is_right for choice in question.choices].index(True)
        for question in asked
        if any(choice.is_right for choice in question.choices)
    )
    if len(right) == 1:
        yield "the right answers stand all at the same place"


def flaws(question: Question) -> Iterator[str]:
    """What is wrong with one question."""
    choices = question.choices
    if len(choices) not in CHOICES:
        yield f"{len(choices)} choices, not 3 or 4"
    if sum(choice.is_right for choice in choices) != 1:
        yield "not exactly one choice is right"
    if "<details" in question.text or "</details>" in question.text:
        yield "a box that is not `<details><summary>…</summary>`, …"
    for texts in zip(*((c.text, c.explanation) for c in choices), strict=True):
        if len(set(texts)) < len(texts):
            yield "two choices, or two explanations, are the same"
    for choice in choices:
        told = VERDICT.fullmatch(choice.explanation)
        if not told:
            yield "no `**Yes.**` or `**No.**` between empty lines"
        elif len(told["why"].split()) < FEWEST_WORDS:
            yield f"fewer than {FEWEST_WORDS} words explain: {choice.text}"
        if MARKDOWN.search(choice.text):
            yield f"Markdown in a choice, where <code> works: {choice.text}"


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_a_chapter_has_a_quiz(path):
    page = sync.read(path).cells
    found = list(problems(page))
    assert not found, "\n".join([f"{path.name}:", *found])


# The rules themselves.


def page(quiz=None, heading="## Exercises", proof=None):
    return [
        new_markdown_cell(f"Words.\n\n{heading}"),
        quiz or sample.quiz(),
        proof or sample.proof(),
    ]


def changed(old: str, new: str, count: int = 1):
    quiz = sample.quiz()
    assert old in quiz.source
    quiz.source = quiz.source.replace(old, new, count)
    return quiz


def test_a_good_quiz_passes():
    for number in (5, 8):
        assert list(problems(page(sample.quiz(number)))) == []
    assert "question 6: " not in " ".join(problems(page(sample.quiz(9))))


def untagged():
    return new_markdown_cell(sample.quiz().source)


def always_first():
    quiz = sample.quiz()
    parts = [sample.question(3).replace("3", str(n)) for n in range(1, 6)]
    quiz.source = quiz.source.split("**1.**")[0] + "\n".join(parts)
    return quiz


SUM = "Adding 1 once more to 1 is what doubling it says."
BROKEN = {
    "0 quizzes": page(new_markdown_cell("Words.")),
    "2 quizzes": [*page(), *page()],
    "no tag": page(untagged()),
    "not stand below": page(heading="## Summary"),
    "no `# @title Check: The answers": page(proof=new_code_cell("1")),
    "a sentence above": page(
        changed(" Open the answer that you would give.", "")
    ),
    "6 minutes for 5": page(changed("5 minutes", "6 minutes")),
    "4 questions": page(sample.quiz(4)),
    "9 questions": page(sample.quiz(9)),
    "numbered [1, 2, 4": page(changed("**3.**", "**4.**")),
    "at the same place": page(always_first()),
    "question 1: 2 choices": page(
        changed('<details><summary>The text "11".</summary>', "")
    ),
    "question 1: not exactly one": page(changed("**Yes.** A", "**No.** A")),
    "question 1: a box": page(
        changed("<details><summary>", "<details> <summary>")
    ),
    "two explanations, are": page(
        changed("Texts are joined, but 1 is a number and has no quotes.", SUM)
    ),
    "fewer than 6 words explain: The sum": page(changed(SUM, "It is so.")),
    "Markdown in a choice": page(changed("<code>1 + 1</code>", "`1 + 1`")),
    "between empty lines": page(changed("</summary>\n\n", "</summary>\n")),
}


@pytest.mark.parametrize("problem", BROKEN)
def test_a_broken_quiz_fails(problem):
    found = list(problems(BROKEN[problem]))
    assert any(problem in line for line in found), found


def test_its_minutes_are_counted():
    assert (
        sum(cells.exercise_minutes([sample.quiz(), *sample.exercise()])) == 15
    )


def test_the_site_knows_where_a_question_ends():
    text = boxed(sample.quiz().source)
    assert text.startswith("### Quiz\n")
    assert text.count('<div class="question">\n\n**') == 5
    assert text.count("\n</div>\n") == 6
    assert "\n\nThe power 1 ** 1.\n\n</summary>" in text
