"""An import hook that enforces every signature of book/lib and book/kit.

It does what `jaxtyping.install_import_hook` does, at a third of the cost,
because it leaves two things out. A function without annotations is not
wrapped: many are made anew at every call. A signature without shapes needs
no memory for them: beartype alone checks it.
"""

import ast
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path

LIBRARY = Path(__file__).parents[2] / "book" / "lib"
SHAPES = "jaxtyping.jaxtyped(typechecker=beartype.beartype)"
TYPES = "beartype.beartype"
Function = ast.FunctionDef | ast.AsyncFunctionDef
Yield = ast.Yield | ast.YieldFrom


def annotations(function: Function) -> list[ast.expr]:
    """What the signature of a function says of its arguments and result."""
    arguments = [
        node for node in ast.walk(function.args) if isinstance(node, ast.arg)
    ]
    parts = [argument.annotation for argument in arguments]
    return [part for part in [*parts, function.returns] if part is not None]


def has_shape(annotation: ast.expr, named: set[str]) -> bool:
    """Whether it holds a string such as "batch length", or a name for one."""
    return any(
        isinstance(getattr(part, "value", None), str)
        or getattr(part, "id", None) in named
        for part in ast.walk(annotation)
    )


def named_shapes(tree: ast.Module) -> set[str]:
    """The names that a module gives to annotations with shapes."""
    return {
        node.targets[0].id
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Subscript | ast.BinOp)
        and has_shape(node.value, set())
        and isinstance(node.targets[0], ast.Name)
    }


def checker(node: Function | ast.ClassDef, named: set[str]) -> str:
    """The decorator that enforces a definition; empty if it says nothing.

    `named` are the names of shapes, which are shapes too.
    """
    if isinstance(node, ast.ClassDef):  # a dataclass has a signature
        return SHAPES if node.decorator_list else ""
    said = annotations(node)
    has_shapes = any(has_shape(annotation, named) for annotation in said)
    generates = any(isinstance(part, Yield) for part in ast.walk(node))
    if has_shapes or (said and generates):  # beartype asks: Iterator of what?
        return SHAPES
    return TYPES if said else ""


def enforced(source: str) -> ast.Module:
    """The program in which every signature is enforced."""
    tree = ast.parse(source)
    named = named_shapes(tree)
    for node in ast.walk(tree):
        if not isinstance(node, Function | ast.ClassDef):
            continue
        if text := checker(node, named):
            decorator = ast.parse(text, mode="eval").body
            for part in ast.walk(decorator):
                ast.copy_location(part, node)
            # A dataclass is made first; a function is checked as written.
            first = isinstance(node, ast.ClassDef)
            place = 0 if first else len(node.decorator_list)
            node.decorator_list.insert(place, decorator)
    documented = ast.get_docstring(tree) is not None
    modules = [ast.alias("beartype"), ast.alias("jaxtyping")]
    tree.body.insert(int(documented), ast.Import(modules))
    return ast.fix_missing_locations(tree)


class Loader(SourceFileLoader):
    """Reads a module with its signatures enforced, never from a cache."""

    def path_stats(self, path):
        raise OSError(f"{path}: bytecode would not be that of the source")

    def source_to_code(self, data, path, *, _optimize=-1):
        tree = enforced(data.decode("utf-8"))
        return compile(tree, path, "exec", dont_inherit=True)


class Finder(MetaPathFinder):
    """Finds the modules of book/lib and book/kit for the loader above."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in ("lib", "kit"):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = Loader(name, spec.origin)
        return spec


def install() -> None:
    """Enforce the signatures of what is imported from the two after this."""
    sys.meta_path.insert(0, Finder())
