"""The shapes in the signatures of book/lib hold in every test.

Enforcing them is a setting for a whole Python process: `make test-all`
runs the tests of this folder with it (see conftest.py), and this file shows
that it has an effect. Bad input and compiled functions follow without it.
"""

import ast
import importlib
import os

import pytest
import torch
from beartype.roar import BeartypeCallHintViolation
from jaxtyping import TypeCheckError

from lib.attention import attention
from lib.embedding import TokenEmbedding
from lib.softmax import softmax
from lib.text import pad_batch
from tests.library.typed import LIBRARY, Function, checker, enforced

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        os.environ.get("BOOK_TYPECHECK") != "1",
        reason="needs BOOK_TYPECHECK=1, as in `make test-all`",
    ),
]
WRONG = [
    lambda: softmax(torch.ones(3, dtype=torch.int64)),
    lambda: softmax(torch.ones(3), dim=0.5),
    lambda: attention(torch.ones(3, 5), torch.ones(7, 4), torch.ones(7, 2)),
    lambda: attention(torch.ones(3, 5), torch.ones(7, 5), torch.ones(6, 2)),
    lambda: TokenEmbedding(7, 5)(torch.ones(3)),
    lambda: pad_batch([[1]], "0"),
]
MODULES = [
    ".".join(path.relative_to(LIBRARY).with_suffix("").parts)
    for path in sorted(LIBRARY.rglob("*.py"))
]
SOURCE = '''\
"""Doc."""
from dataclasses import dataclass
from jaxtyping import Float
from torch import Tensor


def plain(x):
    def inner(x: int): ...


@dataclass
class Pair:
    left: int

    def typed(self, low: int = 0) -> int: ...

    @property
    def shaped(self) -> Float[Tensor, "a b"]: ...


def last(*words: str, **others: float): ...


def generates() -> Iterator:
    yield 1


Row = Float[Tensor, "a"] | None
Rows = dict[str, Tensor]


def named(x: Row): ...


def unnamed(x: Rows): ...
'''


@pytest.mark.parametrize("call", WRONG)
def test_a_wrong_shape_does_not_pass(call):
    with pytest.raises((TypeCheckError, BeartypeCallHintViolation)):
        call()


def members(owner, tree: ast.AST):
    """The functions of a module or class, each with what was made of it."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node, vars(owner)[node.name]
        elif isinstance(node, ast.ClassDef):
            yield from members(vars(owner)[node.name], node)


def is_enforced(made) -> bool:
    """Some layer of a function, a property or a method checks its calls."""
    made = getattr(made, "fget", None) or getattr(made, "__func__", made)
    while made is not None:
        file = getattr(getattr(made, "__code__", None), "co_filename", "")
        if "jaxtyping" in file or "beartype" in file:
            return True
        made = getattr(made, "__wrapped__", None)
    return False


@pytest.mark.parametrize("name", MODULES)
def test_every_signature_is_enforced(name):
    module = importlib.import_module(f"lib.{name}".removesuffix(".__init__"))
    with open(module.__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node, made in members(module, tree):
        assert is_enforced(made) == bool(checker(node, set())), node.name


def test_what_is_wrapped_and_by_what():
    wrapped = {
        node.name: [ast.unparse(d) for d in node.decorator_list]
        for node in ast.walk(enforced(SOURCE))
        if isinstance(node, Function | ast.ClassDef)
    }
    shapes = "jaxtyping.jaxtyped(typechecker=beartype.beartype)"
    types = "beartype.beartype"
    assert wrapped == {
        "plain": [],
        "inner": [types],
        "Pair": [shapes, "dataclass"],
        "typed": [types],
        "shaped": ["property", shapes],
        "last": [types],
        "generates": [shapes],
        "named": [shapes],
        "unnamed": [types],
    }
