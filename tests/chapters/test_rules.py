"""The four rules: the book obeys them, and each is broken here on purpose."""

from textwrap import dedent

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, writes

from tools.rules import (
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
from tools.taught import as_taught, homes

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
TEACHES_SOFTMAX = '''\
# lib/softmax.py
LIMIT = 88


def softmax(x):
    """exp(x) / sum(exp(x))."""
    return x  # the comment stays'''
TEACHES_ATTENTION = '''\
# lib/attention.py
def attention(q):
    """A weighted mean."""
    return softmax(q)'''
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


def test_the_small_book_obeys_the_rules():
    assert problems(book()) == []


def test_modules_are_taught_in_the_order_of_their_cells():
    assert book().taught == ["softmax", "attention"]
    assert book(*reversed(CELLS)).taught == ["attention", "softmax"]
    assert book(new="x = 1").taught == ["softmax", "attention", "new"]


def changed(old: str, new: str) -> Book:
    """A book whose first definition cell has another text."""
    assert old in TEACHES_SOFTMAX
    return book(TEACHES_SOFTMAX.replace(old, new))


COMMENT = "  # the comment stays"
NOT_ITS_TEXT = "same: this is not the text of lib/softmax.py: line "
NOT_TAUGHT_BEFORE = (
    "lib/softmax.py: in order: it imports lib.attention, which is not taught "
    "before it"
)
FOUNDATION_FIRST = "it imports lib.softmax, but all others rest on it"
PLUMBED = SERVES + "from lib.attention import f"
TEACHES_F = "# lib/attention.py\ndef f(): ..."


def late(line: str) -> Book:
    """Chapter 2's module imports what is taught after it."""
    text = {"softmax": f"{line}\n{SOFTMAX}", "attention": "attention = 1"}
    return book(*CELLS[:3], "# lib/attention.py\nattention = 1", **text)


# What breaks each rule, and what it says.
BROKEN = {
    same: [
        (
            changed("return x", "return 2 * x"),
            f"{NOT_ITS_TEXT}7 has '    return 2 * x{COMMENT}', the library "
            f"'    return x{COMMENT}'; change the library, not the cell, and "
            "run `make sync`",
        ),
        (changed("LIMIT = 88", "LIMIT = 89"), NOT_ITS_TEXT),
        (changed("LIMIT = 88\n\n\n", "LIMIT = 88\n\n"), NOT_ITS_TEXT),
        (changed(COMMENT, ""), NOT_ITS_TEXT),
        (changed("sum(exp(x)).", "sum(exp(x)).\n\n    More."), NOT_ITS_TEXT),
        (changed(COMMENT, f"{COMMENT}\nprint(LIMIT)"), NOT_ITS_TEXT),
        (
            book(TEACHES_ATTENTION.replace("lib/attention", "lib/softmax")),
            "same: lib/softmax.py does not define attention",
        ),
        *(
            (
                book(f"# lib/{module}.py\ndef f():\n    pass"),
                f"same: lib/{module}.py is not a taught module",
            )
            for module in ("validate", "nowhere")
        ),
    ],
    unique: [
        *(
            (
                book(*CELLS, cell),
                "02.ipynb, code cell 5: unique: softmax is the name of a "
                "definition in lib/softmax.py",
            )
            for cell in [
                "def softmax(x):\n    return x",
                "a, (softmax, *b) = range(3), 4",
                "with open('x') as softmax:\n    pass",
                "from torch import softmax",
                "from library import softmax",
                "import numpy as softmax",
                "from lib.figures import bars as softmax",
                "#lib/softmax.py\ndef softmax(x):\n    return x",
            ]
        ),
        (book("LIMIT = 3", *CELLS), "unique: LIMIT is the name of"),
        (
            book(attention=ATTENTION + "\n\ndef softmax(x):\n    return x\n"),
            "lib/attention.py: unique: softmax.softmax exists too",
        ),
    ],
    in_order: [
        *(
            (
                book(*CELLS[:3], cell, TEACHES_ATTENTION),
                "in order: it imports attention of lib/attention.py, which no "
                "cell before it teaches; move the import below the",
            )
            for cell in [
                "from lib.attention import attention",
                "from lib import attention",
                "import lib.attention",
                "def f():\n    from lib.attention import attention as a",
            ]
        ),
        (
            book("# lib/softmax.py\nLIMIT = 88", "from lib import softmax"),
            "it imports softmax of lib/softmax.py",
        ),
        (
            book(*CELLS, "from lib.softmax import _helper"),
            "it imports _helper",
        ),
        *(
            (late(line), NOT_TAUGHT_BEFORE)
            for line in [
                "from lib.attention import attention",
                "from lib import attention",
                "from .attention import attention",
                "import lib.attention",
            ]
        ),
        (
            book(
                softmax=f"from lib import figures\n{SOFTMAX}", figures=SERVES
            ),
            "lib/softmax.py: in order: it imports lib.figures, which is not "
            "taught",
        ),
        (
            book(softmax=f"from lib import nowhere\n{SOFTMAX}"),
            "it imports lib.nowhere, which does not exist",
        ),
        (book(validate=f"{SERVES}from lib import softmax"), FOUNDATION_FIRST),
        (
            book(**{"validate.numbers": "from lib.softmax import LIMIT"}),
            f"lib/validate.py: in order: {FOUNDATION_FIRST}",
        ),
        (
            book(**{"validate.numbers": "from ..attention import attention"}),
            "lib/validate.py: in order: it imports lib.attention",
        ),
        (
            book(
                figures=f"{SERVES}from lib import shapes",
                shapes=f"{SERVES}def f():\n    import lib.figures",
            ),
            "lib: in order: modules import each other: ",
        ),
        (
            book(
                TEACHES_SOFTMAX,
                TEACHES_F,
                softmax="import lib.other\n" + SOFTMAX,
                other=PLUMBED,
                attention="def f(): ...",
            ),
            "it imports lib.other, which is not taught",
        ),
    ],
    complete: [
        (
            book(*CELLS[:3]),
            "lib/attention.py: complete: no chapter teaches attention; begin "
            "a cell with `# lib/attention.py`, name it there, and run",
        ),
        (
            book(TEACHES_SOFTMAX.replace("LIMIT = 88\n\n\n", "")),
            "no chapter teaches LIMIT",
        ),
        (book(new="def f():\n    pass"), "lib/new.py: complete: no chapter"),
        (
            book(*CELLS, TEACHES_ATTENTION),
            "lib/attention.py: complete: attention is taught in 02.ipynb, "
            "code cell 4 and in 02.ipynb, code cell 5; keep one of them",
        ),
    ],
}
HELPS = f"{SERVES}from lib.attention import attention\n"
# What a rule could take for a mistake, and is none.
ALLOWED = {
    unique: [
        book(*CELLS, cell)
        for cell in [
            "def slow_softmax(x):\n    return x",
            "def f(softmax):\n    attention = softmax\n    return attention",
            "result.softmax = 3",
            "from lib.softmax import softmax",
            "_helper = 3",
        ]
    ],
    in_order: [
        book(*CELLS, "def f():\n    from lib.attention import attention"),
        book(*CELLS, "from lib.softmax import softmax, LIMIT"),
        book(figures=HELPS + "from lib.validate import numbers"),
        *(
            book(
                **{
                    "validate": SERVES + line,
                    "validate.numbers": "integer = 1",
                    "validate.texts": line,
                }
            )
            for line in [
                "from . import numbers",
                "from .numbers import integer",
            ]
        ),
        book(  # plumbing stands on what is taught later
            TEACHES_SOFTMAX,
            TEACHES_F,
            softmax="import lib.dates\n" + SOFTMAX,
            dates=PLUMBED,
            attention="def f(): ...",
        ),
        book(  # a module may begin before one that it uses
            TEACHES_SOFTMAX,
            TEACHES_ATTENTION,
            "# lib/softmax.py\nNEW = 1",
            softmax=SOFTMAX + "\n\nNEW = 1\nimport lib.attention",
            attention=ATTENTION.partition("\n")[2],
        ),
    ],
    complete: [book(validate=f"{SERVES}def integer(x):\n    pass")],
}


def rows(table: dict) -> list:
    return [
        pytest.param(rule, row, id=f"{rule.__name__}-{number}")
        for rule, all_rows in table.items()
        for number, row in enumerate(all_rows)
    ]


@pytest.mark.parametrize("rule, row", rows(BROKEN))
def test_a_rule_names_what_breaks_it(rule, row):
    broken, problem = row
    assert problem in next(rule(broken))


@pytest.mark.parametrize("rule, allowed", rows(ALLOWED))
def test_a_rule_lets_pass_what_keeps_it(rule, allowed):
    assert list(rule(allowed)) == []


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

    size = 3

    def one_line(self):
        """Already short."""

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


def test_the_cell_decides_on_names_and_order():
    cell = "# lib/x.py\nclass Outer: ...\nPEAR = 0\nAPPLE = 0\nright = 0"
    expected = r'''
        # lib/x.py
        @decorator
        @another(
            1,
        )
        class Outer(Base):
            r"""Uses \alpha."""

            size = 3

            def one_line(self):
                """Already short."""

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
    expected = dedent(expected).strip()
    expected = expected.replace(
        '    a docstring"""', '            a docstring"""'
    )
    assert as_taught(MODULE, cell) == expected
    assert as_taught(MODULE, expected) == expected


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
    package = {"figures": SERVES, "figures.marks": CELLS[2]}
    assert read.library == LIBRARY | package
    assert {name: path.stem for name, path in homes(tmp_path).items()} == {
        "softmax": "zebra",
        "attention": "aardvark",
    }
    assert [cell.where for cell in read.cells] == [
        f"{name}.ipynb, code cell {n}"
        for name in ("zebra", "aardvark")
        for n in (1, 2)
    ]


def test_chapters_in_the_wrong_order_are_found(tmp_path):
    write_book(tmp_path, later=CELLS[2:], earlier=CELLS[:2])
    library, chapter = problems(read_book(tmp_path))
    assert library.startswith("lib/attention.py: in order:")
    assert chapter.startswith("later.ipynb, code cell 1: in order:")


def test_a_cell_that_is_not_python_is_named(tmp_path):
    write_book(tmp_path, one=CELLS, two=["a = 1", "b = 2\n!ls"])
    with pytest.raises(ValueError, match="two.ipynb, code cell 2: line 2 is"):
        read_book(tmp_path)
