"""The lessons, the library, and the text of a cell that teaches both.

A cell that begins `# lib/<module>.py` shows definitions of that module, each
docstring cut to its first line. On the page of a chapter that has deeper ones
they are plain: without annotations and checks of arguments.
"""

import ast
import re
import subprocess
import symtable
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml
from nbformat import NotebookNode
from nbformat.v4 import reads

ROOT = Path(__file__).resolve().parents[2]
DEEPER = "deeper"  # the folder of the pages below the chapters
MARKER = re.compile(r"# lib/([\w/]+)\.py\n")
Function = ast.FunctionDef | ast.AsyncFunctionDef
SHAPE = (
    "--config=line-length=79",
    "--config=format.skip-magic-trailing-comma=true",
    "--config=lint.isort.split-on-trailing-comma=false",  # else it warns
)
GAP = "\n\n\n"  # between definitions, as ruff leaves it
Definition = Function | ast.ClassDef | ast.Assign | ast.AnnAssign


def toc_files(toc: dict) -> Iterator[str]:
    """The pages of a table of contents, in order, without their endings."""
    if "file" in toc:
        yield toc["file"]
    for part in ("parts", "chapters", "sections"):
        for entry in toc.get(part, []):
            yield from toc_files(entry)


@dataclass(frozen=True)
class Entry:
    """A page in the table of contents; the title page is in no part."""

    document: str
    part: int = 0
    caption: str = ""


def contents(root: Path = ROOT) -> list[Entry]:
    """The pages of the book, in order, the title page first."""
    toc = parsed((root / "_toc.yml").read_text(encoding="utf-8"))
    entries = [Entry(toc["root"])]
    for number, part in enumerate(toc.get("parts", []), start=1):
        caption = part.get("caption", "")
        entries += [Entry(name, number, caption) for name in toc_files(part)]
    return entries


@cache
def parsed(toc: str) -> dict:
    """Asked for a hundred times by the tests, and parsed once."""
    return yaml.safe_load(toc)


def notebooks(root: Path = ROOT) -> list[Path]:
    """The lessons and the lab, in the order of the table of contents."""
    paths = [root / f"{e.document}.ipynb" for e in contents(root) if e.part]
    return [path for path in paths if path.exists()]


def lessons(root: Path = ROOT) -> list[Path]:
    """The chapters, each followed by its deeper pages.

    Their names begin with the number of their chapter.
    """
    return [path for path in notebooks(root) if path.name[0].isdigit()]


def chapters(root: Path = ROOT) -> list[Path]:
    """The pages that everybody reads, one for each chapter."""
    return [path for path in lessons(root) if not is_deeper(path)]


def is_deeper(path: Path) -> bool:
    """Is it a page below a chapter, for who wants to know more?"""
    return path.parent.name == DEEPER


def is_walk(path: Path) -> bool:
    """Is it a chapter that has such pages, and is plain itself?"""
    below = (path.parent / DEEPER).glob(f"{path.name[:2]}_*.ipynb")
    return not is_deeper(path) and path.name[0].isdigit() and any(below)


def named(names: Iterable[str], root: Path = ROOT) -> list[Path]:
    """The notebooks whose names begin so; all if none is named.

    Raises:
        LookupError: no notebook has such a name.
    """
    wanted = tuple(names) or ("",)
    if paths := [p for p in notebooks(root) if p.name.startswith(wanted)]:
        return paths
    raise LookupError(f"no chapter in _toc.yml is named {' or '.join(wanted)}")


def read(path: Path) -> NotebookNode:
    """A notebook as it lies there: nothing added, nothing upgraded."""
    return reads(path.read_text(encoding="utf-8"))


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def library(root: Path = ROOT) -> dict[str, str]:
    """The text of every module of book/lib, `a/b` being one of a package a."""
    folder, texts = root / "book" / "lib", {}
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).with_suffix("").as_posix()
        if name := name.removesuffix("__init__").rstrip("/"):
            texts[name] = path.read_text(encoding="utf-8")
    return texts


def is_taught(source: str) -> bool:
    """Whether a module is for the chapters to teach: its docstring says so."""
    return "Not taught." not in (ast.get_docstring(ast.parse(source)) or "")


@cache
def homes(root: Path = ROOT) -> dict[str, Path]:
    """Each module that is taught, and the lesson that first shows it.

    The modules come in the order in which the lessons show them.
    """
    paths = {}
    for path in lessons(root):
        for cell in read(path).cells:
            if marked := MARKER.match(cell.source):
                paths.setdefault(marked[1], path)
    return paths


@cache
def definitions(source: str) -> dict[str, Definition]:
    """The definitions of a module or cell, constants included, by name."""
    named = {}
    for node in ast.parse(source).body:
        if isinstance(node, Function | ast.ClassDef):
            named[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = getattr(node, "targets", None) or [node.target]
            for part in (p for target in targets for p in ast.walk(target)):
                if isinstance(part, ast.Name) and isinstance(
                    part.ctx, ast.Store
                ):
                    named[part.id] = node
    return named


class Apart(ast.NodeTransformer):
    """Makes generators of comprehensions, whose names are never a cell's.

    Since Python 3.12 a comprehension has no table of names to itself.
    """

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        made = ast.GeneratorExp(node.elt, node.generators)
        return self.generic_visit(made)

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        pair = ast.Tuple([node.key, node.value], ast.Load())
        return self.generic_visit(ast.GeneratorExp(pair, node.generators))


def symbols(source: str) -> symtable.SymbolTable:
    """The names of a cell; those of its functions are in its children."""
    tree = Apart().visit(ast.parse(source))
    return symtable.symtable(ast.unparse(tree), "cell", "exec")


def cut_docstring(literal: str) -> str:
    """The source text of a docstring, cut to its first line."""
    summary, *rest = literal.split("\n")
    if not rest:
        return literal
    quotes = literal[-3:]
    gap = " " if summary.endswith(quotes[0]) else ""
    return f"{summary.rstrip()}{gap}{quotes}"


def definition_text(source: str, node: Definition) -> str:
    """A definition as a chapter shows it, with the comment above it."""
    lines = source.split("\n")
    decorators = getattr(node, "decorator_list", [])
    first = min(part.lineno for part in [node, *decorators]) - 1
    while first and lines[first - 1].startswith("#"):
        first -= 1
    end = node.end_lineno
    inside = [
        n for n in ast.walk(node) if isinstance(n, Function | ast.ClassDef)
    ]
    for part in sorted(inside, key=lambda n: n.lineno, reverse=True):
        if ast.get_docstring(part) is not None:
            doc = part.body[0]
            literal = ast.get_source_segment(source, doc)
            short = " " * doc.col_offset + cut_docstring(literal)
            lines[doc.lineno - 1 : doc.end_lineno] = [short]
            end -= doc.end_lineno - doc.lineno
    return "\n".join(lines[first:end])


def place(lines: list[str], line: int, column: int) -> int:
    """Where in a text, in bytes, the parser says that something stands."""
    return sum(len(text.encode()) + 1 for text in lines[: line - 1]) + column


def is_validator(node: ast.AST) -> bool:
    """Does it do nothing but check arguments?"""
    if isinstance(node, ast.If):
        return not node.orelse and all(map(is_validator, node.body))
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    return ast.unparse(node.value.func).startswith("validate.")


def unread(text: str) -> Iterator[tuple[int, int]]:
    """From where to where a definition has what a first reader skips."""
    lines, raw = text.split("\n"), text.encode()

    def ends(node):
        start = place(lines, node.lineno, node.col_offset)
        return start, place(lines, node.end_lineno, node.end_col_offset)

    tree = ast.parse(text)
    fields = {
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for part in node.body
    }
    for node in ast.walk(tree):
        if is_validator(node):
            start, end = ends(node)
            yield raw.rindex(b"\n", 0, start), end
        elif isinstance(node, ast.arg) and node.annotation:
            start, end = ends(node)
            yield start + len(node.arg.encode()), end
        elif isinstance(node, ast.AnnAssign) and node not in fields:
            yield ends(node.target)[1], ends(node.annotation)[1]
        if isinstance(node, Function) and node.returns:
            start, end = ends(node.returns)
            yield raw.rindex(b")", 0, start) + 1, end


@cache
def plain(text: str) -> str:
    """Definitions without annotations and checks of arguments."""
    spans, end = [], 0
    for span in sorted(unread(text)):
        if span[0] >= end:  # else it lies within the one before
            spans.append(span)
            end = span[1]
    raw = text.encode()
    for start, end in reversed(spans):
        raw = raw[:start] + raw[end:]
    ruff = [sys.executable, "-m", "ruff", "format", "--isolated", *SHAPE, "-"]
    return subprocess.check_output(ruff, input=raw).decode().rstrip("\n")


def as_taught(source: str, cell: str, is_plain: bool = False) -> str:
    """What a definition cell must say if its module reads `source`.

    The cell decides which definitions it shows and in which order.

    Raises:
        LookupError: the cell names something that the module lacks.
    """
    has, shown = definitions(source), definitions(cell)
    if unknown := [name for name in shown if name not in has]:
        raise LookupError(", ".join(unknown))
    text, before = MARKER.match(cell)[0], None
    for node in dict.fromkeys(has[name] for name in shown):
        if before:
            text += "\n" if is_constant(before) and is_constant(node) else GAP
        text, before = text + definition_text(source, node), node
    return plain(text) if is_plain else text


def is_constant(node: Definition) -> bool:
    return isinstance(node, ast.Assign | ast.AnnAssign)


def write_page(page: Path, text: str, root: Path = ROOT) -> str:
    """Write a page if it has changed; what happened, in one line."""
    path = root / page
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return f"{page.name}: up to date"
    path.write_text(text, encoding="utf-8")
    return f"{page.name}: written"
