"""Which cells of a chapter an answer needs, so that it runs by itself.

An exercise is tried and graded without the whole page, whose trainings take
minutes. Needed are the cells that give its names their values, and what
those cells need in turn. Of several cells that bind a name, it is the last
one before the answer.
"""

import ast
import builtins
from functools import cache

from tools.source import cells as kinds
from tools.source.taught import symbols

# What a notebook's kernel defines.
KNOWN = set(dir(builtins)) | {"__name__", "get_ipython", "display"}


@cache
def bound(source: str) -> frozenset[str]:
    """The names that a cell gives a value; `*` if these may be any."""
    names = {
        s.get_name()
        for s in symbols(source).get_symbols()
        if s.is_assigned() or s.is_imported()
    }
    for node in ast.walk(ast.parse(source)) if "*" in source else ():
        if isinstance(node, ast.ImportFrom):
            names |= {alias.name for alias in node.names} & {"*"}
    return frozenset(names)


@cache
def used(source: str) -> frozenset[str]:
    """The names that a cell, or a function in it, takes from outside."""
    tables = [symbols(source)]
    names = set()
    for table in tables:
        tables += table.get_children()
        for symbol in table.get_symbols():
            is_global = table.get_type() == "module" or symbol.is_global()
            if is_global and symbol.is_referenced():
                names.add(symbol.get_name())
    return frozenset(names - KNOWN)


@cache
def changed(source: str) -> frozenset[str]:
    """The names whose values a cell may write into: `x[0] = 1`."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        is_target = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
        while is_target and isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
            if isinstance(node, ast.Name):
                names.add(node.id)
    return frozenset(names)


def givers(page: list) -> list[str]:
    """The code of a chapter that may give an answer its names.

    Checks, figures and exercises do not.
    """
    return [
        cell.source
        for cell in page
        if cell.cell_type == "code"
        and "colab" not in cell.metadata.get("tags", [])
        and not (
            kinds.is_check(cell)
            or kinds.is_drawing(cell)
            or kinds.is_exercise(cell)
        )
    ]


def needed(page: list, source: str) -> list[str]:
    """The cells that an answer needs, in the order of the page.

    Args:
        page: the chapter's cells before the answer.
        source: the text of the answer.
    """
    names, taken = used(source) | {"device"}, []  # setup() is for all
    for cell in reversed(givers(page)):
        given, touched = bound(cell), changed(cell)
        if names & (given | touched) or names and "*" in given:
            taken.append(cell)
            # A cell that only extends a name needs what it was.
            names = names - given | used(cell) | touched
    return taken[::-1]
