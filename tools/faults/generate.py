"""Faults made by rule from the text of a module.

Every operator, comparison, condition, constant, argument, index, slice, call
and statement is changed once in each of a few ways. Left alone is what no
program shows (docstrings, annotations, texts of errors) and argument checks;
also what mostly gives the same program again: the order of the terms of a
sum or of a set, devices, `strict=`.
"""

import ast
from collections.abc import Iterator

from tools.faults.fault import Fault, span

SWAPPED = [  # other operators become `*`
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Div),
    (ast.BitOr, ast.BitAnd),
    (ast.And, ast.Or),
    (ast.Eq, ast.NotEq),
    (ast.In, ast.NotIn),
    (ast.Is, ast.IsNot),
    (ast.Lt, ast.LtE),
    (ast.Lt, ast.GtE),
    (ast.Gt, ast.GtE),
    (ast.Gt, ast.LtE),
]
ALIKE = [  # names
    {"amax", "amin"},
    {"any", "all"},
    {"sum", "mean"},
    {"float32", "float16"},
    {"int64", "int32"},
    {"pad_id", "bos_id", "eos_id", "unk_id"},
]
COMMUTATIVE = ast.Mult | ast.BitOr | ast.BitAnd
SYMMETRIC = {"max", "min", "promote_types", "swapaxes", "transpose"}
UNSEEN = {"device", "fused", "strict"}  # keywords
LAST = {"argsort", "sort", "topk"}  # for these dim=-1 need not be said
MODULES = {"torch", "F", "nn", "nn.init", "math", "re"}
LISTS = ast.List | ast.ListComp
CLOSED = LISTS | ast.Name | ast.Call | ast.Attribute | ast.Subscript | ast.Set
CLOSED |= ast.Constant | ast.Tuple | ast.Starred | ast.Slice | ast.stmt
Change = tuple[ast.AST, ast.AST]  # a node, and what stands in its place


def generated(module: str, source: str) -> list[Fault]:
    """One fault for each program that the rules make of the source."""
    tree = ast.parse(source)
    faults, seen = [], {ast.dump(tree)}
    for node, new in changes(tree):
        fault = Fault(module, source, *span(source, [node]), text(new))
        try:
            program = ast.dump(ast.parse(fault.wrong))
        except SyntaxError:
            continue
        if program not in seen:
            seen.add(program)
            faults.append(fault)
    return faults


def text(node: ast.AST) -> str:
    """A node as text that can stand where another node stood."""
    written = ast.unparse(node)
    return written if isinstance(node, CLOSED) else f"({written})"


def changes(node: ast.AST) -> Iterator[Change]:
    """Each change in a tree."""
    yield from variants(node)
    hidden = {"annotation", "returns", "decorator_list"}
    for field, value in ast.iter_fields(node):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST) and field not in hidden:
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


def variants(node: ast.AST) -> Iterator[Change]:
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
        case ast.BinOp(left=left, op=op, right=right):
            yield from ((node, ast.BinOp(left, o, right)) for o in others(op))
            has_lists = any(isinstance(n, LISTS) for n in ast.walk(node))
            is_sum = isinstance(op, ast.Add) and not has_lists
            if not is_sum and not isinstance(op, COMMUTATIVE):
                yield node, ast.BinOp(right, op, left)
            yield from ((node, part) for part in (left, right))
        case ast.Compare(left=left, ops=[op], comparators=right):
            for other in others(op):
                yield node, ast.Compare(left, [other], right)
        case ast.BoolOp(op=op, values=values):
            yield from ((node, ast.BoolOp(o, values)) for o in others(op))
            yield from ((node, value) for value in values)
        case ast.UnaryOp(operand=operand):
            if not isinstance(operand, ast.Constant):  # -1 is a number
                yield node, operand
        case ast.Constant(value=value):
            yield from ((node, ast.Constant(v)) for v in values_near(value))
        case ast.Call():
            yield from ((node, call) for call in calls_near(node))
        case ast.Slice(lower=lower, upper=upper, step=step):
            yield node, ast.Slice(None, upper, step)
            yield node, ast.Slice(lower, None, step)
            for bound, op in ((lower, ast.Add()), (upper, ast.Sub())):
                if isinstance(bound, ast.Name | ast.BinOp):
                    yield bound, ast.BinOp(bound, op, ast.Constant(1))
        case ast.Subscript(value=value, slice=ast.Tuple(elts=items)):
            for new in lists_near(items):
                yield node, ast.Subscript(value, ast.Tuple(new))
        case ast.Attribute(value=value, attr=attr):
            alike = (n for names in ALIKE if attr in names for n in names)
            yield from ((node, ast.Attribute(value, n)) for n in sorted(alike))
        case ast.Set(elts=items):
            yield from ((node, ast.Set(n)) for n in lists_near(items, False))
        case ast.List(elts=items) | ast.Tuple(elts=items):
            if not isinstance(node.ctx, ast.Store):
                for new in lists_near(items):
                    yield node, type(node)(new)


def others(op: ast.AST) -> list[ast.AST]:
    """The operators that somebody could write for this one."""
    pairs = [*SWAPPED, *(pair[::-1] for pair in SWAPPED)]
    return [b() for a, b in pairs if isinstance(op, a)] or [ast.Mult()]


def values_near(value: object) -> list:
    """Other values of the type of a constant."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value - 1]
    if not isinstance(value, str):
        return []
    return list(patterns_near(value)) if "->" in value else [value[1:]]


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
