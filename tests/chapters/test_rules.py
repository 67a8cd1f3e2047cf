"""The five rules: the book obeys them, and each is broken here on purpose."""

import pytest
from nbformat.v4 import new_code_cell

from tests.tools.small import put_book
from tools.chapters.rules import (
    FOUNDATION,
    PLUMBING,
    Book,
    Cell,
    problems,
    read_book,
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
    """A book of one chapter; without arguments it obeys every rule.

    A cell that begins with `deeper: ` stands on a deeper page.
    """
    numbered = enumerate(cells or CELLS, start=1)
    return Book(
        LIBRARY | library,
        [
            Cell(
                f"02.ipynb, code cell {n}",
                text.removeprefix("deeper: "),
                is_deeper=text.startswith("deeper: "),
            )
            for n, text in numbered
        ],
    )


def test_the_book_teaches_something_and_obeys_the_rules():
    whole = read_book()
    assert whole.public and whole.cells and problems(whole) == []
    served = FOUNDATION | PLUMBING  # what definitions may use untaught
    assert not served & set(whole.taught)
    assert whole.library.keys() >= served


AGAIN = "\n\ndef softmax(x):\n    return x\n"
OTHER = TEACHES_ATTENTION.replace("lib/attention", "lib/softmax")
NO_COMMENT = TEACHES_SOFTMAX.replace("  # the comment stays", "")
NO_LIMIT = TEACHES_SOFTMAX.replace("LIMIT = 88\n\n\n", "")
TAKEN = "unique: softmax is the name of"
EARLY = "imports attention of lib/attention.py, which no cell before"
IN_A_FUNCTION = "def f():\n    from lib.attention import attention as a"
BROKEN = [
    ("same: this is not the text of lib/softmax.py", book(NO_COMMENT)),
    ("same: lib/softmax.py does not define attention", book(OTHER)),
    ("is not a taught module", book("# lib/nowhere.py\nx = 1")),
    (TAKEN, book(*CELLS, "a, (softmax, *b) = range(3), 4")),
    (TAKEN, book(*CELLS, "from torch import softmax")),
    (TAKEN, book(*CELLS, "from lib.attention import attention as softmax")),
    ("unique: LIMIT is the name of", book("LIMIT = 3", *CELLS)),
    ("softmax.softmax exists too", book(attention=ATTENTION + AGAIN)),
    (EARLY, book(*CELLS[:3], "from lib.attention import attention")),
    (EARLY, book(*CELLS[:3], IN_A_FUNCTION)),
    (EARLY, book(*CELLS[:3], "import lib.attention")),
    (
        "imports softmax of",
        book("# lib/softmax.py\nLIMIT = 88", "from lib import softmax"),
    ),
    ("imports _helper", book(*CELLS, "from lib.softmax import _helper")),
    (
        "it imports lib.attention, which is not taught before it",
        book(
            *CELLS[:3],
            "# lib/attention.py\nattention = 1",
            softmax=f"from .attention import attention\n{SOFTMAX}",
            attention="attention = 1",
        ),
    ),
    (
        "lib/softmax.py: in order: it imports lib.figures, which is not "
        "taught.",
        book(softmax=f"from lib import figures\n{SOFTMAX}", figures=SERVES),
    ),
    (
        "imports lib.nowhere, which does not exist",
        book(softmax=f"from lib import nowhere\n{SOFTMAX}"),
    ),
    (
        "softmax, but all others rest on it",
        book(**{"validate/numbers": "from ..softmax import LIMIT"}),
    ),
    (
        "lib: in order: modules import each other: ",
        book(
            figures=f"{SERVES}from lib import shapes",
            shapes=f"{SERVES}def f():\n    import lib.figures",
        ),
    ),
    (
        "it imports lib.other, which is not taught.",
        book(
            TEACHES_SOFTMAX,
            "# lib/attention.py\ndef f(): ...",
            softmax="import lib.other\n" + SOFTMAX,
            other=SERVES + "from lib.attention import f",
            attention="def f(): ...",
        ),
    ),
    ("complete: no lesson teaches attention; begin", book(*CELLS[:3])),
    ("complete: no lesson teaches LIMIT", book(NO_LIMIT)),
    ("lib/new.py: complete: no", book(new="def f():\n    pass")),
    (
        "attention is taught in 02.ipynb, code cell 4 and in 02.ipynb, "
        "code cell 5; keep one of them",
        book(*CELLS, TEACHES_ATTENTION),
    ),
]


USES = "from lib.attention import attention"
DEEPER = f"deeper: {TEACHES_ATTENTION}"
SAYS = "# @title Check: a b c\n# plain: lib/attention.py attention\n"
COMPARES, SAYS_SO = f"{SAYS}{USES}", f"{SAYS}assert 1"
NEVER_SHOWN = "introduced: it imports attention of lib/attention.py, which no"
BROKEN += [
    (NEVER_SHOWN, book(*CELLS[:3], DEEPER, USES)),
    (NEVER_SHOWN, book(*CELLS[:3], DEEPER, USES, COMPARES)),
    ("introduced: it says that", book(*CELLS[:3], SAYS_SO, DEEPER)),
]


@pytest.mark.parametrize("problem, broken", BROKEN)
def test_a_rule_names_what_breaks_it(problem, broken):
    assert any(problem in f"{found}." for found in problems(broken))


def test_the_good_book_breaks_none():
    assert problems(book()) == []


def test_a_plain_form_introduces_a_name_and_deeper_pages_may_use_all():
    assert problems(book(*CELLS[:3], COMPARES, USES, DEEPER)) != []  # too soon
    assert problems(book(*CELLS[:3], COMPARES, DEEPER, USES)) == []
    assert problems(book(*CELLS[:3], DEEPER, f"deeper: {USES}")) == []


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
    put_book(tmp_path, {"02_two": [*cells]})
    with pytest.raises(ValueError, match="two.ipynb, code cell 2: line 2 is"):
        read_book(tmp_path)


TYPED = '''\
def f(
    x: Float[Tensor, "batch length"],
    *more: int,
    scale: float = 1.0,
    **named: str,
) -> Float[Tensor, "batch length"]:
    """Twice."""
    validate.same(x=x)
    if scale != 1:
        validate.positive(scale=scale)
    # what it is: a sum
    total: Tensor = x + x
    return total


@dataclass
class Size:
    width: int  # stays: without it there is no field
    height: int = 2
'''
PLAIN = '''\
def f(x, *more, scale=1.0, **named):
    """Twice."""
    # what it is: a sum
    total = x + x
    return total


@dataclass
class Size:
    width: int  # stays: without it there is no field
    height: int = 2'''


def test_a_walk_shows_definitions_plain():
    cell = "# lib/x.py\ndef f(): ...\nclass Size: ..."
    assert as_taught(TYPED, cell, is_plain=True) == f"# lib/x.py\n{PLAIN}"
    for is_plain in (False, True):
        for text_is_plain in (False, True):
            text = as_taught(TYPED, cell, text_is_plain)
            page = [Cell("02.ipynb", text, is_plain=is_plain)]
            found = problems(Book({"x": TYPED}, page))
            assert len(found) == (is_plain != text_is_plain)
