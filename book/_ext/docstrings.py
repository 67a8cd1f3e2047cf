"""Modules, signatures and docstrings of book/lib, read without running them.

The pages are built where there is no PyTorch, so nothing is imported: the
text of the library is parsed.
"""

import ast
import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from textwrap import dedent

SECTION = re.compile(r"^(Args|Returns|Yields|Raises):$")
ENTRY = re.compile(r"^(\*{0,2}\w[^:]*): (.*)$")
WIDTH = 66  # columns of a signature
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Docstring:
    """A docstring in Google's style, taken apart.

    `text` holds paragraphs, and code as a tuple of one string; `sections`
    holds a list of pairs under "Args" and "Raises", a paragraph elsewhere.
    """

    summary: str
    text: list = field(default_factory=list)
    sections: dict = field(default_factory=dict)


def parse(docstring: str) -> Docstring:
    """Take a docstring apart.

    Raises:
        ValueError: a section's entry has no name.
    """
    blocks = re.split(r"\n\s*\n", dedent_rest(docstring).strip())
    parsed = Docstring(" ".join(blocks[0].split()))
    for block in blocks[1:]:
        first, _, rest = block.partition("\n")
        if titled := SECTION.match(first):
            body = dedent(rest)
            pairs = titled[1] in ("Args", "Raises")
            parsed.sections[titled[1]] = (
                entries(body) if pairs else " ".join(body.split())
            )
        elif block.startswith("    "):
            parsed.text.append((dedent(block),))
        else:
            parsed.text.append(" ".join(block.split()))
    return parsed


def dedent_rest(docstring: str) -> str:
    """All lines but the first without their common indentation."""
    first, _, rest = docstring.partition("\n")
    return f"{first}\n{dedent(rest)}"


def entries(body: str) -> list[tuple[str, str]]:
    """The entries `name: text` of a section.

    Raises:
        ValueError: a line stands before the first name.
    """
    found = []
    for line in body.splitlines():
        if entry := ENTRY.match(line):
            found.append((entry[1], entry[2]))
        elif found and line.startswith(" "):
            name, text = found.pop()
            found.append((name, f"{text} {line.strip()}"))
        else:
            raise ValueError(f"a docstring's entry has no name: {line!r}")
    return found


@dataclass
class Definition:
    """A public function, class, method or constant of a module."""

    node: ast.AST
    source: str
    name: str

    @cached_property
    def docstring(self) -> Docstring:
        """What it says of itself; empty if it says nothing."""
        if not isinstance(self.node, FUNCTION | ast.ClassDef):
            return Docstring("")
        return parse(ast.get_docstring(self.node, clean=False) or "")

    @cached_property
    def methods(self) -> list["Definition"]:
        """The public methods of a class that say what they do."""
        if not isinstance(self.node, ast.ClassDef):
            return []
        return [
            Definition(node, self.source, node.name)
            for node in self.node.body
            if isinstance(node, FUNCTION)
            and (node.name == "__call__" or not node.name.startswith("_"))
            and ast.get_docstring(node)
        ]

    @property
    def parameter_names(self) -> list[str]:
        """The names of everything that a call may pass."""
        found = ast.walk(self.node)
        return [node.arg for node in found if isinstance(node, ast.arg)]

    @property
    def signature(self) -> str:
        """How it is called, one parameter a line where they are many."""
        if isinstance(self.node, FUNCTION):
            return self.function_signature(self.node, self.name)
        if isinstance(self.node, ast.ClassDef):
            return self.class_signature()
        return segment(self.source, self.node)

    @property
    def code(self) -> str:
        """Its text in the module, decorators included."""
        decorators = getattr(self.node, "decorator_list", [])
        first = min(node.lineno for node in [self.node, *decorators])
        lines = self.source.splitlines()[first - 1 : self.node.end_lineno]
        return dedent("\n".join(lines))

    def function_signature(self, node: FUNCTION, name: str) -> str:
        """The header of a function, without `self`."""
        result = f" -> {self.text(node.returns)}" if node.returns else ""
        if any(is_named(part, "property") for part in node.decorator_list):
            return name + result
        given = self.parameters(node.args)
        own = [p for p in given if p not in ("self", "cls")]
        return wrapped(name, own, result)

    def class_signature(self) -> str:
        """What makes an object: parameters of `__init__`, or the fields."""
        for part in self.node.body:
            if isinstance(part, FUNCTION) and part.name == "__init__":
                made = self.function_signature(part, self.name)
                return made.removesuffix(" -> None")
        fields = [
            self.text(part)
            for part in self.node.body
            if isinstance(part, ast.AnnAssign)
        ]
        return wrapped(self.name, fields, "")

    def parameters(self, args: ast.arguments) -> list[str]:
        """Each parameter with its annotation and default, and the stars."""
        names = [*args.posonlyargs, *args.args]
        missing = [None] * (len(names) - len(args.defaults))
        pairs = zip(names, [*missing, *args.defaults], strict=True)
        texts = [self.parameter(*pair) for pair in pairs]
        if args.vararg:
            texts.append(f"*{self.parameter(args.vararg)}")
        elif args.kwonlyargs:
            texts.append("*")
        only = zip(args.kwonlyargs, args.kw_defaults, strict=True)
        texts += [self.parameter(*pair) for pair in only]
        if args.kwarg:
            texts.append(f"**{self.parameter(args.kwarg)}")
        return texts

    def parameter(self, arg: ast.arg, default: ast.expr | None = None) -> str:
        """One parameter as it stands in a header."""
        text = arg.arg
        if arg.annotation:
            text += f": {self.text(arg.annotation)}"
        if default is None:
            return text
        return f"{text}{' = ' if arg.annotation else '='}{self.text(default)}"

    def text(self, node: ast.AST) -> str:
        """The source of a node on one line."""
        line = " ".join(segment(self.source, node).split())
        return re.sub(r"(?<=[\[(]) |,? (?=[\])])", "", line)


@cache
def lines_of(source: str) -> list[bytes]:
    return [line.encode() for line in source.splitlines(keepends=True)]


def segment(source: str, node: ast.AST) -> str:
    """`ast.get_source_segment`, which splits the source at every call."""
    lines = lines_of(source)[node.lineno - 1 : node.end_lineno]
    lines[-1] = lines[-1][: node.end_col_offset]
    lines[0] = lines[0][node.col_offset :]
    return b"".join(lines).decode()


def is_named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def wrapped(name: str, parts: list[str], result: str) -> str:
    """A call on one line if it fits, else with one parameter a line."""
    line = f"{name}({', '.join(parts)}){result}"
    if len(line) <= WIDTH or not parts:
        return line
    inside = "".join(f"    {part},\n" for part in parts)
    return f"{name}(\n{inside}){result}"


@dataclass
class Module:
    """A module of book/lib."""

    name: str
    path: Path

    @cached_property
    def source(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def docstring(self) -> Docstring:
        return parse(ast.get_docstring(self.tree, clean=False) or "")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    @cached_property
    def definitions(self) -> list[Definition]:
        """What is public, in the order of the module."""
        found = []
        for node in self.tree.body:
            if isinstance(node, FUNCTION | ast.ClassDef):
                name = node.name
            elif isinstance(node, ast.Assign) and isinstance(
                node.targets[0], ast.Name
            ):
                name = node.targets[0].id
            else:
                continue
            if not name.startswith("_"):
                found.append(Definition(node, self.source, name))
        return found


def modules(folder: Path) -> dict[str, Module]:
    """Every module of a package's folder, by name."""
    return {
        path.stem: Module(path.stem, path)
        for path in sorted(folder.glob("*.py"))
        if path.stem != "__init__"
    }
