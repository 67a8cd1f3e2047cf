"""lib.validate: statements in the taught modules, and one shape checker."""

import ast

import pytest
import torch

from lib import validate
from lib.validate.model import are_heads
from tests.library.draw import refused
from tools.source.taught import homes, library


def used_as_values(source):
    """The validators of a module whose results are used."""
    tree = ast.parse(source)
    statements = {
        node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)
    }
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and ast.unparse(node.value) == "validate"
        and not any(call.func is node for call in calls(statements))
    }


def calls(statements):
    return [node for node in statements if isinstance(node, ast.Call)]


@pytest.mark.parametrize("module", homes())
def test_a_validator_is_a_statement(module):
    assert used_as_values(library()[module]) == set()


def test_a_validator_that_computes_is_found():
    source = "validate.a(1)\nx = validate.b(x)\nmap(validate.c, x)\n"
    source += "if validate.d(x):\n    validate.e(x)\n"
    assert used_as_values(source) == {"b", "c", "d"}


def ones(*sizes, dtype=torch.float32):
    return torch.ones(sizes, dtype=dtype)


FITTING = [
    ("x: length d_model", {"x": ones(0, 5)}),
    ("x: ... d_model", {"x": ones(2, 3, 5), "d_model": 5}),
    ("x: ... d_model, y: ... d_model", {"x": ones(2, 5), "y": ones(5)}),
    ("x: *lead n, y: *lead m", {"x": ones(2, 3, 5), "y": ones(2, 3, 7)}),
    ("x: *lead n, y: *lead n", {"x": ones(5), "y": ones(5)}),
    ("x: batch n, y: batch n m", {"x": ones(2, 3), "y": ones(2, 3, 3)}),
]


@pytest.mark.parametrize(("words", "named"), FITTING)
def test_shapes_that_fit(words, named):
    assert validate.shapes(words, **named) is None
    assert validate.axes(words, **named) is None


HEADS = "q: *lead q_len d_head, k: *lead k_len d_head, v: *lead k_len d_value"
BATCH = "x: batch t_len d_model, memory: batch s_len d_model"
MISFITS = [
    ("x: n", {"x": ones()}, "x", "1 axes, (n)", "0 (shape ())"),
    ("x: t_len n", {"x": ones(3)}, "x", "2 axes, (length, n)", "(3,)"),
    ("x: a b", {"x": ones(1, 1, 1)}, "x", "2 axes, (a, b)", "(1, 1, 1)"),
    ("x: ... a b", {"x": ones(1)}, "x", "at least 2 axes", "1 (shape (1,))"),
    (
        "x: ... d_model",
        {"x": ones(2, 1), "d_model": 5},
        "x",
        "a last axis of width 5",
        "shape (2, 1)",
    ),
    (
        HEADS,
        {"q": ones(2, 3, 5), "k": ones(1, 7, 5), "v": ones(1, 7, 2)},
        "k",
        "the leading axes (2,) of q",
        "(1,); nothing is broadcast",
    ),
    (
        HEADS,
        {"q": ones(3, 5), "k": ones(7, 1), "v": ones(7, 2)},
        "k",
        "the width 5 of q",
        "1",
    ),
    (
        HEADS,
        {"q": ones(3, 5), "k": ones(0, 5), "v": ones(0, 2)},
        "k",
        "at least one key",
        "none (shape (0, 5))",
    ),
    (
        HEADS,
        {"q": ones(3, 0), "k": ones(7, 0), "v": ones(7, 2)},
        "q",
        "a width of at least 1",
        "none (shape (3, 0))",
    ),
    (
        HEADS,
        {"q": ones(3, 5), "k": ones(7, 5), "v": ones(1, 2)},
        "v",
        "one value for each key, (7,)",
        "(1,)",
    ),
    ("x: n n", {"x": ones(3, 5)}, "x", "the n of x, 3", "5 (shape (3, 5))"),
    (
        BATCH,
        {"x": ones(2, 3, 5), "memory": ones(1, 7, 5)},
        "memory",
        "the batch of x, 2",
        "1 (shape (1, 7, 5)); nothing is broadcast",
    ),
]


@pytest.mark.bad_input
@pytest.mark.parametrize(("words", "named", *"abc"), MISFITS)
def test_shapes_that_do_not_fit(words, named, a, b, c):
    with refused(ValueError, a, b, c):
        validate.shapes(words, **named)
    with refused(ValueError, a, b, c):
        validate.axes(words, **named)


@pytest.mark.bad_input
def test_shapes_are_of_floating_tensors_of_one_dtype_axes_of_any():
    x, y = ones(3), ones(3, dtype=torch.int64)
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
    torch.testing.assert_close(
        compiled(ones(2, 3), ones(2, 3)), 2 * ones(2, 3)
    )
    assert (
        "x: one here, y: one here" not in validate.shapes.__globals__["READ"]
    )


def heads_of(*shapes, dtypes=(torch.float32,) * 3):
    pairs = zip(shapes, dtypes, strict=True)
    return [torch.zeros(shape, dtype=dtype) for shape, dtype in pairs]


FIT = [
    heads_of((2, 3, 5, 7), (2, 3, 11, 7), (2, 3, 11, 13)),
    heads_of((0, 3, 0, 7), (0, 3, 1, 7), (0, 3, 1, 0)),
    heads_of(*[(1, 1, 1, 1)] * 3, dtypes=[torch.float16] * 3),
]
UNFIT = [
    heads_of((2, 3, 5, 7), (1, 3, 11, 7), (2, 3, 11, 13)),
    heads_of((2, 3, 5, 7), (2, 1, 11, 7), (2, 3, 11, 13)),
    heads_of((2, 3, 5, 7), (2, 3, 11, 5), (2, 3, 11, 13)),
    heads_of((2, 3, 5, 7), (2, 3, 11, 7), (2, 3, 5, 13)),
    heads_of((2, 3, 5, 7), (2, 3, 11, 7), (3, 2, 11, 13)),
    heads_of((2, 3, 5, 7), (2, 3, 0, 7), (2, 3, 0, 13)),
    heads_of((2, 3, 5, 0), (2, 3, 11, 0), (2, 3, 11, 13)),
    heads_of(*[(3, 5, 7)] * 3),
    heads_of((1, 2, 3, 5, 7), (2, 3, 11, 7), (2, 3, 11, 13)),
    heads_of(*[(2, 3, 5, 7)] * 3, dtypes=[torch.int64] * 3),
    heads_of(
        *[(2, 3, 5, 7)] * 3, dtypes=[torch.float64, *[torch.float32] * 2]
    ),
    [*heads_of(*[(2, 3, 5, 7)] * 3)[:2], [[[[1.0]]]]],
]


@pytest.mark.parametrize("tensors", FIT)
def test_what_fits_is_seen_fast(tensors):
    assert are_heads(*tensors)
    validate.to_attend(*tensors, None)


@pytest.mark.parametrize("tensors", UNFIT)
def test_the_fast_way_lets_nothing_through(tensors):
    assert not are_heads(*tensors)
    with pytest.raises((TypeError, ValueError)):
        validate.to_attend(*tensors, None)
