"""Which cells an answer needs, without the rest of the page."""

import sys
from contextlib import contextmanager

from nbformat.v4 import new_code_cell, new_markdown_cell

from tools.exercises.slices import needed


def page(*sources, **metadata):
    return [new_code_cell(source, metadata=metadata) for source in sources]


ANSWER = "def f():\n    return size * 2"


def test_the_cell_that_gives_a_name_and_what_it_needs():
    cells = page("import torch", "size = one + 1", "one = 2", "one = 1")
    cells = [cells[0], cells[3], cells[1], cells[2]]
    assert needed(cells, ANSWER) == ["one = 1", "size = one + 1"]


def test_the_last_of_several_counts():
    assert needed(page("size = 1", "size = 2"), ANSWER) == ["size = 2"]


def test_a_cell_that_writes_into_a_value():
    cells = page("size = [1]", "size[0] = other", "other = 3")
    cells = [cells[2], cells[0], cells[1]]
    assert needed(cells, ANSWER) == [
        "other = 3",
        "size = [1]",
        "size[0] = other",
    ]


def test_parameters_and_local_names_are_not_asked_for():
    cells = page("size = 9", "x = 1", "y = 2")
    assert needed(cells, "def f(x, size):\n    y = x\n    return y") == []


def test_checks_figures_and_other_exercises_give_nothing():
    cells = [
        *page("# @title Check: it holds\nsize = 5\nassert size"),
        *page("size = 6", tags=["hide-input"]),
        *page("size = 7", tags=["colab"]),
        *page("size = 8", nbgrader={"solution": True}),
        new_markdown_cell("size = 9"),
    ]
    assert needed(cells, ANSWER) == []


def test_imports_of_the_page():
    cells = page(
        "# @title Imports\nfrom lib.runtime import setup\n\ndevice = setup()"
    )
    assert needed(cells, "def f():\n    return 1") == [cells[0].source]


def test_deeper_functions_and_attributes():
    cells = page("import math", "def half(x):\n    return math.floor(x / 2)")
    source = (
        "def f(x):\n    def g(y):\n        return half(y)\n    return g(x)"
    )
    assert needed(cells, source) == [cell.source for cell in cells]


def test_a_star_may_give_any_name():
    cells = page("size = 1", "from math import *", "x = 2")
    assert needed(cells, ANSWER) == ["size = 1", "from math import *"]
    assert needed(cells, "def f():\n    return pi") == ["from math import *"]
    later = page("from math import *", "device = size = 1")
    assert needed(later, ANSWER) == ["device = size = 1"]


def test_twice_as_many_cells_are_twice_as_much_work():
    """Each name is looked up where it stands, and not in every cell."""

    def work(many: int) -> int:
        chain = [f"x{n} = x{n - 1}\nz[{n}] = 1" for n in range(1, many)]
        cells = page("x0 = 1", "z = {}", *chain)
        with instructions() as done:
            assert len(needed(cells, f"x{many - 1}")) == many + 1
        return len(done)

    work(400)  # what a cell says is then known
    assert work(400) < 2.1 * work(200)


@contextmanager
def instructions():
    """Note each instruction of Python's, in whichever function it is."""
    done, before = [], sys.gettrace()

    def trace(frame, event, arg):
        frame.f_trace_opcodes = True
        done.extend([None] * (event == "opcode"))
        return trace

    sys.settrace(trace)
    try:
        yield done
    finally:
        sys.settrace(before)


def test_a_loop_of_names_ends():
    cells = page("a = 1", "b = a", "a = b")
    assert needed(cells, "def f():\n    return a") == [
        "a = 1",
        "b = a",
        "a = b",
    ]
