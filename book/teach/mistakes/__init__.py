"""Wrong answers to the exercises, one module a chapter.

`WRONG` maps the name of an exercise to answers by the name of the
misconception that each stands for: a part of the hint that it must get, and
the lines of the solution that it changes, each with what stands in their
place; or all of its text where the idea is another one. It is read from one
text for each exercise, in which an answer is

    misconception > part of the hint
    - lines of the solution
    + what stands in their place

with - and + as often as needed, or + alone before all lines of the answer.
`EQUIVALENT` maps the name of an exercise to the mutants of its solution that
are right too, with the reason.
"""

from collections.abc import Callable, Iterator
from itertools import groupby, zip_longest

Changes = dict[str, str] | str
MARKS = ("-", "+")


def read(**texts: str) -> dict[str, dict[str, tuple[str, Changes]]]:
    """The answers to each exercise, by their misconceptions.

    Raises:
        ValueError: a misconception has no hint or no lines, or stands twice.
    """
    known = {}
    for exercise, text in texts.items():
        answers = list(answers_in(text))
        known[exercise] = {name: (hint, code) for name, hint, code in answers}
        if len(known[exercise]) < len(answers):
            raise ValueError(f"{exercise}: a misconception stands twice")
    return known


def answers_in(text: str) -> Iterator[tuple[str, str, Changes]]:
    """Misconception, hint and changes of each answer of a text."""
    lines = [line for line in text.splitlines() if line]
    parts = runs(lines, lambda line: line.startswith(MARKS))
    for heading, code in zip(parts[::2], parts[1::2], strict=True):
        name, hint = " ".join(heading).split(" > ")
        yield name, hint, changes(code)


def changes(code: list[str]) -> Changes:
    """What stands in the place of which lines, or all lines of an answer."""
    blocks = [
        "".join(line[2:] + "\n" for line in lines)
        for lines in runs(code, lambda line: line[0])
    ]
    if code[0].startswith("+"):
        (answer,) = blocks
        return answer
    return dict(zip_longest(blocks[::2], blocks[1::2], fillvalue=""))


def runs(lines: list[str], kind: Callable) -> list[list[str]]:
    """Neighbouring lines of the same kind, together."""
    return [list(run) for _, run in groupby(lines, kind)]
