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
from tools.taught import as_taught, homes, library

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


def test_a_definition_may_name_plumbing_that_stands_on_later_ones():
    plumbing = SERVES + "from lib.attention import f"
    library = {"softmax": "import kit.dates\n" + SOFTMAX, "dates": plumbing}
    library |= {"other": plumbing, "attention": "def f(): ..."}
    cells = [TEACHES_SOFTMAX, "# lib/attention.py\ndef f(): ..."]
    assert problems(book(*cells, **library)) == []
    library["softmax"] = "import lib.other\n" + SOFTMAX
    (problem,) = problems(book(*cells, **library))
    assert problem.endswith("it imports lib.other, which is not taught")


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
        "from kit.figures import bars as softmax",
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
    changed = {"softmax": f"{line}\n{SOFTMAX}", "attention": "attention = 1"}
    cell = "# lib/attention.py\nattention = 1"
    (problem,) = in_order(book(*CELLS[:3], cell, **changed))
    assert problem == (
        "lib/softmax.py: in order: it imports lib.attention, which is not "
        "taught before it"
    )


@pytest.mark.parametrize(
    "changed, problem",
    [
        (
            {"softmax": f"from lib import figures\n{SOFTMAX}"},
            "lib/softmax.py: in order: it imports kit.figures, which is not "
            "taught",
        ),
        (
            {"validate": f"{SERVES}from lib import softmax"},
            "lib/validate.py: in order: it imports lib.softmax, but all "
            "others rest on it",
        ),
        (
            {"validate.numbers": "from lib.softmax import LIMIT"},
            "lib/validate.py: in order: it imports lib.softmax, but all "
            "others rest on it",
        ),
        (
            {"softmax": f"from lib import nowhere\n{SOFTMAX}"},
            "lib/softmax.py: in order: it imports lib.nowhere, which does "
            "not exist",
        ),
    ],
)
def test_in_order_knows_what_a_module_may_rest_on(changed, problem):
    library = {"figures": SERVES, "validate.numbers": ""} | changed
    assert problem in list(in_order(book(**library)))


def test_in_order_lets_helpers_use_what_is_taught():
    uses = f"{SERVES}from lib.attention import attention\n"
    uses += "from lib.validate import numbers"
    assert list(in_order(book(figures=uses, shapes=f"{SERVES}"))) == []


def test_in_order_finds_a_circle():
    one = f"{SERVES}from lib import shapes"
    other = f"{SERVES}def f():\n    import kit.figures"
    (problem,) = in_order(book(figures=one, shapes=other))
    assert problem.startswith("lib: in order: modules import each other: ")
    assert "figures" in problem and "shapes" in problem


@pytest.mark.parametrize(
    "line", ["from . import numbers", "from .numbers import integer"]
)
def test_in_order_lets_a_package_import_its_parts(line):
    package = {"validate": SERVES + line, "validate.numbers": "integer = 1"}
    package["validate.texts"] = line
    assert list(in_order(book(**package))) == []


def test_in_order_sees_what_a_part_of_a_package_imports():
    part = "from ..attention import attention"
    found = list(in_order(book(**{"validate.numbers": part})))
    assert "lib/validate.py: in order: it imports lib.attention" in found[0]


def test_in_order_lets_a_module_begin_before_one_that_it_uses():
    changed = {"softmax": SOFTMAX + "\n\nNEW = 1\n"}
    later = "# lib/softmax.py\nNEW = 1"
    cells = [*CELLS[1:2], TEACHES_ATTENTION, later]
    changed["softmax"] += "from lib.attention import attention"
    changed["attention"] = ATTENTION.partition("\n")[2]
    assert list(in_order(book(*cells, **changed))) == []


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
    serves = f"{SERVES}def integer(x):\n    pass"
    assert list(complete(book(validate=serves))) == []


def test_complete_wants_a_module_that_no_cell_shows():
    (problem,) = complete(book(new="def f():\n    pass"))
    assert problem.startswith("lib/new.py: complete: no chapter teaches f;")


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


@pytest.mark.parametrize("line", ["!ls", "%matplotlib inline", "x ="])
def test_a_cell_that_is_not_python_is_named(tmp_path, line):
    write_book(tmp_path, one=CELLS, two=["a = 1", f"b = 2\n{line}"])
    with pytest.raises(ValueError, match="two.ipynb, code cell 2: line 2 is"):
        read_book(tmp_path)


def test_a_package_is_read_part_by_part(tmp_path):
    write_book(tmp_path, one=CELLS[:2], two=CELLS[2:])
    folder = tmp_path / "book" / "lib" / "figures"
    folder.mkdir()
    (folder / "__init__.py").write_text(SERVES)
    (folder / "marks.py").write_text("from lib.softmax import softmax")
    assert library(tmp_path) == LIBRARY | {
        "figures": SERVES,
        "figures.marks": "from lib.softmax import softmax",
    }
    assert problems(read_book(tmp_path)) == []
