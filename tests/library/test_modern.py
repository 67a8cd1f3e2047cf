"""lib.modern against PyTorch's own kernels."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given

from lib.cache import CachedSelfAttention
from lib.heads import record_weights
from lib.masks import causal_mask
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
GROUPS = [(4, 2), (4, 1), (4, 4), (6, 3), (1, 1)]


def attention_layer(heads, kv_heads, **options):
    torch.manual_seed(heads)
    layer = RotaryAttention(8 * heads, heads, kv_heads, **options)
    return layer.to(DEVICE).double().requires_grad_(False)


# RMSNorm


@given(lead, size, dtype)
def test_rms_norm_is_torchs(before, width, kind):
    norm = RMSNorm(width, eps=0.01).to(DEVICE, kind)
    x = 2 + normal(*before, width, dtype=kind)
    with torch.no_grad():
        norm.weight.uniform_(0.5, 2.0)
    wide = [t.detach().double() for t in (x, norm.weight)]
    expected = F.rms_norm(wide[0], (width,), wide[1], 0.01).to(kind)
    close(norm(x).detach(), expected, steps=4)


def test_rms_norm_of_half_precision_is_computed_in_float32():
    """The square of 300 is no number in float16."""
    x = normal(3, 8, dtype=torch.float16, scale=300.0)
    norm = RMSNorm(8).to(DEVICE, torch.float16)
    assert torch.isfinite(norm(x)).all()


def test_rms_norm_keeps_zeros_and_gradients():
    x = torch.zeros(2, 5, device=DEVICE, requires_grad=True)
    norm = RMSNorm(5).to(DEVICE)
    norm(x).sum().backward()
    assert (norm(x) == 0).all() and torch.isfinite(x.grad).all()
    assert set(dict(norm.named_parameters())) == {"weight"}


@BAD
def test_rms_norm_refuses():
    with refused(ValueError, "d_model", "at least 1", "0"):
        RMSNorm(0)
    with refused(ValueError, "eps", "at least 0", "-1"):
        RMSNorm(4, eps=-1)
    with refused(ValueError, "x", "width 4", "(2, 5)"):
        RMSNorm(4)(torch.zeros(2, 5))
    with refused(TypeError, "x", "floating-point", "int64"):
        RMSNorm(4)(torch.zeros(2, 4, dtype=torch.int64))


# Gated feed-forward network


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


@BAD
def test_gated_feed_forward_refuses():
    with refused(ValueError, "d_ff", "at least 1", "0"):
        GatedFeedForward(4, 0)
    with refused(TypeError, "d_model", "an integer", "float"):
        GatedFeedForward(4.0, 8)
    with refused(ValueError, "x", "width 4", "(2, 5)"):
        GatedFeedForward(4, 8)(torch.zeros(2, 5))


# Pairs of rotary entries


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_rows_of_pairs_become_halves_and_back(heads):
    weight = normal(heads * 6, 5)
    there = halves_from_pairs(weight, heads)
    for h in range(heads):
        ours, theirs = (w[6 * h : 6 * h + 6] for w in (weight, there))
        same(theirs, ours[[0, 2, 4, 1, 3, 5]])
    same(pairs_from_halves(there, heads), weight)
    same(halves_from_pairs(pairs_from_halves(weight, heads), heads), weight)


@BAD
def test_rows_that_do_not_pair_are_refused():
    for convert in (halves_from_pairs, pairs_from_halves):
        with refused(ValueError, "weight", "even number of rows", "(6, 5)"):
            convert(torch.zeros(6, 5), 2)
        with refused(ValueError, "weight", "2 axes, (width, d_model)", "(6,)"):
            convert(torch.zeros(6), 1)
        with refused(ValueError, "heads", "at least 1", "0"):
            convert(torch.zeros(6, 5), 0)


# Angles


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


def test_stretched_attention_is_sdpa_of_turned_q_and_k():
    slower = Stretch(8.0, 16)
    layer = attention_layer(4, 2, base=100.0, stretch=slower)
    x = normal(2, 9, 32, dtype=torch.float64)
    q, k, v = layer.project(x, x, x)
    steps = rotary_steps(8, 100.0, slower)
    q, k = turn_by(q, 0, steps), turn_by(k, 0, steps)
    context = F.scaled_dot_product_attention(
        q, k, v, is_causal=True, enable_gqa=True
    )
    close(layer(x), layer.output(context), steps=64)
    past = CachedSelfAttention(layer)
    parts = [layer(part, past) for part in x.split((4, 1, 3, 1), dim=1)]
    close(torch.cat(parts, 1), layer(x), steps=64)


@BAD
def test_angles_refuse():
    for change, *words in (
        ({"factor": 0.5}, "factor", "at least 1", "0.5"),
        ({"trained": -1}, "trained", "at least 0", "-1"),
        ({"low": 0.0}, "low", "above 0", "0.0"),
        ({"low": 4.0}, "high", "above 4.0", "4.0"),
    ):
        with refused(ValueError, *words):
            Stretch(**{"factor": 8.0} | change)
    with refused(TypeError, "trained", "an integer", "float"):
        Stretch(8.0, 64.0)
    with refused(ValueError, "d_head", "even", "3"):
        rotary_steps(3)
    with refused(ValueError, "steps", "each pair of 8", "(3,)"):
        turn_by(torch.zeros(5, 8), 0, torch.zeros(3))
    with refused(ValueError, "start", "at least 0", "-1"):
        turn_by(torch.zeros(5, 8), -1, torch.zeros(4))
    with refused(TypeError, "stretch", "a Stretch", "int"):
        RotaryAttention(8, 2, 1, stretch=8)


# Rotary attention


@pytest.mark.parametrize("window", [None, 1, 3, 20])
@pytest.mark.parametrize(("heads", "kv_heads"), GROUPS)
def test_rotary_attention_is_sdpa(heads, kv_heads, window):
    layer = attention_layer(heads, kv_heads, base=100.0, window=window)
    x = normal(2, 9, 8 * heads, dtype=torch.float64)
    q, k, v = layer.project(x, x, x)
    assert (q.shape[1], k.shape[1], v.shape[1]) == (heads, kv_heads, kv_heads)
    q, k = rotary(q, base=100.0), rotary(k, base=100.0)
    band = torch.ones(9, 9, device=DEVICE, dtype=torch.bool).tril()
    band = band if window is None else band.triu(1 - window)
    context = F.scaled_dot_product_attention(q, k, v, band, enable_gqa=True)
    close(layer(x), layer.output(context), steps=64)


@pytest.mark.parametrize("window", [None, 2, 5])
@pytest.mark.parametrize("sizes", [(1,) * 9, (9,), (4, 1, 3, 1), (1, 8)])
def test_with_a_past_it_is_the_same(window, sizes):
    layer = attention_layer(4, 2, window=window)
    x = normal(2, 9, 32, dtype=torch.float64)
    past = CachedSelfAttention(layer)
    parts = [layer(part, past) for part in x.split(sizes, dim=1)]
    close(torch.cat(parts, 1), layer(x), steps=64)
    assert past.length == 9 and past.buffer.shape[2] == 2


def test_nothing_of_the_future_leaks():
    layer = attention_layer(2, 1)
    x = normal(1, 7, 16, dtype=torch.float64)
    other = x.clone()
    other[:, 4:] += 1
    same(layer(x)[:, :4], layer(other)[:, :4])


def test_weights_can_be_recorded():
    layer = attention_layer(4, 2, window=3)
    with record_weights(torch.nn.Sequential(layer)) as weights:
        layer.forward(normal(1, 5, 32, dtype=torch.float64))
    assert weights["0"].shape == (1, 4, 5, 5)
    assert (weights["0"][0, 0].triu(1) == 0).all()


@BAD
def test_rotary_attention_refuses():
    with refused(ValueError, "d_head", "even", "3"):
        RotaryAttention(6, 2, 1)
    with refused(ValueError, "kv_heads", "a divisor of heads=4", "3"):
        RotaryAttention(16, 4, 3)
    with refused(ValueError, "base", "above 1", "1"):
        RotaryAttention(8, 2, 1, base=1)
    with refused(ValueError, "window", "at least 1", "0"):
        RotaryAttention(8, 2, 1, window=0)
    layer = attention_layer(2, 1)
    past = CachedSelfAttention(layer)
    layer(normal(2, 3, 16, dtype=torch.float64), past)
    with refused(ValueError, "x", "2 rows, as the past has", "(1, 3, 16)"):
        layer(normal(1, 3, 16, dtype=torch.float64), past)


# Biases by distance


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


def test_alibi_beside_a_mask_is_torchs_float_mask():
    q, k, v = (normal(2, 4, 7, 6, seed=s) for s in range(3))
    layer = attention_layer(4, 4).float()
    bias, mask = alibi(4, 7).to(DEVICE), causal_mask(7, DEVICE)
    context, _ = layer.attend(q, k, v, mask, score_bias=bias)
    mixed = bias.masked_fill(~mask, -math.inf)
    expected = F.scaled_dot_product_attention(q, k, v, mixed)
    close(context, expected, steps=16)


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


@BAD
def test_biases_refuse():
    with refused(ValueError, "heads", "at least 1", "0"):
        alibi_slopes(0)
    with refused(ValueError, "length", "at least 1", "0"):
        alibi(2, 0)
    with refused(ValueError, "buckets", "even", "5"):
        RelativeBias(2, buckets=5)
    with refused(ValueError, "furthest", "at least 17", "16"):
        distance_buckets(torch.arange(3), 32, 16)
    with refused(TypeError, "distance", "integer tensor", "float32"):
        distance_buckets(torch.zeros(3))
    with refused(ValueError, "length", "at least 1", "0"):
        RelativeBias(2)(0)
    with refused(ValueError, "heads", "at least 1", "0"):
        RelativeBias(0)
