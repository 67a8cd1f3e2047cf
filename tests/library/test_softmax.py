"""lib.softmax against torch, and against what it promises."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from lib.softmax import softmax
from tests.library.draw import (
    DEVICE,
    DTYPES,
    close,
    dtype,
    lead,
    normal,
    refused,
    same,
    size,
)


@given(lead, size, size, dtype, st.integers(0, 3), st.integers(0, 2))
def test_equals_torch(lead, rows, entries, dtype, axis, power):
    x = normal(*lead, rows, entries, dtype=dtype, scale=10**power)
    dim = axis % x.ndim
    close(softmax(x, dim), F.softmax(x, dim))
    same(softmax(x, dim - x.ndim), softmax(x, dim))


@given(lead, size, dtype)
def test_weights_sum_to_one_and_keep_the_order(lead, entries, dtype):
    x = normal(*lead, entries, dtype=dtype)
    weights = softmax(x)
    close(weights.sum(-1), torch.ones_like(x[..., 0]))
    assert (weights >= 0).all()
    sorted_weights = weights.gather(-1, x.argsort(-1))
    assert (sorted_weights.diff(dim=-1) >= 0).all()


def test_worked_example():
    scores = [[2, -math.inf, -math.inf], [1, 3, -math.inf], [0.5, 2, 1.5]]
    expected = [[1, 0, 0], [0.1192, 0.8808, 0], [0.1220, 0.5465, 0.3315]]
    weights = softmax(torch.tensor(scores, device=DEVICE))
    assert weights.cpu().mul(10_000).round().div(10_000).tolist() == (
        torch.tensor(expected).tolist()
    )


def test_numbers_by_hand():
    weights = softmax(torch.tensor([0.0, math.log(3)], device=DEVICE))
    close(weights, torch.tensor([0.25, 0.75], device=DEVICE))


def test_the_last_axis_is_the_default():
    x = normal(5, 7)
    same(softmax(x), softmax(x, dim=1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_shift_changes_no_bit(dtype):
    """The entries and the shift are short binary fractions: no rounding."""
    x = normal(3, 11).mul(4).round().div(4).to(dtype)
    same(softmax(x + 16), softmax(x))


@pytest.mark.parametrize("dtype", DTYPES)
def test_extreme_scores_do_not_overflow(dtype):
    huge = torch.finfo(dtype).max
    x = torch.tensor([huge, huge, -huge, 0.0], dtype=dtype, device=DEVICE)
    half = torch.tensor([0.5, 0.5, 0.0, 0.0], dtype=dtype, device=DEVICE)
    same(softmax(x), half)
    same(softmax(torch.full_like(x, -huge)), torch.full_like(x, 0.25))


@pytest.mark.parametrize("dtype", DTYPES)
def test_minus_infinity_becomes_exactly_zero(dtype):
    x = normal(5, 7, dtype=dtype)
    kept = softmax(x[:, :4])
    x[:, 4:] = -math.inf
    same(softmax(x)[:, 4:], torch.zeros_like(x[:, 4:]))
    close(softmax(x)[:, :4], kept)


def test_a_slice_of_minus_infinity_alone_gives_nan_as_in_torch():
    x = torch.full((2, 3), -math.inf, device=DEVICE)
    x[0] = 0.0
    same(softmax(x), F.softmax(x, -1))
    assert softmax(x)[1].isnan().all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32_and_cast_back(dtype):
    x = normal(7, 501, dtype=dtype, scale=3)
    same(softmax(x), softmax(x.float()).to(dtype))


def test_double_precision_is_kept():
    x = normal(3, 7, dtype=torch.float64)
    error = (softmax(x).sum(-1) - 1).abs().max()
    assert error < 1e-15
    assert (softmax(x) - softmax(x.float()).double()).abs().max() > 1e-10


def test_the_input_is_left_alone_and_may_be_strided():
    x = normal(5, 7, 3)
    before = x.clone()
    close(softmax(x.transpose(0, 2)), softmax(x, 0).transpose(0, 2))
    same(x, before)


def test_empty_leading_axes():
    assert softmax(normal(0, 3)).shape == (0, 3)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_gradient(dim):
    x = normal(3, 5, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: softmax(x, dim), x)


def test_jacobian_is_diag_p_minus_p_p():
    x = normal(7, dtype=torch.float64)
    p = softmax(x)
    jacobian = torch.autograd.functional.jacobian(softmax, x)
    close(jacobian, p.diag() - p.outer(p))


def test_gradient_at_minus_infinity_is_zero():
    x = torch.tensor([1.0, -math.inf, 2.0], device=DEVICE).requires_grad_()
    softmax(x)[0].backward()
    assert x.grad.isfinite().all()
    assert x.grad[1] == 0 and x.grad[0] > 0 and x.grad[2] < 0


@pytest.mark.compiled
def test_compiled_it_gives_the_same_numbers():
    compiled = torch.compile(softmax, backend="eager", fullgraph=True)
    x = normal(2, 5, 7)
    same(compiled(x, 1), softmax(x, 1))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("x", "got"),
    [
        (None, "NoneType"),
        ([1.0, 2.0], "list"),
        (torch.tensor([1, 2]), "torch.int64"),
        (torch.tensor([True]), "torch.bool"),
        (torch.tensor([1j]), "torch.complex64"),
    ],
)
def test_refuses_what_is_no_floating_point_tensor(x, got):
    expected = "floating-point" if torch.is_tensor(x) else "a tensor"
    with refused(TypeError, "x", expected, got):
        softmax(x)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("dim", "got"), [(None, "NoneType"), (1.0, "float"), (True, "bool")]
)
def test_refuses_an_axis_that_is_no_integer(dim, got):
    with refused(TypeError, "dim", "an integer", got):
        softmax(normal(2, 3), dim)


@pytest.mark.bad_input
@pytest.mark.parametrize("dim", [2, -3])
def test_refuses_an_axis_that_does_not_exist(dim):
    with refused(ValueError, "dim", "an axis of x (shape (2, 3))", f"{dim}"):
        softmax(normal(2, 3), dim)


@pytest.mark.bad_input
def test_refuses_a_single_number():
    with refused(ValueError, "dim", "an axis of x (shape ())", "-1"):
        softmax(torch.tensor(1.0))


@pytest.mark.bad_input
def test_refuses_an_empty_axis():
    expected = "at least one entry along axis -1"
    with refused(ValueError, "x", expected, "shape (3, 0)"):
        softmax(normal(3, 0))
