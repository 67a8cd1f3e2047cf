"""lib.validate: statements in the taught modules, and one shape checker."""

import ast
from contextlib import nullcontext

import pytest
import torch

from lib import validate
from lib.validate.model import are_heads
from tests.library.draw import refused
from tools.source.taught import homes, library


def used_as_values(source):
    """The validators of a module whose results are used."""
    nodes = list(ast.walk(ast.parse(source)))
    statements = [node.value for node in nodes if isinstance(node, ast.Expr)]
    called = [getattr(statement, "func", None) for statement in statements]
    return {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and ast.unparse(node.value) == "validate"
        and node not in called
    }


def test_a_validator_is_a_statement():
    source = "validate.a(1)\nx = validate.b(x)\nmap(validate.c, x)\n"
    source += "if validate.d(x):\n    validate.e(x)\n"
    assert used_as_values(source) == {"b", "c", "d"}
    for module in homes():
        assert used_as_values(library()[module]) == set(), module


def tensors(**sizes):
    """Ones of these sizes; a number stays as it is."""
    return {
        name: torch.ones(size) if isinstance(size, tuple) else size
        for name, size in sizes.items()
    }


def qkv(q, k, v):
    return {"q": q, "k": k, "v": v}


FITTING = [
    ("x: length d_model", {"x": (0, 5)}),
    ("x: ... d_model", {"x": (2, 3, 5), "d_model": 5}),
    ("x: ... d_model, y: ... d_model", {"x": (2, 5), "y": (5,)}),
    ("x: *lead n, y: *lead m", {"x": (2, 3, 5), "y": (2, 3, 7)}),
    ("x: *lead n, y: *lead n", {"x": (5,), "y": (5,)}),
    ("x: batch n, y: batch n m", {"x": (2, 3), "y": (2, 3, 3)}),
]


@pytest.mark.parametrize("check", [validate.shapes, validate.axes])
@pytest.mark.parametrize(("words", "sizes"), FITTING)
def test_shapes_that_fit(check, words, sizes):
    assert check(words, **tensors(**sizes)) is None


HEADS = "q: *lead q_len d_head, k: *lead k_len d_head, v: *lead k_len d_value"
WIDTH = {"x": (2, 1), "d_model": 5}
SIDES = "x: batch t_len d_model, memory: batch s_len d_model"
OTHER_BATCH = {"x": (2, 3, 5), "memory": (1, 7, 5)}
OTHER_LEAD = qkv((2, 3, 5), (1, 7, 5), (1, 7, 2))
OTHER_WIDTH = qkv((3, 5), (7, 1), (7, 2))
NO_KEY = qkv((3, 5), (0, 5), (0, 2))
NO_WIDTH = qkv((3, 0), (7, 0), (7, 2))
ONE_VALUE = qkv((3, 5), (7, 5), (1, 2))
MISFITS = [
    ("x: n", {"x": ()}, "x", "1 axes, (n)", "0 (shape ())"),
    ("x: t_len n", {"x": (3,)}, "x", "2 axes, (length, n)", "(3,)"),
    ("x: a b", {"x": (1, 1, 1)}, "x", "2 axes, (a, b)", "(1, 1, 1)"),
    ("x: ... a b", {"x": (1,)}, "x", "at least 2 axes", "1 (shape (1,))"),
    ("x: ... d_model", WIDTH, "x", "a last axis of width 5", "shape (2, 1)"),
    ("x: n n", {"x": (3, 5)}, "x", "the n of x, 3", "5 (shape (3, 5))"),
    (SIDES, OTHER_BATCH, "memory", "the batch of x, 2", "(1, 7, 5)); nothing"),
    (HEADS, OTHER_LEAD, "k", "the leading axes (2,) of q", "(1,); nothing"),
    (HEADS, OTHER_WIDTH, "k", "the width 5 of q", "1"),
    (HEADS, NO_KEY, "k", "at least one key", "none (shape (0, 5))"),
    (HEADS, NO_WIDTH, "q", "a width of at least 1", "none (shape (3, 0))"),
    (HEADS, ONE_VALUE, "v", "one value for each key, (7,)", "(1,)"),
]


@pytest.mark.bad_input
@pytest.mark.parametrize("check", [validate.shapes, validate.axes])
@pytest.mark.parametrize(("words", "sizes", *"abc"), MISFITS)
def test_shapes_that_do_not_fit(check, words, sizes, a, b, c):
    with refused(ValueError, a, b, c):
        check(words, **tensors(**sizes))


@pytest.mark.bad_input
def test_shapes_are_of_floating_tensors_of_one_dtype_axes_of_any():
    x, y = torch.ones(3), torch.ones(3, dtype=torch.int64)
    with refused(TypeError, "y", "a floating-point tensor", "torch.int64"):
        validate.shapes("x: n, y: n", x=x, y=y)
    with refused(TypeError, "y", "torch.float32, the dtype of x", "float64"):
        validate.shapes("x: n, y: n", x=x, y=x.double())
    with refused(TypeError, "y", "a tensor", "list"):
        validate.shapes("x: n, y: n", x=x, y=[1.0])
    validate.axes("x: n, y: n", x=x, y=y)


@pytest.mark.compiled
def test_the_words_of_a_compiled_function_are_read_anew():
    def both(x, y):
        validate.shapes("x: one here, y: one here", x=x, y=y)
        return x + y

    compiled = torch.compile(both, backend="eager", fullgraph=True)
    x = torch.ones(2, 3)
    torch.testing.assert_close(compiled(x, x), x + x)
    assert (
        "x: one here, y: one here" not in validate.shapes.__globals__["READ"]
    )


RIGHT = ((2, 3, 5, 7), (2, 3, 11, 7), (2, 3, 11, 13))


@pytest.mark.parametrize("size", [0, 1, 4])
@pytest.mark.parametrize("axis", range(4))
@pytest.mark.parametrize("who", ["q", "k", "v", "qk", "qv", "kv", "qkv"])
def test_the_fast_way_says_what_the_slow_one_says(who, axis, size):
    """One axis of some of the three has another size."""
    shapes = [list(shape) for shape in RIGHT]
    for name, shape in zip("qkv", shapes, strict=True):
        if name in who:
            shape[axis] = size
    given = [torch.ones(shape, dtype=torch.float16) for shape in shapes]
    fits = are_heads(*given)
    with nullcontext() if fits else pytest.raises(ValueError):
        validate.to_attend(*given, None)


@pytest.mark.bad_input
def test_the_fast_way_lets_no_other_kind_through():
    q, k, v = (torch.ones(shape) for shape in RIGHT)
    assert are_heads(q, k, v)
    for wrong in ((q.int(), k.int(), v.int()), (q.double(), k, v), (q, k, [])):
        assert not are_heads(*wrong)
        with pytest.raises(TypeError):
            validate.to_attend(*wrong, None)
    assert not are_heads(q[0], k[0], v[0])  # right, but slowly
    assert not are_heads(q[None], k, v)
