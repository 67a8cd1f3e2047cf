"""The four rules: the book obeys them, and each is broken here on purpose."""

import pytest
from nbformat.v4 import new_code_cell

from tests.tools.small import put_book
from tools.chapters.rules import (
    FOUNDATION,
    PLUMBING,
    Book,
    Cell,
    complete,
    in_order,
    problems,
    read_book,
    same,
    unique,
)
from tools.source.taught import as_taught

SOFTMAX = '''\
"""Chapter 2."""

from lib import validate

LIMIT = 88


def softmax(x):
    """exp(x) / sum(exp(x)).

    Args:
        x: scores.
    """
    return x  # the comment stays


def _helper(x):
    return x
'''
ATTENTION = '''\
from lib.softmax import softmax


def attention(q):
    """A weighted mean."""
    return softmax(q)
'''
TEACHES_SOFTMAX = as_taught(
    SOFTMAX, "# lib/softmax.py\nLIMIT = 0\ndef softmax(): ..."
)
TEACHES_ATTENTION = as_taught(
    ATTENTION, "# lib/attention.py\ndef attention(): ..."
)
SERVES = '"""Serves.\n\nNot taught. It only helps.\n"""\n'
LIBRARY = {"validate": SERVES, "softmax": SOFTMAX, "attention": ATTENTION}
CELLS = [
    "from lib import validate",
    TEACHES_SOFTMAX,
    "from lib.softmax import softmax",
    TEACHES_ATTENTION,
]


def book(*cells: str, **library: str) -> Book:
    """A book of one chapter; without arguments it obeys every rule."""
    numbered = enumerate(cells or CELLS, start=1)
    return Book(
        LIBRARY | library,
        [Cell(f"02.ipynb, code cell {n}", text) for n, text in numbered],
    )


def test_the_book_teaches_something_and_obeys_the_rules():
    whole = read_book()
    assert whole.public and whole.cells and problems(whole) == []
    served = FOUNDATION | PLUMBING  # what definitions may use untaught
    assert not served & set(whole.taught)
    assert whole.library.keys() >= served


COMMENT = "  # the comment stays"
TAKEN = [
    "a, (softmax, *b) = range(3), 4",
    "from torch import softmax",
    "from lib.attention import attention as softmax",
]
EARLY = [
    "from lib.attention import attention",
    "def f():\n    from lib.attention import attention as a",
    "import lib.attention",
]
PLUMBED = SERVES + "from lib.attention import f"
TEACHES_F = "# lib/attention.py\ndef f(): ..."
AGAIN = "\n\ndef softmax(x):\n    return x\n"
OTHER = TEACHES_ATTENTION.replace("lib/attention", "lib/softmax")
NO_LIMIT = TEACHES_SOFTMAX.replace("LIMIT = 88\n\n\n", "")
LIMITED = "# lib/softmax.py\nLIMIT = 88"
SHORT = "attention = 1"


def row(problem: str, *cells: str, **library: str):
    """The words that a rule must say, and a book that it must say them of."""
    return problem, book(*cells, **library)


BROKEN = {
    same: [
        row(
            "this is not the text of lib/softmax.py; change the library",
            TEACHES_SOFTMAX.replace(COMMENT, ""),
        ),
        row("lib/softmax.py does not define attention", OTHER),
        row("is not a taught module", "# lib/nowhere.py\nx = 1"),
    ],
    unique: [
        *[
            row("5: unique: softmax is the name of", *CELLS, cell)
            for cell in TAKEN
        ],
        row("unique: LIMIT is the name of", "LIMIT = 3", *CELLS),
        row("softmax.softmax exists too", attention=ATTENTION + AGAIN),
    ],
    in_order: [
        *[
            row(
                "imports attention of lib/attention.py, which no cell before",
                *CELLS[:3],
                cell,
                TEACHES_ATTENTION,
            )
            for cell in EARLY
        ],
        row("imports softmax of", LIMITED, "from lib import softmax"),
        row("imports _helper", *CELLS, "from lib.softmax import _helper"),
        row(
            "it imports lib.attention, which is not taught before it",
            *CELLS[:3],
            f"# lib/attention.py\n{SHORT}",
            softmax=f"from .attention import attention\n{SOFTMAX}",
            attention=SHORT,
        ),
        row(
            "lib/softmax.py: in order: it imports lib.figures, which is not "
            "taught.",
            softmax=f"from lib import figures\n{SOFTMAX}",
            figures=SERVES,
        ),
        row(
            "imports lib.nowhere, which does not exist",
            softmax=f"from lib import nowhere\n{SOFTMAX}",
        ),
        row(
            "softmax, but all others rest on it",
            **{"validate/numbers": "from ..softmax import LIMIT"},
        ),
        row(
            "lib: in order: modules import each other: ",
            figures=f"{SERVES}from lib import shapes",
            shapes=f"{SERVES}def f():\n    import lib.figures",
        ),
        row(
            "it imports lib.other, which is not taught.",
            TEACHES_SOFTMAX,
            TEACHES_F,
            softmax="import lib.other\n" + SOFTMAX,
            other=PLUMBED,
            attention="def f(): ...",
        ),
    ],
    complete: [
        row("no chapter teaches attention; begin", *CELLS[:3]),
        row("no chapter teaches LIMIT", NO_LIMIT),
        row("lib/new.py: complete: no", new="def f():\n    pass"),
        row(
            "attention is taught in 02.ipynb, code cell 4 and in 02.ipynb, "
            "code cell 5; keep one of them",
            *CELLS,
            TEACHES_ATTENTION,
        ),
    ],
}


@pytest.mark.parametrize("rule", BROKEN)
def test_a_rule_names_what_breaks_it(rule):
    for problem, broken in BROKEN[rule]:
        assert problem in next(rule(broken)) + ".", problem


MODULE = '''\
APPLE = 1
# Two fruits,
# in order.
PEAR: int = 2


def f():
    """Says "hi"

    and more.
    """
'''
SHOWN = '''\
# lib/x.py
def f():
    """Says "hi" """


# Two fruits,
# in order.
PEAR: int = 2'''


def test_the_cell_decides_on_names_and_order():
    assert as_taught(MODULE, "# lib/x.py\ndef f(): ...\nPEAR = 0") == SHOWN


def test_a_cell_that_is_not_python_is_named(tmp_path):
    cells = map(new_code_cell, ["a = 1", "b = 2\n!ls"])
    put_book(tmp_path, {"two": [*cells]})
    with pytest.raises(ValueError, match="two.ipynb, code cell 2: line 2 is"):
        read_book(tmp_path)
