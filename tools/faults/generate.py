"""Faults made by rule from the text of a module.

Every operator, comparison, condition, constant, argument, index, slice, call
and statement is changed once in each of a few ways. Left alone is what no
program shows (docstrings, annotations, texts of errors) and argument checks;
also what mostly gives the same program again: the order of the terms of a
sum or of a set, devices, `strict=`.
"""

import ast
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

ALIKE = """\
Add Sub, Mult Div, BitOr BitAnd, And Or, Eq NotEq, In NotIn, Is IsNot,
Lt LtE, Lt GtE, Gt GtE, Gt LtE, amax amin, any all, sum mean, int64 int32,
float32 float16, bos_id eos_id pad_id unk_id"""  # operators and names
COMMUTATIVE = ast.Mult | ast.BitOr | ast.BitAnd
SYMMETRIC = {"max", "min", "promote_types", "swapaxes", "transpose"}
UNSEEN = {"device", "fused", "strict"}  # keywords
LAST = {"argsort", "sort", "topk"}  # for these dim=-1 need not be said
MODULES = {"torch", "F", "nn", "nn.init", "math", "re"}
LISTS = ast.List | ast.ListComp
OPEN = ast.BinOp | ast.BoolOp | ast.Compare | ast.IfExp | ast.UnaryOp
HIDDEN = {"annotation", "returns", "decorator_list"}  # fields


@dataclass(frozen=True)
class Fault:
    """One wrong text in one module, `a/b` being one of a package a."""

    module: str
    source: str
    start: int  # where in the source the right text begins
    end: int
    new: str
    kind: str = "generated"  # or "realistic"

    @property
    def wrong(self) -> str:
        """The text of the module with the fault."""
        return self.source[: self.start] + self.new + self.source[self.end :]

    def __str__(self) -> str:
        """The place, and its line before and after."""
        first = self.source.rfind("\n", 0, self.start) + 1
        rest = len(self.source) - self.source.find("\n", self.end)
        lines = (text[first:-rest] for text in (self.source, self.wrong))
        change = "  ->  ".join(" ".join(line.split()) for line in lines)
        number = self.source.count("\n", 0, self.start) + 1
        return f"{self.module}:{number}: {change}"


def span(source: str, first: ast.AST, last: ast.AST) -> tuple[int, int]:
    """Where the text from one node to another begins and ends."""
    lines = source.encode().splitlines(keepends=True)  # columns are in bytes

    def place(line: int, column: int) -> int:
        before = [*lines[: line - 1], lines[line - 1][:column]]
        return len(b"".join(before).decode())

    start = place(first.lineno, first.col_offset)
    return start, place(last.end_lineno, last.end_col_offset)


def generated(module: str, source: str) -> list[Fault]:
    """One fault for each program that the rules make of the source."""
    tree = ast.parse(source)
    programs = {ast.dump(tree): None}
    for node, new in changes(tree):
        text = ast.unparse(new)
        text = f"({text})" if isinstance(new, OPEN) else text
        fault = Fault(module, source, *span(source, node, node), text)
        with suppress(SyntaxError):
            programs.setdefault(ast.dump(ast.parse(fault.wrong)), fault)
    return [*programs.values()][1:]


def changes(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Each node of a tree, with what may stand in its place."""
    yield from variants(node)
    for field, value in ast.iter_fields(node):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST) and field not in HIDDEN:
                if not is_silent(part):
                    yield from changes(part)


def is_silent(node: ast.AST) -> bool:
    """Whether it is a docstring, an import, an error, a check or a type."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Raise() | ast.JoinedStr():
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner))):
            return ast.unparse(owner) == "validate"
        case ast.Assign(targets=[ast.Name(id=name)], col_offset=0):
            return name[0].isupper() and not name.isupper()
    return False


def names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def variants(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The changes of one node.

    A statement may be left out if the program may run on without it: an
    assignment to a name only if the name has a value before it.
    """
    match node:
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.If(orelse=[]):
            yield node, ast.Pass()
        case ast.Assign(targets=[target], value=value):
            is_part = isinstance(target, ast.Attribute | ast.Subscript)
            if is_part or names(target) & names(value):
                yield node, ast.Pass()
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            if not isinstance(test, ast.Compare | ast.UnaryOp):
                yield test, ast.UnaryOp(ast.Not(), test)
        case ast.comprehension(ifs=ifs):
            for test in ifs:
                yield test, ast.UnaryOp(ast.Not(), test)
                yield test, ast.Constant(True)
        case ast.Slice(lower=lower, upper=upper):
            for bound, op in ((lower, ast.Add()), (upper, ast.Sub())):
                if isinstance(bound, ast.Name | ast.BinOp):
                    yield bound, ast.BinOp(bound, op, ast.Constant(1))
    yield from ((node, new) for new in like(node))


def like(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in the place of an expression."""
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            yield from (ast.BinOp(left, other, right) for other in others(op))
            has_lists = any(isinstance(n, LISTS) for n in ast.walk(node))
            is_sum = isinstance(op, ast.Add) and not has_lists
            if not is_sum and not isinstance(op, COMMUTATIVE):
                yield ast.BinOp(right, op, left)
            yield from (left, right)
        case ast.Compare(left=left, ops=[op], comparators=right):
            yield from (ast.Compare(left, [o], right) for o in others(op))
        case ast.BoolOp(op=op, values=values):
            yield from (ast.BoolOp(other, values) for other in others(op))
            yield from values
        case ast.UnaryOp(operand=operand):
            if not isinstance(operand, ast.Constant):  # -1 is a number
                yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Constant(value=str(value)):
            texts = patterns_near(value) if "->" in value else [value[1:]]
            yield from map(ast.Constant, texts)
        case ast.Call():
            yield from calls_near(node)
        case ast.Slice(lower=lower, upper=upper, step=step):
            yield ast.Slice(None, upper, step)
            yield ast.Slice(lower, None, step)
        case ast.Subscript(value=value, slice=ast.Tuple(elts=items)):
            for new in lists_near(items):
                yield ast.Subscript(value, ast.Tuple(new))
        case ast.Attribute(value=value, attr=attr):
            yield from (ast.Attribute(value, name) for name in alike(attr))
        case ast.Set(elts=items):
            yield from map(ast.Set, lists_near(items, is_ordered=False))
        case ast.List(ctx=ast.Load()) | ast.Tuple(ctx=ast.Load()):
            yield from map(type(node), lists_near(node.elts))


def alike(name: str) -> list[str]:
    """The names that somebody could write for this one."""
    groups = [group.split() for group in ALIKE.split(",")]
    return [n for group in groups if name in group for n in group if n != name]


def others(op: ast.AST) -> list[ast.AST]:
    names = alike(type(op).__name__) or ["Mult"]
    return [getattr(ast, name)() for name in names]


def patterns_near(pattern: str) -> Iterator[str]:
    """An einops pattern with two neighbours swapped in one of its parts."""
    words = pattern.replace(",", " ,").split()
    for swapped in lists_near(words):
        places = [[w in {",", "->"} for w in ws] for ws in (words, swapped)]
        if places[0] == places[1]:
            yield " ".join(swapped).replace(" ,", ",")


def is_device(node: ast.AST) -> bool:
    return ast.unparse(node).endswith("device")


def calls_near(call: ast.Call) -> Iterator[ast.expr]:
    """A call with an argument less, with two swapped, or left out."""
    func, args, keywords = call.func, call.args, call.keywords
    owner, _, name = ast.unparse(func).rpartition(".")
    for i, keyword in enumerate(keywords):
        is_default = ast.unparse(keyword) == "dim=-1" and name in LAST
        if keyword.arg not in UNSEEN and not is_default:
            yield ast.Call(func, args, keywords[:i] + keywords[i + 1 :])
    for new in lists_near(args, name not in SYMMETRIC):
        if new and not any(map(is_device, {*args} - {*new})):
            yield ast.Call(func, new, keywords)
    if owner and owner not in MODULES:
        if name != "cpu" and not (name == "to" and is_device(args[0])):
            yield func.value
    elif args and not isinstance(args[0], ast.Starred):
        yield args[0]


def lists_near(items: list, is_ordered: bool = True) -> Iterator[list]:
    """A list with one item less, or with two neighbours swapped.

    An index that ends in `:` says the same without it.
    """
    for i in range(len(items)):
        rest = [n for n in items[i:] if isinstance(n, ast.Slice)]
        if len(rest) < len(items) - i or any(n.lower or n.upper for n in rest):
            yield items[:i] + items[i + 1 :]
    for i in range(len(items) - 1 if is_ordered else 0):
        yield [*items[:i], items[i + 1], items[i], *items[i + 2 :]]
