"""The four rules: the book obeys them, and each is broken here on purpose."""

from textwrap import dedent

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, writes

from tools.rules import (
    MODULES,
    NOT_TAUGHT,
    Book,
    Cell,
    complete,
    in_order,
    problems,
    read_book,
    same,
    unique,
)
from tools.taught import as_taught, library

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
LIBRARY = {"validate": "", "softmax": SOFTMAX, "attention": ATTENTION}
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


def test_the_book_obeys_the_rules():
    assert problems(read_book()) == []


def test_the_book_teaches_something():
    assert read_book().public and read_book().cells


def test_the_small_book_obeys_the_rules():
    assert problems(book()) == []


def test_what_is_not_taught_is_a_module():
    assert set(MODULES) >= NOT_TAUGHT and len(set(MODULES)) == len(MODULES)


# same


def test_same_wants_the_text_of_the_library():
    changed = TEACHES_SOFTMAX.replace("return x", "return 2 * x")
    (problem,) = same(book(changed))
    assert problem == (
        "02.ipynb, code cell 1: same: this is not the text of "
        "lib/softmax.py: line 7 has '    return 2 * x  # the comment stays', "
        "the library '    return x  # the comment stays'; change the library, "
        "not the cell, and run `make sync`"
    )


@pytest.mark.parametrize(
    "old, new",
    [
        ("LIMIT = 88", "LIMIT = 89"),
        ("LIMIT = 88\n\n\n", "LIMIT = 88\n\n"),
        ("  # the comment stays", ""),
        (
            "sum(exp(x)).",
            "sum(exp(x)).\n\n    Args:\n        x: scores.\n    ",
        ),
        ("x  # the comment stays", "x  # the comment stays\n"),
        ("x  # the comment stays", "x  # the comment stays\nprint(LIMIT)"),
    ],
)
def test_same_sees_every_difference(old, new):
    assert old in TEACHES_SOFTMAX
    (problem,) = same(book(TEACHES_SOFTMAX.replace(old, new)))
    assert "this is not the text of lib/softmax.py" in problem


def test_same_wants_names_of_that_module():
    cell = TEACHES_ATTENTION.replace("lib/attention", "lib/softmax")
    (problem,) = same(book(cell))
    assert problem == (
        "02.ipynb, code cell 1: same: lib/softmax.py does not define attention"
    )


@pytest.mark.parametrize("module", ["validate", "nowhere"])
def test_same_wants_a_taught_module(module):
    (problem,) = same(book(f"# lib/{module}.py\ndef f():\n    pass"))
    assert problem.endswith(f"same: lib/{module}.py is not a taught module")


# unique


@pytest.mark.parametrize(
    "cell",
    [
        "def softmax(x):\n    return x",
        "class softmax:\n    pass",
        "softmax = torch.softmax",
        "softmax: int = 3",
        "a, (softmax, *b) = range(3), 4",
        "for softmax in range(3):\n    pass",
        "with open('x') as softmax:\n    pass",
        "if (softmax := 3):\n    pass",
        "if True:\n    softmax = 3",
        "from torch import softmax",
        "from library import softmax",
        "import numpy as softmax",
        "from lib.figures import bars as softmax",
        "#lib/softmax.py\ndef softmax(x):\n    return x",
    ],
)
def test_unique_forbids_a_second_definition(cell):
    (problem,) = unique(book(*CELLS, cell))
    assert problem == (
        "02.ipynb, code cell 5: unique: softmax is the name of a definition "
        "in lib/softmax.py; use another one, or begin the cell with "
        "`# lib/softmax.py` and run `make sync`"
    )


def test_unique_covers_constants_of_modules_taught_later():
    assert "unique: LIMIT" in next(unique(book("LIMIT = 3", *CELLS)))


@pytest.mark.parametrize(
    "cell",
    [
        "def slow_softmax(x):\n    return x",
        "def f(softmax):\n    attention = softmax\n    return attention",
        "softmax(3)",
        "result.softmax = 3",
        "from lib.softmax import softmax",
        "_helper = 3",
    ],
)
def test_unique_allows_other_names_and_uses(cell):
    assert list(unique(book(*CELLS, cell))) == []


def test_unique_covers_the_library_itself():
    twice = ATTENTION + "\n\ndef softmax(x):\n    return x\n"
    (problem,) = unique(book(attention=twice))
    assert problem == "lib/attention.py: unique: softmax.softmax exists too"


# in order


@pytest.mark.parametrize(
    "cell",
    [
        "from lib.attention import attention",
        "from lib import attention",
        "import lib.attention",
        "def f():\n    from lib.attention import attention as a",
    ],
)
def test_in_order_forbids_what_is_taught_later(cell):
    (problem,) = in_order(book(*CELLS[:3], cell, TEACHES_ATTENTION))
    assert problem == (
        "02.ipynb, code cell 4: in order: it imports attention of "
        "lib/attention.py, which no cell before it teaches; move the import "
        "below the definition cell"
    )
    assert list(in_order(book(*CELLS, cell))) == []


def test_in_order_wants_all_of_a_module_that_is_imported_whole():
    half = "# lib/softmax.py\nLIMIT = 88"
    (problem,) = in_order(book(half, "from lib import softmax"))
    assert "it imports softmax of lib/softmax.py" in problem


def test_in_order_remembers_every_cell_before():
    later = "from lib.softmax import softmax, LIMIT"
    assert list(in_order(book(*CELLS, later))) == []


def test_in_order_covers_private_names():
    (problem,) = in_order(book(*CELLS, "from lib.softmax import _helper"))
    assert "it imports _helper" in problem


@pytest.mark.parametrize(
    "line",
    [
        "from lib.attention import attention",
        "from lib import attention",
        "from .attention import attention",
        "import lib.attention",
    ],
)
def test_in_order_covers_the_library(line):
    (problem,) = in_order(book(softmax=f"{line}\n{SOFTMAX}"))
    assert problem == (
        "lib/softmax.py: in order: it imports lib.attention, which does not "
        "stand above it in MODULES"
    )


def test_in_order_wants_every_module_in_the_table():
    (problem,) = in_order(book(surprise=""))
    assert problem == (
        "lib/surprise.py: in order: put it into MODULES of tools/rules.py"
    )


def test_a_package_is_one_module_that_may_import_its_own_parts(tmp_path):
    package = tmp_path / "book" / "lib" / "validate"
    package.mkdir(parents=True)
    part = "from lib.validate.numbers import integer\n"
    (package / "__init__.py").write_text(part)
    (package / "numbers.py").write_text("import math\n")
    (package.parent / "__init__.py").write_text("")
    (package.parent / "softmax.py").write_text(SOFTMAX)
    found = library(tmp_path)
    assert found == {"validate": f"{part}import math\n", "softmax": SOFTMAX}
    assert list(in_order(book(**found))) == []
    (package / "shapes.py").write_text("from lib.softmax import softmax\n")
    (problem,) = in_order(book(**library(tmp_path)))
    assert problem.startswith("lib/validate.py: in order: it imports lib.sof")


# complete


def test_complete_wants_every_public_definition():
    (problem,) = complete(book(*CELLS[:3]))
    assert problem == (
        "lib/attention.py: complete: no chapter teaches attention; begin a "
        "cell with `# lib/attention.py`, name it there, and run `make sync`"
    )


def test_complete_wants_public_constants():
    shown = TEACHES_SOFTMAX.replace("LIMIT = 88\n\n\n", "")
    (problem,) = complete(book(shown, TEACHES_ATTENTION))
    assert "no chapter teaches LIMIT" in problem


def test_complete_wants_it_once():
    (problem,) = complete(book(*CELLS, TEACHES_ATTENTION))
    assert problem == (
        "lib/attention.py: complete: attention is taught in 02.ipynb, code "
        "cell 4 and in 02.ipynb, code cell 5; keep one of them"
    )


def test_complete_leaves_out_what_is_not_taught():
    assert list(complete(book(validate="def integer(x):\n    pass"))) == []


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
    read = read_book(tmp_path)
    assert problems(read) == []
    assert [cell.where for cell in read.cells] == [
        f"{name}.ipynb, code cell {n}"
        for name in ("zebra", "aardvark")
        for n in (1, 2)
    ]


def test_chapters_in_the_wrong_order_are_found(tmp_path):
    write_book(tmp_path, later=CELLS[2:], earlier=CELLS[:2])
    (problem,) = problems(read_book(tmp_path))
    assert problem.startswith("later.ipynb, code cell 1: in order:")


@pytest.mark.parametrize("line", ["!ls", "%matplotlib inline", "x ="])
def test_a_cell_that_is_not_python_is_named(tmp_path, line):
    write_book(tmp_path, one=CELLS, two=["a = 1", f"b = 2\n{line}"])
    with pytest.raises(ValueError, match="two.ipynb, code cell 2: line 2 is"):
        read_book(tmp_path)
