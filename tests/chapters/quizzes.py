"""Every chapter has a quiz that explains each answer that may be given."""

import re
from collections.abc import Iterator

from book._ext.book_site.source.quiz import CHOICE, START, is_quiz
from tools.source import cells

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


def problems(page: list) -> Iterator[str]:
    """What is wrong with the quiz of a chapter."""
    places = [
        place
        for place, cell in enumerate(page)
        if is_quiz(cell) or cell.source.startswith("### Quiz")
    ]
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
    _, *asked = START.split(cell.source)
    yield from frame(cell.source, asked)
    for number, question in enumerate(asked, start=1):
        for problem in flaws(question):
            yield f"question {number}: {problem}"


def frame(source: str, asked: list[str]) -> Iterator[str]:
    """The heading, the minutes, and how the questions are numbered."""
    head = HEAD.match(source)
    if not head:
        yield "no `### Quiz`, `**<n> minutes · easy.**` and a sentence above"
    elif int(head["minutes"]) != len(asked):
        yield f"{head['minutes']} minutes for {len(asked)} questions"
    if len(asked) not in QUESTIONS:
        yield f"{len(asked)} questions, not 5 to 8"
    numbers = [int(NUMBER.match(question)[1]) for question in asked]
    if numbers != [*range(1, len(asked) + 1)]:
        yield f"the questions are numbered {numbers}"
    right = {
        place
        for question in asked
        for place, (_, told) in enumerate(CHOICE.findall(question))
        if is_right(told)
    }
    if len(right) == 1:
        yield "the right answers stand all at the same place"


def is_right(told: str) -> bool:
    return told.strip().startswith("**Yes.** ")


def flaws(question: str) -> Iterator[str]:
    """What is wrong with one question."""
    choices, rest = CHOICE.findall(question), CHOICE.sub("", question)
    if len(choices) not in CHOICES:
        yield f"{len(choices)} choices, not 3 or 4"
    if sum(is_right(told) for _, told in choices) != 1:
        yield "not exactly one choice is right"
    if "<details" in rest or "</details>" in rest:
        yield "a box that is not `<details><summary>…</summary>`, …"
    for texts in zip(*choices, strict=True):
        if len(set(texts)) < len(texts):
            yield "two choices, or two explanations, are the same"
    for text, told in choices:
        verdict = VERDICT.fullmatch(told)
        if not verdict:
            yield "no `**Yes.**` or `**No.**` between empty lines"
        elif len(verdict["why"].split()) < FEWEST_WORDS:
            yield f"fewer than {FEWEST_WORDS} words explain: {text}"
        if MARKDOWN.search(text):
            yield f"Markdown in a choice, where <code> works: {text}"


RULES = (problems,)
