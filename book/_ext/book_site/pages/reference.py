"""Modules, signatures and docstrings of lib and kit, read without running.

The pages are built where there is no PyTorch, so nothing is imported: griffe
parses the library and its docstrings. A signature is the source's own, as
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
SELF = re.compile(r"(?<=\()(?:self|cls)(?:, |(?=\)))")


def modules(book: Path) -> dict[str, griffe.Module]:
    """The modules of book/lib and book/kit, by the names to import them by.

    Of packages inside them only lib.diagnose, which a chapter teaches.
    """
    by_name = {}
    for folder in ("lib", "lib/diagnose", "kit"):
        for path in sorted((book / folder).glob("[!_]*.py")):
            name = f"{folder.replace('/', '.')}.{path.stem}"
            text, lines = path.read_text("utf-8"), griffe.LinesCollection()
            lines[path] = text.splitlines()
            by_name[name] = griffe.visit(
                name,
                filepath=path,
                code=text,
                docstring_parser="google",
                docstring_options=GOOGLE,
                lines_collection=lines,
            )
    return by_name


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
    names = (getattr(e, "name", str(e.annotation)) for e in section.value)
    texts = (entry.description for entry in section.value)
    return [(n.strip("()"), t) for n, t in zip(names, texts, strict=True)]


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
        return wrapped(making(text, node))
    if not isinstance(node, ast.FunctionDef):
        return ast.get_source_segment(text, node)
    if "property" in definition.labels:
        return header(text, node).replace("()", "", 1)
    return wrapped(header(text, node))


def one_line(text: str) -> str:
    return BRACKETS.sub("", " ".join(text.split()))


def header(text: str, node: ast.FunctionDef) -> str:
    """What stands between `def` and the colon, without `self`."""
    lines = text.splitlines()[node.lineno - 1 : node.body[0].lineno - 1]
    call = one_line(" ".join(lines)).removeprefix("def ").removesuffix(":")
    return SELF.sub("", call, count=1)


def making(text: str, node: ast.ClassDef) -> str:
    """What makes an object: parameters of `__init__`, or the fields."""
    for part in node.body:
        if getattr(part, "name", "") == "__init__":
            call = header(text, part).replace("__init__", node.name)
            return call.removesuffix(" -> None")
    fields = [part for part in node.body if isinstance(part, ast.AnnAssign)]
    texts = (one_line(ast.get_source_segment(text, f)) for f in fields)
    return f"{node.name}({', '.join(texts)})"


def wrapped(call: str) -> str:
    """A call on one line if it fits, else with one parameter a line."""
    if len(call) <= WIDTH:
        return call
    name, _, rest = call.partition("(")
    inside, arrow, result = rest.removesuffix(")").partition(") -> ")
    parts, depth = [""], 0
    for letter in inside:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    lines = "".join(f"    {part.strip()},\n" for part in parts)
    return f"{name}(\n{lines}){arrow[1:]}{result}"
