"""The four rules: the book obeys them, and each is broken here on purpose."""

from textwrap import dedent

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, writes

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
from tools.source.taught import as_taught, homes

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


def test_modules_are_taught_in_the_order_of_their_cells():
    assert book().taught == ["softmax", "attention"]
    assert book(*reversed(CELLS)).taught == ["attention", "softmax"]
    assert book(new="x = 1").taught == ["softmax", "attention", "new"]


COMMENT = "  # the comment stays"
TAKEN = [
    "a, (softmax, *b) = range(3), 4",
    "from torch import softmax",
    "from library import softmax",
    "import numpy as softmax",
    "from lib.attention import attention as softmax",
]
IN_ALL = "def f():\n    from lib.attention import attention as a"
EARLY = [
    "from lib.attention import attention",
    "from lib import attention",
    "import lib.attention",
    IN_ALL,
]
LATE = ["from .attention import attention", "import lib.attention"]
RESTS = [  # parts of the foundation
    ("validate", f"{SERVES}from lib import softmax"),
    ("validate/numbers", "from lib.softmax import LIMIT"),
    ("validate/numbers", "from ..softmax import LIMIT"),
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
        row("is not a taught module", "# lib/validate.py\nx = 1"),
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
        *[
            row(
                "it imports lib.attention, which is not taught before it",
                *CELLS[:3],
                f"# lib/attention.py\n{SHORT}",
                softmax=f"{line}\n{SOFTMAX}",
                attention=SHORT,
            )
            for line in LATE
        ],
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
        *[
            row("softmax, but all others rest on it", **{module: text})
            for module, text in RESTS
        ],
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


PARTS = {"validate/numbers": "integer = 1", "validate": SERVES}
# What a rule could take for a mistake, and is none.
ALLOWED = [
    book(),
    book(*CELLS, "def f(softmax):\n    attention = softmax\n    return 1"),
    book(*CELLS, "result.softmax = 3\n_helper = 3"),
    book(*CELLS, IN_ALL),
    book(*CELLS, "from lib.softmax import softmax, LIMIT"),
    book(
        figures=f"{SERVES}from lib.attention import attention\n"
        "from lib.validate import numbers"
    ),
    book(**PARTS | {"validate": SERVES + "from . import numbers"}),
    book(**PARTS, **{"validate/texts": "from .numbers import integer"}),
    book(  # plumbing stands on what is taught later
        TEACHES_SOFTMAX,
        TEACHES_F,
        softmax="import lib.decoders\n" + SOFTMAX,
        decoders=PLUMBED,
        attention="def f(): ...",
    ),
    book(  # a module may begin before one that it uses
        TEACHES_SOFTMAX,
        TEACHES_ATTENTION,
        "# lib/softmax.py\nNEW = 1",
        softmax=SOFTMAX + "\n\nNEW = 1\nimport lib.attention",
        attention=ATTENTION.partition("\n")[2],
    ),
]


def test_what_keeps_the_rules_passes():
    for allowed in ALLOWED:
        assert problems(allowed) == []


# the text of a definition cell

MODULE = '''\
# Two fruits,
# in order.
APPLE: int = 1
PEAR = 2

left, right = 3, 4


@decorator
@another(
    1,
)
class Outer(Base):
    r"""Uses \\alpha.

    More.
    """

    @property
    def nested(self):
        """Says "hi"

        and more.
        """

        def inner():
            """Inner.

            More.
            """
            text = """not
            a docstring"""
            # why
            return text

        return inner
'''
SHOWN = '''\
# lib/x.py
@decorator
@another(
    1,
)
class Outer(Base):
    r"""Uses \\alpha."""

    @property
    def nested(self):
        """Says "hi" """

        def inner():
            """Inner."""
            text = """not
            a docstring"""
            # why
            return text

        return inner


PEAR = 2
# Two fruits,
# in order.
APPLE: int = 1
left, right = 3, 4'''


def test_the_cell_decides_on_names_and_order():
    cell = "# lib/x.py\nclass Outer: ...\nPEAR = 0\nAPPLE = 0\nright = 0"
    assert as_taught(MODULE, cell) == SHOWN
    assert as_taught(MODULE, SHOWN) == SHOWN


# reading a book


def write_book(folder, **chapters):
    """A book on disk; its table of contents lists the chapters as given."""
    (folder / "book" / "lib").mkdir(parents=True)
    for module, source in (LIBRARY | {"__init__": "x = 1"}).items():
        (folder / "book" / "lib" / f"{module}.py").write_text(source)
    for name, cells in chapters.items():
        made = [new_markdown_cell("# Title"), *map(new_code_cell, cells)]
        text = writes(new_notebook(cells=made))
        (folder / "book" / f"{name}.ipynb").write_text(text)
    a, b = (f"book/{name}" for name in chapters)
    toc = f"""
        root: book/index
        parts:
          - chapters:
            - file: {a}
              sections: [file: book/notation]
            - file: {b}"""
    (folder / "_toc.yml").write_text(dedent(toc))


def test_the_table_of_contents_orders_the_chapters(tmp_path):
    write_book(tmp_path, zebra=CELLS[:2], aardvark=CELLS[2:])
    folder = tmp_path / "book" / "lib" / "figures"
    folder.mkdir()
    (folder / "__init__.py").write_text(SERVES)
    (folder / "marks.py").write_text("from lib.softmax import softmax")
    read = read_book(tmp_path)
    assert problems(read) == []
    package = {"figures": SERVES, "figures/marks": CELLS[2]}
    assert read.library == LIBRARY | package
    stems = {name: path.stem for name, path in homes(tmp_path).items()}
    assert stems == {"softmax": "zebra", "attention": "aardvark"}
    assert [cell.where for cell in read.cells] == [
        f"{name}.ipynb, code cell {n}"
        for name in ("zebra", "aardvark")
        for n in (1, 2)
    ]


def test_a_cell_that_is_not_python_is_named(tmp_path):
    write_book(tmp_path, one=CELLS, two=["a = 1", "b = 2\n!ls"])
    with pytest.raises(ValueError, match="two.ipynb, code cell 2: line 2 is"):
        read_book(tmp_path)
