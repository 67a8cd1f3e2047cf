"""lib.softmax against torch, and against what it promises."""

import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from lib.softmax import softmax
from tests.library import no
from tests.library.draw import DEVICE, DTYPES, close, normal, same
from tests.library.refusals import refuses
from tests.library.strategies import dtype, lead, size


@given(lead, size, size, dtype, st.integers(0, 3), st.integers(0, 2))
def test_values_and_gradients_equal_torchs(
    lead, rows, entries, dtype, axis, power
):
    """The input is a leaf, so that torch refuses to change it in place."""
    x = normal(*lead, rows, entries, dtype=dtype, scale=10**power)
    dim, slope = axis % x.ndim, normal(*x.shape, seed=1, dtype=dtype)
    x.requires_grad_()
    pair = softmax(x, dim), F.softmax(x, dim)
    close(*pair)
    close(*(torch.autograd.grad(y, x, slope)[0] for y in pair), steps=32)
    same(softmax(x, dim - x.ndim), pair[0])


def test_the_last_axis_is_the_default_and_others_may_be_empty():
    x = normal(5, 7)
    same(softmax(x), softmax(x, dim=1))
    assert softmax(x[:0]).shape == (0, 7)


@pytest.mark.parametrize("dtype", DTYPES)
def test_extreme_scores(dtype):
    """None overflows; -inf gets exactly 0, and nothing but -inf gives NaN."""
    huge = torch.finfo(dtype).max
    rows = {
        (huge, huge, -huge, 0.0): [0.5, 0.5, 0.0, 0.0],
        (-huge, -huge, -huge, -huge): [0.25, 0.25, 0.25, 0.25],
        (0.0, -math.inf, 0.0, -math.inf): [0.5, 0.0, 0.5, 0.0],
        (-math.inf,) * 4: [math.nan] * 4,
    }
    x = torch.tensor([*rows], dtype=dtype, device=DEVICE).requires_grad_()
    weights = softmax(x)
    same(weights, x.new_tensor([*rows.values()]))
    weights[2, 0].backward()
    same(x.grad[2], x.new_tensor([0.25, 0.0, -0.25, 0.0]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32_and_cast_back(dtype):
    x = normal(7, 501, dtype=dtype, scale=3)
    same(softmax(x), softmax(x.float()).to(dtype))


@pytest.mark.compiled
def test_compiled_it_gives_the_same_numbers():
    compiled = torch.compile(softmax, backend="eager", fullgraph=True)
    x = normal(2, 5, 7)
    same(compiled(x, 1), softmax(x, 1))


X = torch.ones(2, 3)
along, of_one = partial(softmax, X), partial(softmax, torch.tensor(1.0))
NO_AXIS = {"2": 2, "-3": -3}
test_bad_input_is_refused = refuses(
    *no.floating_tensor(softmax, "x"),
    ("x", softmax, TypeError, "floating-point", {"torch.complex64": X + 1j}),
    ("x", softmax, ValueError, "entry along axis -1", {"(2, 0)": X[:, :0]}),
    *no.integer(along, "dim"),
    ("dim", along, ValueError, "an axis of x (shape (2, 3))", NO_AXIS),
    ("dim", of_one, ValueError, "an axis of x (shape ())", {"-1": -1, "0": 0}),
)
