"""How long a reader takes."""

from tests import sample
from tests.chapters.made import check, code, words
from tools.source import cells


def test_minutes_come_from_words_lines_and_exercises():
    page = [
        words("> **Minutes** 1, and about 1 for the exercises."),
        words("word " * 1_800),  # 10 minutes
        code("a = 1\n\n" * 60),  # 5 minutes: empty lines are not read
        check(*["assert a"] * 20),
        words("## Exercises\n" + "word " * 900),
        sample.quiz(),  # 5 minutes
        *sample.exercise(),  # 10 minutes
        words("### Exercise 1.2 · B\n\n**20 minutes · hard · transfer.** B."),
        code("b = 1\n" * 120),
    ]
    cells.put_effort(page)
    expected = "> **Minutes** 15, and about 35 for the exercises."
    assert page[0].source == expected
