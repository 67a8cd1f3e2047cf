"""lib.layers against torch's layers and against the written formulas."""

import copy
import math
import pickle
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
    refused,
    same,
    size,
)

ACTIVATIONS = {
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "gelu_tanh": partial(nn.GELU, approximate="tanh"),
}
NAMES = pytest.mark.parametrize("activation", ACTIVATIONS)


def norms(d_model, eps=1e-5, dtype=torch.float32):
    """Our LayerNorm and torch's, with the same weights."""
    ours, torchs = LayerNorm(d_model, eps), nn.LayerNorm(d_model, eps)
    for seed, name in enumerate(("weight", "bias")):
        for module in (ours, torchs):
            parameter = getattr(module, name)
            parameter.data = normal(d_model, seed=seed).to(parameter)
    return ours.to(DEVICE, dtype), torchs.to(DEVICE, dtype)


@given(lead, size, st.sampled_from([1e-5, 0.5, 1]), dtype)
def test_layer_norm_equals_torchs(lead, d_model, eps, dtype):
    ours, torchs = norms(d_model, eps, dtype)
    x = 3 + normal(*lead, d_model, dtype=dtype)
    close(ours(x), torchs(x), steps=32)
    formula = layer_norm(x, ours.weight, ours.bias, float(eps))
    close(formula, torchs(x), steps=32)


@given(size, st.sampled_from([2, 3, 5, 7, 11]), dtype)
def test_gradients_of_layer_norm_equal_torchs(length, d_model, dtype):
    ours, torchs = norms(d_model, 0.1, dtype)
    x = normal(2, length, d_model, dtype=dtype)
    slope = normal(2, length, d_model, seed=1, dtype=dtype)
    gradients = []
    for module in (ours, torchs):
        leaf = x.clone().requires_grad_()
        leaves = leaf, module.weight, module.bias
        gradients.append(torch.autograd.grad(module(leaf), leaves, slope))
    for gradient, expected in zip(*gradients, strict=True):
        close(gradient, expected, steps=32)


def test_layer_norm_by_hand():
    """Mean 3, deviations -1 and 1: variance 1, and a root of 1 + 3 = 2."""
    norm = LayerNorm(2, eps=3)
    norm.weight.data = weight = torch.tensor([4.0, 2.0])
    norm.bias.data = bias = torch.tensor([10.0, 20.0])
    x = torch.tensor([2.0, 4.0])
    assert norm(x).tolist() == [8.0, 21.0]
    assert layer_norm(x, weight, bias, eps=3.0).tolist() == [8.0, 21.0]
    near = torch.tensor([0.0, 0.002])  # so near that the default eps counts
    expected = F.layer_norm(near, (2,), weight, bias)
    close(layer_norm(near, weight, bias), expected, steps=32)


def test_layer_norm_starts_as_torchs():
    x = normal(2, 3, 7)
    close(LayerNorm(7).to(DEVICE)(x), nn.LayerNorm(7).to(DEVICE)(x))
    names = ["weight", "bias"]
    assert [name for name, _ in LayerNorm(7).named_parameters()] == names


def test_layer_norm_of_half_precision_is_computed_in_float32():
    """Their squares are infinite in float16."""
    ours, torchs = norms(7, dtype=torch.float16)
    x = normal(3, 7, dtype=torch.float16, scale=1000.0)
    close(ours(x), torchs(x), steps=32)
    close(layer_norm(x, ours.weight, ours.bias), torchs(x), steps=32)


def test_gradient_of_layer_norm():
    norm, _ = norms(5, dtype=torch.float64)
    x = normal(3, 5, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(norm, x)
    assert torch.autograd.gradcheck(layer_norm, (x, norm.weight, norm.bias))


@pytest.mark.bad_input
def test_layer_norm_refuses_what_does_not_fit():
    x, row = normal(2, 3, 5), torch.ones(5, device=DEVICE)
    with refused(TypeError, "x", "a floating-point tensor", "int64"):
        layer_norm(x.long(), row, row)
    with refused(TypeError, "bias", "a tensor", "float"):
        layer_norm(x, row, 0.0)
    with refused(ValueError, "weight", "1 axes", "(5, 1)"):
        layer_norm(x, row[:, None], row)
    with refused(ValueError, "x", "of width 4", "(2, 3, 5)"):
        layer_norm(x, row, row[:4])
    with refused(ValueError, "eps", "at least 0", "-1"):
        layer_norm(x, row, row, eps=-1)


def feed_forward(d_model=6, d_ff=10, dtype=torch.float32, **options):
    torch.manual_seed(1)
    return FeedForward(d_model, d_ff, **options).to(DEVICE, dtype)


@given(lead, size, size, dtype, st.sampled_from(sorted(ACTIVATIONS)))
def test_feed_forward_equals_torchs(lead, d_model, d_ff, dtype, activation):
    ours = feed_forward(d_model, d_ff, dtype, activation=activation)
    torchs = nn.Sequential(ours.widen, ACTIVATIONS[activation](), ours.narrow)
    x = normal(*lead, d_model, dtype=dtype)
    close(ours(x), torchs(x))


def test_feed_forward_takes_relu_by_default_and_has_two_biases():
    ours, x = feed_forward(), normal(2, 3, 6)
    same(ours(x), ours.narrow(F.relu(ours.widen(x))))
    shapes = {n: tuple(p.shape) for n, p in ours.named_parameters()}
    assert shapes == {
        "widen.weight": (10, 6),
        "widen.bias": (10,),
        "narrow.weight": (6, 10),
        "narrow.bias": (6,),
    }


def test_feed_forward_looks_at_each_position_alone():
    ours, x = feed_forward(), normal(2, 3, 6)
    close(ours(x)[:, 1], ours(x[:, 1]))


@NAMES
def test_gradient_of_feed_forward(activation):
    ours = feed_forward(dtype=torch.float64, activation=activation)
    x = normal(3, 6, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(ours, x)


def test_feed_forward_drops_hidden_entries_in_training_only():
    """Its output layer copies the hidden one."""
    ours, x = feed_forward(101, 101, dropout=0.25), normal(101, 101)
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
    assert feed_forward().dropout.p == 0


ORDERS = pytest.mark.parametrize("norm_first", [False, True])


def residual(d_model=6, dtype=torch.float32, **options):
    made = Residual(d_model, **options).to(DEVICE, dtype)
    made.norm.weight.data = normal(d_model, seed=1, dtype=dtype)
    made.norm.bias.data = normal(d_model, seed=2, dtype=dtype)
    return made


@given(lead, size, dtype, st.booleans(), st.sampled_from([1e-5, 0.5]))
def test_residual_equals_its_formula(lead, d_model, dtype, norm_first, eps):
    norm = LayerNorm(d_model, eps)
    around = residual(d_model, dtype, norm_first=norm_first, norm=norm)
    x = normal(*lead, d_model, dtype=dtype)
    weight, bias = around.norm.weight, around.norm.bias

    def norm(x):
        return F.layer_norm(x, (d_model,), weight, bias, eps)

    expected = x + norm(x).tanh() if norm_first else norm(x + x.tanh())
    close(around(x, torch.tanh), expected, steps=32)


def test_post_norm_is_the_default_and_nothing_is_dropped():
    around, x = residual(), normal(2, 3, 6)
    assert around.dropout.p == 0 and around.norm.eps == 1e-5
    same(around(x, torch.tanh), around.norm(x + x.tanh()))


@ORDERS
def test_residual_drops_the_sublayer_in_training_only(norm_first):
    around = residual(101, dropout=0.25, norm_first=norm_first)
    around.norm = nn.Identity()
    x, ones = normal(101, 101), torch.ones_like
    same(around.eval()(x, ones), x + 1)
    added = around.train()(x, ones) - x
    dropped = added.abs() < 1e-5
    rate = dropped.float().mean().item()
    assert abs(rate - 0.25) < 4 * math.sqrt(0.25 * 0.75) / 101
    close(added[~dropped], ones(added[~dropped]) / 0.75, steps=32)


@ORDERS
def test_gradient_of_residual(norm_first):
    around = residual(dtype=torch.float64, norm_first=norm_first)
    x = normal(3, 6, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: around(x, torch.tanh), x)


MADE = {
    "norm": lambda: norms(6)[0],
    "feed forward": feed_forward,
    "post-norm": residual,
    "pre-norm": lambda: residual(norm_first=True),
}
EVERY = pytest.mark.parametrize("make", MADE.values(), ids=MADE)


def call(layer, x):
    return layer(x, torch.tanh) if isinstance(layer, Residual) else layer(x)


@EVERY
def test_copies_give_the_same_numbers(make):
    layer, x = make(), normal(2, 3, 6)
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        same(call(twin, x), call(layer, x))
    fresh = make()
    for parameter in fresh.parameters():
        parameter.data.zero_()
    fresh.load_state_dict(layer.state_dict())
    same(call(fresh, x), call(layer, x))


@pytest.mark.compiled
@EVERY
def test_compiled_it_gives_the_same_numbers(make):
    torch.compiler.reset()
    layer, x = make(), normal(2, 3, 6)
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    extra = [torch.tanh] if isinstance(layer, Residual) else []
    close(compiled(x, *extra), call(layer, x))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("argument", "make"),
    [
        ("d_model", LayerNorm),
        ("d_model", Residual),
        ("d_model", lambda n: FeedForward(n, 10)),
        ("d_ff", lambda n: FeedForward(6, n)),
    ],
)
def test_refuses_sizes_that_are_none(argument, make):
    for value, got in ((None, "NoneType"), (2.0, "float"), (True, "bool")):
        with refused(TypeError, argument, "an integer", got):
            make(value)
    for value in (0, -2):
        with refused(ValueError, argument, "at least 1", f"{value}"):
            make(value)


@pytest.mark.bad_input
def test_refuses_an_eps_that_is_none():
    for value, got in ((None, "NoneType"), ("1", "str"), (True, "bool")):
        with refused(TypeError, "eps", "a number", got):
            LayerNorm(6, eps=value)
    for value in (-1e-5, math.nan, math.inf):
        with refused(ValueError, "eps", "at least 0", f"{value}"):
            LayerNorm(6, eps=value)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "make",
    [lambda p: FeedForward(6, 10, p), lambda p: Residual(6, p)],
)
def test_refuses_a_dropout_that_is_no_probability(make):
    with refused(ValueError, "dropout", "0 <= dropout < 1", "1.5"):
        make(1.5)
    with refused(TypeError, "dropout", "a number", "str"):
        make("0.1")


@pytest.mark.bad_input
@pytest.mark.parametrize("value", ["tanh", None, "ReLU"])
def test_refuses_an_activation_that_it_does_not_know(value):
    with refused(ValueError, "activation", "one of relu, gelu", f"{value}"):
        FeedForward(6, 10, activation=value)


@pytest.mark.bad_input
@EVERY
def test_refuses_inputs_that_are_none(make):
    layer = make().cpu()
    with refused(TypeError, "x", "a tensor", "list"):
        call(layer, [1.0] * 6)
    with refused(TypeError, "x", "a floating-point tensor", "torch.int64"):
        call(layer, torch.ones(2, 6).long())
    for shape in ((2, 5), (2, 1), ()):
        with refused(ValueError, "x", "of width 6", f"shape {shape}"):
            call(layer, torch.ones(shape))


@pytest.mark.bad_input
@pytest.mark.parametrize("norm_first", [False, True])
def test_residual_refuses_a_sublayer_that_changes_the_shape(norm_first):
    layer = Residual(8, norm_first=norm_first).to(DEVICE)
    x = normal(2, 5, 8)
    for shorter in (
        lambda y: y.mean(1, keepdim=True),
        lambda y: y[..., :1],
        lambda y: y[None],
    ):
        with refused(ValueError, "the result of sublayer", "(2, 5, 8)", "("):
            layer(x, shorter)
    with refused(TypeError, "the result of sublayer", "a tensor", "tuple"):
        layer(x, lambda y: (y, y))
    with refused(TypeError, "norm_first", "True or False", "str"):
        Residual(8, 0.0, "no")


# --- without a bias, and with another norm


@given(lead, size, dtype)
def test_layer_norm_without_bias_equals_torchs(lead, d_model, dtype):
    ours = LayerNorm(d_model, bias=False).to(DEVICE, dtype)
    torchs = nn.LayerNorm(d_model, bias=False).to(DEVICE, dtype)
    ours.weight.data = torchs.weight.data = normal(d_model, dtype=dtype)
    x = 3 + normal(*lead, d_model, dtype=dtype)
    close(ours(x), torchs(x), steps=32)
    assert list(ours.state_dict()) == list(torchs.state_dict()) == ["weight"]


@given(lead, size, size, dtype)
def test_feed_forward_without_bias_has_two_matrices(
    lead, d_model, d_ff, dtype
):
    ours = feed_forward(d_model, d_ff, dtype, bias=False)
    x = normal(*lead, d_model, dtype=dtype)
    close(ours(x), F.relu(x @ ours.widen.weight.T) @ ours.narrow.weight.T)
    assert list(ours.state_dict()) == ["widen.weight", "narrow.weight"]


def test_gelu_tanh_is_not_gelu():
    x = normal(101, 6)
    by_tanh = feed_forward(activation="gelu_tanh")(x)
    exact = feed_forward(activation="gelu")(x)
    difference = (by_tanh - exact).abs().max()
    assert 1e-5 < difference < 1e-2
    scaled = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    expected = 0.5 * x * (1 + scaled.tanh())
    close(F.gelu(x, approximate="tanh"), expected, steps=32)


@ORDERS
@pytest.mark.parametrize("make", [nn.RMSNorm, nn.Identity])
def test_residual_takes_any_norm(make, norm_first):
    norm = make(6).to(DEVICE)
    around, x = Residual(6, norm_first=norm_first, norm=norm), normal(2, 3, 6)
    assert around.norm is norm
    expected = x + norm(x).tanh() if norm_first else norm(x + x.tanh())
    same(around(x, torch.tanh), expected)
    with refused(ValueError, "x", "of width 6", "(2, 3, 5)"):
        around(x[..., :5], torch.tanh)


@pytest.mark.bad_input
@pytest.mark.parametrize("norm", [LayerNorm, "rms", F.layer_norm])
def test_residual_refuses_a_norm_that_is_no_module(norm):
    with refused(TypeError, "norm", "a module", type(norm).__name__):
        Residual(6, norm=norm)


@pytest.mark.bad_input
@pytest.mark.parametrize("make", [LayerNorm, partial(FeedForward, 6)])
def test_refuses_a_bias_that_is_no_boolean(make):
    with refused(TypeError, "bias", "True or False", "int"):
        make(6, bias=1)
