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


COMMENT = "  # the comment stays"
PLUMBED = SERVES + "from lib.attention import f"
TEACHES_F = "# lib/attention.py\ndef f(): ..."
IN_ALL = "def f():\n    from lib.attention import attention as a"


def breaks(rule, problem: str, *cells: str, **library: str):
    return pytest.param(rule, problem, book(*cells, **library))


def edit(old: str, new: str):
    """Another text in the first definition cell."""
    assert old in TEACHES_SOFTMAX
    problem = "same: this is not the text of lib/softmax.py; change the lib"
    return breaks(same, problem, TEACHES_SOFTMAX.replace(old, new))


def early(cell: str):
    """A cell that imports what the next one teaches."""
    problem = "in order: it imports attention of lib/attention.py, which no "
    cells = [*CELLS[:3], cell, TEACHES_ATTENTION]
    return breaks(in_order, f"{problem}cell before it teaches", *cells)


def late(line: str):
    """A module that imports what is taught after it."""
    problem = "it imports lib.attention, which is not taught before it"
    text = {"softmax": f"{line}\n{SOFTMAX}", "attention": "attention = 1"}
    cells = [*CELLS[:3], "# lib/attention.py\nattention = 1"]
    return breaks(in_order, problem, *cells, **text)


def imports(problem: str, module: str, text: str, **library: str):
    """A module whose text imports what it may not."""
    problem = f"lib/{module.partition('/')[0]}.py: in order: it {problem}"
    return breaks(in_order, problem, **{module: text}, **library)


TAKEN = "code cell 5: unique: softmax is the name of a definition in lib/soft"
FIRST = "imports lib.softmax, but all others rest on it"
BROKEN = [
    edit("return x", "return 2 * x"),
    edit("LIMIT = 88\n\n\n", "LIMIT = 88\n\n"),
    edit(COMMENT, ""),
    edit("sum(exp(x)).", "sum(exp(x)).\n\n    More."),
    edit(COMMENT, f"{COMMENT}\nprint(LIMIT)"),
    breaks(
        same,
        "same: lib/softmax.py does not define attention",
        TEACHES_ATTENTION.replace("lib/attention", "lib/softmax"),
    ),
    breaks(same, "is not a taught module", "# lib/validate.py\nx = 1"),
    breaks(same, "is not a taught module", "# lib/nowhere.py\nx = 1"),
    breaks(unique, TAKEN, *CELLS, "def softmax(x):\n    return x"),
    breaks(unique, TAKEN, *CELLS, "a, (softmax, *b) = range(3), 4"),
    breaks(unique, TAKEN, *CELLS, "with open('x') as softmax:\n    pass"),
    breaks(unique, TAKEN, *CELLS, "from torch import softmax"),
    breaks(unique, TAKEN, *CELLS, "from library import softmax"),
    breaks(unique, TAKEN, *CELLS, "import numpy as softmax"),
    breaks(unique, TAKEN, *CELLS, "from kit.figures import a as softmax"),
    breaks(unique, "unique: LIMIT is the name of", "LIMIT = 3", *CELLS),
    breaks(
        unique,
        "lib/attention.py: unique: softmax.softmax exists too",
        attention=ATTENTION + "\n\ndef softmax(x):\n    return x\n",
    ),
    early("from lib.attention import attention"),
    early("from lib import attention"),
    early("import lib.attention"),
    early(IN_ALL),
    breaks(
        in_order,
        "it imports softmax of lib/softmax.py",
        "# lib/softmax.py\nLIMIT = 88",
        "from lib import softmax",
    ),
    breaks(
        in_order,
        "it imports _helper",
        *CELLS,
        "from lib.softmax import _helper",
    ),
    late("from lib import attention"),
    late("from .attention import attention"),
    late("import lib.attention"),
    imports(
        "imports lib.figures, which is not taught.",
        "softmax",
        f"from lib import figures\n{SOFTMAX}",
        figures=SERVES,
    ),
    imports(
        "imports lib.nowhere, which does not exist",
        "softmax",
        f"from lib import nowhere\n{SOFTMAX}",
    ),
    imports(FIRST, "validate", f"{SERVES}from lib import softmax"),
    imports(FIRST, "validate/numbers", "from lib.softmax import LIMIT"),
    imports(FIRST, "validate/numbers", "from ..softmax import LIMIT"),
    breaks(
        in_order,
        "lib: in order: modules import each other: ",
        figures=f"{SERVES}from lib import shapes",
        shapes=f"{SERVES}def f():\n    import lib.figures",
    ),
    breaks(
        in_order,
        "it imports lib.other, which is not taught.",
        TEACHES_SOFTMAX,
        TEACHES_F,
        softmax="import lib.other\n" + SOFTMAX,
        other=PLUMBED,
        attention="def f(): ...",
    ),
    breaks(
        complete,
        "lib/attention.py: complete: no chapter teaches attention; begin",
        *CELLS[:3],
    ),
    breaks(
        complete,
        "no chapter teaches LIMIT",
        TEACHES_SOFTMAX.replace("LIMIT = 88\n\n\n", ""),
    ),
    breaks(complete, "lib/new.py: complete: no", new="def f():\n    pass"),
    breaks(
        complete,
        "lib/attention.py: complete: attention is taught in 02.ipynb, "
        "code cell 4 and in 02.ipynb, code cell 5; keep one of them",
        *CELLS,
        TEACHES_ATTENTION,
    ),
]


@pytest.mark.parametrize("rule, problem, broken", BROKEN)
def test_a_rule_names_what_breaks_it(rule, problem, broken):
    assert problem in next(rule(broken)) + "."


PARTS = {"validate/numbers": "integer = 1", "validate": SERVES}
# What a rule could take for a mistake, and is none.
ALLOWED = [
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


@pytest.mark.parametrize("allowed", ALLOWED)
def test_what_keeps_the_rules_passes(allowed):
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
    package = {"figures": SERVES, "figures/marks": CELLS[2]}
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
