"""Modules, signatures and docstrings of lib and kit, read without running.

The pages are built where there is no PyTorch, so nothing is imported: griffe
parses the library and its docstrings. A signature is cut from the source, as
griffe takes the shape in `Float[Tensor, "d"]` for the name of a type.
"""

import ast
import re
from pathlib import Path
from textwrap import dedent

import griffe

WIDTH = 66  # columns of a signature
GOOGLE = {"returns_named_value": False, "returns_multiple_items": False}
GOOGLE |= {"warn_unknown_params": False, "warn_missing_types": False}
BRACKETS = re.compile(r"(?<=[\[(]) |,? (?=[\])])")


def modules(book: Path) -> dict[str, griffe.Module]:
    """The modules of book/lib and book/kit, by the names to import them by.

    Of packages inside them only lib.diagnose, which a chapter teaches.
    """
    folders = (book / "lib", book / "lib" / "diagnose", book / "kit")
    paths = [p for f in folders for p in sorted(f.glob("[!_]*.py"))]
    return {
        name: read(path, name)
        for path in paths
        for name in [".".join(path.relative_to(book).with_suffix("").parts)]
    }


def read(path: Path, name: str) -> griffe.Module:
    text = path.read_text(encoding="utf-8")
    lines = griffe.LinesCollection()
    lines[path] = text.splitlines()
    return griffe.visit(
        name,
        filepath=path,
        code=text,
        docstring_parser="google",
        docstring_options=GOOGLE,
        lines_collection=lines,
    )


def definitions(module: griffe.Object) -> list[griffe.Object]:
    """What is public in a module or a class, in the order of the source."""
    return [
        member
        for name, member in module.members.items()
        if not member.is_alias
        and (name == "__call__" or not name.startswith("_"))
    ]


def methods(definition: griffe.Object) -> list[griffe.Object]:
    """The public methods of a class that say what they do."""
    inside = definitions(definition) if definition.is_class else []
    return [method for method in inside if method.docstring]


def sections(definition: griffe.Object) -> list[griffe.DocstringSection]:
    """The parts of a docstring; the first paragraph is its summary."""
    return definition.docstring.parsed if definition.docstring else []


def entries(section: griffe.DocstringSection) -> list[tuple[str, str]]:
    """What a list of parameters or of errors says of each."""
    return [
        (
            getattr(item, "name", str(item.annotation)).strip("()"),
            item.description,
        )
        for item in section.value
    ]


def names(definition: griffe.Object) -> list[str]:
    """The names of everything that a call may pass."""
    tree = ast.parse(code(definition))
    return [part.arg for part in ast.walk(tree) if isinstance(part, ast.arg)]


def summary(definition: griffe.Object) -> str:
    """The first paragraph of a docstring, in one line."""
    text = definition.docstring.value if definition.docstring else ""
    return " ".join(text.partition("\n\n")[0].split())


def code(definition: griffe.Object) -> str:
    """The text of a definition in its module, decorators included."""
    return dedent(definition.source)


def signature(definition: griffe.Object) -> str:
    """How it is called, one parameter a line where they are many."""
    text = code(definition)
    (node,) = ast.parse(text).body
    if isinstance(node, ast.ClassDef):
        return class_signature(text, node)
    if not isinstance(node, ast.FunctionDef):
        return ast.get_source_segment(text, node)
    if "property" in definition.labels:
        return node.name + result(text, node)
    return wrapped(node.name, parameters(text, node), result(text, node))


def class_signature(text: str, node: ast.ClassDef) -> str:
    """What makes an object: parameters of `__init__`, or the fields."""
    for part in node.body:
        if getattr(part, "name", "") == "__init__":
            return wrapped(node.name, parameters(text, part), "")
    fields = [part for part in node.body if isinstance(part, ast.AnnAssign)]
    return wrapped(node.name, [cut(text, f, f) for f in fields], "")


def parameters(text: str, node: ast.FunctionDef) -> list[str]:
    """Each parameter but `self`, with its annotation, default and stars."""
    args = node.args
    named, only = [*args.posonlyargs, *args.args], args.kwonlyargs
    missing = [None] * (len(named) - len(args.defaults))
    defaults = [*missing, *args.defaults, *args.kw_defaults]
    found = [
        cut(text, part, default or part)
        for part, default in zip([*named, *only], defaults, strict=True)
    ]
    if args.vararg or only:
        star = (
            f"*{cut(text, args.vararg, args.vararg)}" if args.vararg else "*"
        )
        found.insert(len(named), star)
    if args.kwarg:
        found.append(f"**{cut(text, args.kwarg, args.kwarg)}")
    return [part for part in found if part not in ("self", "cls")]


def result(text: str, node: ast.FunctionDef) -> str:
    shown = node.returns
    return f" -> {cut(text, shown, shown)}" if shown else ""


def cut(text: str, first: ast.AST, last: ast.AST) -> str:
    """The source from one node to another, in one line."""
    lines = text.splitlines()[first.lineno - 1 : last.end_lineno]
    lines[-1] = lines[-1].encode()[: last.end_col_offset].decode()
    lines[0] = lines[0].encode()[first.col_offset :].decode()
    return BRACKETS.sub("", " ".join(" ".join(lines).split()))


def wrapped(name: str, parts: list[str], ending: str) -> str:
    """A call on one line if it fits, else with one parameter a line."""
    line = f"{name}({', '.join(parts)}){ending}"
    if len(line) <= WIDTH or not parts:
        return line
    inside = "".join(f"    {part},\n" for part in parts)
    return f"{name}(\n{inside}){ending}"
