"""The cell that a reader fills in, with its solution and without.

One cell in nbgrader's format is the source of all views of an exercise: the
page, the student's notebook, and the tests.
"""

import re

# Ends a line whose values the variants of a task change.
GIVEN = "  # given"
SOLUTION = re.compile(
    r"^([ \t]*)### BEGIN SOLUTION\n(.*?)^[ \t]*### END SOLUTION\n?",
    re.M | re.S,
)
HIDDEN_TESTS = re.compile(
    r"^[ \t]*### BEGIN HIDDEN TESTS\n.*?^[ \t]*### END HIDDEN TESTS\n?",
    re.M | re.S,
)


def without_marks(source):
    """The same without what says which lines variants change."""
    return re.sub(rf"{GIVEN}$", "", source, flags=re.M)


def stub(source):
    """The answer cell as a student gets it: no solution."""
    return SOLUTION.sub(r"\1raise NotImplementedError\n", source).rstrip()


def solution(source):
    """The answer cell as the author wrote it: no markers."""
    return SOLUTION.sub(r"\2", source).rstrip()


def without_hidden_tests(source):
    """A check cell as it may be seen."""
    return HIDDEN_TESTS.sub("", source).rstrip()
