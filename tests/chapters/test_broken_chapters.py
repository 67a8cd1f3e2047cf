"""Each rule is broken here on purpose, by one change of a good chapter."""

from collections.abc import Iterator

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from tests.chapters.made import (
    ASKED,
    chapter,
    check,
    code,
    drawn,
    exercise,
    explorer,
    figure,
    prints,
    proof,
    question,
    quiz,
    told,
    words,
)
from tests.chapters.reading import MOST
from tests.chapters.test_every_chapter import OF_DEEPER, OF_WALKS, RULES


def problems(page: list) -> Iterator[str]:
    return (problem for rule in RULES for problem in rule(page))


LONG = "word " * 34


def test_a_good_chapter_passes():
    assert not [*problems(chapter())]


def on(part: str, broken: dict) -> dict:
    """Each problem, and the cells that have it in place of this part."""
    return {problem: {part: cells} for problem, cells in broken.items()}


HYGIENE = {
    "stores stderr": [code("1", new_output("stream", name="stderr"))],
    "stores a KeyError": [code("1", new_output("error", ename="KeyError"))],
    "exempt from comparison, no": [code("2", tags=["nbval-ignore-output"])],
    "get_ipython": [code("get_ipython().system('ls')")],
    "sys.path": [code("import sys\nsys.path.append('.')")],
    "31 lines, not 30": [code("1\n" * 30 + "1")],
    "lacks a name": [figure(name="bars")],
    "prints a negative zero": [code("1", prints("[-0., 1.]"))],
    "prints more than 4 decimals": [code("1", prints("0.12345"))],
    "prints a rounding residual": [code("1", prints("5.9605e-08"))],
    "prints a device": [code("1", prints("tensor([1], device='mps:0')"))],
    "prints an address in memory": [code("1", prints("<f at 0x7fd106772>"))],
}
EXERCISES = {
    "3 exercises, not 4 to 6": 3 * exercise(),
    "`grade: true` in its place": 4 * exercise()[:2],
    "`solution: true` in its place": 4 * exercise()[::2],
    "9 cells with nbgrader": [*4 * exercise(), exercise()[1]],
    "does not define g, its grade_id": 4 * exercise(name="g"),
    "is not window_mask-check": 4 * exercise(grade_id="g"),
    "is not locked": 4 * exercise(locked=False),
    "do not come in pairs": 4 * exercise(answer=("END", "BEGIN")),
    "not `### Exercise <number> · <title>`": 4 * exercise((" · A", ": A")),
    "0 exercises are marked `transfer`": 4 * exercise((" · transfer", "")),
    "· <easy, medium, hard>**`": 4 * exercise(("easy", "trivial")),
    "no hint": 4 * exercise(("<summary>Hint", "<summary>Help")),
}
CHECKS = {
    "the claim is not a sentence": [check("assert a", claim="sums")],
    "nothing is asserted": [check("a == 4")],
    "a check has no output": [code(check("assert a").source, prints("4"))],
    "two checks in a row": [check("assert a"), check("assert a")],
    "not a title of this book": [code("# @title Proof\n1")],
    "it changes a of the page": [check("a = 4", "assert a")],
    "b is used, but stands in": [check("b = 4", "assert b"), code("b + 1")],
    "more than 60 lines: # lib/x.py": [code("# lib/x.py\n" + "a = 2\n" * 60)],
    "more than one assertion": [code("assert a\nassert a")],
    "it reads a figure": [code("ax.texts[0].get_text()")],
}
CLAIM = check("assert a")
EXPLORERS = {
    "lacks the tag `hide-input`": [explorer(tags=()), ASKED, CLAIM],
    "not one expression": [explorer(source="b = f()"), ASKED, CLAIM],
    "no question with a folded answer": [explorer(), words(), CLAIM],
    "no check of the answer": [explorer(), ASKED, words()],
}
SLIDES = {
    "36 words, not 35": [words("", "slide", slide=f"## Two words\n\n{LONG}")],
    "11 lines of code": [code("1\n" * 11, kind="-")],
    "11 lines of output": [code("1", prints("1\n" * 11), kind="-")],
    "than one formula, figure or code": [
        words("$$a$$", "subslide"),
        code("1", drawn(), kind="-"),
    ],
    "no content": [words("## Title", "slide")],
    "cut code: def f(": [
        code("def f(\n): ...", kind="-", book={"part": ["def", "def"]})
    ],
    "a slide without a title": [words("No title.", "slide")],
    "a link, HTML": [words("[a](b.md)", "-")],
    "a second heading": [words("a\n\n## b", "-")],
    "a check is": [code("# @title Check: a\n1", kind="-")],
    "no slide type is called slides": [words(kind="slides")],
    "but no slide type": [words(slide="## A\n\nb")],
    "12 of 23 slides have": [code(kind="subslide")] * 13,
    "0.25 in: It is 0.25.": [words("It is 0.25.", "-")],
}
PARTS = {
    "14 teaching cells": {"code": [code("1")] * 14},
    "over 6 lines": {"code": [code("a = 1\n" * 7)] * 16},
    "it begins with": {"figure": [], "box": [words("> **You will** 9.1")]},
    "words, not 1500 to 3000": {"text": [words("Short.", "slide")]},
    "does not refer to figure 9.2": {"more": [figure()]},
    "no figure 9.3": {"more": [words("See figures 9.1, 9.2 and 9.3.")]},
    "9 slides, not 10 to 18": {"text": told(8)},
    "adds to a slide that is not": {"box": [words(kind="-")]},
    "exercises and quizzes are not shown": {
        "exercises": [words("### Exercise", "slide", slide="## No\n\nno")]
    },
}


def asks(old="", new="", number=5, below=None, **parts):
    """The parts of a page with one text of its quiz replaced."""
    cell = quiz(number)
    assert old in cell.source
    cell.source = cell.source.replace(old, new, 1)
    return {"quiz": [cell, below or proof()]} | parts


def always_first():
    cell = quiz()
    parts = [question(3).replace("3", str(n)) for n in range(1, 6)]
    cell.source = cell.source.split("**1.**")[0] + "\n".join(parts)
    return {"quiz": [cell, proof()]}


SUM = "Adding 1 once more to 1 is what doubling it says."
TEXTS = "Texts are joined, but 1 is a number and has no quotes."
QUIZ = {
    "0 quizzes": {"quiz": []},
    "2 quizzes": {"more": [quiz()]},
    "no tag": {"quiz": [new_markdown_cell(quiz().source), proof()]},
    "not stand below": asks(end=[words("## Summary")]),
    "no `# @title Check: The answers": asks(below=new_code_cell("1")),
    "a sentence above": asks(" Open the answer that you would give."),
    "6 minutes for 5": asks("5 minutes", "6 minutes"),
    "4 questions": asks(number=4),
    "numbered [1, 2, 4": asks("**3.**", "**4.**"),
    "at the same place": always_first(),
    "question 1: 2 choices": asks(
        '<details><summary>The text "11".</summary>'
    ),
    "question 1: not exactly one": asks("**Yes.** A", "**No.** A"),
    "question 1: a box": asks("<details><summary>", "<details> <summary>"),
    "two explanations, are": asks(TEXTS, SUM),
    "fewer than 6 words explain: The sum": asks(SUM, "It is so."),
    "Markdown in a choice": asks("<code>1 + 1</code>", "`1 + 1`"),
    "between empty lines": asks("</summary>\n\n", "</summary>\n"),
}
BROKEN = {
    **on("more", HYGIENE | SLIDES),
    **on("exercises", EXERCISES),
    **on("check", CHECKS),
    **on("explorer", EXPLORERS),
    **PARTS,
    **QUIZ,
}


@pytest.mark.parametrize("problem", BROKEN)
def test_a_broken_chapter_is_named(problem):
    page = chapter(**BROKEN[problem])
    assert any(problem in line for line in problems(page))


TOO_MUCH = {
    "teaching cells": [code()] * 21,
    "words": [words("word " * 2_001)],
    "headings": [words("## A\n\nb")] * 10,
    "checks": [check("assert 1"), words()] * 10,
}


@pytest.mark.parametrize("what", MOST)
def test_a_walk_that_has_grown_is_named(what):
    page = chapter(text=told(9)[:1], code=[], more=TOO_MUCH[what])
    found = [problem for rule in OF_WALKS for problem in rule(page)]
    assert any(f" {what}, more than {MOST[what]}" in one for one in found)


BELOW = "This page belongs to [chapter 9](../09_sums.ipynb)."


@pytest.mark.parametrize(
    "title",
    [
        f"# 9. Sums\n\n**What is two and two?**\n\nFour. {BELOW}",
        f"# Sums\n\nWhat is two and two?\n\nFour. {BELOW}",
        f"# Sums\n\n**What is two and two?**\n\n{BELOW}",
        "# Sums\n\n**What is two and two?**\n\nFour.",
        "# Sums\n\n**What is 2 + 2?**\n\nFour. " + BELOW.replace("9]", "8]"),
    ],
)
def test_a_deeper_page_begins_with_question_and_answer(title):
    good = f"# Sums\n\n**What is two and two?**\n\nFour. {BELOW}"
    for text, number in ((good, 0), (title, 1)):
        page = [words(text), code()]
        page[1].execution_count = 1
        assert len([p for rule in OF_DEEPER for p in rule(page)]) == number


def test_cells_that_were_not_run_in_order_are_named():
    page = chapter()
    page[-2].execution_count += 1
    assert "its execution count is" in " ".join(problems(page))
