"""lib.validate: the one check of shapes; the others are asked where used."""

import pytest
import torch

from lib import validate
from tests.library.draw import refused


def tensors(**sizes):
    """Ones of these sizes; a number stays as it is."""
    return {
        name: torch.ones(size) if isinstance(size, tuple) else size
        for name, size in sizes.items()
    }


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


WIDTH = {"x": (2, 1), "d_model": 5}
MISFITS = [
    ("x: n", {"x": ()}, "x", "1 axes, (n)", "0 (shape ())"),
    ("x: t_len n", {"x": (3,)}, "x", "2 axes, (length, n)", "(3,)"),
    ("x: a b", {"x": (1, 1, 1)}, "x", "2 axes, (a, b)", "(1, 1, 1)"),
    ("x: ... a b", {"x": (1,)}, "x", "at least 2 axes", "1 (shape (1,))"),
    ("x: ... d_model", WIDTH, "x", "a last axis of width 5", "shape (2, 1)"),
    ("x: n n", {"x": (3, 5)}, "x", "the n of x, 3", "5 (shape (3, 5))"),
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


@pytest.mark.bad_input
def test_what_was_looked_at_once_is_known_by_all_of_its_arguments():
    x = torch.ones(2, 3)
    fits = {"x": x, "y": x, "d": 3}
    for changed in ({"y": x.double()}, {"y": x.T}, {"y": [1.0]}, {"d": 2}):
        validate.shapes("x: n d, y: n d", **fits)
        with pytest.raises((TypeError, ValueError)):
            validate.shapes("x: n d, y: n d", **fits | changed)
    with pytest.raises(ValueError):
        validate.shapes("x: n d, y: d n", **fits)
    validate.shapes("x: n, y: n d", x=x[:, 0], y=x)
    with pytest.raises(ValueError):
        validate.shapes("x: n, y: n d", y=x[:, 0], x=x)
    validate.splittable(x[None], 3)
    for wrong in (3.0, True, 2):
        with pytest.raises((TypeError, ValueError)):
            validate.splittable(x[None], wrong)


def test_the_memory_is_bounded():
    sizes = torch.empty(0, 10_001)
    for n in range(sizes.shape[1]):
        validate.shapes("x: length n", x=sizes[:, : n + 1])
    assert 0 < len(validate.shapes.fine) <= 10_000


@pytest.mark.compiled
def test_what_is_compiled_is_looked_at_anew():
    def both(x, y):
        validate.shapes("x: one here, y: one here", x=x, y=y)
        return x + y

    compiled = torch.compile(both, backend="eager", fullgraph=True)
    x = torch.ones(2, 3)
    torch.testing.assert_close(compiled(x, x), x + x)
    assert not any(
        "x: one here, y: one here" in known for known in validate.shapes.fine
    )
