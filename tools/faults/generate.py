"""Faults made by rule from the source of a module.

Every operator, comparison, condition, constant, argument and call of a module
is changed once in each of a few ways. Docstrings, annotations,
decorators and error messages are left alone.
"""

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import accumulate

from tools.faults.endless import ENDLESS
from tools.faults.fault import Fault, source_of

OPERATORS = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Div, ast.Add],
    ast.Div: [ast.Mult],
    ast.FloorDiv: [ast.Mult],
    ast.Mod: [ast.Mult],
    ast.Pow: [ast.Mult],
    ast.MatMult: [ast.Mult],
    ast.BitOr: [ast.BitAnd],
    ast.BitAnd: [ast.BitOr],
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.And: [ast.Or],
    ast.Or: [ast.And],
}
ORDERED = ast.Add | ast.Sub | ast.Div | ast.FloorDiv | ast.Mod | ast.Pow
ORDERED |= ast.MatMult  # lists are added: their order counts
JAXTYPING = {"Bool", "Float", "Int"}
SPECIAL_IDS = {"pad_id", "bos_id", "eos_id", "unk_id"}
ALIKE = [
    {"amax", "amin"},
    {"any", "all"},
    {"sum", "mean"},
    {"zeros_", "ones_"},
    {"float32", "float16"},
    {"int64", "int32"},
    SPECIAL_IDS,
]


@cache
def generated(module: str) -> list[Fault]:
    """The generated faults of a module of book/lib."""
    return [
        replace(fault, loops=ENDLESS.get((module, fault.name), 0))
        for fault in faults_in(module, source_of(module))
    ]


def faults_in(module: str, source: str) -> list[Fault]:
    """One fault for each text that the rules make of the source."""
    faults, seen = [], set()
    starts = line_starts(source)
    for top in visible_children(ast.parse(source)):
        first, last = starts[top.lineno - 1], starts[top.end_lineno]
        seen.add((first, ast.dump(ast.parse(source[first:last]))))
        for node, new, shown in changes(top):
            start, end = span(source, node)
            wrong = source[first:start] + new + source[end:last]
            try:
                tree = first, ast.dump(ast.parse(wrong))
            except SyntaxError:
                continue
            if tree not in seen:
                seen.add(tree)
                old = source[start:end]
                fault = Fault(module, old, new, "", start, True, shown)
                faults.append(named(fault, source))
    return faults


@cache
def line_starts(source: str) -> list[int]:
    """Where each line begins, and where the last one ends."""
    lengths = (len(line) for line in source.splitlines(keepends=True))
    return list(accumulate(lengths, initial=0))


def span(source: str, node: ast.AST) -> tuple[int, int]:
    """Where the text of a node begins and ends."""
    starts = line_starts(source)

    def offset(line: int, column: int) -> int:
        text = source[starts[line - 1] : starts[line]]
        return starts[line - 1] + len(text.encode()[:column].decode())

    start = offset(node.lineno, node.col_offset)
    return start, offset(node.end_lineno, node.end_col_offset)


def named(fault: Fault, source: str) -> Fault:
    """The fault under a name that stays when lines above it change."""
    wrong = fault.apply(source)
    first = source.rfind("\n", 0, fault.start) + 1
    last = source.find("\n", fault.start + len(fault.old))
    before = " ".join(source[first:last].split())
    longer = len(wrong) - len(source)
    after = " ".join(wrong[first : last + longer].split())
    name = f"{scope(source, fault.start)}: {before}  ->  {after}"
    return replace(fault, name=name)


@cache
def scopes(source: str) -> list[ast.FunctionDef | ast.ClassDef]:
    """The functions and classes of a source, outer ones first."""
    kinds = ast.FunctionDef | ast.ClassDef
    found = [n for n in ast.walk(ast.parse(source)) if isinstance(n, kinds)]
    return sorted(found, key=lambda node: node.lineno)


def scope(source: str, position: int) -> str:
    """The class and function around a position."""
    line = source.count("\n", 0, position) + 1
    around = [
        node.name
        for node in scopes(source)
        if node.lineno <= line <= node.end_lineno
    ]
    return ".".join(around) or "module"


def changes(node: ast.AST) -> Iterator[tuple[ast.AST, str, bool]]:
    """Each change in a tree: a node, its new text, can a reader see it."""
    if isinstance(node, ast.Raise | ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.JoinedStr):
        return
    if check := validation(node):
        yield from check
        return
    yield from ((old, text(new), True) for old, new in variants(node))
    for child in visible_children(node):
        yield from changes(child)


def validation(node: ast.AST) -> list[tuple[ast.AST, str, bool]]:
    """The change that leaves an argument check out."""
    call = node.value if isinstance(node, ast.Expr) else node
    if not isinstance(call, ast.Call) or not isinstance(
        call.func, ast.Attribute
    ):
        return []
    if ast.unparse(call.func.value) != "validate":
        return []
    new = "pass" if call is not node else text(call.args[0])
    return [(node, new, False)]


def visible_children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node, without docstrings, annotations, decorators.

    What annotations say is enforced when the unit tests run, not in a trial.
    """
    hidden = {"annotation", "returns", "decorator_list"}
    for field, value in ast.iter_fields(node):
        if field in hidden:
            continue
        parts = value if isinstance(value, list) else [value]
        for part in parts:
            if isinstance(part, ast.AST) and not (
                is_docstring(part) or is_alias(part)
            ):
                yield part


def is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_alias(node: ast.AST) -> bool:
    """A name for an annotation: Mask = Bool[Tensor, "q_len k_len"]."""
    return isinstance(node, ast.Assign) and any(
        isinstance(part, ast.Subscript)
        and ast.unparse(part.value) in JAXTYPING
        for part in ast.walk(node.value)
    )


def text(node: ast.AST | str) -> str:
    """A node as text that can stand anywhere in an expression."""
    if isinstance(node, str):
        return node
    written = ast.unparse(node)
    closed = ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.List
    closed += ast.Set, ast.Tuple, ast.Starred, ast.ListComp
    if isinstance(node, closed):
        return written
    if isinstance(node, ast.Constant) and not written.startswith("-"):
        return written
    return f"({written})"


def variants(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST | str]]:
    """The changes of one node: what is replaced, and by what."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield test, negated(test)
        case ast.comprehension(ifs=ifs):
            for test in ifs:
                yield test, negated(test)
                yield test, ast.Constant(True)
        case ast.Expr(value=ast.Call()):
            yield node, "pass"
        case ast.BinOp(left=left, op=op, right=right):
            for new in OPERATORS.get(type(op), []):
                yield node, ast.BinOp(left, new(), right)
            if isinstance(op, ORDERED):
                yield node, ast.BinOp(right, op, left)
            yield node, left
            yield node, right
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            for new in OPERATORS[type(op)]:
                yield node, ast.Compare(left, [new()], [right])
        case ast.BoolOp(op=op, values=values):
            for new in OPERATORS[type(op)]:
                yield node, ast.BoolOp(new(), values)
            for value in values:
                yield node, value
        case ast.UnaryOp(operand=operand):
            yield node, operand
        case ast.Constant(value=value):
            yield from ((node, ast.Constant(v)) for v in values_near(value))
        case ast.Call():
            yield from ((node, call) for call in calls_near(node))
        case ast.Attribute(value=value, attr=attr):
            for name in names_like(attr):
                yield node, ast.Attribute(value, name)
        case ast.List(elts=elts) | ast.Tuple(elts=elts) | ast.Set(elts=elts):
            if not isinstance(getattr(node, "ctx", None), ast.Store):
                for items in lists_near(elts):
                    yield node, type(node)(items)


def negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def values_near(value: object) -> list:
    """Other values of the type of a constant."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value - 1]
    if not isinstance(value, str):
        return []
    if "->" in value:
        return list(patterns_near(value))
    return [value[1:], value[:-1]]


def patterns_near(pattern: str) -> Iterator[str]:
    """An einops pattern with two neighbours swapped in one of its parts."""
    separators = {",", "->"}
    words = pattern.replace(",", " ,").split()
    for i, pair in enumerate(zip(words, words[1:], strict=False)):
        if not separators & set(pair):
            swapped = [*words[:i], *reversed(pair), *words[i + 2 :]]
            yield " ".join(swapped).replace(" ,", ",")


def names_like(name: str) -> list[str]:
    """The names somebody could write for this one."""
    return sorted(
        n for group in ALIKE if name in group for n in group - {name}
    )


def calls_near(call: ast.Call) -> Iterator[ast.expr]:
    """A call with an argument less, with two swapped, or left out."""
    func, args, keywords = call.func, call.args, call.keywords
    for i in range(len(keywords)):
        yield ast.Call(func, args, keywords[:i] + keywords[i + 1 :])
    for new_args in lists_near(args):
        if new_args:
            yield ast.Call(func, new_args, keywords)
    if isinstance(func, ast.Attribute) and not is_module(func.value):
        yield func.value
    elif args and not isinstance(args[0], ast.Starred):
        yield args[0]


def is_module(node: ast.expr) -> bool:
    return ast.unparse(node) in {"torch", "F", "nn", "nn.init", "math", "re"}


def lists_near(items: list) -> Iterator[list]:
    """A list with one item less, or with two neighbours swapped."""
    for i in range(len(items)):
        yield items[:i] + items[i + 1 :]
    for i in range(len(items) - 1):
        yield [*items[:i], items[i + 1], items[i], *items[i + 2 :]]
