"""lib.validate: the one check of shapes; the others are asked where used."""

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from lib import validate
from lib.attention import attention
from tests.library.draw import refused, same

MISFITS = [
    ("x: n", (), "1 axes, (n)", "0 (shape ())"),
    ("x: t_len n", (3,), "2 axes, (length, n)", "(3,)"),
    ("x: a b", (1, 1, 1), "2 axes, (a, b)", "(1, 1, 1)"),
    ("x: ... a b", (1,), "at least 2 axes", "1 (shape (1,))"),
    ("x: n n", (3, 5), "the n of x, 3", "5 (shape (3, 5))"),
]


@pytest.mark.bad_input
@pytest.mark.parametrize(("words", "sizes", "expected", "got"), MISFITS)
def test_shapes_that_do_not_fit(words, sizes, expected, got):
    with refused(ValueError, "x", expected, got):
        validate.shapes(words, x=torch.ones(sizes))


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
def test_sizes_of_a_tracer_are_looked_at_and_not_kept():
    validate.shapes.fine.clear()
    graph = make_fx(lambda x: attention(x, x, x), tracing_mode="symbolic")
    x = torch.rand(2, 3, 4)
    same(graph(x)(x), attention(x, x, x))
    with pytest.raises(ValueError, match="value"):
        make_fx(lambda x: attention(x, x, x[:, 1:]), tracing_mode="symbolic")(
            x
        )


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
