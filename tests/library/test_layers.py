"""lib.layers against torch's layers and against the written formulas."""

import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from lib.layers import FeedForward, LayerNorm, Residual, layer_norm
from tests.library.draw import (
    DEVICE,
    close,
    dtype,
    lead,
    normal,
    same,
    size,
)
from tests.library.refusals import (
    by_shape,
    no_dropout,
    no_floating_tensor,
    no_number,
    no_size,
    no_switch,
    refuses,
)

ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
}


def norms(d_model, eps=1e-5, bias=True, dtype=torch.float32):
    """Our LayerNorm and torch's, with the same weights."""
    ours, torchs = (
        kind(d_model, eps=eps, bias=bias).to(DEVICE, dtype)
        for kind in (LayerNorm, nn.LayerNorm)
    )
    for seed, parameter in enumerate(torchs.parameters()):
        parameter.data = normal(d_model, seed=seed, dtype=dtype)
    ours.load_state_dict(torchs.state_dict())
    return ours, torchs


@given(lead, size, st.sampled_from([1e-5, 0.5, 1.0]), st.booleans(), dtype)
def test_layer_norm_equals_torchs(lead, d_model, eps, bias, dtype):
    ours, torchs = norms(d_model, eps, bias, dtype)
    x = 3 + normal(*lead, d_model, dtype=dtype)
    close(ours(x), torchs(x), steps=32)
    if bias:
        formula = layer_norm(x, ours.weight, ours.bias, eps)
        close(formula, torchs(x), steps=32)


def test_gradients_of_layer_norm_equal_torchs():
    ours, torchs = norms(5, 0.1, dtype=torch.float64)
    x = normal(2, 3, 5, dtype=torch.float64).requires_grad_()
    slope = normal(2, 3, 5, seed=1, dtype=torch.float64)
    mine, theirs = ([x, *m.parameters()] for m in (ours, torchs))
    expected = torch.autograd.grad(torchs(x), theirs, slope)
    for out in (ours(x), layer_norm(x, *mine[1:], 0.1)):
        for gradient, wanted in zip(
            torch.autograd.grad(out, mine, slope), expected, strict=True
        ):
            close(gradient, wanted, steps=32)


def test_layer_norm_is_by_default_torchs():
    """Its eps counts where numbers are near each other."""
    x = torch.tensor([0.0, 0.002], device=DEVICE)
    expected = nn.LayerNorm(2).to(DEVICE)(x)
    close(LayerNorm(2).to(DEVICE)(x), expected, steps=32)
    close(layer_norm(x, torch.ones_like(x), 0 * x), expected, steps=32)


def test_layer_norm_of_half_precision_is_computed_in_float32():
    """Their squares are infinite in float16."""
    ours, torchs = norms(7, dtype=torch.float16)
    x = normal(3, 7, dtype=torch.float16, scale=1000.0)
    close(ours(x), torchs(x), steps=32)
    close(layer_norm(x, ours.weight, ours.bias), torchs(x), steps=32)


@given(lead, size, size, dtype, st.sampled_from([*ACTIVATIONS]), st.booleans())
def test_feed_forward_equals_its_formula(
    lead, d_model, d_ff, dtype, activation, bias
):
    ours = FeedForward(d_model, d_ff, activation=activation, bias=bias)
    ours, x = ours.to(DEVICE, dtype), normal(*lead, d_model, dtype=dtype)
    hidden = ACTIVATIONS[activation](ours.widen(x))
    same(ours(x), ours.narrow(hidden))
    names = [
        f"{m}.{p}" for m in ("widen", "narrow") for p in ("weight", "bias")
    ]
    assert [*ours.state_dict()] == names[:: 1 if bias else 2]
    assert ours.widen.weight.shape == ours.narrow.weight.mT.shape
    assert ours.widen.weight.shape == (d_ff, d_model)


def test_feed_forward_has_by_default_relu_two_biases_and_no_dropout():
    ours, x = FeedForward(6, 10).to(DEVICE), normal(2, 3, 6)
    same(ours(x), ours.narrow(F.relu(ours.widen(x))))
    assert len(ours.state_dict()) == 4


def test_feed_forward_drops_hidden_entries_in_training_only():
    """Its output layer copies the hidden one."""
    ours = FeedForward(101, 101, dropout=0.25).to(DEVICE)
    x = normal(101, 101)
    ours.narrow.weight.data = torch.eye(101, device=DEVICE)
    ours.narrow.bias.data.fill_(2.0)
    hidden = F.relu(ours.widen(x))
    close(ours.eval()(x), hidden + 2)
    out = ours.train()(x) - 2
    alive = hidden > 0.1
    dropped = alive & (out.abs() < 1e-5)
    rate = dropped.sum().item() / alive.sum().item()
    assert abs(rate - 0.25) < 4 * math.sqrt(0.25 * 0.75 / alive.sum().item())
    stay = alive & ~dropped
    close(out[stay], hidden[stay] / 0.75, steps=64)


ORDERS = pytest.mark.parametrize("norm_first", [False, True])


@ORDERS
@pytest.mark.parametrize("make", [nn.LayerNorm, nn.RMSNorm, nn.Identity])
@given(lead, size, dtype)
def test_residual_equals_its_formula_with_any_norm(
    norm_first, make, lead, d_model, dtype
):
    norm = make(d_model).to(DEVICE, dtype)
    around = Residual(d_model, norm_first=norm_first, norm=norm)
    x = normal(*lead, d_model, dtype=dtype)
    expected = x + norm(x).tanh() if norm_first else norm(x + x.tanh())
    same(around(x, torch.tanh), expected)


def test_residual_has_by_default_post_norm_by_layer_norm_and_no_dropout():
    around, x = Residual(6).to(DEVICE), normal(2, 3, 6)
    assert isinstance(around.norm, LayerNorm) and around.norm.eps == 1e-5
    same(around(x, torch.tanh), around.norm(x + x.tanh()))


@ORDERS
def test_residual_drops_the_sublayer_in_training_only(norm_first):
    norm = nn.Identity()
    around = Residual(101, 0.25, norm_first, norm).to(DEVICE)
    x, ones = normal(101, 101), torch.ones_like
    same(around.eval()(x, ones), x + 1)
    added = around.train()(x, ones) - x
    dropped = added.abs() < 1e-5
    rate = dropped.float().mean().item()
    assert abs(rate - 0.25) < 4 * math.sqrt(0.25 * 0.75) / 101
    close(added[~dropped], ones(added[~dropped]) / 0.75, steps=32)


X, ROW = torch.ones(2, 3, 6), torch.ones(6)
normed = partial(layer_norm, x=X, weight=ROW, bias=ROW)
build = partial(FeedForward, d_model=6, d_ff=10)
residual = partial(Residual(6), X)
pre_norm = partial(Residual(6, norm_first=True), X)
BELOW = {"-1e-05": -1e-5, "nan": math.nan, "inf": math.inf}
NARROW = by_shape(X[..., :5], X[..., :1], torch.tensor(1.0))
NO_NORM = {"type": LayerNorm, "str": "rms", "function": F.layer_norm}
UNKNOWN = {"tanh": "tanh", "None": None, "ReLU": "ReLU"}
SHORTER = {
    "(2, 1, 6)": lambda x: x.mean(1, keepdim=True),
    "(2, 3, 1)": lambda x: x[..., :1],
    "(1, 2, 3, 6)": lambda x: x[None],
}
TWO = {"tuple": lambda x: (x, x)}
test_bad_input_is_refused = refuses(
    *no_floating_tensor(normed, "x", "weight", "bias"),
    ("weight", normed, ValueError, "1 axes", by_shape(ROW[:, None])),
    (
        "x",
        partial(normed, bias=ROW[:4]),
        ValueError,
        "of width 4",
        by_shape(X),
    ),
    *no_number(normed, "eps"),
    ("eps", normed, ValueError, "at least 0", BELOW),
    ("eps", partial(LayerNorm, 6), ValueError, "at least 0", BELOW),
    *no_switch(partial(LayerNorm, 6), "bias"),
    *no_size(LayerNorm, "d_model"),
    *no_size(build, "d_model", "d_ff"),
    *no_size(Residual, "d_model"),
    *no_dropout(build),
    *no_dropout(partial(Residual, 6)),
    *no_switch(build, "bias"),
    *no_switch(partial(Residual, 6), "norm_first"),
    ("activation", build, ValueError, "one of relu, gelu", UNKNOWN),
    ("norm", partial(Residual, 6), TypeError, "a module", NO_NORM),
    *(
        row
        for layer in (
            LayerNorm(6),
            FeedForward(6, 10),
            partial(Residual(6), sublayer=torch.tanh),
            partial(
                Residual(6, 0.0, True, nn.Identity()), sublayer=torch.tanh
            ),
        )
        for row in (
            *no_floating_tensor(layer, "x"),
            ("x", layer, ValueError, "of width 6", NARROW),
        )
    ),
    *(
        row
        for around in (residual, pre_norm)
        for row in (
            (
                "the result of sublayer",
                around,
                ValueError,
                "(2, 3, 6)",
                SHORTER,
            ),
            ("the result of sublayer", around, TypeError, "a tensor", TWO),
        )
    ),
)
