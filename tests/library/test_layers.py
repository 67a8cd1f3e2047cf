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
from tests.library import no
from tests.library.draw import DEVICE, DTYPES, close, normal, same
from tests.library.refusals import by_shape, refuses
from tests.library.strategies import dtype, lead, size

FUNCTIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
}
rates = st.sampled_from([{}, {"dropout": 0.25}])


def seeded(call, *inputs):
    """The same numbers are dropped every time."""
    torch.manual_seed(5)
    return call(*inputs)


def dropping(given, training):
    """What dropout does with these options of a layer."""
    return partial(F.dropout, p=given.get("dropout", 0), training=training)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", [0.003, 1.0, 1_000.0])
@given(lead, size, st.sampled_from([{}, {"eps": 0.5}, {"bias": False}]))
def test_layer_norm_equals_torchs(dtype, scale, lead, d_model, options):
    """Beside small numbers eps counts; squares of large ones are infinite in
    float16."""
    ours, torchs = (
        kind(d_model, **options).to(DEVICE, dtype)
        for kind in (LayerNorm, nn.LayerNorm)
    )
    for seed, parameter in enumerate(torchs.parameters()):
        parameter.data = normal(d_model, seed=seed, dtype=dtype)
    ours.load_state_dict(torchs.state_dict())
    x = normal(*lead, d_model, dtype=dtype, scale=scale)
    close(ours(x), torchs(x), steps=32)
    if torchs.bias is not None:
        formula = layer_norm(x, ours.weight, ours.bias, **options)
        close(formula, torchs(x), steps=32)


def test_gradients_of_the_formula():
    double = {"dtype": torch.float64}
    x, rows = normal(2, 3, 5, **double), normal(2, 5, **double).unbind()
    inputs = [t.clone().requires_grad_() for t in (x, *rows)]
    assert torch.autograd.gradcheck(layer_norm, inputs)


@given(
    lead,
    size,
    size,
    dtype,
    rates,
    st.sampled_from([None, *FUNCTIONS]),
    st.booleans(),
)
def test_feed_forward_equals_its_formula(
    lead, d_model, d_ff, dtype, rate, activation, training
):
    """By default with relu, two biases and no dropout."""
    options = {"activation": activation} if activation else {}
    ours = FeedForward(d_model, d_ff, **rate, **options)
    ours = ours.to(DEVICE, dtype).train(training)
    x = normal(*lead, d_model, dtype=dtype)
    hidden = FUNCTIONS[activation or "relu"](ours.widen(x))
    dropped = seeded(dropping(rate, training), hidden)
    same(seeded(ours, x), ours.narrow(dropped))
    assert len(ours.state_dict()) == 4
    plain = FeedForward(d_model, d_ff, bias=False)
    assert [p.shape for p in plain.parameters()] == [
        (d_ff, d_model),
        (d_model, d_ff),
    ]


@pytest.mark.parametrize("order", [{}, {"norm_first": True}])
@pytest.mark.parametrize("make", [None, nn.RMSNorm, nn.Identity])
@given(lead, size, dtype, rates, st.booleans())
def test_residual_equals_its_formula_with_any_norm(
    order, make, lead, d_model, dtype, rate, training
):
    """By default with post-norm, a LayerNorm and no dropout."""
    around = Residual(d_model, norm=make and make(d_model), **order, **rate)
    norm = around.to(DEVICE, dtype).train(training).norm
    assert isinstance(norm, make or LayerNorm)
    assert make or norm.eps == 1e-5
    x = normal(*lead, d_model, dtype=dtype)
    branch = torch.tanh(norm(x) if order else x)
    total = x + seeded(dropping(rate, training), branch)
    same(seeded(around, x, torch.tanh), total if order else norm(total))


X, ROW = torch.ones(2, 3, 6), torch.ones(6)
normed = partial(layer_norm, x=X, weight=ROW, bias=ROW)
short = partial(normed, bias=ROW[:4])
build = partial(FeedForward, d_model=6, d_ff=10)
around, RESULT = Residual(6), "the result of sublayer"
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


def of_width_6(layer):
    return [
        *no.floating_tensor(layer, "x"),
        ("x", layer, ValueError, "of width 6", NARROW),
    ]


test_bad_input_is_refused = refuses(
    *no.floating_tensor(normed, "x", "weight", "bias"),
    ("weight", normed, ValueError, "1 axes", by_shape(ROW[:, None])),
    ("x", short, ValueError, "of width 4", by_shape(X)),
    *no.number(normed, "eps"),
    ("eps", normed, ValueError, "at least 0", BELOW),
    ("eps", partial(LayerNorm, 6), ValueError, "at least 0", BELOW),
    *no.switch(partial(LayerNorm, 6), "bias"),
    *no.size(LayerNorm, "d_model"),
    *no.size(build, "d_model", "d_ff"),
    *no.size(Residual, "d_model"),
    *no.dropout(build),
    *no.dropout(partial(Residual, 6)),
    *no.switch(build, "bias"),
    *no.switch(partial(Residual, 6), "norm_first"),
    ("activation", build, ValueError, "one of relu, gelu", UNKNOWN),
    ("norm", partial(Residual, 6), TypeError, "a module", NO_NORM),
    *of_width_6(LayerNorm(6)),
    *of_width_6(FeedForward(6, 10)),
    *of_width_6(partial(around, sublayer=torch.tanh)),
    (RESULT, partial(around, X), ValueError, "(2, 3, 6)", SHORTER),
    (RESULT, partial(around, X), TypeError, "a tensor", TWO),
)
