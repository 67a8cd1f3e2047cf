"""lib.modern against PyTorch's own kernels."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from lib.cache import CachedSelfAttention
from lib.heads import record_weights
from lib.modern import (
    GatedFeedForward,
    RelativeBias,
    RMSNorm,
    RotaryAttention,
    Stretch,
    alibi,
    alibi_slopes,
    distance_buckets,
    halves_from_pairs,
    pairs_from_halves,
    rotary_steps,
    turn_by,
)
from lib.positions import rotary
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

BAD = pytest.mark.bad_input


def attention_layer(heads, kv_heads, **options):
    torch.manual_seed(heads)
    layer = RotaryAttention(8 * heads, heads, kv_heads, **options)
    return layer.to(DEVICE).double().requires_grad_(False)


@given(lead, size, dtype, st.sampled_from([1, 300]))
def test_rms_norm_is_torchs(before, width, kind, scale):
    """The square of 300 is no number in float16."""
    norm = RMSNorm(width, eps=0.01).to(DEVICE, kind)
    x = 2 + normal(*before, width, dtype=kind, scale=scale)
    with torch.no_grad():
        norm.weight.uniform_(0.5, 2.0)
    wide = [t.detach().double() for t in (x, norm.weight)]
    expected = F.rms_norm(wide[0], (width,), wide[1], 0.01).to(kind)
    close(norm(x).detach(), expected, steps=4)


def test_rms_norm_keeps_zeros_and_gradients():
    x = torch.zeros(2, 5, device=DEVICE, requires_grad=True)
    norm = RMSNorm(5).to(DEVICE)
    norm(x).sum().backward()
    assert (norm(x) == 0).all() and torch.isfinite(x.grad).all()
    assert [name for name, _ in norm.named_parameters()] == ["weight"]


@pytest.mark.parametrize("kind", DTYPES)
def test_gated_feed_forward_is_its_formula(kind):
    torch.manual_seed(0)
    module = GatedFeedForward(5, 7).to(DEVICE, kind).requires_grad_(False)
    x = normal(2, 3, 5, dtype=kind)
    w_1, w_3, w_2 = (
        linear.weight.double().T
        for linear in (module.gate, module.widen, module.narrow)
    )
    z = x.double() @ w_1
    expected = (z * torch.sigmoid(z) * (x.double() @ w_3)) @ w_2
    close(module(x), expected.to(kind), steps=16)
    assert all(p.ndim == 2 for p in module.parameters())


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_rows_of_pairs_become_halves_and_back(heads):
    weight = normal(heads * 6, 5)
    there = halves_from_pairs(weight, heads)
    for h in range(heads):
        ours, theirs = (w[6 * h : 6 * h + 6] for w in (weight, there))
        same(theirs, ours[[0, 2, 4, 1, 3, 5]])
    same(pairs_from_halves(there, heads), weight)
    same(halves_from_pairs(pairs_from_halves(weight, heads), heads), weight)


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("start", [0, 7])
def test_turning_by_the_usual_steps_is_rotary(start, kind):
    x = normal(2, 3, 9, 8, dtype=kind)
    same(turn_by(x, start, rotary_steps(8, 50.0)), rotary(x, start, 50.0))


def test_a_stretch_is_the_rule_by_cases():
    """As Meta's code has it: by wavelengths, in three cases."""
    slower = Stretch(factor=8.0, trained=64, low=0.5, high=3.0)
    plain, found = rotary_steps(16, 900.0), rotary_steps(16, 900.0, slower)
    cases = set()
    for was, now in zip(plain.tolist(), found.tolist(), strict=True):
        wavelength = 2 * math.pi / was
        if wavelength < 64 / 3.0:
            case, expected = "kept", was
        elif wavelength > 64 / 0.5:
            case, expected = "slow", was / 8.0
        else:
            share = (64 / wavelength - 0.5) / (3.0 - 0.5)
            case, expected = "mixed", (1 - share) * was / 8 + share * was
        assert now == pytest.approx(expected, rel=1e-12)
        cases.add(case)
    assert cases == {"kept", "slow", "mixed"}
    close(rotary_steps(16, 900.0, Stretch(4.0)), plain / 4, steps=2)


@pytest.mark.covered(2)
@pytest.mark.parametrize("stretch", [None, Stretch(8.0, 16)])
@pytest.mark.parametrize("window", [None, 1, 3, 20])
@pytest.mark.parametrize("heads", [(4, 2), (4, 1), (4, 4), (6, 3), (1, 1)])
@pytest.mark.parametrize("sizes", [(1,) * 9, (9,), (4, 1, 3, 1), (1, 8)])
def test_rotary_attention_is_sdpa(heads, window, stretch, sizes):
    """Of turned queries and keys, also with a past."""
    layer = attention_layer(*heads, base=100.0, window=window, stretch=stretch)
    x = normal(2, 9, 8 * heads[0], dtype=torch.float64)
    q, k, v = layer.project(x, x, x)
    assert (q.shape[1], k.shape[1]) == heads
    assert all(weight.ndim == 2 for weight in layer.parameters())
    steps = rotary_steps(8, 100.0, stretch)
    q, k = turn_by(q, 0, steps), turn_by(k, 0, steps)
    band = torch.ones(9, 9, device=DEVICE, dtype=torch.bool).tril()
    band = band if window is None else band.triu(1 - window)
    context = F.scaled_dot_product_attention(q, k, v, band, enable_gqa=True)
    with record_weights(layer) as weights:
        close(layer(x), layer.output(context), steps=64)
    close(weights[""] @ v.repeat_interleave(heads[0] // heads[1], 1), context)
    past = CachedSelfAttention(layer)
    parts = [layer(part, past) for part in x.split(sizes, dim=1)]
    close(torch.cat(parts, 1), layer(x), steps=64)
    assert past.length == 9 and past.buffer.shape[2] == heads[1]


@pytest.mark.parametrize(
    "layer", [RMSNorm(4), GatedFeedForward(4, 6), RotaryAttention(4, 2, 1)]
)
def test_gradients(layer):
    layer = layer.to(DEVICE).double()
    x = normal(2, 3, 4, dtype=torch.float64).requires_grad_()
    inputs = x, *layer.parameters()  # changed in place by the check
    assert torch.autograd.gradcheck(lambda x, *_: layer(x), inputs)


def test_slopes_are_those_of_the_paper():
    assert alibi_slopes(8).tolist() == [2.0**-h for h in range(1, 9)]
    assert alibi_slopes(1).tolist() == [2.0**-8]
    twelve = alibi_slopes(12)
    same(twelve[:8], alibi_slopes(8))
    same(twelve[8:], alibi_slopes(16)[::2][:4])


def test_alibi_lowers_by_the_distance():
    bias = alibi(2, 4)
    assert bias.shape == (1, 2, 4, 4) and bias.dtype == torch.float32
    assert bias[0, 0, 3].tolist() == [-3 / 16, -2 / 16, -1 / 16, 0]
    assert bias[0, 1, 0].tolist() == [0, -1 / 256, -2 / 256, -3 / 256]


def test_buckets_of_distances():
    into = distance_buckets(torch.arange(-5, 300)).tolist()
    assert into[:5] == [0] * 5 and into[5:21] == list(range(16))
    assert into[5:] == sorted(into[5:]) and into[-1] == 31
    far = [
        16 + int(16 * math.log(d / 16) / math.log(8)) for d in range(16, 128)
    ]
    assert into[21 : 21 + 112] == far
    few_buckets = distance_buckets(torch.arange(9), 4, 6).tolist()
    assert few_buckets == [0, 1, 2, 2, 3, 3, 3, 3, 3]


def test_relative_bias_looks_up_its_bucket():
    module = RelativeBias(3, buckets=4, furthest=6).to(DEVICE)
    bias = module(9)
    assert bias.shape == (1, 3, 9, 9)
    for i in range(9):
        for j in range(9):
            bucket = distance_buckets(torch.tensor(i - j), 4, 6)
            same(bias[0, :, i, j], module.table.weight[bucket])


LAYER = {"d_model": 8, "heads": 2, "kv_heads": 1}


@BAD
@pytest.mark.parametrize(
    ("call", "given", "name", "expected", "got"),
    [
        (RMSNorm, {"d_model": 0}, "d_model", "at least 1", "0"),
        (RMSNorm, {"d_model": 4, "eps": -1}, "eps", "at least 0", "-1"),
        (GatedFeedForward, {"d_model": 0, "d_ff": 1}, "d_model", "least", "0"),
        (GatedFeedForward, {"d_model": 4, "d_ff": 0}, "d_ff", "least 1", "0"),
        (Stretch, {"factor": 0.5}, "factor", "at least 1", "0.5"),
        (Stretch, {"factor": 8, "trained": -1}, "trained", "at least 0", "-1"),
        (Stretch, {"factor": 8, "low": 0.0}, "low", "above 0", "0.0"),
        (Stretch, {"factor": 8, "low": 4.0}, "high", "above 4.0", "4.0"),
        (RotaryAttention, LAYER | {"d_model": 6}, "d_head", "even", "3"),
        (RotaryAttention, LAYER | {"kv_heads": 3}, "kv_heads", "a divis", "3"),
        (RotaryAttention, LAYER | {"base": 1}, "base", "above 1", "1"),
        (RotaryAttention, LAYER | {"window": 0}, "window", "at least 1", "0"),
        (rotary_steps, {"d_head": 3}, "d_head", "even", "3"),
        (alibi_slopes, {"heads": 0}, "heads", "at least 1", "0"),
        (alibi, {"heads": 2, "length": 0}, "length", "at least 1", "0"),
        (RelativeBias, {"heads": 0}, "heads", "at least 1", "0"),
        (RelativeBias, {"heads": 2, "buckets": 5}, "buckets", "even", "5"),
        (RelativeBias(2), {"length": 0}, "length", "at least 1", "0"),
    ],
)
def test_numbers_out_of_their_range_are_refused(
    call, given, name, expected, got
):
    with refused(ValueError, name, expected, got):
        call(**given)


@BAD
def test_tensors_that_do_not_fit_are_refused():
    for module in (RMSNorm(4), GatedFeedForward(4, 8)):
        with refused(ValueError, "x", "width 4", "(2, 5)"):
            module(torch.zeros(2, 5))
        with refused(TypeError, "x", "floating-point", "int64"):
            module(torch.zeros(2, 4, dtype=torch.int64))
    for convert in (halves_from_pairs, pairs_from_halves):
        with refused(ValueError, "weight", "even number of rows", "(6, 5)"):
            convert(torch.zeros(6, 5), 2)
        with refused(ValueError, "weight", "2 axes, (width, d_model)", "(6,)"):
            convert(torch.zeros(6), 1)
        with refused(ValueError, "heads", "at least 1", "0"):
            convert(torch.zeros(6, 5), 0)
    x, steps = torch.zeros(5, 8), torch.zeros(4)
    with refused(ValueError, "steps", "each pair of 8", "(3,)"):
        turn_by(x, 0, steps[:3])
    with refused(ValueError, "start", "at least 0", "-1"):
        turn_by(x, -1, steps)
    layer, x = attention_layer(2, 1), normal(2, 3, 16, dtype=torch.float64)
    past = CachedSelfAttention(layer)
    layer(x, past)
    with refused(ValueError, "x", "2 rows, as the past has", "(1, 3, 16)"):
        layer(x[:1], past)
    with refused(TypeError, "distance", "integer tensor", "float32"):
        distance_buckets(torch.zeros(3))
    with refused(ValueError, "furthest", "at least 17", "16"):
        distance_buckets(torch.arange(3), 32, 16)
    with refused(TypeError, "trained", "an integer", "float"):
        Stretch(8.0, 64.0)
    with refused(TypeError, "stretch", "a Stretch", "int"):
        RotaryAttention(8, 2, 1, stretch=8)
